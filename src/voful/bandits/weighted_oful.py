"""Weighted OFUL: ridge regression weighted by known variances, above a floor."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from voful import validation
from voful.bandits.base import EllipsoidPolicy
from voful.bandits.rounds import Kernels, Ridge, State, choose_in_ellipsoid, in_ellipsoid
from voful.compiled import kernel, shared
from voful.concentration import (
    bernstein_radius,
    log_det_growth,
    self_normalized_bernstein,
    zhou_gu_szepesvari_radius,
)
from voful.confidence.ellipsoids.ridge import (
    COUNT,
    LOG_DET,
    RidgeEllipsoid,
    check_conditioning,
    ridge_update,
)
from voful.typing import BoolArray, FloatArray, Seed
from voful.validation import ObservationSpace

CONSTANTS = ("tight", "paper")


class WeightedEllipsoid(RidgeEllipsoid):
    """The ridge ellipsoid whose weights are 1 / max(variance, floor).

    Parameters
    ----------
    smallest_variance
        The floor.
    largest_variance
        No variance exceeds it; an observation that comes without its variance is given this one.
    """

    def __init__(
        self,
        space: ObservationSpace,
        *,
        smallest_variance: float,
        largest_variance: float,
        ridge: float,
        radius: Callable[[RidgeEllipsoid], float],
        theta_norm: float,
        width_scale: float = 1.0,
    ) -> None:
        super().__init__(
            space, ridge=ridge, radius=radius, theta_norm=theta_norm, width_scale=width_scale
        )
        self.smallest_variance = smallest_variance
        self.largest_variance = largest_variance

    def learn(self, x: FloatArray, reward: float, variance: float) -> None:
        """A checked observation whose noise has this variance."""
        # sigma_bar_t = max(sigma_t, R / sqrt(d))
        super()._observe(x, reward, 1.0 / max(variance, self.smallest_variance))

    def _observe(self, x: FloatArray, reward: float, weight: float | None = None) -> None:
        super()._observe(x, reward, 1.0 / self.largest_variance if weight is None else weight)

    def _observe_many(
        self, X: FloatArray, rewards: FloatArray, weights: FloatArray | None = None
    ) -> None:
        unknown = np.full(len(rewards), 1.0 / self.largest_variance)
        super()._observe_many(X, rewards, unknown if weights is None else weights)


class WeightedRule(NamedTuple):
    """What the radius needs besides the set's tally."""

    as_printed: bool
    slope: float  # of the tight radius
    offset: float
    dim: int
    feature_norm: float  # over the floor of sigma_bar
    ridge: float
    theta_norm: float
    delta: float


@shared
def weighted_radius(log_det_ratio: float, n: float, rule: WeightedRule) -> float:
    """beta_t + sqrt(lambda) S."""
    if not rule.as_printed:
        deviation = bernstein_radius(log_det_ratio, rule.slope, rule.offset)
    elif n == 0:
        deviation = 0.0
    else:
        deviation = zhou_gu_szepesvari_radius(
            n, rule.dim, 1.0, math.sqrt(rule.dim), rule.feature_norm, rule.ridge, rule.delta
        )
    return deviation + math.sqrt(rule.ridge) * rule.theta_norm


class WeightedState(NamedTuple):
    """The set and its constants."""

    ridge: Ridge
    rule: WeightedRule
    width_scale: float
    log_det_ridge: float
    smallest_variance: float


@kernel
def current_radius(state: WeightedState) -> float:
    """The radius of the set, width_scale included."""
    tally = state.ridge[4]
    log_det_ratio = tally[LOG_DET] - state.log_det_ridge
    return state.width_scale * weighted_radius(log_det_ratio, tally[COUNT], state.rule)


@kernel
def weighted_choose(state: WeightedState, arms: FloatArray, mask: BoolArray) -> int:
    """`select`."""
    return choose_in_ellipsoid(state.ridge, current_radius(state), arms, mask)


@kernel
def weighted_observe(state: WeightedState, x: FloatArray, reward: float, variance: float) -> None:
    """`update`."""
    ridge_update(*state.ridge, x, reward, 1.0 / max(variance, state.smallest_variance))


@kernel
def weighted_holds(state: WeightedState, theta: FloatArray) -> bool:
    """`contains`."""
    return in_ellipsoid(state.ridge, current_radius(state), theta)


