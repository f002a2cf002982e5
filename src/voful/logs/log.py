"""A log of decisions: what was played, what it paid, and how probable it was."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from voful.logs.faults import feature_faults, raise_first, row_faults
from voful.typing import FloatArray, IntArray, Path
from voful.validation import fail, fail_shape, fail_type, integer_array


class Log:
    """Decisions in the order in which they were made; what is given is kept, as arrays.

    Parameters
    ----------
    actions
        (n,) whole numbers: which arm was played, a row of that round's arms.
    rewards
        (n,) what it paid.
    propensities
        How probable the logging policy made it, before it was drawn: (n,) of the arm played, or
        (n, n_arms) of all arms, ragged where their number changes.
    arms
        Features of the arms: (n, n_arms, dim), (n_arms, dim) where they are always the same, or a
        list of n arrays (n_arms, dim).
    contexts
        (n, p), instead of `arms`: one context a row, and actions that are numbers. They stand for
        block arms, action a having the context in block a of n_actions blocks.
    first_row
        The number that errors give to the first row, of a piece of a longer log.

    Attributes
    ----------
    propensities
        (n,) of the arms played.
    law
        (n, n_arms) of all arms, filled up with 0, or None.
    """

    def __init__(
        self,
        actions: npt.ArrayLike,
        rewards: npt.ArrayLike,
        propensities: Any,
        *,
        arms: Any = None,
        contexts: npt.ArrayLike | None = None,
        first_row: int = 0,
    ) -> None:
        self.actions: IntArray = integer_array("actions", actions, 1, "n whole numbers >= 0")
        n = len(self.actions)
        self.rewards = column("rewards", rewards, n)
        given = rectangle("propensities", propensities, n)
        self.law: FloatArray | None = given if given.ndim == 2 else None
        if arms is not None and contexts is not None:
            raise ValueError("contexts: got both arms and contexts; expected one of them")
        self.arms, self._n_arms = _arms(arms, n)
        self.contexts = None if contexts is None else _contexts(contexts, n)
        self.first_row = first_row
        if self.law is not None:
            widest = self.law.shape[1]
            if isinstance(self._n_arms, int) and self._n_arms != widest:
                raise fail_shape("propensities", self.law.shape, f"({n}, {self._n_arms}), as arms")
            self._n_arms = widest if self._n_arms is None else self._n_arms
            inside = (self.actions >= 0) & (self.actions < widest)
            places = np.where(inside, self.actions, 0)
            self.propensities: FloatArray = self.law[np.arange(n), places]
        else:
            self.propensities = given
        raise_first(
            row_faults(self.actions, self.rewards, self.propensities, self.law, self._n_arms),
            first_row,
        )

    def __len__(self) -> int:
        return len(self.actions)

    def __getitem__(self, rows: slice) -> Log:
        """Some of the rows, one after the other; nothing is copied."""
        if not isinstance(rows, slice) or rows.step not in (None, 1):
            raise fail_type("rows", rows, "a slice of rows one after the other")
        part = object.__new__(Log)
        part.actions, part.rewards = self.actions[rows], self.rewards[rows]
        part.propensities = self.propensities[rows]
        part.law = None if self.law is None else self.law[rows]
        part.contexts = None if self.contexts is None else self.contexts[rows]
        shared = self.arms is None or len(self.arms) == 1 != len(self)
        part.arms = self.arms if shared else self.arms[rows]  # type: ignore[index]
        counts = self._n_arms
        part._n_arms = counts[rows] if isinstance(counts, np.ndarray) else counts
        part.first_row = self.first_row + rows.indices(len(self))[0]
        return part

    def __repr__(self) -> str:
        known = "all arms" if self.law is not None else "the arms played"
        seen = f", arms {self.arms.shape[1:]}" if self.arms is not None else ""
        if self.contexts is not None:
            seen = f", contexts of {self.contexts.shape[1]}"
        return f"<Log of {len(self)} decisions, propensities of {known}{seen}>"

    @property
    def n_arms(self) -> int | None:
        """Of the row with most arms; None where only the arms played are known."""
        counts = self._n_arms
        return int(counts.max()) if isinstance(counts, np.ndarray) else counts

    @property
    def x(self) -> FloatArray:
        """Features of the arms played, for ``policy.partial_fit(log.x, log.rewards)``."""
        if self.contexts is not None:
            n, p = self.contexts.shape
            n_actions = self.n_arms or int(self.actions.max(initial=0)) + 1
            blocks = np.zeros((n, n_actions, p))
            blocks[np.arange(n), self.actions] = self.contexts
            return blocks.reshape(n, n_actions * p)
        arms = self._known_arms()
        rows = np.arange(len(self)) if len(arms) > 1 else 0
        played: FloatArray = arms[rows, self.actions]
        return played

    def arms_of(self, row: int, dim: int) -> FloatArray:
        """The arms of one row; block arms of dimension dim where the log has contexts."""
        if self.contexts is not None:
            context = self.contexts[row]
            if dim % len(context):
                raise fail("target", dim, f"a policy whose dim is a multiple of {len(context)}")
            return np.kron(np.eye(dim // len(context)), context)
        arms = self._known_arms()
        counts = self._n_arms
        n = counts[row] if isinstance(counts, np.ndarray) else arms.shape[1]
        found: FloatArray = arms[row if len(arms) > 1 else 0][:n]
        return found

    def _known_arms(self) -> FloatArray:
        if self.arms is None:
            raise ValueError("arms: got none; expected a Log with arms or contexts")
        return self.arms

    @classmethod
    def from_frame(cls, frame: Any) -> Log:
        """A log from a Polars or pandas frame.

        Its columns: action, reward, propensity or propensities (a list of all arms'), and arms
        (lists of features) or context where there are any.
        """
        from voful.logs.readers import log_of

        return log_of(frame)

    @classmethod
    def read(cls, path: Path) -> Log:
        """A log from a CSV, Parquet or NDJSON file with the columns of `from_frame`, as a whole.

        `voful.evaluate` takes the path of such a file too, and then reads it piece by piece.
        """
        from voful.logs.readers import read_log

        return read_log(path)

    @classmethod
    def from_obp(cls, feedback: dict[str, Any], *, position: int | None = None) -> Log:
        """A log from Open Bandit Pipeline's dictionary ``bandit_feedback``.

        Several positions are several decisions: name the one to take.
        """
        from voful.logs.foreign import from_obp

        return from_obp(feedback, position)

    @classmethod
    def from_dsjson(cls, path: Path, *, features: Any = None) -> Log:
        """A log from Vowpal Wabbit's decision-service JSON, one decision a line.

        features: a function of a line's context ``c`` that returns its arms, (n_arms, dim).
        """
        from voful.logs.foreign import from_dsjson

        return from_dsjson(path, features)


def column(name: str, values: npt.ArrayLike, n: int) -> FloatArray:
    """(n,) numbers, finite or not."""
    array = _floats(name, values, f"{n} numbers")
    if array.shape != (n,):
        raise fail_shape(name, array.shape, f"({n},)")
    return array


def rectangle(name: str, values: Any, n: int) -> FloatArray:
    """(n,) numbers, or (n, A): ragged rows are filled up with 0."""
    allowed = f"shape ({n},) or ({n}, n_arms), or {n} lists"
    if _is_ragged(values):
        lengths = [len(row) for row in values]
        array = np.zeros((len(lengths), max(lengths)))
        for i, row in enumerate(values):
            array[i, : lengths[i]] = _floats(f"{name}[{i}]", row, "numbers")
    else:
        array = _floats(name, values, allowed)
    if array.ndim not in (1, 2) or len(array) != n or (array.ndim == 2 and array.shape[1] == 0):
        raise fail_shape(name, array.shape, allowed)
    return array


def _is_ragged(values: Any) -> bool:
    if isinstance(values, np.ndarray) and values.dtype != object:
        return False
    if not isinstance(values, Sequence | np.ndarray) or len(values) == 0:
        return False
    return all(hasattr(row, "__len__") for row in values) and len({len(row) for row in values}) > 1


def _floats(name: str, values: Any, allowed: str) -> FloatArray:
    if isinstance(values, np.ma.MaskedArray):
        raise fail_type(name, values, f"{allowed}, without a mask of its own")
    try:
        array = np.asarray(values)
    except (TypeError, ValueError):
        raise fail_type(name, values, allowed) from None
    if array.dtype.kind not in "iufb":
        raise fail_type(name, values, allowed)
    return np.require(array, dtype=np.float64, requirements=["C", "A", "W"])


def _arms(arms: Any, n: int) -> tuple[FloatArray | None, IntArray | int | None]:
    """(n or 1, most arms, dim), and how many arms each row has."""
    if arms is None:
        return None, None
    allowed = f"({n}, n_arms, dim), (n_arms, dim), or {n} arrays (n_arms, dim)"
    counts: IntArray | int
    if _is_ragged(arms):
        rows = [_floats(f"arms[{i}]", row, "an array (n_arms, dim)") for i, row in enumerate(arms)]
        dims = {row.shape[1] if row.ndim == 2 else -1 for row in rows}
        if len(rows) != n or len(dims) != 1 or -1 in dims:
            raise fail_shape("arms", (len(rows),), f"{n} arrays (n_arms, dim) of one dim")
        counts = np.array([len(row) for row in rows])
        array = np.zeros((n, int(counts.max()), dims.pop()))
        for i, row in enumerate(rows):
            array[i, : len(row)] = row
    else:
        array = _floats("arms", arms, allowed)
        array = array[None] if array.ndim == 2 else array
        if array.ndim != 3 or len(array) not in (1, n) or 0 in array.shape[1:]:
            raise fail_shape("arms", array.shape, allowed)
        counts = array.shape[1]
    raise_first(feature_faults("arms", array))
    return array, counts


def _contexts(contexts: npt.ArrayLike, n: int) -> FloatArray:
    array = _floats("contexts", contexts, f"shape ({n}, p)")
    if array.ndim != 2 or len(array) != n or array.shape[1] == 0:
        raise fail_shape("contexts", array.shape, f"({n}, p)")
    raise_first(feature_faults("contexts", array))
    return array


def pieces(n: int, size: int) -> Iterator[slice]:
    """Rows 0..n in slices of at most `size`."""
    return (slice(start, min(start + size, n)) for start in range(0, n, size))
