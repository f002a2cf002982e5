"""SAVE: layers of weighted least squares that adapt to unknown variances."""

from __future__ import annotations

import math
from typing import ClassVar, NamedTuple

import numpy as np

from voful import validation
from voful.bandits.base import OptimisticPolicy
from voful.bandits.optimism import most_optimistic
from voful.bandits.rounds import Kernels, Ridge, State, in_ellipsoids, usable_radii
from voful.compiled import kernel
from voful.concentration import (
    kt_log_price,
    layer_deviation,
    layer_ranges,
    layer_slope,
    self_bounded_radius,
)
from voful.confidence.algebra import dot, means_and_widths, whiten
from voful.confidence.ellipsoids.intersection import EllipsoidIntersection
from voful.confidence.ellipsoids.ridge import COUNT, ridge_update
from voful.typing import BoolArray, FloatArray, IntArray, Seed
from voful.validation import ObservationSpace

# Where SaveSet.sums keeps what a layer has learnt.
WEIGHTS = 0  # sum w_s^2
RESIDUALS = 1  # sum w_s^2 (y_s - <x_s, theta_hat>)^2 + 4^-l |theta_hat|^2, theta_hat the current
BETA = 2

MOST_LAYERS = 100  # 47 are enough for 10^9 rounds and noise as large as the parameter


@kernel
def save_tight_beta(
    count: float,
    weights: float,
    residuals: float,
    rho: float,
    n_rounds: int,
    noise_bound: float,
    theta_norm: float,
    delta: float,
) -> float:
    """|theta* - theta_hat|_Sigma in a layer of `count` observations; fails with probability delta.

    The deviation of `layer_deviation` plus the ridge's bias rho S, with the unseen
    V = sum w^2 eta^2 bounded by R^2 sum w^2 and, once it counts for less than 1, by the residuals.
    """
    xi = kt_log_price(count, delta / layer_ranges(rho, n_rounds, delta))
    bias = rho * theta_norm
    beta = layer_deviation(noise_bound * noise_bound * weights, rho, noise_bound, xi) + bias
    slope = layer_slope(rho, xi)
    if slope < 1.0:
        offset = layer_deviation(0.0, rho, noise_bound, xi) + bias
        beta = min(beta, self_bounded_radius(slope, offset, math.sqrt(residuals)))
    return beta


@kernel
def save_printed_beta(
    k: int,
    count: float,
    squares: float,
    rho: float,
    n_layers: int,
    noise_bound: float,
    theta_norm: float,
    delta: float,
) -> float:
    """The radius of [1] after round k; `squares` = sum w^2 (y - <x, theta_hat>)^2.

    Printed for |theta*| <= 1; a ball of radius S is the unit ball with rewards and noise over S.
    """
    now = math.log(4.0 * k * k * n_layers / delta)
    later = math.log(4.0 * (k + 1.0) ** 2 * n_layers / delta)
    trusted = 1.0 / rho >= 64.0 * math.sqrt(later)
    variance = squares if trusted else noise_bound * noise_bound * count
    inner = 8.0 * variance + 6.0 * noise_bound**2 * later + (4.0 * rho * theta_norm) ** 2
    return (
        16.0 * rho * math.sqrt(inner) * math.sqrt(now)
        + 6.0 * rho * noise_bound * now
        + 2.0 * rho * theta_norm
    )


@kernel
def save_layer(
    whiteners: FloatArray, x: FloatArray, alpha: float, whitened: FloatArray
) -> tuple[int, float]:
    """The layer that learns x, the first with |x|_{Sigma_l^-1} > max(2^-l, alpha), and |x|^2 there.

    -1 where there is none: nothing is left to learn from x.
    """
    for layer in range(whiteners.shape[0]):
        leverage = whiten(whiteners[layer], x, whitened)
        if math.sqrt(leverage) > max(0.5 ** (layer + 1), alpha):
            return layer, leverage
    return -1, 0.0


