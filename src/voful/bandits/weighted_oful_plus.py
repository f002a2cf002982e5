"""Weighted OFUL+: weights by known variances and by leverage; alone, or cut with OFUL's set."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from voful import validation
from voful.bandits.base import IntersectionPolicy
from voful.bandits.oful import oful_radius
from voful.bandits.rounds import Kernels, Ridge, State, choose_in_ellipsoids, in_ellipsoids
from voful.bandits.weighted_oful import CONSTANTS
from voful.compiled import kernel, shared
from voful.concentration import (
    bernstein_radius,
    log_det_growth,
    self_normalized_bernstein,
    zhou_gu_radius,
)
from voful.confidence.algebra import whiten
from voful.confidence.ellipsoids.intersection import EllipsoidIntersection
from voful.confidence.ellipsoids.ridge import LOG_DET, check_conditioning, ridge_update
from voful.typing import BoolArray, FloatArray, IntArray, Seed
from voful.validation import ObservationSpace

OFUL_RIDGE = 1.0  # lambda of OFUL's part


@kernel
def leverage_update(
    precision: FloatArray,
    whitener: FloatArray,
    response: FloatArray,
    center: FloatArray,
    tally: FloatArray,
    x: FloatArray,
    y: float,
    variance: float,
    alpha: float,
    gamma: float,
) -> None:
    """Weight 1 / sigma_bar^2, sigma_bar^2 = max(sigma^2, alpha^2, gamma^2 |x|_{Z^-1})."""
    norm = math.sqrt(whiten(whitener, x, np.empty(x.shape[0])))
    sigma_bar_squared = max(variance, alpha * alpha, gamma * gamma * norm)
    ridge_update(precision, whitener, response, center, tally, x, y, 1.0 / sigma_bar_squared)


class WeightedPlusSet(EllipsoidIntersection):
    """Weighted OFUL+'s ellipsoid, and OFUL's as a second part where there are two ridges.

    Parameters
    ----------
    ridges, theta_norm, width_scale
        As for every intersection.
    alpha, gamma
        sigma_bar^2 = max(sigma^2, alpha^2, gamma^2 |x|_{Z^-1}).
    largest_variance
        No variance exceeds it; an observation that comes without its variance is given this one.
    radii
        The radii, a function of this set.
    """

    def __init__(
        self,
        space: ObservationSpace,
        *,
        ridges: FloatArray,
        alpha: float,
        gamma: float,
        largest_variance: float,
        radii: Callable[[WeightedPlusSet], FloatArray],
        theta_norm: float,
        width_scale: float = 1.0,
    ) -> None:
        super().__init__(space, ridges=ridges, theta_norm=theta_norm, width_scale=width_scale)
        self.alpha = alpha
        self.gamma = gamma
        self.largest_variance = largest_variance
        self._radii_of = radii

    def learn(self, x: FloatArray, reward: float, variance: float) -> None:
        """A checked observation whose noise has this variance."""
        leverage_update(*self._matrices(0), x, reward, variance, self.alpha, self.gamma)
        for part in range(1, self.n_parts):
            self._give(part, x, reward, 1.0)
        self.learnt[0] += 1

    def _observe(self, x: FloatArray, reward: float) -> None:
        self.learn(x, reward, self.largest_variance)

    def _radii(self) -> FloatArray:
        return self._radii_of(self)


class PlusRule(NamedTuple):
    """What the radii need besides the set's tallies."""

    as_printed: bool
    slope: float  # of the tight radius
    offset: float
    dim: int
    by_floor: float
    largest: float
    feature_norm: float  # over alpha
    ridge: float
    theta_norm: float
    noise_scale: float  # of OFUL's part
    delta: float


@shared
def plus_radii(log_det_ratios: FloatArray, n: float, rule: PlusRule) -> FloatArray:
    """beta_k + sqrt(lambda) S, and OFUL's radius where there is a second part."""
    if not rule.as_printed:
        deviation = bernstein_radius(log_det_ratios[0], rule.slope, rule.offset)
    elif n == 0:
        deviation = 0.0
    else:
        deviation = zhou_gu_radius(
            n,
            rule.dim,
            1.0,
            rule.by_floor,
            rule.largest,
            rule.feature_norm,
            rule.ridge,
            rule.delta,
        )
    radii = np.empty(log_det_ratios.shape[0])
    radii[0] = deviation + math.sqrt(rule.ridge) * rule.theta_norm
    if radii.shape[0] > 1:
        radii[1] = oful_radius(
            log_det_ratios[1], rule.noise_scale, rule.delta, OFUL_RIDGE, rule.theta_norm
        )
    return radii


