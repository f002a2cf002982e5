"""The ellipsoid of parameters whose score is small in the norm of its own variation."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from voful.archive import Arrays
from voful.compiled import kernel, part
from voful.confidence.algebra import (
    dot,
    due_for_refactorisation,
    log_det,
    quadratic_form,
    rank_one,
    symmetric_times,
    unwhiten,
    whiten,
    whitener_from,
)
from voful.confidence.ellipsoids.ridge import (
    new_ridges,
    open_ridge,
    ridge_size,
    ridge_update,
    within,
)
from voful.confidence.ellipsoids.sets import Ellipsoid, is_empty
from voful.confidence.ellipsoids.sound import sound_log_det, sound_matrix
from voful.invariants import Invariants
from voful.typing import FloatArray
from voful.views import borrowed


class Variation(NamedTuple):
    """Named views of what stands behind the ridge of G in a block; see `open_variation`."""

    matrix: FloatArray  # (d, d): H
    whitener: FloatArray  # (d, d): of H
    log_det: FloatArray  # (1,): ln det H
    log_det_start: FloatArray  # (1,): ln det(variation_ridge I)


@part
def open_variation(block: FloatArray, d: int) -> Variation:
    """The named views of H in a block."""
    a = ridge_size(d)
    b = a + d * d
    s = b + d * d
    return Variation(
        borrowed(block, a, (d, d)),
        borrowed(block, b, (d, d)),
        borrowed(block, s, (1,)),
        borrowed(block, s + 1, (1,)),
    )


def new_score(dim: int, ridge: float, variation_ridge: float, radius: float) -> FloatArray:
    """(1, size) block before any data."""
    extra = 2 * dim * dim + 2
    blocks = new_ridges(dim, np.array([ridge]), np.array([radius]), extra)
    start = open_variation(blocks[0], dim)
    start.matrix[...] = variation_ridge * np.eye(dim)
    start.whitener[...] = np.eye(dim) / math.sqrt(variation_ridge)
    start.log_det[0] = start.log_det_start[0] = dim * math.log(variation_ridge)
    return blocks


@part
def score_update(block: FloatArray, x: FloatArray, y: float, variance: float) -> float:
    """G <- G + x x' with its ridge estimate, and H <- H + variance x x'.

    Returns ln(det H / det(variation_ridge I)).
    """
    d = x.shape[0]
    ridge, H = open_ridge(block, d), open_variation(block, d)
    ridge_update(ridge, x, y, 1.0)
    H.log_det[0] += math.log1p(rank_one(H.matrix, H.whitener, x, variance, np.empty(d)))
    if due_for_refactorisation(ridge.n[0], d) and whitener_from(H.matrix, H.whitener):
        H.log_det[0] = log_det(H.whitener)
    return variation_growth(H)


@part
def variation_growth(H: Variation) -> float:
    """ln(det H / det(variation_ridge I))."""
    return max(float(H.log_det[0] - H.log_det_start[0]), 0.0)  # rounding may put it just below 0


@kernel
def score_interval(blocks: FloatArray, X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """<x, theta_hat> minus and plus radius |G^-1 x|_H for the rows of X."""
    n, d = X.shape
    ridge, H = open_ridge(blocks[0], d), open_variation(blocks[0], d)
    radius = 0.0 if is_empty(blocks, d) else ridge.radius[0]
    lower, upper, whitened, direction = np.empty(n), np.empty(n), np.empty(d), np.empty(d)
    for i in range(n):
        whiten(ridge.whitener, X[i], whitened)
        unwhiten(ridge.whitener, whitened, direction)
        mean = dot(X[i], ridge.center)
        width = radius * math.sqrt(max(quadratic_form(H.matrix, direction), 0.0))
        lower[i], upper[i] = mean - width, mean + width
    return lower, upper


@kernel
def in_score_ellipsoid(blocks: FloatArray, constants: FloatArray, theta: FloatArray) -> bool:
    """`Rule.holds`: whether |G (theta - theta_hat)|_{H^-1} <= radius."""
    d = theta.shape[0]
    ridge, H = open_ridge(blocks[0], d), open_variation(blocks[0], d)
    score, whitened = np.empty(d), np.empty(d)
    symmetric_times(ridge.precision, theta - ridge.center, score)
    return within(whiten(H.whitener, score, whitened), ridge.radius[0])


class ScoreEllipsoid(Ellipsoid):
    """{theta : |G (theta - theta_hat)|_{H^-1} <= radius}, theta_hat = G^-1 sum y_s x_s.

    G = ridge I + sum x_s x_s' and H = variation_ridge I + sum v_s x_s x_s' with the variances v_s.
    The score sum x_s (y_s - <x_s, theta>) equals G (theta_hat - theta) + ridge theta: up to the
    bias of the ridge, the set asks that it be small in the norm of its own variation. As an
    ellipsoid it has M = G H^-1 G, which is never formed: |x|_{M^-1} = |G^-1 x|_H.

    Parameters are those of every set of ellipsoids; ``state.blocks`` is as `new_score` makes it.
    """

    def _invariants(self, state: Arrays) -> Invariants:
        yield from super()._invariants(state)
        found, own = (open_variation(b[0], self.dim) for b in (state["blocks"], self.blocks))
        start = float(own.log_det_start[0])
        yield "the ridge of its arguments", bool(found.log_det_start[0] == start)
        yield from sound_matrix(found.matrix, found.whitener, math.exp(start / self.dim))
        yield from sound_log_det(float(found.log_det[0]), start, self.dim)

    @property
    def gram(self) -> FloatArray:
        """G."""
        return self.parts[0].precision

    @property
    def variation(self) -> FloatArray:
        """H."""
        return open_variation(self.blocks[0], self.dim).matrix

    @property
    def log_det_ratio(self) -> float:
        """ln(det H / det(variation_ridge I))."""
        return variation_growth(open_variation(self.blocks[0], self.dim))

    def _interval(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        return score_interval(self.blocks, X)
