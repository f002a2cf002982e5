"""LOSAN: linear bandits that adapt to the noise below a known sub-Gaussian scale."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from voful.archive import Arrays
from voful.bandits import arguments as given
from voful.bandits.base import SetPolicy
from voful.bandits.optimism import choose_in_ellipsoid
from voful.compiled import kernel
from voful.confidence.algebra import whiten
from voful.confidence.ellipsoids.ridge import (
    check_conditioning,
    new_ridges,
    open_ridge,
    ridge_update,
)
from voful.confidence.ellipsoids.sets import RidgeEllipsoid, in_ellipsoids
from voful.confidence.ellipsoids.sound import LARGEST_RADIUS
from voful.confidence.rule import rule
from voful.invariants import Invariants
from voful.typing import FloatArray, Seed


class LosanState(NamedTuple):
    """The set {|theta - theta_hat|^2_Sigma / 2 <= beta}."""

    blocks: FloatArray  # behind the ridge: beta
    constants: FloatArray  # width_scale


@kernel
def losan_observe(
    blocks: FloatArray, constants: FloatArray, x: FloatArray, reward: float, variance: float
) -> None:
    """w_t = min(1, 1/|x_t|), and D_t^2 f_t(theta_{t-1}) to beta.

    f_t(theta) = w^2 (y - <x, theta>)^2 / 2; D_t^2 = |w x|^2 after the update = g / (1 + g) with
    g = |w x|^2 before it.
    """
    ridge, beta, width_scale = open_ridge(blocks[0], x.shape[0]), blocks[0, -1:], constants[0]
    leverage = whiten(ridge.whitener, x, np.empty(x.shape[0]))
    weight = 1.0 / leverage if leverage > 1.0 else 1.0  # w^2
    growth, residual = ridge_update(ridge, x, reward, weight)
    beta[0] += growth / (1.0 + growth) * 0.5 * weight * residual * residual
    ridge.radius[0] = width_scale * math.sqrt(2.0 * beta[0])


class LOSAN(SetPolicy[RidgeEllipsoid]):
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

    References
    ----------
    [1] Jun, Kim. Noise-adaptive confidence sets for linear bandits and application to Bayesian
        optimization. ICML 2024.
    """

    _rule = rule(LosanState, choose_in_ellipsoid, losan_observe, in_ellipsoids)

    failure_prob: float = given.failure_prob()
    reward_range: tuple[float, float] | None = given.reward_range_or_none("noise_scale")
    noise_scale: float = given.noise_scale(
        "sigma_0: the noise is at most so sub-Gaussian. Default: half the reward range."
    )
    theta_norm: float = given.theta_norm()
    feature_norm: float = given.feature_norm()
    width_scale: float = given.width_scale()
    seed: Seed = given.seed()

    def _build(self) -> None:
        super()._build()
        ridge = (self.noise_scale / self.theta_norm) ** 2  # lambda = sigma_0^2 / S^2
        check_conditioning(self.feature_norm, ridge)
        # beta_0 = lambda S^2 / 2 + sigma_0^2 ln(1/delta)
        variance = self.noise_scale * self.noise_scale
        beta = 0.5 * variance + variance * math.log(1 / self.failure_prob)
        radius = self.width_scale * math.sqrt(2.0 * beta)
        blocks = new_ridges(self.dim, np.array([ridge]), np.array([radius]), extra=1)
        blocks[0, -1] = beta
        state = LosanState(blocks, np.array([self.width_scale]))
        self._learn_in(RidgeEllipsoid(self._space, state, theta_norm=self.theta_norm))

    def _invariants(self, state: Arrays) -> Invariants:
        beta = state["confidence_set/blocks"][0, -1]
        yield "a bound on the noise", bool(0.0 <= beta <= LARGEST_RADIUS)
