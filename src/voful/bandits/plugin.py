"""The plug-in index: optimism with a posterior whose scale and noise are read off the data.

Ridges of five strengths compete by the evidence of a normal model with unknown variance; the best
one gives the mean m and the leverage w = x'P x, P = (lambda I + X'X)^-1, of an arm, and

    I = m + sqrt(2 V ln(1 + z^2 / (z + d^2))),   z = t w,
    V = max(v w, lambda v |P x|^2 + x'P M P x) + s0^2 w^2 / (1 + w)

with v the larger of two estimates of the noise, averaged over rounds and over leverage, M = sum u
x x' of squared residuals u, and s0 a quarter of half the reward range. No guarantee by itself.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np

from voful.compiled import part
from voful.confidence.algebra import (
    add_outer,
    dot,
    means_and_squares,
    symmetric_times,
    unwhiten,
    whiten,
)
from voful.confidence.betting.pending import foreseen
from voful.confidence.ellipsoids.ridge import (
    log_det_ratio,
    open_ridge,
    ridge_size,
    ridge_update_within,
)
from voful.typing import BoolArray, FloatArray
from voful.views import borrowed

RIDGES: Final = (1e-3, 1e-2, 0.1, 1.0, 10.0)  # lambda / feature_norm^2; the guard's 1 among them
RIDGE_EXTRA: Final = 2  # numbers behind each ridge: lambda, S
PRIOR_SHAPE: Final = 0.5  # a0 of the variance's inverse-gamma prior,
PRIOR_SCALE: Final = 0.25  # whose scale is s0 = h/4


class PlugIn(NamedTuple):
    """Named views of the policy's own notes; see `open_plugin`."""

    leverage: FloatArray  # (1,): sum of l = q / (1 + q), q the leverage of the arm played
    weighted: FloatArray  # (1,): sum of l u, u its squared residual over 1 + q
    M: FloatArray  # (d, d): sum of u x x'


@part
def open_plugin(rest: FloatArray, d: int) -> PlugIn:
    """The named views of what stands behind the guard's books."""
    return PlugIn(borrowed(rest, 0, (1,)), borrowed(rest, 1, (1,)), borrowed(rest, 2, (d, d)))


def plugin_size(d: int) -> int:
    """Length of what `open_plugin` reads."""
    return 2 + d * d


def start_plugin(blocks: FloatArray, feature_norm: float, d: int) -> None:
    """Write lambda behind each ridge."""
    blocks[:, ridge_size(d)] = feature_norm**2 * np.array(RIDGES)


@part
def best_ridge(blocks: FloatArray, d: int, half: float) -> int:
    """g* = argmax -D/2 - (a0 + n/2) ln(b0 + S/2), the first of equals: log-evidence.

    D = ln det(I + X'X/lambda); S the sum of squared residuals, each over 1 + q.
    """
    b0 = PRIOR_SHAPE * (PRIOR_SCALE * half) ** 2
    best, top = 0, -math.inf
    for g in range(blocks.shape[0]):
        ridge, S = open_ridge(blocks[g], d), blocks[g, ridge_size(d) + 1]
        shape = PRIOR_SHAPE + 0.5 * ridge.n[0]
        evidence = -0.5 * max(log_det_ratio(ridge), 0.0) - shape * math.log(b0 + 0.5 * S)
        if evidence > top:
            best, top = g, evidence
    return best


@part
def plugin_learn(
    blocks: FloatArray, rest: FloatArray, half: float, x: FloatArray, y: float
) -> None:
    """One observation: every ridge learns, the best one judges the residual."""
    d = x.shape[0]
    plugin, chosen = open_plugin(rest, d), best_ridge(blocks, d, half)
    whitened, direction, carries = np.empty(d), np.empty(d), np.empty(d)
    for g in range(blocks.shape[0]):
        ridge = open_ridge(blocks[g], d)
        q = whiten(ridge.whitener, x, whitened)
        _, r = ridge_update_within(ridge, x, y, 1.0, q, whitened, direction, carries)
        u = r * r / (1.0 + q)
        blocks[g, ridge_size(d) + 1] += u
        if g == chosen:
            plugin.leverage[0] += q / (1.0 + q)
            plugin.weighted[0] += q / (1.0 + q) * u
            add_outer(plugin.M, x, u)


@part
def noise_of(block: FloatArray, plugin: PlugIn, half: float, d: int) -> float:
    """v: the larger of two estimates of the noise, over rounds and over leverage."""
    S, n = block[ridge_size(d) + 1], open_ridge(block, d).n[0]
    a0, b0 = PRIOR_SHAPE, PRIOR_SHAPE * (PRIOR_SCALE * half) ** 2
    return float(
        max(
            (b0 + 0.5 * S) / (a0 + 0.5 * n),
            (b0 + plugin.weighted[0]) / (a0 + plugin.leverage[0]),
        )
    )


@part
def plugin_awaiting(
    blocks: FloatArray, rest: FloatArray, half: float, rows: FloatArray, m: int, d: int
) -> tuple[FloatArray, FloatArray]:
    """What `plugin_scores` wants once m rewards have come as predicted, with squared residuals v.

    `rows` are the arms that wait, gathered. Copies: the best ridge alone, and its notes.
    """
    g = best_ridge(blocks, d, half)
    block, notes = blocks[g : g + 1].copy(), rest.copy()
    ridge, plugin = open_ridge(block[0], d), open_plugin(notes, d)
    v = noise_of(block[0], plugin, half, d)
    narrower = foreseen(ridge.whitener, rows, 1.0)
    for i in range(d):
        for j in range(d):
            ridge.whitener[i, j] = narrower[i, j]
    for k in range(rows.shape[0]):
        add_outer(plugin.M, rows[k], v)
    ridge.n[0] += m
    block[0, ridge_size(d) + 1] += m * v
    return block, notes


@part
def rarity(z: float, d: int) -> float:
    """ln(1 + z^2 / (z + d^2)), z = t w: how far to look for a direction of leverage w.

    Of t arms the mean leverage is d/t. About ln 2 there, and ln z in directions that are rare.
    """
    return math.log1p(z * z / (z + d * d))


@part
def plugin_scores(
    blocks: FloatArray, rest: FloatArray, half: float, arms: FloatArray, left: BoolArray
) -> FloatArray:
    """The index I of the arms that are left, -inf for the others."""
    n_arms, d = arms.shape
    plugin, g = open_plugin(rest, d), best_ridge(blocks, d, half)
    ridge, lam = open_ridge(blocks[g], d), blocks[g, ridge_size(d)]
    s0_squared, n = (PRIOR_SCALE * half) ** 2, ridge.n[0]
    v = noise_of(blocks[g], plugin, half, d)
    scores, squares = means_and_squares(arms, ridge.center, ridge.whitener)
    whitened, p, spread = np.empty(d), np.empty(d), np.empty(d)
    for i in range(n_arms):
        if not left[i]:
            scores[i] = -math.inf
            continue
        w = squares[i]
        whiten(ridge.whitener, arms[i], whitened)
        unwhiten(ridge.whitener, whitened, p)
        symmetric_times(plugin.M, p, spread)
        sandwich = lam * v * dot(p, p) + dot(p, spread)
        V = max(v * w, sandwich) + s0_squared * w * w / (1.0 + w)
        scores[i] += math.sqrt(2.0 * V * rarity((n + 1.0) * w, d))
    return scores
