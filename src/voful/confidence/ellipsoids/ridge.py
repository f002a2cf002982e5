"""An ellipsoid about a ridge estimate as one block of memory, and its update.

{theta : |theta - center|_M <= radius}, M = lambda I + sum w x x', center = M^-1 sum w y x.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from voful.compiled import inlined, part
from voful.confidence.algebra import (
    add_outer,
    dot,
    due_for_refactorisation,
    log_det,
    unwhiten,
    update_whitener_within,
    whiten,
    whitener_from,
)
from voful.typing import FloatArray
from voful.validation import TOLERANCE, fail
from voful.views import borrowed


class Ridge(NamedTuple):
    """Named views of a block; see `open_ridge`."""

    precision: FloatArray  # (d, d): M
    whitener: FloatArray  # (d, d): of M
    response: FloatArray  # (d,): sum w y x
    center: FloatArray  # (d,)
    log_det: FloatArray  # (1,): ln det M
    log_det_start: FloatArray  # (1,): ln det(lambda I)
    n: FloatArray  # (1,): how many observations
    radius: FloatArray  # (1,): written by the algorithm; negative or NaN: the ellipsoid is empty


@part
def ridge_size(d: int) -> int:
    """Length of a block for dimension d."""
    return 2 * d * d + 2 * d + 4


@part
def open_ridge(block: FloatArray, d: int) -> Ridge:
    """The named views of a block, which may be longer."""
    b = 2 * d * d
    s = b + 2 * d
    return Ridge(
        borrowed(block, 0, (d, d)),
        borrowed(block, d * d, (d, d)),
        borrowed(block, b, (d,)),
        borrowed(block, b + d, (d,)),
        borrowed(block, s, (1,)),
        borrowed(block, s + 1, (1,)),
        borrowed(block, s + 2, (1,)),
        borrowed(block, s + 3, (1,)),
    )


def new_ridges(dim: int, ridges: FloatArray, radii: FloatArray, extra: int = 0) -> FloatArray:
    """(n, size) blocks before any data, one for each of `ridges`, each with room for extra."""
    blocks = np.zeros((len(ridges), ridge_size(dim) + extra))
    for block, ridge, radius in zip(blocks, ridges, radii, strict=True):
        start = open_ridge(block, dim)
        start.precision[...] = ridge * np.eye(dim)
        start.whitener[...] = np.eye(dim) / math.sqrt(ridge)
        start.log_det[0] = start.log_det_start[0] = dim * math.log(ridge)
        start.radius[0] = radius
    return blocks


@part
def log_det_ratio(ridge: Ridge) -> float:
    """ln(det M / det(lambda I)) = sum_s ln(1 + w_s |x_s|^2_{M_{s-1}^-1}), >= 0 up to rounding."""
    return float(ridge.log_det[0] - ridge.log_det_start[0])


@part
def ridge_update(ridge: Ridge, x: FloatArray, y: float, weight: float) -> tuple[float, float]:
    """One observation of weighted ridge regression.

    Recursive least squares: c <- c + w M_new^-1 x (y - <x, c>), M_new^-1 x = M^-1 x / (1 + growth).
    Returns growth = w x'M^-1 x and the residual y - <x, c>, both from before the update.
    """
    room = np.empty((3, x.shape[0]))
    whitened, direction, carries = room[0], room[1], room[2]
    squared = whiten(ridge.whitener, x, whitened)
    return ridge_update_within(ridge, x, y, weight, squared, whitened, direction, carries)


@inlined
def ridge_update_within(
    ridge: Ridge,
    x: FloatArray,
    y: float,
    weight: float,
    squared: float,
    whitened: FloatArray,
    direction: FloatArray,
    carries: FloatArray,
) -> tuple[float, float]:
    """`ridge_update` where whitened = W x and squared = |W x|^2 are known.

    direction and carries (d) are room: memory costs more than a small update.
    """
    d = x.shape[0]
    center, whitener, response = ridge.center, ridge.whitener, ridge.response
    residual = y - dot(x, center)
    unwhiten(whitener, whitened, direction)
    growth = weight * squared
    update_whitener_within(whitener, whitened, weight, carries)
    add_outer(ridge.precision, x, weight)
    step = weight * residual / (1.0 + growth)
    for i in range(d):
        center[i] += step * direction[i]
        response[i] += weight * y * x[i]
    ridge.log_det[0] += math.log1p(growth)
    ridge.n[0] += 1.0
    # Where M has lost its small eigenvalues to rounding, the updated whitener still knows them.
    if due_for_refactorisation(ridge.n[0], d) and whitener_from(ridge.precision, whitener):
        ridge.log_det[0] = log_det(whitener)
        whiten(whitener, response, whitened)
        unwhiten(whitener, whitened, center)
    return growth, residual


@part
def within(squared_distance: float, radius: float) -> bool:
    """Whether a point so far from the centre is in the ellipsoid: 1e-9 relative slack."""
    return radius >= 0.0 and squared_distance <= radius * radius * (1.0 + TOLERANCE)


def check_conditioning(feature_norm: float, ridge: float, root: str = "sqrt(ridge)") -> None:
    """ValueError where a single arm could drown the ridge in rounding.

    `root` says in the user's words what the root of `ridge` is.
    """
    if not feature_norm * feature_norm <= 1e12 * ridge:
        raise fail(
            "feature_norm",
            feature_norm,
            f"at most 10^6 {root} = {1e6 * math.sqrt(ridge):g}; rescale the features",
        )
