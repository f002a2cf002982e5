"""Logs from frames and files: CSV, Parquet and NDJSON, piece by piece.

Columns: action, reward, propensity or propensities; arms or context; and those that targets name.
A list is a list, or JSON text where the format has no lists.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path as FilePath
from typing import Any

import numpy as np
import polars as pl

from voful.logs.faults import Fault, floor_faults, law_faults, range_faults, row_faults
from voful.logs.log import Log, rectangle
from voful.logs.targets import Rows, Target, rows_of
from voful.typing import FloatArray, Path
from voful.validation import fail, fail_type

ROWS = 1 << 16  # of a piece
LISTS = ("propensities", "arms", "context")
A_LIST = "a list of numbers, such as [0.5, 1]"

Frame = Any
"""Of Polars or pandas: only columns are asked for."""


def log_of(frame: Frame, first_row: int = 0) -> Log:
    """The log of a frame."""
    law = law_column(frame)
    features = {
        word: column_of(frame, name, first_row)
        for name, word in (("arms", "arms"), ("context", "contexts"))
        if name in frame.columns
    }
    actions = column_of(frame, "action", first_row)
    whole = as_whole(actions)
    if (whole != actions).any():
        raise Fault("action", whole != actions, actions, "a whole number >= 0").error(first_row)
    rewards, given = (column_of(frame, name, first_row) for name in ("reward", law))
    return Log(whole, rewards, given, **features, first_row=first_row)


def law_column(frame: Frame) -> str:
    """The name of the column of propensities, in a frame that has all that is needed."""
    names = list(frame.columns)
    for name in ("action", "reward"):
        if name not in names:
            raise fail("columns", names, f"a column {name!r}")
    found = next((name for name in ("propensities", "propensity") if name in names), None)
    if found is None:
        raise fail("columns", names, "a column 'propensity' or 'propensities'")
    return found


def as_whole(actions: FloatArray) -> Any:
    """Numbers of arms that a reader may have made floats of; -1 where they are none."""
    with np.errstate(invalid="ignore"):
        return np.where(np.abs(actions) < 2.0**53, actions, -1).astype(np.int64)


def column_of(frame: Frame, name: str, first_row: int = 0) -> Any:
    """A column: an array of numbers, or lists."""
    series = frame[name]
    if not isinstance(series, pl.Series):
        values = np.asarray(series)
        return values.tolist() if values.dtype == object else values
    if series.dtype == pl.String:
        series = _from_text(series, name, first_row)
    if series.dtype.is_nested():
        return _rectangle(series)
    return series.cast(pl.Float64).to_numpy()


def _from_text(series: pl.Series, name: str, first_row: int) -> pl.Series:
    """Numbers, or lists as JSON."""
    opening = series.drop_nulls().str.strip_chars().str.head(2).head(1).to_list()
    if opening and opening[0].startswith("["):
        kind: Any = pl.List(pl.Float64)
        return series.str.json_decode(pl.List(kind) if opening[0] == "[[" else kind)
    numbers = series.str.strip_chars().cast(pl.Float64, strict=False)
    bad = (numbers.is_null() & series.is_not_null()).to_numpy()
    if bad.any():
        wanted = A_LIST if name in ("x", *LISTS) else "a number"
        raise Fault(name, bad, series.to_list(), wanted).error(first_row)
    return numbers


def _rectangle(series: pl.Series) -> Any:
    """Lists of equal lengths as an array, without a Python object for every number."""
    shape, inner = [len(series)], series
    while inner.dtype.is_nested():
        lengths = inner.list.len() if isinstance(inner.dtype, pl.List) else inner.arr.len()
        if lengths.n_unique() != 1 or lengths[0] in (None, 0):
            return series.to_list()
        shape.append(int(lengths[0]))
        inner = inner.explode()
    numbers = inner.cast(pl.Float64).to_numpy()
    return np.require(numbers, requirements=["C", "W"]).reshape(shape)


# --- files --------------------------------------------------------------------------------------


def read_log(path: Path) -> Log:
    """A file as a whole."""
    return log_of(pl.concat(frames_of(path)))


def frames_of(path: Path, first: int = 0, rows: int = ROWS) -> Iterator[pl.DataFrame]:
    """A file's rows in frames of so many (the last one: of what is left), from this frame on."""
    place = FilePath(path)
    kinds: dict[str, Callable[[FilePath, int, int], Iterator[pl.DataFrame]]] = {
        ".csv": _csv,
        ".parquet": _parquet,
        ".ndjson": _ndjson,
        ".jsonl": _ndjson,
    }
    read = kinds.get(place.suffix.lower())
    if read is None:
        raise fail("log", str(place), "a file that ends in .csv, .parquet, .ndjson or .jsonl")
    if not place.is_file():
        raise FileNotFoundError(f"{place}: no such file")
    try:
        yield from read(place, first, rows)
    except pl.exceptions.PolarsError as error:
        raise ValueError(f"{place}: {str(error).splitlines()[0]}") from None