@kernel
def save_update(
    precisions: FloatArray,
    whiteners: FloatArray,
    responses: FloatArray,
    centers: FloatArray,
    tallies: FloatArray,
    sums: FloatArray,
    learnt: IntArray,
    X: FloatArray,
    y: FloatArray,
    alpha: float,
    n_rounds: int,
    noise_bound: float,
    theta_norm: float,
    delta: float,
    as_printed: bool,
) -> None:
    """The rows of X, in their order: each to its layer, with w = 2^-l / |x|_{Sigma_l^-1}."""
    n_layers = sums.shape[0]
    whitened = np.empty(X.shape[1])
    for i in range(X.shape[0]):
        learnt[0] += 1
        layer, leverage = save_layer(whiteners, X[i], alpha, whitened)
        if layer < 0:
            continue
        rho = 0.5 ** (layer + 1)
        center = centers[layer]
        weight = rho * rho / leverage  # w^2
        growth, residual = ridge_update(
            precisions[layer],
            whiteners[layer],
            responses[layer],
            center,
            tallies[layer],
            X[i],
            y[i],
            weight,
        )
        sums[layer, WEIGHTS] += weight
        sums[layer, RESIDUALS] += weight * residual * residual / (1.0 + growth)
        count = tallies[layer, COUNT]
        if as_printed:
            squares = max(sums[layer, RESIDUALS] - rho * rho * dot(center, center), 0.0)
            sums[layer, BETA] = save_printed_beta(
                learnt[0], count, squares, rho, n_layers, noise_bound, theta_norm, delta
            )
        else:
            sums[layer, BETA] = save_tight_beta(
                count,
                sums[layer, WEIGHTS],
                sums[layer, RESIDUALS],
                rho,
                n_rounds,
                noise_bound,
                theta_norm,
                delta / n_layers,
            )


@kernel
def save_select(
    arms: FloatArray,
    mask: BoolArray,
    centers: FloatArray,
    whiteners: FloatArray,
    radii: FloatArray,
    alpha: float,
) -> int:
    """The arm to play: down the layers, until one does not know all of the arms that are left."""
    n = arms.shape[0]
    left = np.ones(n, dtype=np.bool_) if mask.shape[0] == 0 else mask.copy()
    upper = np.full(n, np.inf)  # the least of the bounds of the layers seen so far
    for layer in range(radii.shape[0]):
        rho, beta = 0.5 ** (layer + 1), radii[layer]
        means, norms = means_and_widths(arms, centers[layer], whiteners[layer], 1.0)
        upper = np.minimum(upper, means + beta * norms)
        unknown = left & (norms > max(rho, alpha))
        if unknown.any():  # explore, and learn in this layer
            return most_optimistic(upper, norms, unknown)
        if not (left & (norms > alpha)).any():  # exploit; surely in the last layer: 2^-L <= alpha
            break
        best = -np.inf
        for i in range(n):
            if left[i]:
                best = max(best, means[i])
        left &= means >= best - 2.0 * rho * beta  # eliminate, and look closer
    return most_optimistic(upper, norms, left)


class SaveSet(EllipsoidIntersection):
    """Intersection over the layers of {|theta - theta_hat_l|_{Sigma_l} <= beta_l}."""

    _arrays: ClassVar[tuple[str, ...]] = (*EllipsoidIntersection._arrays, "sums")

    def __init__(
        self,
        space: ObservationSpace,
        *,
        n_layers: int,
        alpha: float,
        n_rounds: int,
        failure_prob: float,
        noise_bound: float,
        theta_norm: float,
        as_printed: bool,
        width_scale: float = 1.0,
    ) -> None:
        rho = 0.5 ** np.arange(1.0, n_layers + 1.0)
        super().__init__(space, ridges=rho**2, theta_norm=theta_norm, width_scale=width_scale)
        self._rules = alpha, n_rounds, noise_bound, theta_norm, failure_prob, as_printed
        self.sums: FloatArray = np.zeros((n_layers, BETA + 1))
        # Without data theta_hat = 0, and the distance is rho |theta*|; [1] starts at twice that.
        self.sums[:, BETA] = rho * theta_norm * (2.0 if as_printed else 1.0)

    @property
    def center(self) -> FloatArray:
        """The estimate of the layer that has learnt most."""
        fullest: FloatArray = self.centers[int(np.argmax(self.counts))].copy()
        return fullest

    def _radii(self) -> FloatArray:
        radii: FloatArray = self.sums[:, BETA].copy()
        return radii

    def _observe(self, x: FloatArray, reward: float) -> None:
        self._observe_many(x[np.newaxis], np.array([reward]))

    def _observe_many(self, X: FloatArray, rewards: FloatArray) -> None:
        save_update(
            self.precisions,
            self.whiteners,
            self.responses,
            self.centers,
            self.tallies,
            self.sums,
            self.learnt,
            X,
            rewards,
            *self._rules,
        )