class WeightedOFUL(EllipsoidPolicy):
    """Optimism over variance-weighted ridge regression [1].

    For noise with |eta_t| <= R and known variances sigma_t^2, the observations are weighted by
    1 / sigma_bar_t^2, sigma_bar_t = max(sigma_t, R / sqrt(d)). With
    Z = lambda I + sum x x' / sigma_bar^2 and the weighted ridge estimate theta_hat, with
    probability at least 1 - failure_prob for all t <= n_rounds,

        |theta* - theta_hat|_Z <= beta_t + sqrt(lambda) S,

    where beta_t is

    - "tight": `voful.concentration.self_normalized_bernstein`, whose proof is there; of the order
      sqrt(ln(det Z / det(lambda I)) + d ln(1/failure_prob));
    - "paper": 8 sqrt(d ln(1 + t A^2 / (lambda R^2)) l) + 4 sqrt(d) l, l = ln(4 t^2 / failure_prob),
      Theorem 4.1 of [1] (n_rounds then only limits the number of rounds).

    The policy plays argmax_x <x, theta_hat> + radius |x|_{Z^-1}. O(d^2) an update and an arm.

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
        R: |eta_t| <= R. Default: the length of the reward range, since the mean lies in it too.
    theta_norm
        S: |theta*| <= S.
    feature_norm
        A: arms must satisfy |x| <= A.
    ridge
        lambda. Default: 1 / S^2, as in [1].
    constants
        "tight" or "paper".
    width_scale
        Multiplies the radius (1 = the theory).
    seed
        Unused by the rule itself, which is deterministic.

    References
    ----------
    [1] Zhou, Gu, Szepesvari. Nearly minimax optimal reinforcement learning for linear mixture
        Markov decision processes. COLT 2021.
    """

    needs_variance = True
    _kernels = Kernels(weighted_choose, weighted_observe, weighted_holds)

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
        constants: str = "tight",
        width_scale: float = 1.0,
        seed: Seed = 0,
    ) -> None:
        bounds = validation.reward_range_or_none(reward_range)
        space = ObservationSpace.checked(dim, bounds, feature_norm=feature_norm, n_rounds=n_rounds)
        super().__init__(space, seed=seed)
        self.n_rounds = validation.positive_int("n_rounds", n_rounds)
        self.failure_prob = validation.probability("failure_prob", failure_prob)
        self.noise_bound = validation.noise_bound(noise_bound, bounds)
        self.theta_norm = validation.scale("theta_norm", theta_norm)
        self.ridge = validation.positive_float(
            "ridge", 1.0 / self.theta_norm**2 if ridge is None else ridge
        )
        self.constants = validation.choice("constants", constants, CONSTANTS)
        self.width_scale = validation.positive_float("width_scale", width_scale)
        self._floor = self.noise_bound / math.sqrt(self.dim)  # of sigma_bar
        check_conditioning(
            self.feature_norm,
            self.ridge * self._floor**2,
            "sqrt(ridge / dim) noise_bound (ridge is 1 / theta_norm^2 by default)",
        )
        # After division by sigma_bar: variance at most 1, noise at most sqrt(d), and
        # w / (1 + w^2) <= 1/2, w^2 / (1 + w^2) <= 1.
        bernstein = self_normalized_bernstein(
            variance=1.0,
            linear=0.5 * math.sqrt(self.dim),
            square=math.sqrt(self.dim),
            log_det_bound=log_det_growth(
                self.n_rounds, self.dim, self.feature_norm / self._floor, self.ridge
            ),
            delta=self.failure_prob,
        )
        self._rule = WeightedRule(
            self.constants == "paper",
            bernstein.slope,
            bernstein.offset,
            self.dim,
            self.feature_norm / self._floor,
            self.ridge,
            self.theta_norm,
            self.failure_prob,
        )
        self._set = WeightedEllipsoid(
            space,
            smallest_variance=self._floor**2,
            largest_variance=self.noise_bound**2,
            ridge=self.ridge,
            radius=self._radius,
            theta_norm=self.theta_norm,
            width_scale=self.width_scale,
        )

    @property
    def confidence_set(self) -> WeightedEllipsoid:
        """Live view of the ellipsoid."""
        return self._set

    def _radius(self, Theta: RidgeEllipsoid) -> float:
        return weighted_radius(Theta.log_det_ratio, Theta.n_observations, self._rule)

    def _observe_with_variance(self, x: FloatArray, reward: float, variance: float) -> None:
        self._set.learn(x, reward, variance)

    def _state(self, n_arms: int) -> State:
        Theta = self._set
        return WeightedState(
            Theta._matrices(),
            self._rule,
            self.width_scale,
            Theta._log_det_ridge,
            Theta.smallest_variance,
        )
