"""Noise = law x scale: exactly centred, never outside the reward range, variance known.

A law is a function of plain numbers that turns one uniform into one noise value by the inverse
CDF. Every law consumes exactly one uniform a round, so that policies run on the same seed
face common random numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from voful import validation
from voful.compiled import kernel, part
from voful.envs.bandit.arms import projections
from voful.envs.bandit.normal import truncated_gaussian, truncated_gaussian_variance
from voful.typing import ConfidenceSet, FloatArray

NONE, GAUSSIAN, UNIFORM, TWO_POINT = range(4)
RARE_POSITIVE, RARE_NEGATIVE, BERNOULLI, ADVERSARY = range(4, 8)

LAWS: Final = (
    "none",
    "gaussian",
    "uniform",
    "two_point",
    "rare_positive",
    "rare_negative",
    "bernoulli",
    "adversary",
)
"""Names of the laws; the place in this tuple is the law's integer code."""

UNSCALED: Final = ("none", "bernoulli")
"""Laws that ignore sigma."""


@part
def _two_points(a: float, b: float, u: float) -> float:
    # -a with probability b / (a + b), else b: the only centred law on {-a, b}; variance a b.
    return -a if u * (a + b) < b else b


@part
def _frequent(sigma: float, jump: float, other: float) -> float:
    # Size a of the frequent value opposite a rare jump: a * jump = sigma^2, a <= other.
    return min(sigma * (sigma / jump), other) if jump > 0.0 else 0.0


@part
def draw(kind: int, mean: float, sigma: float, lo: float, hi: float, u: float) -> float:
    """Noise of law `kind` around `mean` in [lo, hi] at the uniform u in (0, 1).

    E noise = 0 for u uniform, and lo <= mean + noise <= hi up to rounding (see `reward`).
    Jumps rarer than the grid of u (probability below 1e-16) never happen.
    An "adversary" first chooses one of the two rare laws: `Noise.kind_against`.
    """
    below, above = mean - lo, hi - mean
    if kind == BERNOULLI:
        return _two_points(below, above, u)
    if kind == NONE or sigma == 0.0:
        return 0.0
    room = min(below, above)
    if kind == GAUSSIAN:
        return truncated_gaussian(sigma, room, u)
    if kind == UNIFORM:
        return (2.0 * u - 1.0) * min(sigma * math.sqrt(3.0), room)
    if kind == TWO_POINT:
        return _two_points(min(sigma, room), min(sigma, room), u)
    if kind == RARE_POSITIVE:
        return _two_points(_frequent(sigma, above, below), above, u)
    if kind == RARE_NEGATIVE:
        return -_two_points(_frequent(sigma, below, above), below, 1.0 - u)
    raise ValueError("kind must be the code of a law other than adversary")


@part
def variance(kind: int, mean: float, sigma: float, lo: float, hi: float) -> float:
    """Exact variance of `draw`; the adversary's two laws have the same one.

    none 0, gaussian sigma^2 (1 - 2 c phi(c) / erf(c/sqrt 2)) with c = room / sigma,
    uniform min(sigma^2, room^2/3), two_point min(sigma, room)^2,
    rare_* and adversary min(sigma^2, (mean-lo)(hi-mean)), bernoulli (mean-lo)(hi-mean),
    where room = min(mean-lo, hi-mean).
    """
    below, above = mean - lo, hi - mean
    if kind == BERNOULLI:
        return below * above
    if kind == NONE or sigma == 0.0:
        return 0.0
    room = min(below, above)
    if kind == GAUSSIAN:
        return truncated_gaussian_variance(sigma, room)
    if kind == UNIFORM:
        return min(sigma * sigma, room * room / 3.0)
    if kind == TWO_POINT:
        return min(sigma, room) ** 2
    if kind in (RARE_POSITIVE, RARE_NEGATIVE, ADVERSARY):
        return min(sigma * sigma, below * above)
    raise ValueError("kind must be the code of a law")


@part
def reward(kind: int, mean: float, sigma: float, lo: float, hi: float, u: float) -> float:
    """Mean + noise, inside [lo, hi] to the last bit.

    The clip does not bias: in exact arithmetic the sum is inside already, so that only the
    rounding of the sum is undone.
    """
    value = min(max(mean + draw(kind, mean, sigma, lo, hi, u), lo), hi)
    if kind == BERNOULLI:  # exactly lo or hi, for the same reason
        return hi if value > 0.5 * lo + 0.5 * hi else lo
    return value


@kernel
def reward_and_variance(
    kind: int, mean: float, sigma: float, lo: float, hi: float, u: float, known: float = -1.0
) -> tuple[float, float]:
    """`reward` and `variance` in one call; known >= 0: the variance, from an earlier one."""
    y = reward(kind, mean, sigma, lo, hi, u)
    return y, known if known >= 0.0 else variance(kind, mean, sigma, lo, hi)


