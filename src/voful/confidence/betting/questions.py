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
from voful.typing import BoolArray, FloatArray, IntArray
from voful.validation import TOLERANCE


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


@inlined
def optimistic_ends(
    Theta: Ellipsoids, width_scale: float, arms: FloatArray, mask: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """Upper ends and, to break ties, the half-widths of the ellipsoids that give them.

    An arm whose first upper end is below another's smallest one cannot be chosen: its other
    ellipsoids are not asked.
    """
    upper, width = means_and_squares(arms, Theta.center[0], Theta.whitener[0])
    radius, top, n = radius_of(Theta, 0, width_scale), 0, arms.shape[0]
    for i in range(n):
        width[i] = radius * math.sqrt(width[i])
        upper[i] = upper[i] + width[i] if mask.shape[0] == 0 or mask[i] else -math.inf
        if upper[i] > upper[top]:
            top = i
    rivals, n_rivals = np.empty(n, dtype=np.int64), 1
    rivals[0] = top
    # First the first ellipsoid's favourite, which sets the floor; then all that are above it.
    for _ in range(2 if Theta.rad.shape[0] > 1 else 0):
        tighten_ends(Theta, width_scale, arms, upper, width, rivals[:n_rivals])
        floor, n_rivals = upper[top] - 1e-6 * (1.0 + abs(upper[top])), 0
        for i in range(n):
            if upper[i] >= floor:
                rivals[n_rivals] = i
                n_rivals += 1
    return upper, width


@inlined
def tighten_ends(
    Theta: Ellipsoids,
    width_scale: float,
    arms: FloatArray,
    upper: FloatArray,
    width: FloatArray,
    rivals: IntArray,
) -> None:
    """upper, width of these arms: the other ellipsoids' where one of them ends earlier."""
    whitened = np.empty(arms.shape[1])
    for e in range(1, Theta.rad.shape[0]):
        radius = radius_of(Theta, e, width_scale)
        for i in rivals:
            half = radius * math.sqrt(whiten(Theta.whitener[e], arms[i], whitened))
            end = dot(arms[i], Theta.center[e]) + half
            if end < upper[i]:
                upper[i], width[i] = end, half