def _parquet(path: FilePath, first: int, rows: int) -> Iterator[pl.DataFrame]:
    scan = pl.scan_parquet(path)
    for start in itertools.count(first * rows, rows):
        frame = scan.slice(start, rows).collect()
        if frame.is_empty():
            return
        yield frame


def _lines(path: FilePath, first: int, rows: int, head: int = 0) -> Iterator[bytes]:
    """The lines of the head, then blocks of whole lines from this one on."""
    with open(path, "rb") as file:
        if head:
            yield b"".join(itertools.islice(file, head))
        for _ in itertools.islice(file, first * rows):
            pass
        while lines := list(itertools.islice(file, rows)):
            yield b"".join(lines)


def _csv(path: FilePath, first: int, rows: int) -> Iterator[pl.DataFrame]:
    """Blocks of lines below the header, as text; a text must not hold a line's end."""
    blocks = _lines(path, first, rows, head=1)
    head = next(blocks)
    for block in blocks:
        yield pl.read_csv(BytesIO(head.rstrip(b"\r\n") + b"\n" + block), infer_schema=False)


def _ndjson(path: FilePath, first: int, rows: int) -> Iterator[pl.DataFrame]:
    blocks = _lines(path, first, rows)
    return (pl.read_ndjson(BytesIO(block), infer_schema_length=None) for block in blocks)


# --- rows with their targets --------------------------------------------------------------------


class Skipping:
    """Leaves out rows that cannot be used, and counts why.

    Where the reward decides which rows are left out, the interval is void.
    """

    def __init__(self, reward_range: tuple[float, float], min_propensity: float | None) -> None:
        self.reasons: Counter[str] = Counter()
        self._range, self._least = reward_range, min_propensity

    def keep(self, frame: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
        """The rows that can be used; `columns` are those of the targets."""
        law = law_column(frame)
        scalars = [name for name in ("action", "reward", law, *columns) if name not in LISTS]
        texts = [name for name in scalars if frame.schema[name] == pl.String]
        plain = pl.col(texts).str.strip_chars()
        numbers = pl.when(plain.str.starts_with("[")).then(plain)
        frame = frame.with_columns(
            numbers.otherwise(plain.cast(pl.Float64, strict=False).cast(pl.String))
        )
        for name in (*scalars, *(name for name in LISTS if name in frame.columns)):
            frame = self._without(frame, name, frame[name].is_null().to_numpy(), "missing")
        actions, rewards = column_of(frame, "action"), column_of(frame, "reward")
        whole, n = as_whole(actions), len(frame)
        given = rectangle("propensities", column_of(frame, law), n)
        full = given if given.ndim == 2 else None
        inside = np.where(full is None, 0, np.clip(whole, 0, given.shape[-1] - 1))
        chosen = given if full is None else full[np.arange(n), inside]
        width = None if full is None else full.shape[1]
        faults = [
            Fault("action", whole != actions, actions, "a whole number >= 0"),
            *row_faults(whole, rewards, chosen, full, width),
            *range_faults(rewards, *self._range),
            *floor_faults(chosen, self._least),
        ]
        for name in columns:
            faults += law_faults(name, rectangle(name, column_of(frame, name), n))
        gone = np.zeros(n, dtype=np.bool_)
        for fault in faults:
            self._count(f"{fault.name}: expected {fault.expected}", int((fault.bad & ~gone).sum()))
            gone |= fault.bad
        return frame.filter(~gone) if gone.any() else frame

    def _without(self, frame: pl.DataFrame, name: str, bad: Any, why: str) -> pl.DataFrame:
        self._count(f"{name}: {why}", int(bad.sum()))
        return frame.filter(~bad) if bad.any() else frame

    def _count(self, reason: str, n: int) -> None:
        if n:
            self.reasons[reason] += n


def pieces_of(
    path: Path,
    targets: Mapping[str, Target],
    learn: bool = False,
    skipping: Skipping | None = None,
) -> Iterator[tuple[Log, list[FloatArray]]]:
    """A file's rows with the targets' probabilities: names of columns, policies or functions."""
    asked: list[Rows | str] = []
    for name, target in targets.items():
        if isinstance(target, str):
            asked.append(target)
        elif callable(target) or hasattr(target, "choose"):
            asked.append(rows_of(name, target, 0, learn))
        else:
            raise fail_type(name, target, "for a file: a column's name, a Policy or a function")
    first_row = 0
    for frame in frames_of(path):
        columns = [column for column in asked if isinstance(column, str)]
        for column in columns:
            if column not in frame.columns:
                raise fail("columns", frame.columns, f"a column {column!r}, as a target names it")
        n = len(frame)
        if skipping is not None:
            frame = skipping.keep(frame, columns)
        if not frame.is_empty():
            log = log_of(frame, first_row)
            laws = [
                rectangle(ask, column_of(frame, ask, first_row), len(log))
                if isinstance(ask, str)
                else ask(log, slice(0, len(log)))
                for ask in asked
            ]
            yield log, laws
        first_row += n
