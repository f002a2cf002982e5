"""Layers of weighted least squares that adapt to unknown variances: what each learns, its radius.

A layer is a row of blocks. Behind its ridge stands what it has learnt beside.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from voful.archive import Arrays
from voful.compiled import part
from voful.concentration import (
    kt_log_price,
    layer_deviation,
    layer_ranges,
    layer_slope,
    self_bounded_radius,
)
from voful.confidence.algebra import dot
from voful.confidence.ellipsoids.ridge import Ridge
from voful.confidence.ellipsoids.sets import EllipsoidIntersection
from voful.confidence.ellipsoids.sound import LARGEST_RADIUS
from voful.invariants import MOST, Invariants, whole
from voful.typing import FloatArray

# --- SAVE -------------------------------------------------------------------------------------


class SaveLayer(NamedTuple):
    """What a layer of SAVE has learnt; see `open_save_layer`."""

    weights: FloatArray  # (1,): sum w_s^2
    residuals: FloatArray  # (1,): sum w_s^2 (y_s - <x_s, c>)^2 + 4^-l |c|^2, c the current centre
    came: FloatArray  # (1,): how many rewards it learnt or passed on


SAVE_LAYER_SIZE = 3


@part
def open_save_layer(block: FloatArray) -> SaveLayer:
    """The named views of a layer's row."""
    return SaveLayer(block[-3:-2], block[-2:-1], block[-1:])


class SaveRule(NamedTuple):
    """What the choice of the layer and its radius need."""

    alpha: float
    n_rounds: float
    noise_bound: float
    theta_norm: float
    delta: float
    as_printed: float
    width_scale: float


@part
def save_rule(constants: FloatArray) -> SaveRule:
    """The constants by name."""
    c = constants
    return SaveRule(c[0], c[1], c[2], c[3], c[4], c[5], c[6])


@part
def save_radius(
    ridge: Ridge, layer: SaveLayer, rho: float, k: float, n_layers: int, rule: SaveRule
) -> float:
    """beta of a layer that has learnt in round k, width_scale included."""
    noise_bound, theta_norm, count = rule.noise_bound, rule.theta_norm, ridge.n[0]
    residuals = layer.residuals[0]
    if rule.as_printed:
        squares = max(residuals - rho * rho * dot(ridge.center, ridge.center), 0.0)
        beta = save_printed_beta(
            k, count, squares, rho, n_layers, noise_bound, theta_norm, rule.delta
        )
    else:
        delta, weights = rule.delta / n_layers, layer.weights[0]
        beta = save_tight_beta(
            count, weights, residuals, rho, rule.n_rounds, noise_bound, theta_norm, delta
        )
    return rule.width_scale * beta


