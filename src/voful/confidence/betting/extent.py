"""Questions to the set: upper ends, membership, the optimistic arm."""

from __future__ import annotations

import math

import numpy as np

from voful.compiled import kernel
from voful.confidence.algebra import SIDE_BY_SIDE, dot, means_and_widths, whiten
from voful.confidence.betting.plugin import leader
from voful.confidence.betting.quadratic import distance
from voful.confidence.betting.state import EMPTIED, RAD, Ellipsoids, State, open_state
from voful.confidence.ellipsoids.intersection import tightest_interval
from voful.typing import BoolArray, FloatArray, IntArray


@kernel
def is_empty(Theta: Ellipsoids, rounds: IntArray) -> bool:
    """Whether an ellipsoid has lost all its points, or an arm has shown that nothing is left."""
    for e in range(Theta.scalars.shape[0]):
        if not Theta.scalars[e, RAD] >= 0.0:
            return True
    return bool(rounds[EMPTIED] != 0)


@kernel
def current_center(
    bets: int, constants: FloatArray, memory: FloatArray, count: IntArray, history: FloatArray
) -> tuple[bool, FloatArray]:
    """Whether the set is empty, and a copy of its centre (then: of the leading ridge estimate)."""
    state = open_state(bets, constants, memory, count, history)
    empty = is_empty(state.Theta, count)
    center = state.plugin.theta[leader(state.plugin)] if empty else state.Theta.center[0]
    return empty, center.copy()


@kernel
def radii(state: State, width_scale: float) -> FloatArray:
    """width_scale sqrt(rad) of each ellipsoid, 0 where it is empty."""
    out = np.empty(state.Theta.scalars.shape[0])
    for e in range(out.shape[0]):
        out[e] = radius_of(state.Theta, e, width_scale)
    return out


@kernel
def radius_of(Theta: Ellipsoids, e: int, width_scale: float) -> float:
    """width_scale sqrt(rad), 0 where the ellipsoid is empty."""
    return width_scale * math.sqrt(max(Theta.scalars[e, RAD], 0.0))


@kernel
def ends(
    bets: int,
    constants: FloatArray,
    memory: FloatArray,
    count: IntArray,
    history: FloatArray,
    width_scale: float,
    X: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Largest lower and smallest upper end over the ellipsoids, for the rows of X."""
    state = open_state(bets, constants, memory, count, history)
    Theta = state.Theta
    return tightest_interval(X, Theta.center, Theta.whitener, radii(state, width_scale))


@kernel
def ellipsoids(
    bets: int,
    constants: FloatArray,
    memory: FloatArray,
    count: IntArray,
    history: FloatArray,
    width_scale: float,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Views of the centers and whiteners, and the radii."""
    state = open_state(bets, constants, memory, count, history)
    return state.Theta.center, state.Theta.whitener, radii(state, width_scale)


@kernel
def holds(
    bets: int,
    constants: FloatArray,
    memory: FloatArray,
    count: IntArray,
    history: FloatArray,
    width_scale: float,
    theta: FloatArray,
    slack: float,
) -> bool:
    """Whether theta is in every ellipsoid."""
    state = open_state(bets, constants, memory, count, history)
    for e in range(state.Theta.scalars.shape[0]):
        rad = state.Theta.scalars[e, RAD]
        if not distance(state.Theta, e, theta) <= width_scale**2 * rad * (1.0 + slack):
            return False
    return True


@kernel
def optimistic_ends(
    Theta: Ellipsoids, width_scale: float, arms: FloatArray, mask: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """Upper ends and, to break ties, the half-widths of the ellipsoids that give them.

    An arm whose first upper end is below another's smallest one cannot be chosen: its other
    ellipsoids are not asked.
    """
    n, whitened = arms.shape[0], np.empty(arms.shape[1])
    upper, width = means_and_widths(
        arms, Theta.center[0], Theta.whitener[0], radius_of(Theta, 0, width_scale)
    )
    top = 0
    for i in range(n):
        upper[i] = upper[i] + width[i] if mask.shape[0] == 0 or mask[i] else -math.inf
        if upper[i] > upper[top]:
            top = i
    if Theta.scalars.shape[0] == 1:
        return upper, width
    # The first ellipsoid's favourite sets the floor for the others.
    tighten_end(Theta, width_scale, whitened, arms[top], upper, width, top)
    floor = upper[top] - 1e-6 * (1.0 + abs(upper[top]))
    rivals, n_rivals = np.empty(n, dtype=np.int64), 0
    for i in range(n):
        if upper[i] >= floor:
            rivals[n_rivals] = i
            n_rivals += 1
    if n_rivals < SIDE_BY_SIDE:
        for i in rivals[:n_rivals]:
            tighten_end(Theta, width_scale, whitened, arms[i], upper, width, i)
    else:
        tighten_ends(Theta, width_scale, arms, upper, width, rivals[:n_rivals])
    return upper, width


@kernel
def tighten_end(
    Theta: Ellipsoids,
    width_scale: float,
    whitened: FloatArray,
    x: FloatArray,
    upper: FloatArray,
    width: FloatArray,
    i: int,
) -> None:
    """upper[i], width[i] of the arm x: the other ellipsoids' where one of them ends earlier."""
    for e in range(1, Theta.scalars.shape[0]):
        radius = radius_of(Theta, e, width_scale)
        half = radius * math.sqrt(whiten(Theta.whitener[e], x, whitened))
        end = dot(x, Theta.center[e]) + half
        if end < upper[i]:
            upper[i], width[i] = end, half


@kernel
def tighten_ends(
    Theta: Ellipsoids,
    width_scale: float,
    arms: FloatArray,
    upper: FloatArray,
    width: FloatArray,
    rivals: IntArray,
) -> None:
    """`tighten_end` for many arms at once; the same bits."""
    n, d = rivals.shape[0], arms.shape[1]
    chosen = np.empty((n, d))
    for k in range(n):
        for j in range(d):
            chosen[k, j] = arms[rivals[k], j]
    for e in range(1, Theta.scalars.shape[0]):
        radius = radius_of(Theta, e, width_scale)
        means, halves = means_and_widths(chosen, Theta.center[e], Theta.whitener[e], radius)
        for k in range(n):
            if means[k] + halves[k] < upper[rivals[k]]:
                upper[rivals[k]], width[rivals[k]] = means[k] + halves[k], halves[k]
