"""Results on disk: a Parquet file per run, named by the run's key.

    DIR/manifest.json       the study, its runs, and who played them when
    DIR/runs/KEY-DIGEST.parquet     the results of one run
    DIR/runs/packed-DIGEST.parquet  the results of many: files of single runs are packed
    DIR/snapshots/KEY-DIGEST.parquet    pictures on the way, of runs that take any
    DIR/failed/KEY.json     traceback of a run that failed twice
    DIR/damaged/            files that were not as they had been written

Every file is written to a temporary name and renamed, so what is there is whole. A run may be in
two files (after a kill in the middle of packing, or a copied directory): readers take one. Files of
single runs do not wait for the disk, which takes longer than most runs: after a power cut some may
be torn. Files say by a digest in their name what they should hold (`checked_files`): the next
writer sets aside those that are damaged, and their runs are played again.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Container, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from voful.atomic import atomic_file
from voful.experiments.play.columns import TYPES
from voful.experiments.store import checked_files
from voful.experiments.store.checked_files import as_parquet, name_of, path_for
from voful.experiments.store.manifest import Manifest
from voful.persistence import FileFormatError

if TYPE_CHECKING:
    import polars as pl

    from voful.experiments.play.loop import Columns
    from voful.experiments.study.run import Run

PACK_AT = 512  # loose files; packing that many takes a fraction of a second
PACKED = "packed"

T = TypeVar("T")


class Store:
    """The results directory of a study; see the module for what is in it.

    Reading needs no lock. Whoever writes must hold `locked`.
    """

    def __init__(self, directory: str | Path) -> None:
        self.directory = Path(directory)
        self.runs = self.directory / "runs"
        self.failed = self.directory / "failed"
        self.pictures = self.directory / "snapshots"  # made when there are any
        self._manifest = self.directory / "manifest.json"
        self._failures: set[str] = set()  # known to the writer
        self.damaged: list[str] = []  # files that the writer has set aside

    # --- writing ------------------------------------------------------------------------------

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Make the directory and keep other writers out; what was left half-written is removed."""
        from voful.experiments.store.lock import locked

        for directory in (self.runs, self.failed):
            directory.mkdir(parents=True, exist_ok=True)
        with locked(self.directory / ".lock"):
            for directory in (self.directory, self.runs, self.failed, self.pictures):
                for leftover in directory.glob("*.tmp"):
                    leftover.unlink()
            self._set_damaged_aside()
            self._failures = {path.stem for path in self.failed.glob("*.json")}
            yield

    def _set_damaged_aside(self) -> None:
        """Files that are not as they were written, or have another run's name."""
        self.damaged = [
            checked_files.set_aside(path, self.directory / "damaged")
            for path in (*self._files(), *self._snapshots())
            if not checked_files.is_sound(path)
        ]

    def write_manifest(self, manifest: Manifest) -> None:
        """Replace the manifest."""
        _write(self._manifest, manifest.to_json().encode())

    def add(self, run: Run, columns: Columns, snapshots: Columns | None = None) -> None:
        """Store the results of a run, its snapshots first: a run that is there has them."""
        import polars as pl

        if snapshots is not None:
            self.pictures.mkdir(exist_ok=True)
            pictures = pl.DataFrame(snapshots, schema=_snapshot_types())
            content = as_parquet(pictures)
            _write(path_for(self.pictures, run.key, content), content)
        labels = {
            "run": run.key,
            "problem": run.problem.name,
            "policy": run.contender.name,
            "replicate": run.replicate,
        }
        n = len(columns["regret"])
        rows = {name: [label] * n for name, label in labels.items()} | columns
        content = as_parquet(pl.DataFrame(rows, schema_overrides=_run_types(columns)))
        _put(path_for(self.runs, run.key, content), content)
        if run.key in self._failures:
            (self.failed / f"{run.key}.json").unlink(missing_ok=True)

    def add_failure(self, key: str, failure: dict[str, Any]) -> None:
        """Remember that a run failed, and how."""
        self._failures.add(key)
        _write(self.failed / f"{key}.json", json.dumps(failure, indent=1).encode())

    def pack(self, at_least: int = PACK_AT) -> int:
        """Put the files of single runs into one, if there are many; how many are left."""
        loose = [path for path in self._files() if name_of(path) != PACKED]
        if len(loose) < at_least:
            return len(loose)
        packed = self._packed_keys()
        new = [path for path in loose if name_of(path) not in packed]
        if new:
            self._write_packed(self._together(new))
        for path in loose:  # only now: a kill before leaves every run somewhere
            path.unlink()
        return 0

    def take_over(self, other: Store) -> int:
        """Add the runs and failures of another store; the number of new runs."""
        import polars as pl

        stored = self.keys()
        for path in other._snapshots():
            self.pictures.mkdir(exist_ok=True)
            _write(self.pictures / path.name, path.read_bytes())
        new = [frame.filter(~pl.col("run").is_in(stored)) for frame in other._frames()]
        frames = [frame for frame in new if len(frame)]
        keys: set[str] = set()
        if frames:
            merged = pl.concat(frames, how="diagonal")
            keys = set(merged["run"].unique())
            self._write_packed(merged)
        for key, failure in other.failures().items():
            if key not in stored | keys:
                self.add_failure(key, failure)
        for key in keys:
            (self.failed / f"{key}.json").unlink(missing_ok=True)
        return len(keys)

    def _write_packed(self, frame: pl.DataFrame) -> None:
        content = as_parquet(frame)
        _write(path_for(self.runs, PACKED, content), content)

    # --- reading ------------------------------------------------------------------------------

    def manifest(self) -> Manifest:
        """The manifest; FileNotFoundError where there is none."""
        try:
            return Manifest.from_json(self._manifest.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise FileNotFoundError(
                f"{self.directory}: no manifest.json; expected a directory that voful run wrote"
            ) from None
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise FileFormatError(f"{self._manifest}: damaged ({error!r:.200})") from None

    def has_manifest(self) -> bool:
        """Whether a study was run here before."""
        return self._manifest.exists()

    def keys(self) -> set[str]:
        """Keys of all stored runs."""
        return _while_files_move(
            lambda: (
                self._packed_keys()
                | {name for path in self._files() if (name := name_of(path)) != PACKED}
            )
        )

    def failures(self) -> dict[str, dict[str, Any]]:
        """Key -> what is known of the failure."""
        return {path.stem: _failure(path) for path in sorted(self.failed.glob("*.json"))}

    def frame(self) -> pl.DataFrame:
        """All stored results of the runs in the manifest, in the order of the study."""
        import polars as pl

        manifest = self.manifest()
        declared = pl.DataFrame({"run": list(manifest.runs)}, schema={"run": pl.String})
        frames = _while_files_move(lambda: list(self._frames(manifest.runs)))
        columns = pl.concat(frames, how="diagonal") if frames else _empty(manifest.step)
        results = columns.join(declared, on="run", how="semi")
        for name, side in (("problem", manifest.problems), ("policy", manifest.policies)):
            names = [cell["name"] for cell in side]
            results = results.with_columns(pl.col(name).cast(pl.Enum(names)))
            for parameter, column in manifest.varied(side).items():
                values = pl.Series(f"{name}_{parameter}", column, strict=False)
                cells = pl.DataFrame({name: pl.Series(names, dtype=pl.Enum(names)), "": values})
                results = results.join(cells.rename({"": values.name}), on=name, how="left")
        order = ["problem", "policy", "replicate", manifest.step]
        return results.unique(subset=order, keep="first").drop("run").sort(order)

    def snapshots(self) -> pl.DataFrame:
        """All pictures of the runs in the manifest: problem, policy, replicate, and what was seen.

        ``theta_star`` and ``center`` are points, ``arms`` and each of ``polygons`` the
        coordinates of points one after the other; ``regret`` is that of the rounds before.
        """
        import polars as pl

        manifest = self.manifest()
        frames = []
        for path in self._snapshots():
            key = name_of(path)
            if key in manifest.runs:
                labels = zip(("problem", "policy", "replicate"), manifest.label(key), strict=True)
                columns = [pl.lit(label).alias(name) for name, label in labels]
                frame = checked_files.read(path).select(*columns, "*")
                frames.append((manifest.runs[key], frame))
        frames.sort(key=lambda placed: placed[0])
        if not frames:
            words = dict.fromkeys(("problem", "policy"), pl.String)
            return pl.DataFrame(schema=words | {"replicate": pl.Int64} | _snapshot_types())
        return pl.concat([frame for _, frame in frames], how="vertical_relaxed")

    def _snapshots(self) -> list[Path]:
        return sorted(self.pictures.glob("*.parquet"))

    def _frames(self, wanted: Container[str] | None = None) -> Iterator[pl.DataFrame]:
        """Frames that together hold every (wanted) run; some may be in two of them."""
        packed: set[str] = set()
        loose = []
        for path in self._files():
            if name_of(path) == PACKED:
                frame = checked_files.read(path)
                packed |= set(frame["run"].unique())
                yield frame
            elif wanted is None or name_of(path) in wanted:
                loose.append(path)
        loose = [path for path in loose if name_of(path) not in packed]
        if loose:
            yield self._together(loose)

    def _files(self) -> list[Path]:
        return sorted(self.runs.glob("*.parquet")) if self.runs.is_dir() else []

    def _packed_keys(self) -> set[str]:
        keys: set[str] = set()
        for path in self.runs.glob(f"{PACKED}-*.parquet"):
            keys |= set(checked_files.read(path, ["run"])["run"].unique())
        return keys

    def _together(self, paths: list[Path]) -> pl.DataFrame:
        """Files of single runs as one frame."""
        import polars as pl

        return pl.concat([checked_files.read(path) for path in paths], how="diagonal")


def _failure(path: Path) -> dict[str, Any]:
    """What is known of a failure; of a file that nobody can read, that."""
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        return {"run": str(told["run"]), "traceback": str(told["traceback"])}
    except (OSError, ValueError, KeyError, TypeError) as error:
        return {"run": path.stem, "traceback": f"{path}: damaged ({type(error).__name__})"}


def results(directory: str | Path) -> pl.DataFrame:
    """The results of a study as a Polars frame, one row per recorded point.

    Parameters
    ----------
    directory
        Where ``voful run`` stored them.

    Returns
    -------
    polars.DataFrame
        Columns ``problem``, ``policy`` (in the order of the study), ``replicate``, ``round`` (or
        ``episode``), what the loop recorded (``regret``, ``sum_variance``, ``in_set``,
        ``covered``, ``alarms``, ...), and ``problem_<name>``, ``policy_<name>`` for parameters
        with a grid. Columns with ``time`` in their name are measured; all others are determined by
        the study.
    """
    return Store(directory).frame()


def _write(path: Path, content: bytes) -> None:
    with atomic_file(path) as file:
        file.write(content)


def _put(path: Path, content: bytes) -> None:
    """Write and rename, without waiting for the disk.

    For the one writer of a directory: no other uses this temporary name.
    """
    temporary = path.with_suffix(".tmp")
    try:
        temporary.write_bytes(content)
        temporary.rename(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _while_files_move(read: Callable[[], T]) -> T:
    """Read again when a file was packed between listing and opening."""
    for _ in range(20):
        with contextlib.suppress(FileNotFoundError):
            return read()
    return read()


def _run_types(columns: Columns) -> dict[str, Any]:
    """The same in every run, also where all values are missing."""
    import polars as pl

    types = {"number": pl.Float64, "whole": pl.Int64, "truth": pl.Boolean}
    return {name: types[TYPES[name]] for name in columns} | {"replicate": pl.Int64}


def _snapshot_types() -> dict[str, Any]:
    import polars as pl

    numbers = pl.List(pl.Float64)
    return {
        "round": pl.Int64,
        "regret": pl.Float64,
        "theta_star": numbers,
        "center": numbers,
        "in_set": pl.Boolean,
        "polygons": pl.List(numbers),
        "arms": numbers,
        "choice": pl.Int64,
    }


def _empty(step: str) -> pl.DataFrame:
    import polars as pl

    words = dict.fromkeys(("run", "problem", "policy"), pl.String)
    return pl.DataFrame(
        schema=words | {"replicate": pl.Int64, step: pl.Int64, "regret": pl.Float64}
    )
