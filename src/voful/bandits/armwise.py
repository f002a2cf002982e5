"""What LinUCB and SupLinUCB share: bounds that hold for the arms of a round, not for theta*."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from voful.archive import Arrays
from voful.bandits.base import CompiledPolicy, square
from voful.compiled import kernel, part
from voful.confidence.algebra import dots
from voful.confidence.ellipsoids.ridge import check_conditioning, new_ridges, open_ridge
from voful.confidence.ellipsoids.sets import cut, meet
from voful.confidence.ellipsoids.sound import scale_of, sound_ridges
from voful.invariants import MOST, Invariants, whole
from voful.typing import FloatArray


@part
def linucb_alpha(noise_scale: float, n_bounds: float, failure_prob: float) -> float:
    """sigma sqrt(2 ln(2 n / delta)): the width of n two-sided Azuma bounds that share delta.

    For rewards in [0, 1], sigma = 1/2, it is sqrt(ln(2 n / delta) / 2), as printed.
    """
    return noise_scale * math.sqrt(2.0 * math.log(2.0 * n_bounds / failure_prob))


class ArmBounds(NamedTuple):
    """What the width of the bounds of single arms needs."""

    noise_scale: float
    n_rounds: float
    delta: float
    constant: float  # S, where the ridge's bias is counted; the whole factor, where it is given
    width_scale: float


@part
def arm_bounds(constants: FloatArray) -> ArmBounds:
    """The constants by name."""
    c = constants
    return ArmBounds(c[0], c[1], c[2], c[3], c[4])


@part
def arm_width(bounds: ArmBounds, n_arms: int, n_levels: int) -> float:
    """Factor of |x|_{A^-1} among n_arms arms, width_scale included."""
    n_bounds = bounds.n_rounds * n_arms * n_levels
    alpha = linucb_alpha(bounds.noise_scale, n_bounds, bounds.delta)
    return bounds.width_scale * (alpha + bounds.constant)


@kernel
def arm_means(blocks: FloatArray, X: FloatArray) -> FloatArray:
    """<x, theta_hat> for the rows of X, by the level that has learnt most, the first of equals."""
    fullest = open_ridge(blocks[0], X.shape[1])
    for i in range(1, blocks.shape[0]):
        level = open_ridge(blocks[i], X.shape[1])
        if level.n[0] > fullest.n[0]:
            fullest = level
    return dots(X, fullest.center)


@kernel
def arm_intervals(
    blocks: FloatArray, constants: FloatArray, arms: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The tightest of the levels' bounds of each arm of a round."""
    n, d = arms.shape
    width = arm_width(arm_bounds(constants), n, blocks.shape[0])
    lower, upper = np.full(n, -np.inf), np.full(n, np.inf)
    for i in range(blocks.shape[0]):
        level = open_ridge(blocks[i], d)
        cut(arms, level.center, level.whitener, width, lower, upper)
    meet(lower, upper)
    return lower, upper


class ArmwisePolicy(CompiledPolicy):
    """Levels of ridge estimates whose bounds hold for the arms of a round, not for theta*."""

    _arrays = ("_blocks",)

    def _start(self, n_levels: int, bounds: ArmBounds) -> tuple[FloatArray, FloatArray]:
        """(blocks, constants): A = I in every level, and behind it how many rewards came to it."""
        check_conditioning(self._space.feature_norm, 1.0, "1")
        width = arm_width(bounds, 1, n_levels)
        self._blocks = new_ridges(self.dim, np.ones(n_levels), np.full(n_levels, width), extra=1)
        return self._blocks, np.array(bounds)

    @classmethod
    def _least_numbers(cls, config: Mapping[str, Any]) -> int:
        return square(config)

    def _invariants(self, state: Arrays) -> Invariants:
        blocks = state["_blocks"]
        yield from sound_ridges(blocks, self._blocks, self.dim, scale_of(self._space))
        yield "whole numbers of rewards", whole(blocks[:, -1], 0, self._space.n_rounds or MOST)

    @property
    def confidence_set(self) -> None:
        """None: the bounds are those of single arms, not of theta*."""
        return None

    @property
    def n_observations(self) -> int:
        """How many rewards came, learnt by a level or not."""
        return int(self._blocks[0, -1])

    def _width(self, n_arms: int) -> float:
        return float(arm_width(arm_bounds(self._state.constants), n_arms, len(self._blocks)))

    def _predict(self, X: FloatArray) -> FloatArray:
        return arm_means(self._blocks, X)

    def _index(self, arms: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        lower, upper = arm_intervals(self._blocks, self._state.constants, arms)
        return np.minimum(np.maximum(self._predict(arms), lower), upper), lower, upper
