"""OFUL: optimism over the self-normalised ellipsoid, and its rarely-switching form."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from voful import validation
from voful.bandits.base import EllipsoidPolicy
from voful.bandits.optimism import most_optimistic_in_ellipsoid
from voful.bandits.rounds import Kernels, Ridge, State, in_ellipsoid
from voful.compiled import kernel
from voful.confidence.ellipsoids.ridge import (
    LOG_DET,
    RidgeEllipsoid,
    check_conditioning,
    ridge_update,
)
from voful.typing import BoolArray, FloatArray, Seed
from voful.validation import ObservationSpace


@kernel
def oful_radius(
    log_det_ratio: float, noise_scale: float, delta: float, ridge: float, theta_norm: float
) -> float:
    """R sqrt(ln(det V / det(lambda I)) + 2 ln(1/delta)) + sqrt(lambda) S  (Theorem 2 of [1])."""
    deviation = noise_scale * math.sqrt(log_det_ratio + 2.0 * math.log(1.0 / delta))
    return deviation + math.sqrt(ridge) * theta_norm


def self_normalized_radius(Theta: RidgeEllipsoid, noise_scale: float, delta: float) -> float:
    """`oful_radius` of a set about an unweighted ridge estimate, however its arms were chosen."""
    growth = max(Theta.log_det_ratio, 0.0)  # rounding may put it just below 0
    return oful_radius(growth, noise_scale, delta, Theta.ridge, Theta.theta_norm)


class SelfNormalized(NamedTuple):
    """What `self_normalized_radius` needs besides the set's tally."""

    noise_scale: float
    delta: float
    ridge: float
    theta_norm: float
    width_scale: float
    log_det_ridge: float


def self_normalized_rule(Theta: RidgeEllipsoid, noise_scale: float, delta: float) -> SelfNormalized:
    """The constants of a set."""
    return SelfNormalized(
        noise_scale,
        delta,
        Theta.ridge,
        Theta.theta_norm,
        Theta.width_scale,
        Theta._log_det_ridge,
    )


@kernel
def current_radius(tally: FloatArray, rule: SelfNormalized) -> float:
    """The radius of the set, width_scale included."""
    growth = max(tally[LOG_DET] - rule.log_det_ridge, 0.0)
    return rule.width_scale * oful_radius(
        growth, rule.noise_scale, rule.delta, rule.ridge, rule.theta_norm
    )


class OfulState(NamedTuple):
    """The set, its radius' constants, and the set that `select` uses between switches."""

    ridge: Ridge
    rule: SelfNormalized
    chosen_center: FloatArray
    chosen_whitener: FloatArray
    chosen: FloatArray
    det_growth: float


@kernel
def oful_choose(state: OfulState, arms: FloatArray, mask: BoolArray) -> int:
    """`select`."""
    radius = current_radius(state.ridge[4], state.rule)
    center, whitener = state.ridge[3], state.ridge[1]
    if state.det_growth > 0.0:
        log_det_ratio = state.ridge[4][LOG_DET] - state.rule.log_det_ridge
        if log_det_ratio > state.chosen[0] + math.log1p(state.det_growth):
            state.chosen_center[:] = center
            state.chosen_whitener[:] = whitener
            state.chosen[0], state.chosen[1] = log_det_ratio, radius
        center, whitener, radius = state.chosen_center, state.chosen_whitener, state.chosen[1]
    return most_optimistic_in_ellipsoid(arms, mask, center, whitener, radius)


@kernel
def oful_observe(state: OfulState, x: FloatArray, reward: float, variance: float) -> None:
    """`update`."""
    ridge_update(*state.ridge, x, reward, 1.0)


@kernel
def oful_holds(state: OfulState, theta: FloatArray) -> bool:
    """`contains`."""
    return in_ellipsoid(state.ridge, current_radius(state.ridge[4], state.rule), theta)


