"""SAVE: layers of weighted least squares that adapt to unknown variances."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from voful import validation
from voful.bandits import arguments as given
from voful.bandits.base import SetPolicy
from voful.bandits.optimism import arms_in, eliminate, largest, most_optimistic
from voful.compiled import kernel
from voful.confidence.algebra import means_and_widths, whiten
from voful.confidence.ellipsoids.layers import (
    SAVE_LAYER_SIZE,
    SaveRule,
    SaveSet,
    open_save_layer,
    save_radius,
    save_rule,
)
from voful.confidence.ellipsoids.ridge import new_ridges, open_ridge, ridge_update
from voful.confidence.ellipsoids.sets import in_ellipsoids
from voful.confidence.rule import rule
from voful.typing import BoolArray, FloatArray, Seed

MOST_LAYERS = 100  # 47 are enough for 10^9 rounds and noise as large as the parameter


class SaveState(NamedTuple):
    """The layers: Sigma_l, theta_hat_l, and beta_l as radius."""

    blocks: FloatArray  # behind the ridge: SaveLayer
    constants: FloatArray  # SaveRule


@kernel
def save_choose(
    blocks: FloatArray, constants: FloatArray, arms: FloatArray, mask: BoolArray
) -> int:
    """Down the layers, until one does not know all of the arms that are left."""
    n, d = arms.shape
    alpha = save_rule(constants).alpha
    left = arms_in(mask, n)
    upper = np.full(n, np.inf)  # the least of the bounds of the layers seen so far
    for layer in range(blocks.shape[0]):
        ridge, rho = open_ridge(blocks[layer], d), 0.5 ** (layer + 1)
        beta = ridge.radius[0]
        means, norms = means_and_widths(arms, ridge.center, ridge.whitener, 1.0)
        for i in range(n):
            upper[i] = min(upper[i], means[i] + beta * norms[i])
        widest = norms[largest(norms, left)]
        if widest > max(rho, alpha):  # explore, and learn in this layer
            for i in range(n):
                left[i] = left[i] and norms[i] > max(rho, alpha)
            break
        if widest <= alpha:  # exploit; surely in the last layer: 2^-L <= alpha
            break
        eliminate(left, means, 2.0 * rho * beta)  # and look closer
    return most_optimistic(upper, norms, left)


@kernel
def save_observe(
    blocks: FloatArray, constants: FloatArray, x: FloatArray, reward: float, variance: float
) -> None:
    """To the first layer with |x|_{Sigma_l^-1} > max(2^-l, alpha): w = 2^-l / |x|_{Sigma_l^-1}.

    Where there is none, nothing is left to learn from x.
    """
    rule, n_layers, d = save_rule(constants), blocks.shape[0], x.shape[0]
    whitened = np.empty(d)
    for i in range(n_layers):
        ridge, layer, rho = open_ridge(blocks[i], d), open_save_layer(blocks[i]), 0.5 ** (i + 1)
        layer.came[0] += 1.0
        leverage = whiten(ridge.whitener, x, whitened)
        if math.sqrt(leverage) > max(rho, rule.alpha):
            weight = rho * rho / leverage  # w^2
            growth, residual = ridge_update(ridge, x, reward, weight)
            layer.weights[0] += weight
            layer.residuals[0] += weight * residual * residual / (1.0 + growth)
            k = open_save_layer(blocks[0]).came[0]
            ridge.radius[0] = save_radius(ridge, layer, rho, k, n_layers, rule)
            break


class SAVE(SetPolicy[SaveSet]):
    """Variance-aware exploration by layers [1].

    For noise with |eta| <= R and |theta*| <= S. Layer l = 1..L keeps Sigma_l = 4^-l I +
    sum w^2 x x' over its own rounds, their weighted ridge estimate theta_hat_l, and beta_l with
    |theta* - theta_hat_l|_{Sigma_l} <= beta_l in all layers at all times with probability at least
    1 - failure_prob. A round goes down the layers:

    - if some arm that is left has |x|_{Sigma_l^-1} > 2^-l, play such an arm; layer l learns its
      reward with the weight w = 2^-l / |x|_{Sigma_l^-1};
    - if all have |x|_{Sigma_l^-1} <= alpha, play the most optimistic;
    - else keep those with <x, theta_hat_l> >= max <x', theta_hat_l> - 2 * 2^-l beta_l.

    alpha = 1 / (R n_rounds^1.5) and L = ceil(log2(1 / alpha)). O(L d^2) an arm.

    Differs from the paper: of the arms that layer l does not know, which [1] leaves open, the most
    optimistic is played; an observation's layer is found when its reward comes, from x and the
    layers alone, which gives the layer in which x was played if rewards come at once (in the second
    case a later layer may learn, where [1] discards the reward).

    References
    ----------
    [1] Zhao, He, Zhou, Zhang, Gu. Variance-dependent regret bounds for linear bandits and
        reinforcement learning: adaptivity and computational efficiency. COLT 2023.
    """

    _rule = rule(SaveState, save_choose, save_observe, in_ellipsoids)

    n_rounds: int = given.n_rounds()
    failure_prob: float = given.failure_prob()
    reward_range: tuple[float, float] | None = given.reward_range_or_none("noise_bound")
    noise_bound: float = given.noise_bound("R: |eta| <= R. Default: the whole reward range.")
    theta_norm: float = given.theta_scale()
    constants: str = given.constants(
        '"tight" (`voful.concentration.layer_deviation`) or "paper" (printed).'
    )
    width_scale: float = given.width_scale("Multiplies the radii (1 = the theory).")
    seed: Seed = given.seed()

    def _build(self) -> None:
        super()._build()
        self.alpha = min(0.5, self.theta_norm / (self.noise_bound * self.n_rounds**1.5))
        if not self.alpha >= 0.5**MOST_LAYERS:
            allowed = f"at most 2^{MOST_LAYERS} theta_norm / n_rounds^1.5"
            raise validation.fail("noise_bound", self.noise_bound, allowed)
        self.n_layers = math.ceil(math.log2(1.0 / self.alpha))
        as_printed = self.constants == "paper"
        rho = 0.5 ** np.arange(1.0, self.n_layers + 1.0)
        # Without data theta_hat = 0, and the distance is rho |theta*|; [1] starts at twice that.
        beta = rho * self.theta_norm * (2.0 if as_printed else 1.0)
        blocks = new_ridges(self.dim, rho**2, self.width_scale * beta, SAVE_LAYER_SIZE)
        constants = SaveRule(
            self.alpha,
            self.n_rounds,
            self.noise_bound,
            self.theta_norm,
            self.failure_prob,
            as_printed,
            self.width_scale,
        )
        state = SaveState(blocks, np.array(constants, dtype=np.float64))
        self._learn_in(SaveSet(self._space, state, theta_norm=self.theta_norm))
