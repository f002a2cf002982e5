"""The one rule: play the arm whose best plausible value is largest.

x_k = argmax_x max_{theta in Theta_k} <x, theta>  (Algorithm 1, line 5; VOFUL's own
search is `peeled.cuts.leader`).
"""

from __future__ import annotations

import numpy as np

from voful.compiled import inlined, kernel, part
from voful.confidence.algebra import dot, means_and_widths
from voful.confidence.ellipsoids.ridge import open_ridge
from voful.confidence.ellipsoids.sets import is_empty, tightest_interval
from voful.typing import BoolArray, FloatArray
from voful.views import lent

TIE = 1e-9


@kernel
def most_optimistic(upper: FloatArray, uncertainty: FloatArray, mask: BoolArray) -> int:
    """argmax of upper over the arms in mask (empty mask: all).

    Ties within 1e-9 (1 + |max|) go to the larger uncertainty, then to the lowest index.
    """
    upper, uncertainty, mask = lent(upper), lent(uncertainty), lent(mask)
    everything = mask.shape[0] == 0
    best = upper[largest(upper, mask)]
    level = best - TIE * (1.0 + abs(best))
    choice = -1
    for i in range(upper.shape[0]):
        if (everything or mask[i]) and upper[i] >= level:
            if choice < 0 or uncertainty[i] > uncertainty[choice] * (1.0 + TIE):
                choice = i
    return choice


@part
def largest(values: FloatArray, mask: BoolArray) -> int:
    """The first of the largest values of the arms in mask (empty mask: all)."""
    everything = mask.shape[0] == 0
    best = -1
    for i in range(values.shape[0]):
        if (everything or mask[i]) and (best < 0 or values[i] > values[best]):
            best = i
    return best


@part
def arms_in(mask: BoolArray, n_arms: int) -> BoolArray:
    """A mask of its own, to cross arms out."""
    return np.ones(n_arms, dtype=np.bool_) if mask.shape[0] == 0 else mask.copy()


@part
def eliminate(left: BoolArray, values: FloatArray, slack: float) -> None:
    """Cross out the arms whose value is more than slack below the largest of those left."""
    level = values[largest(values, left)] - slack
    for i in range(left.shape[0]):
        left[i] = left[i] and values[i] >= level


@part
def most_optimistic_in_ellipsoid(
    arms: FloatArray, mask: BoolArray, center: FloatArray, whitener: FloatArray, radius: float
) -> int:
    """`most_optimistic` over an ellipsoid: the index is <x, center> + radius |x|_{M^-1}.

    The complement ~i of the choice where the ellipsoid is empty (a negative or undefined radius):
    then means decide.
    """
    empty = not radius >= 0.0
    upper, widths = means_and_widths(arms, center, whitener, 0.0 if empty else radius)
    for i in range(upper.shape[0]):
        upper[i] += widths[i]
    choice = most_optimistic(upper, widths, mask)
    return ~choice if empty else choice


@kernel
def choose_in_ellipsoid(
    blocks: FloatArray, constants: FloatArray, arms: FloatArray, mask: BoolArray
) -> int:
    """`Rule.choose` over one ellipsoid."""
    ridge = open_ridge(blocks[0], arms.shape[1])
    return most_optimistic_in_ellipsoid(
        arms, mask, ridge.center, ridge.whitener, float(ridge.radius[0])
    )


@kernel
def choose_in_ellipsoids(
    blocks: FloatArray, constants: FloatArray, arms: FloatArray, mask: BoolArray
) -> int:
    """`Rule.choose` over an intersection: the index is the least of the ellipsoids' bounds."""
    lower, upper = tightest_interval(blocks, arms)
    return most_optimistic_between(lower, upper, mask, is_empty(blocks, arms.shape[1]))


@part
def most_optimistic_between(
    lower: FloatArray, upper: FloatArray, mask: BoolArray, empty: bool
) -> int:
    """`most_optimistic` where the uncertainty is the length of the interval; ~i of an empty set."""
    length = np.empty(upper.shape[0])
    for i in range(upper.shape[0]):
        length[i] = upper[i] - lower[i]
    choice = most_optimistic(upper, length, mask)
    return ~choice if empty else choice


@inlined
def best_for(arms: FloatArray, mask: BoolArray, theta: FloatArray) -> int:
    """argmax_x <x, theta> over the arms in mask: `most_optimistic` over the set {theta}."""
    n = arms.shape[0]
    values, widths = np.empty(n), np.empty(n)
    for i in range(n):
        values[i], widths[i] = dot(arms[i], theta), 0.0
    return most_optimistic(values, widths, mask)
