"""The one place where input is checked; every error speaks in one voice.

``<argument>: got <what came>; expected <what is allowed>``
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from voful.compiled import kernel
from voful.typing import BoolArray, FloatArray, IntArray
from voful.views import lent

TOLERANCE = 1e-9
"""Slack for rounding in what users pass: norms, rewards, probability rows."""

NO_MASK: BoolArray = np.empty(0, dtype=np.bool_)
"""Stands for "every arm may be played" where a kernel wants an array."""

_FLOAT64 = np.dtype(np.float64)
_INT64 = np.dtype(np.int64)
_LARGEST_INT = np.iinfo(np.int64).max


def fail(name: str, got: object, allowed: str) -> ValueError:
    """The error to raise for a bad value."""
    return ValueError(f"{name}: got {_shorten(repr(got))}; expected {allowed}")


def fail_type(name: str, got: object, allowed: str) -> TypeError:
    """The error to raise for a value of the wrong type."""
    return TypeError(f"{name}: got {type(got).__name__} {_shorten(repr(got))}; expected {allowed}")


def fail_shape(name: str, shape: tuple[int, ...], allowed: str) -> ValueError:
    """The error to raise for an array of the wrong shape."""
    return ValueError(f"{name}: got an array of shape {shape}; expected {allowed}")


def _shorten(text: str) -> str:
    return text if len(text) <= 80 else text[:77] + "..."


# --- scalars ----------------------------------------------------------------------------------


def positive_int(name: str, value: object, most: int = 2**53) -> int:
    """A whole number >= 1; up to 2^53 it is exact as a float."""
    return _whole(name, value, 1, most)


def nonnegative_int(name: str, value: object) -> int:
    """A whole number >= 0."""
    return _whole(name, value, 0)


def _whole(name: str, value: object, least: int, most: int | None = None) -> int:
    allowed = f"a whole number >= {least}" + (f", at most {most}" if most else "")
    if isinstance(value, (bool, np.bool_)):
        raise fail_type(name, value, allowed)
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise fail_type(name, value, allowed) from None
    if number < least or (most is not None and number > most):
        raise fail(name, number, allowed)
    return number


def finite_float(name: str, value: object, allowed: str = "a finite number") -> float:
    """A finite real number."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise fail_type(name, value, allowed)
    try:
        number = float(value)
    except OverflowError:
        raise fail(name, value, allowed) from None
    if not math.isfinite(number):
        raise fail(name, number, allowed)
    return number


def _number(name: str, value: object, allowed: str, is_allowed: Callable[[float], bool]) -> float:
    number = finite_float(name, value, allowed)
    if not is_allowed(number):
        raise fail(name, number, allowed)
    return number


def positive_float(name: str, value: object) -> float:
    """A number > 0, at most 1e100: its square is finite."""
    return _number(name, value, "a number > 0, at most 1e100", lambda x: 0.0 < x <= 1e100)


def scale(name: str, value: object) -> float:
    """A number > 0 whose square neither overflows nor vanishes."""
    return _number(name, value, "a number from 1e-100 to 1e100", lambda x: 1e-100 <= x <= 1e100)


def nonnegative_float(name: str, value: object) -> float:
    """A finite number >= 0."""
    return _number(name, value, "a finite number >= 0", lambda x: x >= 0.0)


def probability(name: str, value: object) -> float:
    """A number strictly between 0 and 1, at least 1e-300."""
    return _number(name, value, "a number between 1e-300 and 1, not 1", lambda x: 1e-300 <= x < 1.0)


def boolean(name: str, value: object) -> bool:
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise fail_type(name, value, "True or False")
    return bool(value)


def choice(name: str, value: object, allowed: Sequence[str]) -> str:
    """One of the allowed words."""
    if not isinstance(value, str) or value not in allowed:
        raise fail(name, value, "one of " + ", ".join(repr(word) for word in allowed))
    return value


def reward_range(name: str, value: object) -> tuple[float, float]:
    """A pair (low, high) of numbers of size <= 1e100, high - low >= 1e-6 (slack is 1e-9)."""
    allowed = "a pair (low, high), sizes <= 1e100, with high - low >= 1e-6 (else rescale rewards)"
    try:
        ends = tuple(value)  # type: ignore[arg-type,var-annotated]
    except TypeError:
        raise fail(name, value, allowed) from None
    if len(ends) != 2:
        raise fail(name, value, allowed)
    low, high = (finite_float(name, end, allowed) for end in ends)
    # A range whose width is lost in the rounding of its ends carries no information.
    largest = max(abs(low), abs(high))
    if not max(1e-6, 1e-12 * largest) <= high - low or largest > 1e100:
        raise fail(name, (low, high), allowed)
    return low, high


def reward_range_or_none(name: str, value: object) -> tuple[float, float] | None:
    """A pair (low, high), or None where rewards are unbounded."""
    return None if value is None else reward_range(name, value)


def seed_value(name: str, value: object) -> int | np.random.SeedSequence:
    """A whole number >= 0 or a SeedSequence, as it came."""
    return value if isinstance(value, np.random.SeedSequence) else nonnegative_int(name, value)


