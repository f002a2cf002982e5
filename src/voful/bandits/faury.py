"""Faury et al.'s Bernstein set as a linear bandit: the score in the norm of its own variation."""

from __future__ import annotations

import math
from typing import NamedTuple

from voful import validation
from voful.bandits.base import OptimisticPolicy
from voful.bandits.optimism import most_optimistic
from voful.bandits.rounds import Kernels, State
from voful.bandits.weighted_oful import CONSTANTS
from voful.compiled import kernel, shared
from voful.concentration import best_variation_bernstein, faury_radius, variation_radius
from voful.confidence.algebra import dots
from voful.confidence.ellipsoids.ridge import check_conditioning, within
from voful.confidence.ellipsoids.score import (
    ScoreArrays,
    ScoreEllipsoid,
    score_norm,
    score_update,
    score_widths,
)
from voful.typing import BoolArray, FloatArray, Seed
from voful.validation import ObservationSpace


class FauryRule(NamedTuple):
    """What the radius needs besides the determinant."""

    as_printed: bool
    curvature: float  # of the tight radius
    cap: float
    price: float
    dim: int
    ridge: float
    variation_ridge: float
    b: float
    theta_norm: float
    delta: float


@shared
def score_radius(log_det_ratio: float, rule: FauryRule) -> float:
    """gamma_t + mu S / sqrt(lambda)."""
    if rule.as_printed:
        deviation = faury_radius(log_det_ratio, rule.dim, rule.variation_ridge, rule.b, rule.delta)
    else:
        deviation = variation_radius(log_det_ratio, rule.curvature, rule.cap, rule.price)
    return deviation + rule.ridge * rule.theta_norm / math.sqrt(rule.variation_ridge)


class FauryState(NamedTuple):
    """The set and its constants."""

    arrays: ScoreArrays
    rule: FauryRule
    width_scale: float
    log_det_start: float
    largest_variance: float


@kernel
def current_radius(state: FauryState) -> float:
    """The radius of the set, width_scale included."""
    log_det_ratio = max(state.arrays[7][0] - state.log_det_start, 0.0)
    return state.width_scale * score_radius(log_det_ratio, state.rule)


@kernel
def faury_choose(state: FauryState, arms: FloatArray, mask: BoolArray) -> int:
    """`select`."""
    radius = current_radius(state)
    usable = radius if radius >= 0.0 else 0.0
    means = dots(arms, state.arrays[3])
    widths = score_widths(arms, state.arrays[1], state.arrays[5], usable)
    lower, upper = means - widths, means + widths
    return most_optimistic(upper, upper - lower, mask)


@kernel
def faury_observe(state: FauryState, x: FloatArray, reward: float, variance: float) -> None:
    """`update`."""
    score_update(*state.arrays, x, reward, min(variance, state.largest_variance))


@kernel
def faury_holds(state: FauryState, theta: FloatArray) -> bool:
    """`contains`."""
    radius = current_radius(state)
    distance = score_norm(theta - state.arrays[3], state.arrays[0], state.arrays[6])
    return radius >= 0.0 and within(distance, radius)


