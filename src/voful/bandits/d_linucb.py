"""D-LinUCB: a discounted estimate for parameters that drift."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from voful.bandits import arguments as given
from voful.bandits.base import SetPolicy
from voful.bandits.faury import faury_choose
from voful.compiled import kernel, part
from voful.confidence.algebra import log_det, unwhiten, whiten, whitener_from
from voful.confidence.ellipsoids.ridge import check_conditioning, open_ridge
from voful.confidence.ellipsoids.score import (
    ScoreEllipsoid,
    in_score_ellipsoid,
    new_score,
    open_variation,
)
from voful.confidence.rule import rule
from voful.parameters import parameter
from voful.typing import FloatArray, Seed
from voful.validation import fail, finite_float, positive_float


class DiscountedState(NamedTuple):
    """The set {|V (theta - theta_hat)|_{V~^-1} <= beta}."""

    blocks: FloatArray  # the ridge of V, and behind it V~
    constants: FloatArray  # `Discounted`


class Discounted(NamedTuple):
    """What the update and the radius need."""

    gamma: float
    ridge: float
    sigma: float
    delta: float
    S: float
    L: float
    width_scale: float


@part
def discounted_radius(n: float, d: int, c: Discounted) -> float:
    """beta = sqrt(lambda) S + sigma sqrt(2 ln(1/delta) + d ln(1 + L^2 sum gamma^2s / lambda d))."""
    weights = (1.0 - c.gamma ** (2.0 * n)) / (1.0 - c.gamma * c.gamma)
    growth = d * math.log1p(c.L * c.L * weights / (c.ridge * d))
    noise = c.sigma * math.sqrt(2.0 * math.log(1.0 / c.delta) + growth)
    return c.width_scale * (math.sqrt(c.ridge) * c.S + noise)


@kernel
def discounted_observe(
    blocks: FloatArray, constants: FloatArray, x: FloatArray, reward: float, variance: float
) -> None:
    """Algorithm 1: V <- gamma V + x x' + (1 - gamma) lambda I, V~ with gamma^2, and theta_hat."""
    d, k = x.shape[0], constants
    c = Discounted(k[0], k[1], k[2], k[3], k[4], k[5], k[6])
    ridge, H, g = open_ridge(blocks[0], d), open_variation(blocks[0], d), c.gamma
    for i in range(d):
        for j in range(d):
            ridge.precision[i, j] = g * ridge.precision[i, j] + x[i] * x[j]
            H.matrix[i, j] = g * g * H.matrix[i, j] + x[i] * x[j]
        ridge.precision[i, i] += (1.0 - g) * c.ridge
        H.matrix[i, i] += (1.0 - g * g) * c.ridge
        ridge.response[i] = g * ridge.response[i] + reward * x[i]
    whitener_from(ridge.precision, ridge.whitener)
    whitener_from(H.matrix, H.whitener)
    ridge.log_det[0], H.log_det[0] = log_det(ridge.whitener), log_det(H.whitener)
    whitened = np.empty(d)
    whiten(ridge.whitener, ridge.response, whitened)
    unwhiten(ridge.whitener, whitened, ridge.center)
    ridge.n[0] += 1.0
    ridge.radius[0] = discounted_radius(ridge.n[0], d, c)


class DLinUCB(SetPolicy[ScoreEllipsoid]):
    """Linear optimism that forgets [1]: for parameters that drift, with a known total variation.

    With V = sum gamma^(t-s) x_s x_s' + lambda I, V~ = sum gamma^(2(t-s)) x_s x_s' + lambda I and
    theta_hat = V^-1 sum gamma^(t-s) y_s x_s it plays argmax <x, theta_hat> + beta |V^-1 x|_V~,

        beta = sqrt(lambda) S + sigma sqrt(2 ln(1/delta) + d ln(1 + L^2 w / (lambda d))),
        w = (1 - gamma^2t) / (1 - gamma^2).

    With probability at least 1 - failure_prob at all times the set holds the average parameter
    V^-1 (sum gamma^(t-s) x_s x_s' theta*_s + lambda theta*_t): that is theta* itself as long as it
    has not changed, and not otherwise. With B = sum |theta*_{t+1} - theta*_t| known and gamma =
    1 - (B / (d K))^(2/3) the regret that [1] states is O~(d^(2/3) B^(1/3) K^(2/3)). For general
    arms its proof has a gap; [2] proves d^(7/8) B^(1/4) K^(3/4), quoted from memory.

    O(d^3) an update, O(d^2) an arm.

    References
    ----------
    [1] Russac, Vernade, Cappe. Weighted linear bandits for non-stationary environments. NeurIPS
        2019.
    [2] Faury, Russac, Abeille, Calauzenes. A technical note on non-stationary parametric bandits:
        existing mistakes and preliminary solutions. ALT 2021.
    """

    _rule = rule(DiscountedState, faury_choose, discounted_observe, in_score_ellipsoid)

    failure_prob: float = given.failure_prob(
        "Probability that a theta* that does not change ever leaves the set."
    )
    n_rounds: int = given.n_rounds()
    reward_range: tuple[float, float] | None = given.reward_range_or_none("noise_scale")
    noise_scale: float = given.noise_scale(
        "sigma: the noise is so sub-Gaussian. Default: half the reward range."
    )
    theta_norm: float = given.theta_norm()
    feature_norm: float = given.feature_norm("L: arms must satisfy |x| <= L.")
    ridge: float = parameter(positive_float, "lambda.", default=1.0)
    variation: float = parameter(
        positive_float, "B: total variation of theta*; only the default discount.", default=1.0
    )
    discount: float | None = parameter(
        lambda name, value: _discount(name, value),
        "gamma, in (0, 1). Default: 1 - (B / (d K))^(2/3), at least 1/2.",
        default=None,
        derived=lambda policy: max(
            0.5, 1.0 - (policy.variation / (policy.dim * policy.n_rounds)) ** (2.0 / 3.0)
        ),
    )
    width_scale: float = given.width_scale()
    seed: Seed = given.seed()

    def _build(self) -> None:
        super()._build()
        check_conditioning(self.feature_norm, self.ridge)
        constants = Discounted(
            float(self.discount or 0.5),
            self.ridge,
            self.noise_scale,
            self.failure_prob,
            self.theta_norm,
            self.feature_norm,
            self.width_scale,
        )
        radius = discounted_radius(0.0, self.dim, constants)
        blocks = new_score(self.dim, self.ridge, self.ridge, radius)
        state = DiscountedState(blocks, np.array(constants))
        self._learn_in(ScoreEllipsoid(self._space, state, theta_norm=self.theta_norm))


def _discount(name: str, value: Any) -> float:
    gamma = finite_float(name, value)
    if not 0.0 < gamma <= 1.0 - 1e-9:
        raise fail(name, gamma, "a number in (0, 1 - 1e-9]")
    return gamma
