"""Files of rows: what identifies them, and how they are dealt into shards."""

from __future__ import annotations

import hashlib
import itertools
import os
from collections.abc import Iterator, Sequence
from pathlib import Path as FilePath
from typing import NamedTuple

import numpy as np
import polars as pl

from voful.lineage import repeated
from voful.logs.readers import ROWS, frames_of
from voful.logs.rows import RowReader, Rows
from voful.typing import Path
from voful.validation import fail, fail_type, positive_int

SAMPLES = 64  # places of a file that are looked at to tell it from others
SAMPLE = 4096  # bytes of each
AT_A_TIME = 1 << 20  # rewards that are checked


class LogFile(NamedTuple):
    """A file of rows."""

    path: str
    digest: str  # of its length and of samples: the name of its rows in a lineage
    rows: int | None  # where the format says it
    size: int


class Piece(NamedTuple):
    """Frames of a file, one after the other."""

    path: str
    first: int
    n_frames: int | None  # None: to its end

    def frames(self) -> Iterator[tuple[int, pl.DataFrame]]:
        """(number of the first row, frame)."""
        found = itertools.islice(frames_of(self.path, self.first), self.n_frames)
        return ((i * ROWS, frame) for i, frame in enumerate(found, start=self.first))


Shard = tuple[Piece, ...]


def open_files(paths: Sequence[Path]) -> list[LogFile]:
    """The files, none of them twice."""
    if not paths:
        raise fail("logs", [], "at least one file")
    files = [_open_file(path) for path in paths]
    if repeated({file.digest: 1} for file in files):
        seen: dict[str, str] = {}
        for file in files:
            if file.digest in seen:
                raise fail("logs", file.path, f"rows that are not those of {seen[file.digest]} too")
            seen[file.digest] = file.path
    return files


def _open_file(path: Path) -> LogFile:
    place = os.path.realpath(os.fspath(path))
    if not os.path.isfile(place):
        raise FileNotFoundError(f"{os.fspath(path)}: no such file")
    size = os.path.getsize(place)
    digest = hashlib.blake2b(str(size).encode(), digest_size=16)
    with open(place, "rb") as file:
        for start in np.unique(np.linspace(0, max(size - SAMPLE, 0), SAMPLES).astype(np.int64)):
            file.seek(int(start))
            digest.update(file.read(SAMPLE))
    rows = None
    if place.lower().endswith(".parquet"):
        rows = int(pl.scan_parquet(place).select(pl.len()).collect().item())
    return LogFile(place, digest.hexdigest(), rows, size)


def check_files(files: Sequence[LogFile], reader: RowReader) -> None:
    """ValueError where columns, the dimension or (of Parquet) rewards are wrong."""
    for file in files:
        with naming(file.path):
            reader.check_dimension(first_rows(file.path))
            if file.rows is not None and reader.skipped is None:
                rewards = pl.scan_parquet(file.path).select("reward")
                for first in range(0, file.rows, AT_A_TIME):
                    reader.check_rewards(rewards.slice(first, AT_A_TIME).collect(), first)


def first_rows(path: str) -> pl.DataFrame:
    """The first row of a file, if it has any."""
    if path.lower().endswith(".parquet"):
        return pl.scan_parquet(path).head(1).collect()
    return next(frames_of(path, rows=1), pl.DataFrame())


class naming:
    """ValueErrors and TypeErrors that begin with a file's name."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, (ValueError, TypeError)):
            name = FilePath(self._path).name
            if not str(error).startswith((self._path, name)):
                raise type(error)(f"{name}: {error}") from None


def deal(files: Sequence[LogFile], shards: int | str) -> list[Shard]:
    """Shards of about equal size, which depend on the files and on `shards` only.

    "files": one for each. A number: so many runs of neighbouring frames; files of text are not
    divided.
    """
    if shards == "files":
        return [(Piece(file.path, 0, None),) for file in files]
    if isinstance(shards, str):
        raise fail_type("shards", shards, 'a whole number, "files" or None')
    wanted = positive_int("shards", shards, 100_000)
    units: list[tuple[str, int, float]] = []
    for file in files:
        n_frames = 1 if file.rows is None else max(1, -(-file.rows // ROWS))
        units += [(file.path, i, file.size / n_frames) for i in range(n_frames)]
    text = {file.path for file in files if file.rows is None}
    ends = np.cumsum([size for _, _, size in units])
    place = np.minimum((ends - 0.5 * np.array([u[2] for u in units])) * wanted / ends[-1], wanted)
    found: list[list[Piece]] = [[] for _ in range(wanted)]
    for (path, frame, _), home in zip(
        units, np.minimum(place.astype(int), wanted - 1), strict=True
    ):
        mine = found[int(home)]
        if path in text:
            mine.append(Piece(path, 0, None))
        elif mine and mine[-1].path == path:
            mine[-1] = mine[-1]._replace(n_frames=(mine[-1].n_frames or 0) + 1)
        else:
            mine.append(Piece(path, frame, 1))
    return [tuple(shard) for shard in found if shard]


def rows_of(shard: Shard, reader: RowReader) -> Iterator[tuple[str, Rows]]:
    """(file, rows of a frame of it), in their order."""
    for piece in shard:
        for first_row, frame in piece.frames():
            with naming(piece.path):
                rows = reader.read(frame, first_row)
            yield piece.path, rows