@kernel
def variances(kind: int, means: FloatArray, sigmas: FloatArray, lo: float, hi: float) -> FloatArray:
    """`variance` for each arm, shape (n_arms,)."""
    out = np.empty(means.shape[0])
    for i in range(means.shape[0]):
        out[i] = variance(kind, means[i], sigmas[i], lo, hi)
    return out


@runtime_checkable
class Scale(Protocol):
    """How large the noise of each arm is."""

    def sigmas(self, arms: FloatArray) -> FloatArray:
        """Return the sigma of each arm, shape (rounds, n_arms), for arms (rounds, n_arms, dim)."""


@dataclass(frozen=True)
class ConstantScale:
    """The same sigma everywhere."""

    sigma: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", validation.nonnegative_float("sigma", self.sigma))

    def sigmas(self, arms: FloatArray) -> FloatArray:
        """Return the sigma of each arm, shape (rounds, n_arms)."""
        return np.full(arms.shape[:2], self.sigma)


@dataclass(frozen=True)
class ArmScale:
    """Arm i has sigma `by_arm[i mod len(by_arm)]`."""

    by_arm: tuple[float, ...]

    def __init__(self, by_arm: Sequence[float] | FloatArray) -> None:
        values = by_arm if isinstance(by_arm, Sequence) else np.asarray(by_arm).tolist()
        if not isinstance(values, Sequence) or len(values) == 0:
            raise validation.fail("by_arm", by_arm, "a non-empty sequence of numbers >= 0")
        checked = tuple(validation.nonnegative_float("by_arm", sigma) for sigma in values)
        object.__setattr__(self, "by_arm", checked)

    def sigmas(self, arms: FloatArray) -> FloatArray:
        """Return the sigma of each arm, shape (rounds, n_arms)."""
        rounds, n_arms = arms.shape[:2]
        return np.tile(np.resize(self.by_arm, n_arms), (rounds, 1))


@dataclass(frozen=True)
class DirectionScale:
    """sigma_high on the side x.direction > 0, sigma_low on the other."""

    direction: tuple[float, ...]
    sigma_low: float
    sigma_high: float

    def __init__(self, direction: npt.ArrayLike, *, sigma_low: float, sigma_high: float) -> None:
        checked = validation.vector("direction", direction, _length(direction))
        if not np.any(checked):
            raise validation.fail("direction", direction, "a vector other than 0")
        low = validation.nonnegative_float("sigma_low", sigma_low)
        high = validation.nonnegative_float("sigma_high", sigma_high)
        object.__setattr__(self, "direction", tuple(checked.tolist()))
        object.__setattr__(self, "sigma_low", low)
        object.__setattr__(self, "sigma_high", high)

    def sigmas(self, arms: FloatArray) -> FloatArray:
        """Return the sigma of each arm, shape (rounds, n_arms)."""
        if arms.shape[2] != len(self.direction):
            raise validation.fail("direction", self.direction, f"shape ({arms.shape[2]},)")
        side = projections(arms, np.array(self.direction))
        return np.where(side > 0.0, self.sigma_high, self.sigma_low)


def _length(value: npt.ArrayLike) -> int:
    return len(value) if isinstance(value, (Sequence, np.ndarray)) else 1


@dataclass(frozen=True)
class Noise:
    """A law and its scale; `scale` may be left out for the laws that ignore it.

    Examples
    --------
    >>> Noise("gaussian", ConstantScale(0.1)).kind
    1
    """

    law: str
    scale: Scale | None = None

    def __post_init__(self) -> None:
        validation.choice("law", self.law, LAWS)
        if self.scale is None and self.law in UNSCALED:
            object.__setattr__(self, "scale", ConstantScale(0.0))
        elif not isinstance(self.scale, Scale):
            allowed = "a ConstantScale, ArmScale or DirectionScale"
            raise validation.fail_type("scale", self.scale, allowed)

    @property
    def kind(self) -> int:
        """Integer code of the law, as the kernels take it."""
        return LAWS.index(self.law)

    def sigmas(self, arms: FloatArray) -> FloatArray:
        """Return the sigma of each arm, shape (rounds, n_arms), for arms (rounds, n_arms, dim)."""
        assert self.scale is not None  # by __post_init__
        return self.scale.sigmas(arms)

    def kind_against(
        self, confidence_set: ConfidenceSet | None, x: FloatArray, mean: float, t: int
    ) -> int:
        """Law that the adversary plays at x in round t; for other laws simply `kind`.

        It looks at the past only, and both of its laws are centred, so that the noise is
        centred given the past. If the midpoint of the set's interval at x is below the mean,
        rare positive jumps: the frequent value is negative and pushes the estimate further
        down; otherwise the mirror image. Without a set: alternately by the parity of t.
        """
        if self.law != "adversary":
            return self.kind
        if confidence_set is None:
            pushes_down = t % 2 == 0
        else:
            lower, upper = confidence_set.interval(x[np.newaxis])
            pushes_down = bool(0.5 * (lower[0] + upper[0]) < mean)
        return RARE_POSITIVE if pushes_down else RARE_NEGATIVE
