from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import voful
from voful import Log
from voful.logs import readers


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    rng = np.random.default_rng(0)
    n = 500
    h, targets = rng.dirichlet(np.ones(3), (2, n))
    h = 0.9 * h + 0.1 / 3
    a = (h.cumsum(axis=1) > rng.random(n)[:, None]).argmax(axis=1)
    return pl.DataFrame(
        {
            "action": a,
            "reward": rng.integers(0, 2, n),
            "propensity": h[np.arange(n), a],
            "propensities": h.tolist(),
            "target": targets[np.arange(n), a],
            "targets": targets.tolist(),
            "arms": rng.standard_normal((n, 3, 2)).tolist(),
        }
    )


def write(frame: pl.DataFrame, path: Path) -> Path:
    if path.suffix == ".csv":
        lists = [name for name, kind in frame.schema.items() if kind.is_nested()]
        texts = {name: [json.dumps(row) for row in frame[name].to_list()] for name in lists}
        frame.with_columns(**{name: pl.Series(text) for name, text in texts.items()}).write_csv(
            path
        )
    elif path.suffix == ".parquet":
        frame.write_parquet(path)
    else:
        frame.write_ndjson(path)
    return path


@pytest.mark.parametrize("ending", ["csv", "parquet", "ndjson", "jsonl"])
@pytest.mark.parametrize("rows", [64, 1 << 16])
def test_files_give_what_frames_give(
    frame: pl.DataFrame, tmp_path: Path, ending: str, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Piece by piece or at once."""
    monkeypatch.setattr(readers, "ROWS", rows)
    path = write(frame, tmp_path / f"log.{ending}")
    log = Log.from_frame(frame)
    targets = np.array(frame["targets"].to_list())
    expected = voful.evaluate(log, targets, estimator="dr")
    found = voful.evaluate(path, "targets", estimator="dr")
    assert (found.n, found.lower, found.upper) == (500, expected.lower, expected.upper)
    assert voful.compare(path, "target").n == 500
    policy = voful.OFUL(2, feature_norm=9.0, reward_range=(0, 1))
    assert voful.evaluate(path, policy).lower == voful.evaluate(log, policy).lower
    np.testing.assert_array_equal(Log.read(path).x, log.x)


def test_a_pandas_frame_needs_columns_only(frame: pl.DataFrame) -> None:
    class Other:
        """What is asked of a pandas frame."""

        columns = ("action", "reward", "propensities")

        def __getitem__(self, name: str) -> object:
            values = frame[name].to_list()
            made = np.empty(len(values), dtype=object if name == "propensities" else float)
            made[:] = values
            return made

    log = Log.from_frame(Other())
    assert log.law is not None
    np.testing.assert_array_equal(log.law, Log.from_frame(frame).law)


def test_contexts(frame: pl.DataFrame, tmp_path: Path) -> None:
    seen = frame.drop("arms").with_columns(context=pl.Series([[float(i), 1.0] for i in range(500)]))
    log = Log.read(write(seen, tmp_path / "log.parquet"))
    assert log.contexts is not None
    assert log.contexts[3].tolist() == [3.0, 1.0]


def test_bad_files(frame: pl.DataFrame, tmp_path: Path) -> None:
    for bad, message in (
        (frame.drop("action"), "a column 'action'"),
        (frame.drop("propensity", "propensities"), "'propensity' or 'propensities'"),
        (frame.drop("target"), "a column 'target', as a target names it"),
    ):
        with pytest.raises(ValueError, match=message):
            voful.evaluate(write(bad, tmp_path / "bad.parquet"), "target")
    with pytest.raises(ValueError, match="ends in .csv"):
        voful.evaluate(tmp_path / "log.xlsx", "target")
    with pytest.raises(FileNotFoundError, match="no such file"):
        voful.evaluate(tmp_path / "nothing.csv", "target")
    (tmp_path / "odd.parquet").write_text("odd")
    with pytest.raises(ValueError, match="odd.parquet"):
        voful.evaluate(tmp_path / "odd.parquet", "target")
    with pytest.raises(TypeError, match="a column's name, a Policy or a function"):
        voful.evaluate(write(frame, tmp_path / "log.csv"), [0.5])


def test_a_bad_row_is_named_by_its_place_in_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readers, "ROWS", 10)
    path = tmp_path / "log.csv"
    good = ["0,1,0.5,0.2"] * 30
    for bad, message in (
        ("0,oops,0.5,0.2", r"reward\[25\]: got 'oops'; expected a number"),
        ("0,,0.5,0.2", r"rewards\[25\]: got nan"),
        ("0.5,1,0.5,0.2", r"action\[25\]: got 0.5; expected a whole number"),
        ("0,2,0.5,0.2", r"rewards\[25\]: got 2.0; expected a number in reward_range"),
        ("0,1,0,0.2", r"propensities\[25\]: got 0.0"),
        ("0,1,0.5,7", r"target\[25\]: got 7.0"),
    ):
        lines = [*good[:25], bad, *good[26:]]
        path.write_text("action,reward,propensity,target\n" + "\n".join(lines) + "\n")
        with pytest.raises(ValueError, match=message):
            voful.evaluate(path, "target")