class PlusState(NamedTuple):
    """The set and its constants."""

    ridges: Ridge
    learnt: IntArray
    log_det_ridges: FloatArray
    rule: PlusRule
    width_scale: float
    alpha: float
    gamma: float


@kernel
def current_radii(state: PlusState) -> FloatArray:
    """The radii of the set, width_scale included."""
    ratios = np.maximum(state.ridges[4][:, LOG_DET] - state.log_det_ridges, 0.0)
    return state.width_scale * plus_radii(ratios, state.learnt[0], state.rule)


@kernel
def plus_choose(state: PlusState, arms: FloatArray, mask: BoolArray) -> int:
    """`select`."""
    return choose_in_ellipsoids(state.ridges, current_radii(state), arms, mask)


@kernel
def plus_observe(state: PlusState, x: FloatArray, reward: float, variance: float) -> None:
    """`update`."""
    M, W, b, c, tallies = state.ridges
    alpha, gamma = state.alpha, state.gamma
    leverage_update(M[0], W[0], b[0], c[0], tallies[0], x, reward, variance, alpha, gamma)
    for part in range(1, tallies.shape[0]):
        ridge_update(M[part], W[part], b[part], c[part], tallies[part], x, reward, 1.0)
    state.learnt[0] += 1


@kernel
def plus_holds(state: PlusState, theta: FloatArray) -> bool:
    """`contains`."""
    return in_ellipsoids(state.ridges, current_radii(state), theta)


