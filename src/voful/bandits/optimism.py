"""The one rule: play the arm whose best plausible value is largest.

x_k = argmax_x max_{theta in Theta_k} <x, theta>  (Algorithm 1, line 5, and every relative of it).
"""

from __future__ import annotations

import numpy as np

from voful.compiled import kernel
from voful.confidence.algebra import dots, means_and_widths
from voful.confidence.ellipsoids.intersection import tightest_interval
from voful.typing import BoolArray, FloatArray

TIE = 1e-9


@kernel
def most_optimistic(upper: FloatArray, uncertainty: FloatArray, mask: BoolArray) -> int:
    """argmax of upper over the arms in mask (empty mask: all).

    Ties within 1e-9 (1 + |max|) go to the larger uncertainty, then to the lowest index.
    """
    n = upper.shape[0]
    everything = mask.shape[0] == 0
    best = -1
    for i in range(n):
        if (everything or mask[i]) and (best < 0 or upper[i] > upper[best]):
            best = i
    level = upper[best] - TIE * (1.0 + abs(upper[best]))
    choice = -1
    for i in range(n):
        if (everything or mask[i]) and upper[i] >= level:
            if choice < 0 or uncertainty[i] > uncertainty[choice] * (1.0 + TIE):
                choice = i
    return choice


@kernel
def most_optimistic_in_ellipsoid(
    arms: FloatArray, mask: BoolArray, center: FloatArray, whitener: FloatArray, radius: float
) -> int:
    """`most_optimistic` over an ellipsoid: the index is <x, center> + radius |x|_{M^-1}."""
    means, widths = means_and_widths(arms, center, whitener, radius)
    return most_optimistic(means + widths, widths, mask)


@kernel
def most_optimistic_in_ellipsoids(
    arms: FloatArray,
    mask: BoolArray,
    centers: FloatArray,
    whiteners: FloatArray,
    radii: FloatArray,
) -> int:
    """`most_optimistic` over an intersection: the index is the least of the ellipsoids' bounds."""
    lower, upper = tightest_interval(arms, centers, whiteners, radii)
    return most_optimistic(upper, upper - lower, mask)


@kernel
def best_for(arms: FloatArray, mask: BoolArray, theta: FloatArray) -> int:
    """argmax_x <x, theta> over the arms in mask: `most_optimistic` over the set {theta}."""
    return most_optimistic(dots(arms, theta), np.zeros(arms.shape[0]), mask)
