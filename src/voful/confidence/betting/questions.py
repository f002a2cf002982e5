"""Questions to the set: ends, membership, the optimistic arm."""

from __future__ import annotations

import math

import numpy as np

from voful.compiled import inlined, kernel, part
from voful.confidence.algebra import dot, means_and_squares, whiten
from voful.confidence.betting.predictors import leader
from voful.confidence.betting.quadratic import distance
from voful.confidence.betting.state import (
    Clock,
    Ellipsoids,
    open_clock,
    open_ellipsoids,
    open_predictors,
    open_rules,
)
from voful.confidence.ellipsoids.sets import cut
from voful.typing import BoolArray, FloatArray
from voful.validation import TOLERANCE
from voful.views import lent


@part
def none_left(Theta: Ellipsoids, clock: Clock) -> bool:
    """Whether an ellipsoid has lost all its points, or an arm has shown that nothing is left."""
    empty = clock.emptied[0] != 0.0
    for e in range(Theta.rad.shape[0]):
        empty = empty or not Theta.rad[e] >= 0.0
    return bool(empty)


def is_empty(memory: FloatArray) -> bool:
    """`none_left` of a block."""
    return none_left(open_ellipsoids(memory), open_clock(memory))


def center_of(memory: FloatArray) -> FloatArray:
    """The first ellipsoid's centre; of an empty set, the ridge estimate that predicts best.

    The latter goes on learning, while the bets have stopped.
    """
    predictors = open_predictors(memory)
    if is_empty(memory):
        center: FloatArray = predictors.theta[leader(predictors)]
    else:
        center = open_ellipsoids(memory).center[0]
    return center.copy()


@inlined
def radius_of(Theta: Ellipsoids, e: int, width_scale: float) -> float:
    """width_scale sqrt(rad), 0 where the ellipsoid is empty."""
    return width_scale * math.sqrt(max(Theta.rad[e], 0.0))


@kernel
def ends(memory: FloatArray, X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Largest lower and smallest upper end over the ellipsoids, for the rows of X.

    Ends that cross: no parameter is left.
    """
    Theta, width_scale = open_ellipsoids(memory), open_rules(memory).width_scale
    n = X.shape[0]
    lower, upper = np.empty(n), np.empty(n)
    for i in range(n):
        lower[i], upper[i] = -math.inf, math.inf
    for e in range(Theta.rad.shape[0]):
        radius = radius_of(Theta, e, width_scale)
        cut(X, Theta.center[e], Theta.whitener[e], radius, lower, upper)
    return lower, upper


@kernel
def bet_holds(memory: FloatArray, history: FloatArray, theta: FloatArray) -> bool:
    """`Rule.holds`: whether theta is in every ellipsoid."""
    Theta, width_scale = open_ellipsoids(memory), open_rules(memory).width_scale
    if none_left(Theta, open_clock(memory)):
        return False
    for e in range(Theta.rad.shape[0]):
        if not distance(Theta, e, theta) <= width_scale**2 * Theta.rad[e] * (1.0 + TOLERANCE):
            return False
    return True


@part
def optimistic_ends(
    Theta: Ellipsoids, width_scale: float, arms: FloatArray, mask: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """Upper ends and, to break ties, the half-widths of the ellipsoids that give them.

    The first ellipsoid is asked about all arms. One that ends below another's smallest end cannot
    be chosen: its other ellipsoids are not asked.
    """
    upper, width = means_and_squares(arms, Theta.center[0], Theta.whitener[0])
    tighten_ends(Theta, width_scale, arms, mask, upper, width, np.empty(arms.shape[1]))
    return upper, width


@part
def tighten_ends(
    Theta: Ellipsoids,
    width_scale: float,
    arms: FloatArray,
    mask: BoolArray,
    upper: FloatArray,
    width: FloatArray,
    whitened: FloatArray,
) -> None:
    """From the first ellipsoid's means and squared norms to `optimistic_ends`."""
    arms, mask, upper, width = lent(arms), lent(mask), lent(upper), lent(width)
    radius, top, whitened = radius_of(Theta, 0, width_scale), 0, lent(whitened)
    for i in range(arms.shape[0]):
        width[i] = radius * math.sqrt(width[i])
        upper[i] = upper[i] + width[i] if mask.shape[0] == 0 or mask[i] else -math.inf
        if upper[i] > upper[top]:
            top = i
    floor = -math.inf
    for k in range(-1, arms.shape[0]):  # the first ellipsoid's favourite sets the floor
        i = top if k < 0 else k
        if k != top and upper[i] >= floor:
            for e in range(1, Theta.rad.shape[0]):
                squared = whiten(Theta.whitener[e], arms[i], whitened)
                half = radius_of(Theta, e, width_scale) * math.sqrt(squared)
                end = dot(arms[i], Theta.center[e]) + half
                if end < upper[i]:
                    upper[i], width[i] = end, half
                if upper[i] < floor:
                    break
            floor = max(floor, upper[i] - 1e-6 * (1.0 + abs(upper[i])))
