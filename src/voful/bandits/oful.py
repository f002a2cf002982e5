"""OFUL: optimism over the self-normalised ellipsoid, and its rarely-switching form."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from voful.archive import Arrays
from voful.bandits import arguments as given
from voful.bandits.base import SetPolicy
from voful.bandits.optimism import most_optimistic_in_ellipsoid
from voful.compiled import kernel, part
from voful.confidence.ellipsoids.ridge import (
    Ridge,
    check_conditioning,
    log_det_ratio,
    new_ridges,
    open_ridge,
    ridge_update,
)
from voful.confidence.ellipsoids.sets import RidgeEllipsoid, in_ellipsoids
from voful.confidence.ellipsoids.sound import scale_of, sound_ridge
from voful.confidence.rule import rule
from voful.invariants import Invariants
from voful.parameters import parameter
from voful.typing import BoolArray, FloatArray, Seed
from voful.validation import nonnegative_float, positive_float


class SelfNormalized(NamedTuple):
    """What the radius of a set about an unweighted ridge estimate needs."""

    noise_scale: float
    delta: float
    ridge: float
    theta_norm: float
    width_scale: float


@part
def oful_radius(
    log_det_ratio: float, noise_scale: float, delta: float, ridge: float, theta_norm: float
) -> float:
    """R sqrt(ln(det V / det(lambda I)) + 2 ln(1/delta)) + sqrt(lambda) S  (Theorem 2 of [1])."""
    deviation = noise_scale * math.sqrt(log_det_ratio + 2.0 * math.log(1.0 / delta))
    return deviation + math.sqrt(ridge) * theta_norm


@part
def self_normalized_radius(ridge: Ridge, rule: SelfNormalized) -> float:
    """`oful_radius` of a set, however its arms were chosen; width_scale included."""
    growth = max(log_det_ratio(ridge), 0.0)  # rounding may put it just below 0
    return rule.width_scale * oful_radius(
        growth, rule.noise_scale, rule.delta, rule.ridge, rule.theta_norm
    )


@part
def self_normalized(constants: FloatArray) -> SelfNormalized:
    """The constants by name."""
    c = constants
    return SelfNormalized(c[0], c[1], c[2], c[3], c[4])


class OfulState(NamedTuple):
    """The set, and the one that `select` uses between switches."""

    blocks: FloatArray
    constants: FloatArray  # SelfNormalized, det_growth
    chosen: FloatArray  # as a row of blocks


@kernel
def oful_choose(
    blocks: FloatArray, constants: FloatArray, chosen: FloatArray, arms: FloatArray, mask: BoolArray
) -> int:
    """Optimism over the set, or over what it was when det V had last grown by 1 + C."""
    ridge, det_growth = open_ridge(blocks[0], arms.shape[1]), constants[-1]
    if det_growth > 0.0:
        used = open_ridge(chosen, arms.shape[1])
        if log_det_ratio(ridge) > log_det_ratio(used) + math.log1p(det_growth):
            for i in range(chosen.shape[0]):
                chosen[i] = blocks[0, i]
        ridge = used
    return most_optimistic_in_ellipsoid(
        arms, mask, ridge.center, ridge.whitener, float(ridge.radius[0])
    )


@kernel
def oful_observe(
    blocks: FloatArray,
    constants: FloatArray,
    chosen: FloatArray,
    x: FloatArray,
    reward: float,
    variance: float,
) -> None:
    """Ridge regression, and the radius that follows."""
    self_normalized_update(blocks, constants, x, reward)


@part
def self_normalized_update(
    blocks: FloatArray, constants: FloatArray, x: FloatArray, reward: float
) -> None:
    """Ridge regression, and the radius that follows."""
    ridge = open_ridge(blocks[0], x.shape[0])
    ridge_update(ridge, x, reward, 1.0)
    ridge.radius[0] = self_normalized_radius(ridge, self_normalized(constants))


@kernel
def oful_holds(
    blocks: FloatArray, constants: FloatArray, chosen: FloatArray, theta: FloatArray
) -> bool:
    """Whether theta is in the set, which is never frozen."""
    return in_ellipsoids(blocks, constants, theta)


def self_normalized_blocks(dim: int, rule: SelfNormalized) -> FloatArray:
    """The set before any data."""
    blocks = new_ridges(dim, np.array([rule.ridge]), np.zeros(1))
    start = open_ridge(blocks[0], dim)
    start.radius[0] = self_normalized_radius(start, rule)
    return blocks


class OFUL(SetPolicy[RidgeEllipsoid]):
    """Optimism in the face of uncertainty for linear bandits [1].

    With V = lambda I + sum x x' and the ridge estimate theta_hat, with probability at least
    1 - failure_prob at all times

        |theta* - theta_hat|_V <= R sqrt(ln(det V / det(lambda I)) + 2 ln(1/failure_prob))
                                  + sqrt(lambda) S,

    and the policy plays argmax_x <x, theta_hat> + radius |x|_{V^-1}. Anytime; O(d^2) an update and
    O(d^2) an arm, whatever the round. `confidence_set` is never frozen, also in the
    rarely-switching form.

    References
    ----------
    [1] Abbasi-Yadkori, Pal, Szepesvari. Improved algorithms for linear stochastic bandits.
        NeurIPS 2011.
    """

    _arrays = ("_chosen",)
    _rule = rule(OfulState, oful_choose, oful_observe, oful_holds)

    failure_prob: float = given.failure_prob()
    reward_range: tuple[float, float] | None = given.reward_range_or_none("noise_scale")
    noise_scale: float = given.noise_scale(
        "R: the noise is R-sub-Gaussian. Default: half the reward range (Hoeffding's lemma)."
    )
    theta_norm: float = given.theta_norm()
    feature_norm: float = given.feature_norm()
    ridge: float = parameter(positive_float, "lambda.", default=1.0)
    det_growth: float = parameter(
        nonnegative_float,
        "C >= 0 of the rarely-switching form ([1], Section 5.1): the set used to choose is renewed "
        "when det V has grown by more than the factor 1 + C. 0: every round.",
        default=0.0,
    )
    width_scale: float = given.width_scale()
    seed: Seed = given.seed()

    def _build(self) -> None:
        super()._build()
        check_conditioning(self.feature_norm, self.ridge)
        constants = SelfNormalized(
            self.noise_scale, self.failure_prob, self.ridge, self.theta_norm, self.width_scale
        )
        blocks = self_normalized_blocks(self.dim, constants)
        self._chosen = blocks[0].copy()
        state = OfulState(blocks, np.array([*constants, self.det_growth]), self._chosen)
        self._learn_in(RidgeEllipsoid(self._space, state, theta_norm=self.theta_norm))
        self._chooses_by_upper = self.det_growth == 0.0  # else by a set that is frozen

    def _invariants(self, state: Arrays) -> Invariants:
        rewards = scale_of(self._space)
        yield from sound_ridge(state["_chosen"], self._chosen, self.dim, rewards)
