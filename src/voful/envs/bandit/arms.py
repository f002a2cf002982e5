"""Where the arms come from: pure functions of (seed, block), inside the unit ball."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from voful import validation
from voful.compiled import kernel
from voful.envs.bandit.streams import ARMS, BLOCK_ROUNDS, generator
from voful.typing import FloatArray

SHAPES = ("sphere", "ball", "corners")


@kernel
def projections(arms: FloatArray, v: FloatArray) -> FloatArray:
    """<x, v> for every arm, shape (rounds, n_arms); the same bits whatever the BLAS."""
    rounds, n_arms, dim = arms.shape
    out = np.empty((rounds, n_arms))
    for t in range(rounds):
        for i in range(n_arms):
            total = 0.0
            for j in range(dim):
                total += arms[t, i, j] * v[j]
            out[t, i] = total
    return out


@runtime_checkable
class ArmSource(Protocol):
    """What the environment needs to know of its arms."""

    @property
    def dim(self) -> int:
        """Dimension d of the arms."""

    @property
    def n_arms(self) -> int:
        """Number of arms in a round."""

    @property
    def changes(self) -> bool:
        """Whether the arms differ from round to round."""

    def block(self, seed: np.random.SeedSequence, index: int) -> FloatArray:
        """Arms of the rounds index * BLOCK_ROUNDS and on, a fresh array.

        Shape (BLOCK_ROUNDS, n_arms, dim), or (1, n_arms, dim) if they never change.
        """

    def mean_range(self, theta: FloatArray) -> tuple[float, float]:
        """Bounds (lowest, highest) on <x, theta> over all arms that may come."""


@dataclass(frozen=True)
class RandomArms:
    """Random arms, drawn once or anew each round.

    Parameters
    ----------
    dim, n_arms
        Arms are (n_arms, dim).
    shape
        "sphere": uniform on |x| = 1; "ball": uniform in |x| <= 1;
        "corners": uniform on the cube's corners (+-1/sqrt(d))^d.
    redraw
        Draw the arms anew each round.
    """

    dim: int
    n_arms: int
    shape: str = "sphere"
    redraw: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "dim", validation.positive_int("dim", self.dim))
        object.__setattr__(self, "n_arms", validation.positive_int("n_arms", self.n_arms))
        validation.choice("shape", self.shape, SHAPES)
        validation.boolean("redraw", self.redraw)

    @property
    def changes(self) -> bool:
        """Whether the arms differ from round to round."""
        return self.redraw

    def block(self, seed: np.random.SeedSequence, index: int) -> FloatArray:
        """Arms of one block of rounds, (1, n_arms, dim) if drawn once."""
        rounds, address = (BLOCK_ROUNDS, index) if self.redraw else (1, 0)
        rng = generator(seed, ARMS, address)
        size = (rounds, self.n_arms, self.dim)
        if self.shape == "corners":
            signs = 2 * rng.integers(0, 2, size=size) - 1
            return signs.astype(np.float64) / math.sqrt(self.dim)
        X = on_sphere(rng, size)
        if self.shape == "ball":  # P(|x| <= r) = r^d
            X *= rng.random((rounds, self.n_arms, 1)) ** (1.0 / self.dim)
        return X

    def mean_range(self, theta: FloatArray) -> tuple[float, float]:
        """(-|theta|, |theta|)."""
        bound = float(np.linalg.norm(theta))
        return -bound, bound


@dataclass(frozen=True)
class TinyThenUnitArms:
    """The stream of Appendix B: tiny arms for n_tiny rounds, then arms of norm 1.

    Arms are uniform on the sphere, scaled to `tiny_norm` in the first `n_tiny` rounds. Least
    squares with one regularisation cannot have a variance-aware width in both phases.

    Parameters
    ----------
    dim, n_arms
        Arms are (n_arms, dim).
    n_tiny
        Rounds with tiny arms.
    tiny_norm
        Their norm, in (0, 1]; None: 1/sqrt(n_tiny), the paper's.
    redraw
        Draw the directions anew each round.
    """

    dim: int
    n_arms: int
    n_tiny: int
    tiny_norm: float | None = None
    redraw: bool = False
    changes = True

    def __post_init__(self) -> None:
        unit = self._unit
        n_tiny = validation.positive_int("n_tiny", self.n_tiny)
        norm = 1.0 / math.sqrt(n_tiny)
        if self.tiny_norm is not None:
            norm = validation.positive_float("tiny_norm", self.tiny_norm)
        if norm > 1.0:
            raise validation.fail("tiny_norm", norm, "a number in (0, 1]")
        checked = {"dim": unit.dim, "n_arms": unit.n_arms, "n_tiny": n_tiny, "tiny_norm": norm}
        self.__dict__.update(checked)

    @property
    def _unit(self) -> RandomArms:
        return RandomArms(self.dim, self.n_arms, "sphere", self.redraw)

    def block(self, seed: np.random.SeedSequence, index: int) -> FloatArray:
        """Arms of one block of rounds."""
        rounds = index * BLOCK_ROUNDS + np.arange(BLOCK_ROUNDS)
        assert self.tiny_norm is not None  # by __post_init__
        norms = np.where(rounds < self.n_tiny, self.tiny_norm, 1.0)
        return norms[:, np.newaxis, np.newaxis] * self._unit.block(seed, index)

    def mean_range(self, theta: FloatArray) -> tuple[float, float]:
        """(-|theta|, |theta|)."""
        return self._unit.mean_range(theta)


@dataclass(frozen=True, eq=False)
class GivenArms:
    """The same given arms, an (n_arms, dim) array with rows in the unit ball, each round."""

    array: FloatArray
    changes = False

    def __init__(self, array: npt.ArrayLike) -> None:
        allowed = "an (n_arms, dim) array with at least one row and one column"
        try:
            shape = np.shape(array)
        except ValueError:  # ragged
            raise validation.fail("array", array, allowed) from None
        if len(shape) != 2 or 0 in shape:
            raise validation.fail_shape("array", shape, allowed)
        checked = np.array(validation.matrix("array", array, shape[1]), order="C")
        longest = float(np.linalg.norm(checked, axis=1).max())
        if longest > 1.0 + validation.TOLERANCE:
            raise validation.fail("array (longest row)", longest, "rows of norm <= 1")
        checked.flags.writeable = False
        object.__setattr__(self, "array", checked)

    @property
    def dim(self) -> int:
        """Dimension d of the arms."""
        return int(self.array.shape[1])

    @property
    def n_arms(self) -> int:
        """Number of arms in a round."""
        return int(self.array.shape[0])

    def block(self, seed: np.random.SeedSequence, index: int) -> FloatArray:
        """Return the given arms, shape (1, n_arms, dim), whatever the seed and the block."""
        return self.array[np.newaxis].copy()

    def mean_range(self, theta: FloatArray) -> tuple[float, float]:
        """Lowest and highest <x, theta>."""
        means = projections(self.array[np.newaxis].copy(), theta)
        return float(means.min()), float(means.max())


def on_sphere(rng: np.random.Generator, size: tuple[int, ...]) -> FloatArray:
    """Points uniform on the unit sphere of the last axis."""
    X = rng.standard_normal(size)
    X /= np.sqrt(np.square(X).sum(axis=-1, keepdims=True))
    return X
