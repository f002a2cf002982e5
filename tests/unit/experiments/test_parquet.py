from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voful.experiments.store.parquet import is_whole, parquet


def read(n_rows: int, columns: dict[str, Any]) -> pl.DataFrame:
    return pl.read_parquet(io.BytesIO(parquet(n_rows, columns)))


def with_gaps(values: st.SearchStrategy[Any], n: int) -> st.SearchStrategy[list[Any]]:
    return st.lists(st.none() | values, min_size=n, max_size=n)


@st.composite
def tables(draw: st.DrawFn) -> tuple[int, dict[str, list[Any]]]:
    n = draw(st.integers(0, 70))
    kinds = {
        "truths": st.booleans(),
        "whole": st.integers(-(2**63), 2**63 - 1),
        "numbers": st.floats(allow_nan=False),
        "words": st.text(max_size=9),
    }
    return n, {name: draw(with_gaps(kind, n)) for name, kind in kinds.items()}


@given(tables())
def test_polars_reads_what_was_written(table: tuple[int, dict[str, list[Any]]]) -> None:
    n, columns = table
    assert read(n, columns).to_dict(as_series=False) == columns


def test_types_and_constants() -> None:
    columns = {"policy": "β", "replicate": 3, "in_set": [None, None], "regret": [0, 0.5]}
    frame = read(2, columns)
    assert frame.schema == {
        "policy": pl.String,
        "replicate": pl.Int64,
        "in_set": pl.Boolean,
        "regret": pl.Float64,
    }
    assert frame.rows() == [("β", 3, None, 0.0), ("β", 3, None, 0.5)]


def test_many_columns_and_rows() -> None:
    columns = {f"column {k}": [float(i * k) for i in range(3000)] for k in range(40)}
    assert read(3000, columns).to_dict(as_series=False) == columns


def test_what_does_not_fit() -> None:
    with pytest.raises(ValueError, match="regret: got 1 values; expected 2"):
        parquet(2, {"regret": [1.0]})
    with pytest.raises(TypeError, match="regret: got complex; expected truths"):
        parquet(1, {"regret": [1j]})
    with pytest.raises(TypeError, match="regret: got float, str; expected"):
        parquet(2, {"regret": [1.0, "one"]})


def test_torn_files_are_recognised(tmp_path: Path) -> None:
    content = parquet(2, {"regret": [0.0, 1.0]})
    path = tmp_path / "run.parquet"
    for torn in (b"", b"PA", content[:-1], bytes(len(content))):
        path.write_bytes(torn)
        assert not is_whole(path)
    path.write_bytes(content)
    assert is_whole(path)
