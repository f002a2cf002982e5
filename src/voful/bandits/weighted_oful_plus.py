"""Weighted OFUL+: weights by known variances and by leverage; alone, or cut with OFUL's set."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from voful.bandits import arguments as given
from voful.bandits.oful import SelfNormalized, self_normalized_blocks, self_normalized_update
from voful.bandits.optimism import choose_in_ellipsoids
from voful.bandits.weighted import WeightedPolicy, weighted, weighted_radius
from voful.compiled import kernel
from voful.concentration import zhou_gu_radius
from voful.confidence.algebra import whiten
from voful.confidence.ellipsoids.ridge import check_conditioning, open_ridge, ridge_update
from voful.confidence.ellipsoids.sets import EllipsoidIntersection, in_ellipsoids
from voful.confidence.rule import rule
from voful.parameters import parameter
from voful.typing import FloatArray, Seed
from voful.validation import boolean, nonnegative_float, positive_float, scale

OFUL_RIDGE = 1.0  # lambda of OFUL's part


class Leverage(NamedTuple):
    """What the weights and the printed radius need beside `Weighted`."""

    alpha: float
    gamma: float
    by_floor: float  # R / alpha
    largest: float  # the smaller of it and R / gamma^2


class PlusState(NamedTuple):
    """The weighted ellipsoid, OFUL's where there is a second row, and what they need to learn."""

    blocks: FloatArray
    constants: FloatArray  # SelfNormalized, Leverage, Weighted


@kernel
def plus_observe(
    blocks: FloatArray, constants: FloatArray, x: FloatArray, reward: float, variance: float
) -> None:
    """sigma_bar^2 = max(sigma^2, alpha^2, gamma^2 |x|_{Z^-1}), and the radii that follow."""
    d, c = x.shape[0], constants
    ridge, own, rule = open_ridge(blocks[0], d), Leverage(c[5], c[6], c[7], c[8]), weighted(c[9:])
    norm = math.sqrt(whiten(ridge.whitener, x, np.empty(d)))
    sigma_bar_squared = max(variance, own.alpha * own.alpha, own.gamma * own.gamma * norm)
    ridge_update(ridge, x, reward, 1.0 / sigma_bar_squared)
    n, A = ridge.n[0], rule.feature_norm
    printed = zhou_gu_radius(n, d, 1.0, own.by_floor, own.largest, A, rule.ridge, rule.delta)
    ridge.radius[0] = weighted_radius(ridge, rule, printed)
    if blocks.shape[0] > 1:
        self_normalized_update(blocks[1:], constants, x, reward)


class WeightedOFULPlus(WeightedPolicy[EllipsoidIntersection]):
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

    References
    ----------
    [1] Zhou, Gu. Computationally efficient horizon-free reinforcement learning for linear mixture
        MDPs. NeurIPS 2022.
    """

    _rule = rule(PlusState, choose_in_ellipsoids, plus_observe, in_ellipsoids)

    ridge: float = parameter(
        positive_float,
        "lambda. Default: d / S^2, as in [1].",
        default=None,
        derived=lambda policy: policy.dim / policy.theta_norm**2,
    )
    deviation_floor: float = parameter(
        scale,
        "alpha > 0. Default: R / sqrt(n_rounds).",
        default=None,
        derived=lambda policy: policy.noise_bound / math.sqrt(policy.n_rounds),
    )
    leverage_scale: float = parameter(
        nonnegative_float,
        "gamma >= 0. Default: sqrt(R) / d^(1/4), as in [1].",
        default=None,
        derived=lambda policy: math.sqrt(policy.noise_bound / math.sqrt(policy.dim)),
    )
    with_oful: bool = parameter(boolean, "Whether to cut the set with OFUL's.", default=False)
    constants: str = given.constants('"tight" or "paper".')
    width_scale: float = given.width_scale("Multiplies the radii (1 = the theory).")
    seed: Seed = given.seed()

    def _build(self) -> None:
        super()._build()
        R, alpha, gamma = self.noise_bound, self.deviation_floor, self.leverage_scale
        largest_norm = self.feature_norm / math.sqrt(self.ridge)  # of |x|_{Z^-1}
        check_conditioning(
            self.feature_norm,
            self.ridge * max(alpha * alpha, gamma * gamma * largest_norm),
            "sqrt(ridge) times the larger of deviation_floor and leverage_scale |x|^(1/2) (which "
            "come from noise_bound and theta_norm by default)",
        )
        # After division by sigma_bar, |eta| w <= R |x| / sigma_bar^2 <= R / gamma^2 and
        # |eta| <= R / alpha, while w / (1 + w^2) <= min(w, 1/2), w / sqrt(1 + w^2) <= min(w, 1).
        by_leverage = R / (gamma * gamma) if gamma * gamma > 0.0 else math.inf
        by_floor = R / alpha
        largest = min(by_leverage, by_floor)
        delta = 0.5 * self.failure_prob if self.with_oful else self.failure_prob
        rule = self._weighted(min(by_leverage, 0.5 * by_floor), largest, alpha, delta)
        blocks = self._weighted_blocks(rule)
        # A noise in an interval is sub-Gaussian at half its length (Hoeffding's lemma).
        low, high = self.reward_range or (-R, R)
        noise_scale = min(R, 0.5 * (high - low))
        oful = SelfNormalized(noise_scale, delta, OFUL_RIDGE, self.theta_norm, self.width_scale)
        if self.with_oful:
            check_conditioning(self.feature_norm, OFUL_RIDGE)
            blocks = np.concatenate([blocks, self_normalized_blocks(self.dim, oful)])
        own = Leverage(alpha, gamma, by_floor, largest)
        state = PlusState(blocks, np.array([*oful, *own, *rule]))
        Theta = EllipsoidIntersection(
            self._space, state, theta_norm=self.theta_norm, unknown_variance=R**2
        )
        self._learn_in(Theta)
