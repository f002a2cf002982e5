"""Weighted OFUL: ridge regression weighted by known variances, above a floor."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from voful.bandits import arguments as given
from voful.bandits.optimism import choose_in_ellipsoid
from voful.bandits.weighted import WeightedPolicy, weighted, weighted_radius
from voful.compiled import kernel
from voful.concentration import zhou_gu_szepesvari_radius
from voful.confidence.ellipsoids.ridge import check_conditioning, open_ridge, ridge_update
from voful.confidence.ellipsoids.sets import RidgeEllipsoid, in_ellipsoids
from voful.confidence.rule import rule
from voful.parameters import parameter
from voful.typing import FloatArray, Seed
from voful.validation import positive_float


class WeightedState(NamedTuple):
    """The set, and what it needs to learn."""

    blocks: FloatArray
    constants: FloatArray  # Weighted, the floor of sigma_bar^2


@kernel
def weighted_observe(
    blocks: FloatArray, constants: FloatArray, x: FloatArray, reward: float, variance: float
) -> None:
    """sigma_bar_t = max(sigma_t, R / sqrt(d)), and the radius that follows."""
    d = x.shape[0]
    ridge, rule, floor = open_ridge(blocks[0], d), weighted(constants), constants[-1]
    ridge_update(ridge, x, reward, 1.0 / max(variance, floor))
    printed = zhou_gu_szepesvari_radius(
        ridge.n[0], d, 1.0, math.sqrt(d), rule.feature_norm, rule.ridge, rule.delta
    )
    ridge.radius[0] = weighted_radius(ridge, rule, printed)


class WeightedOFUL(WeightedPolicy[RidgeEllipsoid]):
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

    References
    ----------
    [1] Zhou, Gu, Szepesvari. Nearly minimax optimal reinforcement learning for linear mixture
        Markov decision processes. COLT 2021.
    """

    _rule = rule(WeightedState, choose_in_ellipsoid, weighted_observe, in_ellipsoids)

    ridge: float = parameter(
        positive_float,
        "lambda. Default: 1 / S^2, as in [1].",
        default=None,
        derived=lambda policy: 1.0 / policy.theta_norm**2,
    )
    constants: str = given.constants('"tight" or "paper".')
    width_scale: float = given.width_scale()
    seed: Seed = given.seed()

    def _build(self) -> None:
        super()._build()
        R, root = self.noise_bound, math.sqrt(self.dim)
        floor = R / root  # of sigma_bar
        check_conditioning(
            self.feature_norm,
            self.ridge * floor**2,
            "sqrt(ridge / dim) noise_bound (ridge is 1 / theta_norm^2 by default)",
        )
        # After division by sigma_bar: variance at most 1, noise at most sqrt(d), and
        # w / (1 + w^2) <= 1/2, w^2 / (1 + w^2) <= 1.
        rule = self._weighted(0.5 * root, root, floor, self.failure_prob)
        state = WeightedState(self._weighted_blocks(rule), np.array([*rule, floor**2]))
        Theta = RidgeEllipsoid(
            self._space, state, theta_norm=self.theta_norm, unknown_variance=R**2
        )
        self._learn_in(Theta)