class WeightedOFULPlus(IntersectionPolicy):
    """Optimism over ridge regression weighted by variance and leverage [1].

    For noise with |eta_k| <= R and known variances sigma_k^2, the observations are weighted by
    1 / sigma_bar_k^2, sigma_bar_k = max(sigma_k, alpha, gamma |x_k|^(1/2)_{Z_k^-1}): what would
    move the estimate much counts less, and no floor of the order of R is needed. With
    Z = lambda I + sum x x' / sigma_bar^2 and the weighted ridge estimate theta_hat, with
    probability at least 1 - failure_prob for all k <= n_rounds,

        |theta* - theta_hat|_Z <= beta_k + sqrt(lambda) S,

    where beta_k is

    - "tight": `voful.concentration.self_normalized_bernstein`, whose proof is there;
    - "paper": 12 sqrt(d ln(1 + k A^2 / (alpha^2 d lambda)) t) + 30 t R / gamma^2,
      t = ln(32 (ln(gamma^2 / alpha) + 1) k^2 / failure_prob), Theorem 4.3 of [1].

    `with_oful` cuts the set with OFUL's (both at failure_prob / 2), which is smaller where sigma is
    of the order of R. The policy plays argmax_x of the least upper bound on <x, theta>. O(d^2) an
    update and an arm.

    Differs from the paper: alpha = R / sqrt(K) where [1] prints 1 / sqrt(K), so that the units of
    the rewards do not matter; R / gamma^2 is replaced by R / alpha where that is smaller (few
    rounds, or gamma = 0).

    Parameters
    ----------
    dim
        Dimension d of the arms.
    n_rounds
        K: how many rewards will be learnt at most.
    failure_prob
        Probability that theta* ever leaves the set.
    reward_range
        (low, high); None where rewards are unbounded (then `noise_bound` is needed).
    noise_bound
        R: |eta_k| <= R. Default: the length of the reward range, since the mean lies in it too.
    theta_norm
        S: |theta*| <= S.
    feature_norm
        A: arms must satisfy |x| <= A.
    ridge
        lambda. Default: d / S^2, as in [1].
    deviation_floor
        alpha > 0. Default: R / sqrt(n_rounds).
    leverage_scale
        gamma >= 0. Default: sqrt(R) / d^(1/4), as in [1].
    with_oful
        Whether to cut the set with OFUL's.
    constants
        "tight" or "paper".
    width_scale
        Multiplies the radii (1 = the theory).
    seed
        Unused by the rule itself, which is deterministic.

    References
    ----------
    [1] Zhou, Gu. Computationally efficient horizon-free reinforcement learning for linear mixture
        MDPs. NeurIPS 2022.
    """

    needs_variance = True
    _kernels = Kernels(plus_choose, plus_observe, plus_holds)

    def __init__(
        self,
        dim: int,
        *,
        n_rounds: int,
        failure_prob: float = 0.05,
        reward_range: tuple[float, float] | None = (-1.0, 1.0),
        noise_bound: float | None = None,
        theta_norm: float = 1.0,
        feature_norm: float = 1.0,
        ridge: float | None = None,
        deviation_floor: float | None = None,
        leverage_scale: float | None = None,
        with_oful: bool = False,
        constants: str = "tight",
        width_scale: float = 1.0,
        seed: Seed = 0,
    ) -> None:
        bounds = validation.reward_range_or_none(reward_range)
        space = ObservationSpace.checked(dim, bounds, feature_norm=feature_norm, n_rounds=n_rounds)
        super().__init__(space, seed=seed)
        self.n_rounds = validation.positive_int("n_rounds", n_rounds)
        self.failure_prob = validation.probability("failure_prob", failure_prob)
        self.noise_bound = R = validation.noise_bound(noise_bound, bounds)
        self.theta_norm = validation.scale("theta_norm", theta_norm)
        self.ridge = validation.positive_float(
            "ridge", self.dim / self.theta_norm**2 if ridge is None else ridge
        )
        self.deviation_floor = validation.scale(
            "deviation_floor",
            R / math.sqrt(self.n_rounds) if deviation_floor is None else deviation_floor,
        )
        self.leverage_scale = validation.nonnegative_float(
            "leverage_scale",
            math.sqrt(R / math.sqrt(self.dim)) if leverage_scale is None else leverage_scale,
        )
        self.with_oful = validation.boolean("with_oful", with_oful)
        self.constants = validation.choice("constants", constants, CONSTANTS)
        self.width_scale = validation.positive_float("width_scale", width_scale)
        alpha, gamma = self.deviation_floor, self.leverage_scale
        largest_norm = self.feature_norm / math.sqrt(self.ridge)  # of |x|_{Z^-1}
        check_conditioning(
            self.feature_norm,
            self.ridge * max(alpha * alpha, gamma * gamma * largest_norm),
            "sqrt(ridge) times the larger of deviation_floor and leverage_scale |x|^(1/2) (which "
            "come from noise_bound and theta_norm by default)",
        )
        if self.with_oful:
            check_conditioning(self.feature_norm, OFUL_RIDGE)
        # After division by sigma_bar, |eta| w <= R |x| / sigma_bar^2 <= R / gamma^2 and
        # |eta| <= R / alpha, while w / (1 + w^2) <= min(w, 1/2), w / sqrt(1 + w^2) <= min(w, 1).
        by_leverage = R / (gamma * gamma) if gamma * gamma > 0.0 else math.inf
        by_floor = R / alpha
        delta = 0.5 * self.failure_prob if self.with_oful else self.failure_prob
        bernstein = self_normalized_bernstein(
            variance=1.0,
            linear=min(by_leverage, 0.5 * by_floor),
            square=min(by_leverage, by_floor),
            log_det_bound=log_det_growth(
                self.n_rounds, self.dim, self.feature_norm / alpha, self.ridge
            ),
            delta=delta,
        )
        # A noise in an interval is sub-Gaussian at half its length (Hoeffding's lemma).
        noise_scale = R if bounds is None else min(R, 0.5 * (bounds[1] - bounds[0]))
        self._rule = PlusRule(
            self.constants == "paper",
            bernstein.slope,
            bernstein.offset,
            self.dim,
            by_floor,
            min(by_leverage, by_floor),
            self.feature_norm / alpha,
            self.ridge,
            self.theta_norm,
            noise_scale,
            delta,
        )
        self._set = WeightedPlusSet(
            space,
            ridges=np.array([self.ridge, OFUL_RIDGE][: 1 + self.with_oful]),
            alpha=alpha,
            gamma=gamma,
            largest_variance=R**2,
            radii=self._radii,
            theta_norm=self.theta_norm,
            width_scale=self.width_scale,
        )

    @property
    def confidence_set(self) -> WeightedPlusSet:
        """Live view of the set: the weighted ellipsoid, cut with OFUL's if `with_oful`."""
        return self._set

    def _radii(self, Theta: WeightedPlusSet) -> FloatArray:
        return plus_radii(Theta.log_det_ratios, Theta.n_observations, self._rule)

    def _observe_with_variance(self, x: FloatArray, reward: float, variance: float) -> None:
        self._set.learn(x, reward, variance)

    def _state(self, n_arms: int) -> State:
        Theta = self._set
        return PlusState(
            Theta._all_matrices(),
            Theta.learnt,
            Theta._log_det_ridges,
            self._rule,
            self.width_scale,
            Theta.alpha,
            Theta.gamma,
        )