@part
def save_tight_beta(
    count: float,
    weights: float,
    residuals: float,
    rho: float,
    n_rounds: float,
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


@part
def save_printed_beta(
    k: float,
    count: float,
    squares: float,
    rho: float,
    n_layers: int,
    noise_bound: float,
    theta_norm: float,
    delta: float,
) -> float:
    """The radius of SAVE's paper after round k; `squares` = sum w^2 (y - <x, theta_hat>)^2.

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


class SaveSet(EllipsoidIntersection):
    """Intersection over the layers of {|theta - theta_hat_l|_{Sigma_l} <= beta_l}."""

    def _invariants(self, state: Arrays) -> Invariants:
        yield from super()._invariants(state)
        for block in state["blocks"]:
            layer = open_save_layer(block)
            yield "sums of squares", bool(layer.weights[0] >= 0.0 and layer.residuals[0] >= 0.0)
            yield "residuals that rewards can have", bool(layer.residuals[0] <= LARGEST_RADIUS)
            yield "a whole number of rewards", whole(layer.came, 0, self._space.n_rounds or MOST)

    def _open(self) -> None:
        super()._open()
        self.layers = [open_save_layer(block) for block in self.blocks]

    @property
    def n_observations(self) -> int:
        """How many rewards came, learnt by a layer or not."""
        return int(self.layers[0].came[0])


# --- LOFAV ------------------------------------------------------------------------------------


class LofavLayer(NamedTuple):
    """What a layer of LOFAV has learnt; see `open_lofav_layer`."""

    shrunk: FloatArray  # (1,): sum F_s^2 f_s(theta_hat_{s-1})
    loss: FloatArray  # (1,): sum f_s(theta_hat_{s-1})
    gap: FloatArray  # (2,): K(theta_bar) - L(theta_hat) >= 0, in two parts
    distance: FloatArray  # (1,): largest bound so far on |theta* - theta_hat|^2_Sigma / 2


LOFAV_LAYER_SIZE = 5


@part
def open_lofav_layer(block: FloatArray) -> LofavLayer:
    """The named views of the row of a layer's theta_hat."""
    return LofavLayer(block[-5:-4], block[-4:-3], block[-3:-1], block[-1:])


class LofavRule(NamedTuple):
    """What the radii need."""

    noise_bound: float  # R
    variance: float  # sigma_0^2
    delta: float
    as_printed: float
    width_scale: float


RANGE_PRICE = 3.4  # sum over k >= 1 of 1 / (k ln^2(1 + k)) is 3.388


@part
def lofav_radii(
    layer: LofavLayer, rho: float, n_layers: int, t: float, rule: LofavRule
) -> tuple[float, float]:
    """Radii that follow from gamma_t and beta_t of one layer, width_scale included.

    Also keeps the range that round t + 1 may use.
    """
    start = 0.5 * (rho * rule.noise_bound) ** 2  # lambda S^2 / 2
    shrunk, distance = layer.shrunk[0], layer.distance[0]
    k = max(1.0, math.ceil(0.5 * math.log2(distance / start)))
    price = 2.0 * n_layers * RANGE_PRICE * k * math.log(1.0 + k) ** 2 / rule.delta
    steps = math.pi * (t + 1.0) if rule.as_printed else math.pi * t + 1.0
    xi = 0.5 * math.log(steps) + math.log(price)
    sub_gaussian = rule.variance * math.log(2.0 * n_layers / rule.delta)
    noise = layer.loss[0] + sub_gaussian  # >= sum f_s(theta*)
    # KT for sum w^2 eta <x, theta* - theta_hat>, terms of size <= 2^k rho R sqrt(2 start)
    root = rho * math.sqrt(8.0 * xi) * math.sqrt(distance) * math.sqrt(noise)
    bound = start + shrunk + root + 2.0**k * rho * rule.noise_bound * math.sqrt(2.0 * start) * xi
    beta = bound - (layer.gap[0] + layer.gap[1])
    gamma = start + shrunk + sub_gaussian
    layer.distance[0] = max(distance, beta if rule.as_printed else min(bound, gamma))
    return rule.width_scale * _radius(gamma), rule.width_scale * _radius(beta)


@part
def _radius(half_square: float) -> float:
    """r with r^2 / 2 = half_square; -1 where there is none."""
    return math.sqrt(2.0 * half_square) if half_square >= 0.0 else -1.0


class LofavSet(EllipsoidIntersection):
    """Two ellipsoids a layer, intersected.

    Parts 0..L-1: |theta - theta_hat|^2_Sigma / 2 <= gamma; parts L..2L-1:
    |theta - theta_bar|^2_Q / 2 <= beta.
    """

    def _invariants(self, state: Arrays) -> Invariants:
        yield from super()._invariants(state)
        for block in state["blocks"][: self.n_parts // 2]:
            layer = open_lofav_layer(block)
            yield "sums of losses", bool(layer.shrunk[0] >= 0.0 and layer.loss[0] >= 0.0)
            yield "a positive distance", bool(layer.distance[0] > 0.0)
            yield "losses that rewards can have", bool((np.abs(block[-5:]) <= LARGEST_RADIUS).all())

    def _open(self) -> None:
        super()._open()
        self.layers = [open_lofav_layer(block) for block in self.blocks[: self.n_parts // 2]]