class Faury(OptimisticPolicy):
    """Optimism over the Bernstein set of Faury, Abeille, Calauzenes and Fercoq [1].

    For noise with |eta_s| <= R and known variances sigma_s^2, the estimate stays the unweighted
    one, theta_hat = G^-1 sum y_s x_s with G = mu I + sum x_s x_s', and variances enter through the
    norm in which its score is measured. With H = lambda I + sum sigma_s^2 x_s x_s', with
    probability at least 1 - failure_prob at all times

        |G (theta* - theta_hat)|_{H^-1} <= gamma_t + mu S / sqrt(lambda),

    since G (theta_hat - theta*) = sum eta_s x_s - mu theta* and H >= lambda I. Here gamma_t bounds
    |sum eta_s x_s|_{H^-1}, by

    - "tight": `voful.concentration.variation_bernstein`, whose proof is there;
    - "paper": Theorem 1 of [1], `voful.concentration.faury_radius`.

    The policy plays argmax_x <x, theta_hat> + radius |G^-1 x|_H. Anytime; O(d^2) an update and an
    arm.

    Differs from the paper, which is about logistic bandits: rewards are linear, so that the
    variances must be told; lambda is fixed, where [1] lets it grow like d ln t (its theorem is for
    a lambda fixed in advance); G and H have ridges of their own.

    Parameters
    ----------
    dim
        Dimension d of the arms.
    failure_prob
        Probability that theta* ever leaves the set.
    reward_range
        (low, high); None where rewards are unbounded (then `noise_bound` is needed).
    noise_bound
        R: |eta_s| <= R. Default: the length of the reward range, since the mean lies in it too.
    theta_norm
        S: |theta*| <= S.
    feature_norm
        A: arms must satisfy |x| <= A.
    ridge
        mu. Default: A^2 ("tight") or d A^2 ("paper").
    variation_ridge
        lambda. Default: d A^2 R^2 / 8 ("tight"; chosen by experiment, any number is valid) or
        d A^2 R^2 ("paper").
    constants
        "tight" or "paper".
    width_scale
        Multiplies the radius (1 = the theory).
    seed
        Unused by the rule itself, which is deterministic.

    References
    ----------
    [1] Faury, Abeille, Calauzenes, Fercoq. Improved optimistic algorithms for logistic bandits.
        ICML 2020.
    """

    needs_variance = True
    _kernels = Kernels(faury_choose, faury_observe, faury_holds)

    def __init__(
        self,
        dim: int,
        *,
        failure_prob: float = 0.05,
        reward_range: tuple[float, float] | None = (-1.0, 1.0),
        noise_bound: float | None = None,
        theta_norm: float = 1.0,
        feature_norm: float = 1.0,
        ridge: float | None = None,
        variation_ridge: float | None = None,
        constants: str = "tight",
        width_scale: float = 1.0,
        seed: Seed = 0,
    ) -> None:
        bounds = validation.reward_range_or_none(reward_range)
        feature_norm = validation.scale("feature_norm", feature_norm)
        space = ObservationSpace.checked(dim, bounds, feature_norm=feature_norm)
        super().__init__(space, seed=seed)
        self.failure_prob = validation.probability("failure_prob", failure_prob)
        self.noise_bound = validation.noise_bound(noise_bound, bounds)
        self.theta_norm = validation.scale("theta_norm", theta_norm)
        self.constants = validation.choice("constants", constants, CONSTANTS)
        self.width_scale = validation.positive_float("width_scale", width_scale)
        tight = self.constants == "tight"
        size = self.feature_norm**2 * (1.0 if tight else self.dim)
        self.ridge = validation.positive_float("ridge", size if ridge is None else ridge)
        b = self.noise_bound * self.feature_norm
        size = b**2 * self.dim * (0.125 if tight else 1.0)
        self.variation_ridge = validation.positive_float(
            "variation_ridge", size if variation_ridge is None else variation_ridge
        )
        check_conditioning(self.feature_norm, self.ridge)
        check_conditioning(
            self.feature_norm,
            self.variation_ridge / self.noise_bound**2,
            "sqrt(variation_ridge) / noise_bound",
        )
        # The exponent is tuned to ln(det H / lambda^d) = d, which a long quiet run has.
        bernstein = best_variation_bernstein(
            self.dim,
            ridge=self.variation_ridge,
            b=b,
            delta=self.failure_prob,
            log_det_ratio=float(self.dim),
        )
        self._rule = FauryRule(
            not tight,
            bernstein.curvature,
            bernstein.cap,
            bernstein.price,
            self.dim,
            self.ridge,
            self.variation_ridge,
            b,
            self.theta_norm,
            self.failure_prob,
        )
        self._set = ScoreEllipsoid(
            space,
            ridge=self.ridge,
            variation_ridge=self.variation_ridge,
            largest_variance=self.noise_bound**2,
            radius=self._radius,
            theta_norm=self.theta_norm,
            width_scale=self.width_scale,
        )

    @property
    def confidence_set(self) -> ScoreEllipsoid:
        """Live view of the ellipsoid."""
        return self._set

    def _radius(self, log_det_ratio: float) -> float:
        return score_radius(log_det_ratio, self._rule)

    def _observe_with_variance(self, x: FloatArray, reward: float, variance: float) -> None:
        self._set.learn(x, reward, variance)

    def _state(self, n_arms: int) -> State:
        Theta = self._set
        return FauryState(
            Theta._everything(),
            self._rule,
            self.width_scale,
            Theta._log_det_start,
            Theta.largest_variance,
        )
