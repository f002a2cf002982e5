"""LOFAV: linear bandits that adapt to unknown variances, layer by layer."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from voful.bandits import arguments as given
from voful.bandits.base import SetPolicy
from voful.bandits.optimism import choose_in_ellipsoids
from voful.compiled import kernel
from voful.confidence.algebra import dot, whiten
from voful.confidence.compensated import add_number
from voful.confidence.ellipsoids.layers import (
    LOFAV_LAYER_SIZE,
    LofavRule,
    LofavSet,
    lofav_radii,
    open_lofav_layer,
)
from voful.confidence.ellipsoids.ridge import (
    check_conditioning,
    new_ridges,
    open_ridge,
    ridge_update,
    ridge_update_within,
)
from voful.confidence.ellipsoids.sets import in_ellipsoids
from voful.confidence.rule import rule
from voful.typing import FloatArray, Seed


class LofavState(NamedTuple):
    """The L layers' (Sigma, theta_hat, gamma), then their (Q, theta_bar, beta)."""

    blocks: FloatArray  # behind the ridges of the former: LofavLayer
    constants: FloatArray  # LofavRule


@kernel
def lofav_observe(
    blocks: FloatArray, constants: FloatArray, x: FloatArray, reward: float, variance: float
) -> None:
    """In every layer: theta_hat, theta_bar, beta and gamma.

    theta_bar regresses on (y + <x, theta_hat_{s-1}>) / 2 with twice the weight. With the residual
    e = y - <x, theta_hat>, u = <x, theta_hat - theta_bar> and the growths g of Sigma and h of Q
    (all before the update), the gap K(theta_bar) - L(theta_hat) grows by

        w^2 (u (u + e) / (1 + h) + e^2 (2 g - h + g h) / (4 (1 + g) (1 + h))),   g <= h <= 2 g.

    Nothing of the size of the rewards is subtracted: the terms are small with e and u.
    """
    c, n_layers, d = constants, blocks.shape[0] // 2, x.shape[0]
    rule = LofavRule(c[0], c[1], c[2], c[3], c[4])
    whitened, direction, carries = np.empty(d), np.empty(d), np.empty(d)
    for i in range(n_layers):
        hat, bar = open_ridge(blocks[i], d), open_ridge(blocks[n_layers + i], d)
        layer, rho = open_lofav_layer(blocks[i]), 0.5 ** (i + 1)
        leverage = whiten(hat.whitener, x, whitened)
        weight = min(1.0, rho * rho / leverage) if leverage > 0.0 else 1.0  # w^2
        midway = 0.5 * (reward + dot(x, hat.center))
        g, e = ridge_update_within(hat, x, reward, weight, leverage, whitened, direction, carries)
        h, rest = ridge_update(bar, x, midway, 2.0 * weight)
        u = rest - 0.5 * e
        loss = 0.5 * weight * e * e
        spread = 0.25 * e * e * (2.0 * g - h + g * h) / (1.0 + g)
        layer.shrunk[0] += g / (1.0 + g) * loss
        layer.loss[0] += loss
        add_number(layer.gap, weight * (u * (u + e) + spread) / (1.0 + h))
        hat.radius[0], bar.radius[0] = lofav_radii(layer, rho, n_layers, hat.n[0], rule)


def lofav_layers(n_rounds: int, dim: int) -> int:
    """L = max(1, ceil(log2(T / d) / 2))."""
    return max(1, math.ceil(0.5 * math.log2(n_rounds / dim)))


