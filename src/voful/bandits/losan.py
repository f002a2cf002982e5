"""LOSAN: linear bandits that adapt to the noise below a known sub-Gaussian scale."""

from __future__ import annotations

import math
from typing import ClassVar, NamedTuple

import numpy as np

from voful import validation
from voful.bandits.base import EllipsoidPolicy
from voful.bandits.rounds import Kernels, Ridge, State, choose_in_ellipsoid, in_ellipsoid
from voful.compiled import kernel
from voful.confidence.algebra import whiten
from voful.confidence.ellipsoids.ridge import RidgeEllipsoid, check_conditioning, ridge_update
from voful.typing import BoolArray, FloatArray, Seed
from voful.validation import ObservationSpace


@kernel
def losan_update(
    precision: FloatArray,
    whitener: FloatArray,
    response: FloatArray,
    center: FloatArray,
    tally: FloatArray,
    beta: FloatArray,
    X: FloatArray,
    y: FloatArray,
) -> None:
    """The rows of X, in their order: w_t = min(1, 1/|x_t|), and D_t^2 f_t(theta_{t-1}) to beta.

    f_t(theta) = w^2 (y - <x, theta>)^2 / 2; D_t^2 = |w x|^2 after the update = g / (1 + g) with
    g = |w x|^2 before it.
    """
    whitened = np.empty(X.shape[1])
    for i in range(X.shape[0]):
        leverage = whiten(whitener, X[i], whitened)
        weight = 1.0 / leverage if leverage > 1.0 else 1.0  # w^2
        growth, residual = ridge_update(
            precision, whitener, response, center, tally, X[i], y[i], weight
        )
        beta[0] += growth / (1.0 + growth) * 0.5 * weight * residual * residual


def losan_radius(Theta: RidgeEllipsoid) -> float:
    """sqrt(2 beta): a function of the set, so that a copy of the set has its own."""
    assert isinstance(Theta, LosanEllipsoid)
    return math.sqrt(2.0 * float(Theta.beta[0]))


class LosanEllipsoid(RidgeEllipsoid):
    """{theta : |theta - theta_hat|^2_Sigma / 2 <= beta} about a weighted ridge estimate.

    beta_t = lambda S^2 / 2 + sigma_0^2 ln(1/delta) + sum_s D_s^2 f_s(theta_{s-1}),
    lambda = sigma_0^2 / S^2: the first two terms are the start, the sum is learnt.
    """

    _arrays: ClassVar[tuple[str, ...]] = (*RidgeEllipsoid._arrays, "beta")

    def __init__(
        self,
        space: ObservationSpace,
        *,
        failure_prob: float,
        noise_scale: float,
        theta_norm: float,
        width_scale: float = 1.0,
    ) -> None:
        variance = noise_scale * noise_scale
        super().__init__(
            space,
            ridge=(noise_scale / theta_norm) ** 2,
            radius=losan_radius,
            theta_norm=theta_norm,
            width_scale=width_scale,
        )
        self.beta: FloatArray = np.array([0.5 * variance + variance * math.log(1 / failure_prob)])

    def _observe(self, x: FloatArray, reward: float, weight: float = 1.0) -> None:
        self._observe_many(x[np.newaxis], np.array([reward]))

    def _observe_many(
        self, X: FloatArray, rewards: FloatArray, weights: FloatArray | None = None
    ) -> None:
        losan_update(*self._matrices(), self.beta, X, rewards)


class LosanState(NamedTuple):
    """The set and its width_scale."""

    ridge: Ridge
    beta: FloatArray
    width_scale: float


@kernel
def current_radius(state: LosanState) -> float:
    """The radius of the set, width_scale included."""
    return state.width_scale * math.sqrt(2.0 * state.beta[0])


@kernel
def losan_choose(state: LosanState, arms: FloatArray, mask: BoolArray) -> int:
    """`select`."""
    return choose_in_ellipsoid(state.ridge, current_radius(state), arms, mask)


@kernel
def losan_observe(state: LosanState, x: FloatArray, reward: float, variance: float) -> None:
    """`update`."""
    losan_update(*state.ridge, state.beta, x.reshape(1, -1), np.full(1, reward))


@kernel
def losan_holds(state: LosanState, theta: FloatArray) -> bool:
    """`contains`."""
    return in_ellipsoid(state.ridge, current_radius(state), theta)


class LOSAN(EllipsoidPolicy):
    """Linear optimism with semi-adaptivity to the noise [1].

    For noise that is sigma-sub-Gaussian with an unknown sigma <= sigma_0 and |theta*| <= S, with
    probability at least 1 - failure_prob at all times

        |theta* - theta_hat_t|^2_Sigma_t <= sigma_0^2 + 2 sigma_0^2 ln(1/failure_prob)
                                            + 2 sum_s D_s^2 f_s(theta_hat_{s-1}),

    where Sigma_t = (sigma_0/S)^2 I + sum w_s^2 x_s x_s', w_s = min(1, 1/|x_s|_{Sigma_{s-1}^-1}),
    f_s(theta) = w_s^2 (y_s - <x_s, theta>)^2 / 2 and D_s = |w_s x_s|_{Sigma_s^-1}. The width is
    of the order sqrt(d sigma^2 + sigma_0^2). Anytime; O(d^2) an update and an arm.

    Differs from the authors' code: the set is computed recursively, where theirs goes through all
    rounds at each step.

    Parameters
    ----------
    dim
        Dimension d of the arms.
    failure_prob
        Probability that theta* ever leaves the set.
    reward_range
        (low, high); None where rewards are unbounded (then `noise_scale` is needed).
    noise_scale
        sigma_0: the noise is at most so sub-Gaussian. Default: half the reward range.
    theta_norm
        S: |theta*| <= S.
    feature_norm
        Arms must satisfy |x| <= feature_norm.
    width_scale
        Multiplies the radius (1 = the theory).
    seed
        Unused by the rule itself, which is deterministic.

    References
    ----------
    [1] Jun, Kim. Noise-adaptive confidence sets for linear bandits and application to Bayesian
        optimization. ICML 2024.
    """

    _kernels = Kernels(losan_choose, losan_observe, losan_holds)

    def __init__(
        self,
        dim: int,
        *,
        failure_prob: float = 0.05,
        reward_range: tuple[float, float] | None = (-1.0, 1.0),
        noise_scale: float | None = None,
        theta_norm: float = 1.0,
        feature_norm: float = 1.0,
        width_scale: float = 1.0,
        seed: Seed = 0,
    ) -> None:
        bounds = validation.reward_range_or_none(reward_range)
        space = ObservationSpace.checked(dim, bounds, feature_norm=feature_norm)
        super().__init__(space, seed=seed)
        self.failure_prob = validation.probability("failure_prob", failure_prob)
        self.noise_scale = validation.noise_scale(noise_scale, bounds)
        self.theta_norm = validation.positive_float("theta_norm", theta_norm)
        self.width_scale = validation.positive_float("width_scale", width_scale)
        check_conditioning(space.feature_norm, (self.noise_scale / self.theta_norm) ** 2)
        self._set = LosanEllipsoid(
            space,
            failure_prob=self.failure_prob,
            noise_scale=self.noise_scale,
            theta_norm=self.theta_norm,
            width_scale=self.width_scale,
        )

    @property
    def confidence_set(self) -> LosanEllipsoid:
        """Live view of the ellipsoid."""
        return self._set

    def _state(self, n_arms: int) -> State:
        return LosanState(self._set._matrices(), self._set.beta, self.width_scale)