class OFUL(EllipsoidPolicy):
    """Optimism in the face of uncertainty for linear bandits [1].

    With V = lambda I + sum x x' and the ridge estimate theta_hat, with probability at least
    1 - failure_prob at all times

        |theta* - theta_hat|_V <= R sqrt(ln(det V / det(lambda I)) + 2 ln(1/failure_prob))
                                  + sqrt(lambda) S,

    and the policy plays argmax_x <x, theta_hat> + radius |x|_{V^-1}. Anytime; O(d^2) an update and
    O(d^2) an arm, whatever the round.

    Parameters
    ----------
    dim
        Dimension d of the arms.
    failure_prob
        Probability that theta* ever leaves the set.
    reward_range
        (low, high); None where rewards are unbounded (then `noise_scale` is needed).
    noise_scale
        R: the noise is R-sub-Gaussian. Default: half the reward range (Hoeffding's lemma).
    theta_norm
        S: |theta*| <= S.
    feature_norm
        Arms must satisfy |x| <= feature_norm.
    ridge
        lambda.
    det_growth
        C >= 0 of the rarely-switching form ([1], Section 5.1): the set used to choose is renewed
        when det V has grown by more than the factor 1 + C. 0: every round.
    width_scale
        Multiplies the radius (1 = the theory).
    seed
        Unused by the rule itself, which is deterministic.

    References
    ----------
    [1] Abbasi-Yadkori, Pal, Szepesvari. Improved algorithms for linear stochastic bandits.
        NeurIPS 2011.
    """

    _arrays = ("_chosen_center", "_chosen_whitener", "_chosen")
    _kernels = Kernels(oful_choose, oful_observe, oful_holds)

    def __init__(
        self,
        dim: int,
        *,
        failure_prob: float = 0.05,
        reward_range: tuple[float, float] | None = (-1.0, 1.0),
        noise_scale: float | None = None,
        theta_norm: float = 1.0,
        feature_norm: float = 1.0,
        ridge: float = 1.0,
        det_growth: float = 0.0,
        width_scale: float = 1.0,
        seed: Seed = 0,
    ) -> None:
        bounds = validation.reward_range_or_none(reward_range)
        space = ObservationSpace.checked(dim, bounds, feature_norm=feature_norm)
        super().__init__(space, seed=seed)
        self.failure_prob = validation.probability("failure_prob", failure_prob)
        self.noise_scale = validation.noise_scale(noise_scale, bounds)
        self.theta_norm = validation.positive_float("theta_norm", theta_norm)
        self.ridge = validation.positive_float("ridge", ridge)
        check_conditioning(space.feature_norm, self.ridge)
        self.det_growth = validation.nonnegative_float("det_growth", det_growth)
        self.width_scale = validation.positive_float("width_scale", width_scale)
        self._set = RidgeEllipsoid(
            space,
            ridge=self.ridge,
            radius=self._radius,
            theta_norm=self.theta_norm,
            width_scale=self.width_scale,
        )
        # The set that `select` uses: frozen between switches. [log det ratio, radius]
        self._chosen_center = self._set.center
        self._chosen_whitener = self._set.whitener.copy()
        self._chosen = np.array([0.0, self._set.radius])

    @property
    def confidence_set(self) -> RidgeEllipsoid:
        """Live view of the ellipsoid (never frozen, also in the rarely-switching form)."""
        return self._set

    def _radius(self, Theta: RidgeEllipsoid) -> float:
        return self_normalized_radius(Theta, self.noise_scale, self.failure_prob)

    def _choose(self, arms: FloatArray, mask: BoolArray) -> int:
        Theta = self._set
        if self.det_growth == 0.0:
            return super()._choose(arms, mask)
        if Theta.log_det_ratio > self._chosen[0] + math.log1p(self.det_growth):
            self._chosen_center[:] = Theta._center
            self._chosen_whitener[:] = Theta.whitener
            self._chosen[:] = Theta.log_det_ratio, Theta.usable_radius()
        return most_optimistic_in_ellipsoid(
            arms, mask, self._chosen_center, self._chosen_whitener, self._chosen[1]
        )

    def _state(self, n_arms: int) -> State:
        return OfulState(
            self._set._matrices(),
            self_normalized_rule(self._set, self.noise_scale, self.failure_prob),
            self._chosen_center,
            self._chosen_whitener,
            self._chosen,
            self.det_growth,
        )
