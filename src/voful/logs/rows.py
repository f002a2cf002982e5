"""Rows to learn from: the arm that was played and what it paid, of frames and files.

Columns: reward; x, the features of the arm played, or action with arms or context (which stands for
block arms); and variance for policies that are told it. Other columns are left alone.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from voful.bandits.base import Policy
from voful.logs.faults import Fault
from voful.logs.log import Log
from voful.logs.readers import Frame, column_of
from voful.typing import BoolArray, FloatArray
from voful.validation import TOLERANCE, fail


class Rows(NamedTuple):
    """Rows that a policy accepts."""

    X: FloatArray
    rewards: FloatArray
    variances: FloatArray | None

    def teach(self, policy: Policy) -> None:
        """Learn them, in their order."""
        told = {} if self.variances is None else {"variances": self.variances}
        policy.partial_fit(self.X, self.rewards, **told)

    def cut(self, n: int) -> tuple[Rows, Rows]:
        """The first n of them, and the others."""
        told = self.variances
        first, others = (
            Rows(self.X[part], self.rewards[part], None if told is None else told[part])
            for part in (slice(None, n), slice(n, None))
        )
        return first, others


class RowReader:
    """Makes rows of frames, for one policy.

    Parameters
    ----------
    policy
        Says what is accepted.
    skipped
        Counts what is left out, by reason; None: a bad row is an error.
    """

    def __init__(self, policy: Policy, skipped: Counter[str] | None = None) -> None:
        self._space, self._dim = policy._space, policy.dim
        self._variance = policy.needs_variance
        self.skipped = skipped

    def read(self, frame: Frame, first_row: int = 0) -> Rows:
        """The rows of a frame, whose first one errors call `first_row`."""
        columns = self._columns(list(frame.columns))
        if not isinstance(frame, pl.DataFrame):
            frame = pl.DataFrame({name: column_of(frame, name) for name in columns})
        found = _Kept(frame.select(columns), first_row, self.skipped)
        for name in columns:
            found.without(name, found.frame[name].is_null().to_numpy(), "a value")
            if found.frame.schema[name] == pl.String:
                found.read_text(name)
        low, high = self._check_range(found)
        variances = None
        if self._variance:
            told = found.numbers("variance")
            found.without("variance", ~((told >= 0.0) & (told < np.inf)), "a number >= 0")
        X = self._features(found)
        norm = self._space.feature_norm
        with np.errstate(over="ignore", invalid="ignore"):
            long = ~(np.linalg.norm(X, axis=1) <= norm + max(TOLERANCE, 1e-12 * norm))
        X = X[~found.without("x", long, f"finite numbers with norm <= {norm:g}", X)]
        if self._variance:
            variances = found.numbers("variance")
        rewards = np.clip(found.numbers("reward"), low, high)
        return Rows(np.ascontiguousarray(X), rewards, variances)

    def check_rewards(self, frame: pl.DataFrame, first_row: int) -> None:
        """ValueError where a reward is outside of the range, of a frame that has them alone."""
        found = _Kept(frame, first_row, None)
        if not frame.schema["reward"].is_numeric():
            return  # texts: row by row, as they are learnt
        found.without("reward", frame["reward"].is_null().to_numpy(), "a value")
        self._check_range(found)

    def _check_range(self, found: _Kept) -> tuple[float, float]:
        rewards, (low, high) = found.numbers("reward"), self._space.reward_limits
        slack = max(TOLERANCE, 1e-12 * max(abs(low), abs(high)))
        outside = ~((rewards >= low - slack) & (rewards <= high + slack))
        found.without("reward", outside, f"a number in reward_range ({low:g}, {high:g})")
        return low, high

    def check_dimension(self, frame: Frame) -> None:
        """ValueError where columns are missing or the first row has another dimension."""
        columns = self._columns(list(frame.columns))
        name = next(name for name in ("x", "arms", "context") if name in columns)
        try:
            value = column_of(frame, name)
        except (ValueError, pl.exceptions.PolarsError):
            return  # a bad row: it is met again
        shape = np.shape(value[0]) if len(value) else ()
        width = shape[-1] if shape else 0
        fits = width == self._dim or (name == "context" and width and self._dim % width == 0)
        if width and not fits:
            wanted = f"{self._dim} features" if name != "context" else f"a divisor of {self._dim}"
            raise fail(name, f"{width} features", f"{wanted}, as the policy's dim says")

    def _columns(self, names: list[str]) -> list[str]:
        """What is to be read, in an order in which texts can be."""
        for name in ("reward", *(["variance"] if self._variance else [])):
            if name not in names:
                raise fail("columns", names, f"a column {name!r}")
        features = next((name for name in ("x", "arms", "context") if name in names), None)
        if features is None:
            raise fail("columns", names, "a column 'x', or 'action' with 'arms' or 'context'")
        if features != "x" and "action" not in names:
            raise fail("columns", names, f"a column 'action', beside {features!r}")
        wanted = ["reward", features, *(["action"] if features != "x" else [])]
        return [*wanted, *(["variance"] if self._variance else [])]

    def _features(self, found: _Kept) -> FloatArray:
        names = found.frame.columns
        if "x" in names:
            found.of_length("x", self._dim)
            return _matrix(found.frame["x"], self._dim)
        actions = found.numbers("action")
        with np.errstate(invalid="ignore"):
            whole = np.where(np.abs(actions) < 2.0**53, actions, -1.0).astype(np.int64)
        bad: BoolArray = (whole != actions) | (whole < 0)
        if "context" in names:
            width = _first_length(found.frame["context"])
            n_actions = self._dim // width if width else 0
            bad |= whole >= max(n_actions, 1)
            expected = f"a whole number from 0 to {n_actions - 1}"
            whole = whole[~found.without("action", bad, expected)]
            whole = whole[~found.of_length("context", width)]
            context = _matrix(found.frame["context"], width)
            blocks = np.zeros((len(context), max(n_actions, 1), width))
            blocks[np.arange(len(context)), whole] = context
            return blocks.reshape(len(context), -1)
        arms: list[Any] = found.frame["arms"].to_list()
        played = np.full((len(arms), self._dim), np.nan)
        for row, (action, choices) in enumerate(zip(whole, arms, strict=True)):
            bad[row] = bad[row] or action >= len(choices) or len(choices[action]) != self._dim
            if not bad[row]:
                played[row] = choices[action]
        expected = f"the number of one of the row's arms, which have {self._dim} features each"
        return played[~found.without("action", bad, expected)]


class _Kept:
    """The rows of a frame that are left, with their numbers."""

    def __init__(self, frame: pl.DataFrame, first_row: int, skipped: Counter[str] | None) -> None:
        self.frame, self._skipped = frame, skipped
        self._row = np.arange(first_row, first_row + len(frame))

    def without(self, name: str, bad: BoolArray, expected: str, got: Any = None) -> BoolArray:
        """Leave out bad rows, or ValueError about the first one; returns `bad`."""
        if bad.any():
            values = self.frame[name].to_list() if got is None else got
            if self._skipped is None:
                first = int(np.argmax(bad))
                fault = Fault(name, bad, values, expected)
                raise fault.error(int(self._row[first]) - first)
            self._skipped[f"{name}: expected {expected}"] += int(bad.sum())
            self.frame, self._row = self.frame.filter(~bad), self._row[~bad]
        return bad

    def numbers(self, name: str) -> FloatArray:
        """A column of numbers."""
        values = self.frame[name].cast(pl.Float64).to_numpy()
        return np.require(values, requirements=["C", "W"])

    def of_length(self, name: str, width: int) -> BoolArray:
        """Leave out lists of other lengths, or ValueError."""
        series = self.frame[name]
        lengths = series.arr.len() if isinstance(series.dtype, pl.Array) else series.list.len()
        return self.without(name, (lengths != width).to_numpy(), f"{width} numbers")

    def read_text(self, name: str) -> None:
        """A column of text: numbers, or lists as JSON."""
        series = self.frame[name].str.strip_chars()
        if len(series) and series.str.starts_with("[").any():
            bad = np.array([not _is_list(text) for text in series.to_list()])
            self.without(name, bad, "a list of numbers")
            if len(self.frame):
                kind: Any = pl.List(pl.Float64)
                nested = self.frame[name].str.strip_chars()
                deep = bool(nested.str.starts_with("[[").all())
                parsed = nested.str.json_decode(pl.List(kind) if deep else kind)
                self.frame = self.frame.with_columns(parsed.alias(name))
            return
        self.without(name, series.cast(pl.Float64, strict=False).is_null().to_numpy(), "a number")
        numbers = self.frame[name].str.strip_chars().cast(pl.Float64)
        self.frame = self.frame.with_columns(numbers.alias(name))


def _is_list(text: str) -> bool:
    try:
        return isinstance(json.loads(text), list)
    except ValueError:
        return False


def _first_length(series: pl.Series) -> int:
    if isinstance(series.dtype, pl.Array):
        return int(series.dtype.shape[0])
    return int(series.list.len()[0] or 0) if len(series) else 0


def _matrix(series: pl.Series, width: int) -> FloatArray:
    """(n, width) of lists that are all of one length."""
    flat = series.explode().cast(pl.Float64).fill_null(np.nan) if len(series) else pl.Series([0.0])
    return flat.to_numpy()[: len(series) * width].reshape(len(series), width)


def rows_of_log(log: Log, reader: RowReader) -> Iterator[Rows]:
    """Of a `Log` with arms or contexts, as one piece."""
    frame: dict[str, Any] = {"reward": log.rewards}
    if log.contexts is not None:
        frame |= {"action": log.actions, "context": log.contexts}
    else:
        frame["x"] = log.x
    yield reader.read(pl.DataFrame(frame), log.first_row)