class LOFAV(SetPolicy[LofavSet]):
    """Linear optimism with full adaptivity to the variances [1].

    For noise with |eta| <= R and |theta*| <= S, layer l = 1..L keeps rho = 2^-l,
    lambda = (rho R / S)^2, w_t = min(1, rho / |x_t|_{Sigma_{t-1}^-1}), Sigma_t = lambda I +
    sum w_s^2 x_s x_s', its ridge estimate theta_hat, f_s(theta) = w_s^2 (y_s - <x_s, theta>)^2 / 2,
    F_s = |w_s x_s|_{Sigma_s^-1}; and Q_t = lambda I + 2 sum w_s^2 x_s x_s' with
    theta_bar = Q_t^-1 sum w_s^2 (y_s + <x_s, theta_hat_{s-1}>) x_s. With probability at least
    1 - failure_prob, in all layers at all times

        |theta* - theta_hat_t|^2_Sigma / 2 <= gamma_t
            = lambda S^2 / 2 + sum F_s^2 f_s(theta_hat_{s-1}) + sigma_0^2 ln(2L / failure_prob),
        |theta* - theta_bar_t|^2_Q / 2 <= beta_t = L_t(theta_hat_t) - K_t(theta_bar_t) + B_t,

    where B_t replaces the last term of gamma_t by the KT bound of sum w^2 eta <x, theta* -
    theta_hat>, whose range and variance are known from the bounds of the rounds before. The policy
    plays the argmax over the arms of the least of the 2L upper bounds. O(L d^2) an update and an
    arm, L = max(1, ceil(log2(n_rounds / d) / 2)).

    Differs from the authors' code: all sums are updated recursively, theirs go through all rounds;
    and (constants="tight") the bound on |theta* - theta_hat_s|^2 that the range of round s + 1
    needs is min(B_s, gamma_s), which the proof gives, instead of beta_s, which bounds the distance
    to another centre; sigma_0 is half the reward range instead of R.

    References
    ----------
    [1] Jun, Kim. Noise-adaptive confidence sets for linear bandits and application to Bayesian
        optimization. ICML 2024.
    """

    _rule = rule(LofavState, choose_in_ellipsoids, lofav_observe, in_ellipsoids)

    n_rounds: int = given.n_rounds("T: how many rewards will be learnt at most.")
    failure_prob: float = given.failure_prob()
    reward_range: tuple[float, float] | None = given.reward_range_or_none("noise_bound")
    noise_bound: float = given.noise_bound("R: |eta| <= R. Default: the whole reward range.")
    theta_norm: float = given.theta_scale()
    feature_norm: float = given.feature_norm()
    constants: str = given.constants('"tight" (proved) or "paper" (as in the authors\' code).')
    width_scale: float = given.width_scale("Multiplies the radii (1 = the theory).")
    seed: Seed = given.seed()

    def _build(self) -> None:
        super()._build()
        self.n_layers = lofav_layers(self.n_rounds, self.dim)
        rho = 0.5 ** np.arange(1.0, self.n_layers + 1.0)
        ridges = (rho * self.noise_bound / self.theta_norm) ** 2
        root = f"2^-{self.n_layers} noise_bound / theta_norm"
        check_conditioning(self.feature_norm, float(ridges[-1]), root)
        ball = 0.5 * (rho * self.noise_bound) ** 2  # |theta*|^2_Sigma / 2 <= lambda S^2 / 2
        radii = self.width_scale * np.sqrt(2.0 * ball)
        blocks = new_ridges(self.dim, np.tile(ridges, 2), np.tile(radii, 2), extra=LOFAV_LAYER_SIZE)
        constants = LofavRule(
            self.noise_bound,
            self._noise_scale() ** 2,
            self.failure_prob,
            self.constants == "paper",
            self.width_scale,
        )
        state = LofavState(blocks, np.array(constants, dtype=np.float64))
        Theta = LofavSet(self._space, state, theta_norm=self.theta_norm)
        for layer, distance in zip(Theta.layers, ball, strict=True):
            layer.distance[0] = distance
        self._learn_in(Theta)

    def _noise_scale(self) -> float:
        """sigma_0: the noise is sigma_0-sub-Gaussian (Hoeffding's lemma)."""
        if self.constants == "paper" or self.reward_range is None:
            return self.noise_bound
        return min(self.noise_bound, given.half_range(self.reward_range))