def seed(value: object) -> np.random.SeedSequence:
    """A whole number >= 0 or a SeedSequence, as a SeedSequence."""
    given = seed_value("seed", value)
    return given if isinstance(given, np.random.SeedSequence) else np.random.SeedSequence(given)


# --- arrays -----------------------------------------------------------------------------------


def _as_array(name: str, value: npt.ArrayLike, allowed: str) -> np.ndarray[Any, Any]:
    if isinstance(value, np.ma.MaskedArray):  # np.asarray would show what the mask hides
        raise fail_type(name, value, f"{allowed}, without a mask of its own")
    try:
        return np.asarray(value)
    except (TypeError, ValueError):  # ragged lists
        raise fail(name, value, allowed) from None


def _as_floats(name: str, value: npt.ArrayLike, allowed: str) -> FloatArray:
    """A C-contiguous, aligned, writeable float64 array (one Numba type for all kernels)."""
    array = _as_array(name, value, allowed)
    if array.dtype.kind not in "iufb":
        raise fail_type(name, value, allowed)
    return _ready(array, _FLOAT64)


def _ready(array: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """C-contiguous, aligned and writeable with this dtype; np.require takes 2 us to see that."""
    fits = array.dtype is dtype and array.flags.carray
    return array if fits else np.require(array, dtype=dtype, requirements=["C", "A", "W"])


def finite_array(name: str, value: npt.ArrayLike, ndim: int, allowed: str) -> FloatArray:
    """A finite array with `ndim` axes, always a copy."""
    array = np.array(_as_floats(name, value, allowed))
    if array.ndim != ndim:
        raise fail_shape(name, array.shape, allowed)
    if not np.isfinite(array).all():
        first = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise fail(f"{name}{list(first)}", float(array[first]), allowed)
    return array


def integer_array(name: str, value: npt.ArrayLike, ndim: int, allowed: str) -> IntArray:
    """A C-contiguous int64 array with `ndim` axes; not copied where it has that form already."""
    array = _as_array(name, value, allowed)
    if array.dtype.kind not in ("iu" if array.size else "iuf"):  # an empty list has floats
        raise fail_type(name, value, allowed)
    if array.ndim != ndim:
        raise fail_shape(name, array.shape, allowed)
    if array.dtype.kind == "u" and array.size and array.max() > _LARGEST_INT:
        raise fail(name, int(array.max()), allowed)
    return _ready(array, _INT64)


def vector(name: str, value: npt.ArrayLike, dim: int) -> FloatArray:
    """A finite (dim,) array, always a copy."""
    allowed = f"a finite array of shape ({dim},)"
    array = np.array(_as_floats(name, value, allowed))
    if array.shape != (dim,):
        raise fail_shape(name, array.shape, allowed)
    if not np.isfinite(array).all():
        raise fail(name, array, allowed)
    return array


def matrix(name: str, value: npt.ArrayLike, dim: int) -> FloatArray:
    """A finite (n, dim) array, n >= 0; not copied where it has the right form already."""
    X = _rows(name, value, dim)
    _check_rows(name, X, math.inf, "finite numbers whose squares are finite")
    return X


def _rows(name: str, value: npt.ArrayLike, dim: int) -> FloatArray:
    if type(value) is np.ndarray and value.dtype is _FLOAT64 and value.flags.carray:
        X: FloatArray = value
    else:
        X = _as_floats(name, value, f"a finite array of shape (n, {dim})")
    shape = X.shape
    if len(shape) != 2 or shape[1] != dim:
        raise fail_shape(name, shape, f"a finite array of shape (n, {dim})")
    return X


@kernel
def _first_bad_row(X: FloatArray, limit: float) -> int:
    """Index of the first row that is not finite or has a norm above limit, else -1."""
    X = lent(X)
    for i in range(X.shape[0]):
        if _is_bad_row(X[i], limit):
            return i
    return -1


@kernel
def _is_bad_row(x: FloatArray, limit: float) -> bool:
    squared = 0.0
    for j in range(x.shape[0]):
        squared += x[j] * x[j]
    # Squares of huge but finite entries overflow: such rows are refused too.
    return not squared <= limit * limit or not squared < np.inf


def _check_rows(name: str, X: FloatArray, limit: float, allowed: str) -> None:
    bad = _first_bad_row(X, limit)
    if bad >= 0:
        raise fail(f"{name}[{bad}]", X[bad], allowed)


def _slack(scale: float) -> float:
    return max(TOLERANCE, 1e-12 * scale)


class ObservationSpace:
    """What a policy or a set accepts: arms in a ball, rewards in a range.

    Parameters
    ----------
    dim
        Dimension d of the arms.
    feature_norm
        Arms x must satisfy ``|x| <= feature_norm``, up to 1e-9 (or 1e-12 of a large norm).
    reward_range
        Rewards must lie in it up to 1e-9 (or 1e-12 of large ends), and are clipped in; None
        accepts every reward of size at most 1e100.
    n_rounds
        How many rewards may be learnt; None: any number.
    """

    def __init__(
        self,
        dim: int,
        feature_norm: float,
        reward_range: tuple[float, float] | None,
        n_rounds: int | None = None,
    ) -> None:
        self.dim = dim
        self.feature_norm = feature_norm
        self.reward_range = reward_range
        self.n_rounds = n_rounds
        self._limit = feature_norm + _slack(feature_norm)
        self._low, self._high = (-1e100, 1e100) if reward_range is None else reward_range
        self._slack = _slack(max(abs(self._low), abs(self._high)))
        self._allowed_arm = f"finite with norm <= {feature_norm:g}"
        self._allowed_reward = "a finite number of size <= 1e100"
        if reward_range is not None:
            self._allowed_reward = f"a number in reward_range [{self._low:g}, {self._high:g}]"

    def arms(self, arms: npt.ArrayLike, name: str = "arms") -> FloatArray:
        """At least one arm in the ball, shape (n_arms, dim)."""
        X = _rows(name, arms, self.dim)
        if len(X) == 0:
            raise fail_shape(name, X.shape, "at least one arm")
        _check_rows(name, X, self._limit, self._allowed_arm)
        return X

    def pending(self, pending: npt.ArrayLike) -> FloatArray:
        """Arms in the ball whose rewards are still to come, shape (m, dim), perhaps none."""
        X = _rows("pending", pending, self.dim)
        _check_rows("pending", X, self._limit, self._allowed_arm)
        return X

    def mask(self, mask: npt.ArrayLike | None, n_arms: int) -> BoolArray:
        """Which arms may be played, at least one; None: all of them."""
        if mask is None:
            return NO_MASK
        allowed = f"a boolean array of shape ({n_arms},) with at least one True"
        array = _as_array("mask", mask, allowed)
        if array.dtype != np.bool_:
            raise fail_type("mask", mask, allowed)
        if array.shape != (n_arms,) or not array.any():
            raise fail("mask", mask, allowed)
        return _ready(array, array.dtype)

    def arm(self, x: npt.ArrayLike, name: str = "x") -> FloatArray:
        """One arm in the ball, shape (dim,)."""
        if type(x) is np.ndarray and x.dtype is _FLOAT64 and x.flags.carray:
            row: FloatArray = x
        else:
            row = _as_floats(name, x, f"a finite array of shape ({self.dim},)")
        if row.shape != (self.dim,):
            raise fail_shape(name, row.shape, f"shape ({self.dim},)")
        if _is_bad_row(row, self._limit):
            raise fail(name, row, self._allowed_arm)
        return row

    def reward(self, reward: float) -> float:
        """A finite reward in the range (up to 1e-9: clipped in)."""
        if type(reward) is float:
            number = reward
        elif isinstance(reward, (bool, np.bool_)):  # a click
            number = float(reward)
        else:
            number = finite_float("reward", reward)
        if self._low <= number <= self._high:
            return number
        if not self._low - self._slack <= number <= self._high + self._slack:
            raise fail("reward", number, self._allowed_reward)
        return min(max(number, self._low), self._high)

    @property
    def reward_limits(self) -> tuple[float, float]:
        """Rewards are clipped into these."""
        return self._low, self._high

    def accepts_range(self, low: float, high: float) -> bool:
        """Whether `reward` accepts every number from low to high."""
        return self._low - self._slack <= low and high <= self._high + self._slack

    def variance(self, variance: object) -> float:
        """The true variance of a reward's noise, for algorithms that must be told."""
        return nonnegative_float("variance", variance)

    def batch(
        self, X: npt.ArrayLike, rewards: npt.ArrayLike, name: str = "X"
    ) -> tuple[FloatArray, FloatArray]:
        """Arms (n, dim) and their rewards (n,), checked as a whole before anything is learnt."""
        rows = _rows(name, X, self.dim)
        _check_rows(name, rows, self._limit, self._allowed_arm)
        y = _as_floats("rewards", rewards, f"a finite array of shape ({rows.shape[0]},)")
        if y.shape != (rows.shape[0],):
            raise fail_shape("rewards", y.shape, f"shape ({rows.shape[0]},)")
        inside = (y >= self._low - self._slack) & (y <= self._high + self._slack)
        if not inside.all():
            bad = int(np.argmin(inside))
            raise fail(f"rewards[{bad}]", float(y[bad]), self._allowed_reward)
        return rows, np.clip(y, self._low, self._high)

    def variances(self, variances: npt.ArrayLike, n: int) -> FloatArray:
        """The true variances of n rewards, shape (n,)."""
        checked = vector("variances", variances, n)
        if not (checked >= 0.0).all():
            raise fail("variances", checked, f"{n} numbers >= 0")
        return checked

    def check_rounds(self, learnt: int, more: int) -> None:
        """RuntimeError where `more` rewards beyond the `learnt` ones are too many."""
        if self.n_rounds is not None and learnt + more > self.n_rounds:
            raise RuntimeError(
                f"n_rounds = {self.n_rounds}, {learnt} rewards learnt: cannot learn {more} more"
            )