class SaveState(NamedTuple):
    """The set and its constants."""

    ridges: Ridge
    sums: FloatArray
    learnt: IntArray
    rules: tuple[float, int, float, float, float, bool]
    width_scale: float


@kernel
def save_choose(state: SaveState, arms: FloatArray, mask: BoolArray) -> int:
    """`select`."""
    radii = usable_radii(state.width_scale * state.sums[:, BETA])
    return save_select(arms, mask, state.ridges[3], state.ridges[1], radii, state.rules[0])


@kernel
def save_observe(state: SaveState, x: FloatArray, reward: float, variance: float) -> None:
    """`update`."""
    X, y = x.reshape(1, -1), np.full(1, reward)
    alpha, n_rounds, noise_bound, theta_norm, delta, as_printed = state.rules
    save_update(
        *state.ridges,
        state.sums,
        state.learnt,
        X,
        y,
        alpha,
        n_rounds,
        noise_bound,
        theta_norm,
        delta,
        as_printed,
    )


@kernel
def save_holds(state: SaveState, theta: FloatArray) -> bool:
    """`contains`."""
    return in_ellipsoids(state.ridges, state.width_scale * state.sums[:, BETA], theta)


class SAVE(OptimisticPolicy):
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
        R: |eta| <= R. Default: the whole reward range.
    theta_norm
        S: |theta*| <= S.
    constants
        "tight" (`voful.concentration.layer_deviation`) or "paper" (printed).
    width_scale
        Multiplies the radii (1 = the theory).
    seed
        Unused by the rule itself, which is deterministic.

    References
    ----------
    [1] Zhao, He, Zhou, Zhang, Gu. Variance-dependent regret bounds for linear bandits and
        reinforcement learning: adaptivity and computational efficiency. COLT 2023.
    """

    _kernels = Kernels(save_choose, save_observe, save_holds)

    def __init__(
        self,
        dim: int,
        *,
        n_rounds: int,
        failure_prob: float = 0.05,
        reward_range: tuple[float, float] | None = (-1.0, 1.0),
        noise_bound: float | None = None,
        theta_norm: float = 1.0,
        constants: str = "tight",
        width_scale: float = 1.0,
        seed: Seed = 0,
    ) -> None:
        bounds = validation.reward_range_or_none(reward_range)
        self.n_rounds = validation.positive_int("n_rounds", n_rounds)
        space = ObservationSpace.checked(dim, bounds, n_rounds=self.n_rounds)
        super().__init__(space, seed=seed)
        self.failure_prob = validation.probability("failure_prob", failure_prob)
        self.noise_bound = validation.noise_bound(noise_bound, bounds)
        self.theta_norm = validation.scale("theta_norm", theta_norm)
        self.constants = validation.choice("constants", constants, ("tight", "paper"))
        self.width_scale = validation.positive_float("width_scale", width_scale)
        self.alpha = min(0.5, self.theta_norm / (self.noise_bound * self.n_rounds**1.5))
        if not self.alpha >= 0.5**MOST_LAYERS:
            allowed = f"at most 2^{MOST_LAYERS} theta_norm / n_rounds^1.5"
            raise validation.fail("noise_bound", self.noise_bound, allowed)
        self._set = SaveSet(
            space,
            n_layers=math.ceil(math.log2(1.0 / self.alpha)),
            alpha=self.alpha,
            n_rounds=self.n_rounds,
            failure_prob=self.failure_prob,
            noise_bound=self.noise_bound,
            theta_norm=self.theta_norm,
            as_printed=self.constants == "paper",
            width_scale=self.width_scale,
        )

    @property
    def n_layers(self) -> int:
        """L."""
        return self._set.n_parts

    @property
    def confidence_set(self) -> SaveSet:
        """Live view of the intersection of the layers."""
        return self._set

    def _choose(self, arms: FloatArray, mask: BoolArray) -> int:
        Theta = self._set
        return save_select(
            arms, mask, Theta.centers, Theta.whiteners, Theta.usable_radii(), self.alpha
        )

    def _state(self, n_arms: int) -> State:
        Theta = self._set
        return SaveState(
            Theta._all_matrices(), Theta.sums, Theta.learnt, Theta._rules, self.width_scale
        )
