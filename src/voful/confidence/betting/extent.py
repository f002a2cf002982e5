"""Questions to the set: upper ends, membership, the optimistic arm."""

from __future__ import annotations

import math

import numpy as np

from voful.compiled import kernel
from voful.confidence.algebra import means_and_widths
from voful.confidence.betting.plugin import leader
from voful.confidence.betting.quadratic import distance
from voful.confidence.betting.state import EMPTIED, RAD, State, open_state
from voful.confidence.intersection import tightest_interval
from voful.typing import BoolArray, FloatArray, IntArray


@kernel
def is_empty(state: State) -> bool:
    """Whether an ellipsoid has lost all its points, or an arm has shown that nothing is left."""
    return state.rounds[EMPTIED] != 0 or not bool(np.all(state.Theta.scalars[:, RAD] >= 0.0))


@kernel
def current_center(
    bets: int, constants: FloatArray, memory: FloatArray, count: IntArray, history: FloatArray
) -> tuple[bool, FloatArray]:
    """Whether the set is empty, and a copy of its centre (then: of the leading ridge estimate)."""
    state = open_state(bets, constants, memory, count, history)
    empty = is_empty(state)
    center = state.plugin.theta[leader(state.plugin)] if empty else state.Theta.center[0]
    return empty, center.copy()


@kernel
def radii(state: State, width_scale: float) -> FloatArray:
    """width_scale sqrt(rad) of each ellipsoid, 0 where it is empty."""
    out = np.empty(state.Theta.scalars.shape[0])
    for e in range(out.shape[0]):
        out[e] = width_scale * math.sqrt(max(state.Theta.scalars[e, RAD], 0.0))
    return out


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
    state: State, width_scale: float, arms: FloatArray, mask: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """Upper ends and, to break ties, the half-widths of the ellipsoids that give them.

    An arm whose first upper end is below another's smallest one cannot be chosen: its other
    ellipsoids are not asked.
    """
    Theta = state.Theta
    radius = radii(state, width_scale)
    upper, width = means_and_widths(arms, Theta.center[0], Theta.whitener[0], radius[0])
    top = -1
    for i in range(arms.shape[0]):
        upper[i] = upper[i] + width[i] if mask.shape[0] == 0 or mask[i] else -math.inf
        if top < 0 or upper[i] > upper[top]:
            top = i
    if radius.shape[0] == 1:
        return upper, width
    rivals = np.array([top])
    for step in range(2):  # the first ellipsoid's favourite sets the floor for the others
        chosen = arms[rivals]
        for e in range(1, radius.shape[0]):
            means, widths = means_and_widths(chosen, Theta.center[e], Theta.whitener[e], radius[e])
            for k in range(rivals.shape[0]):
                if means[k] + widths[k] < upper[rivals[k]]:
                    upper[rivals[k]], width[rivals[k]] = means[k] + widths[k], widths[k]
        if step == 0:
            floor = upper[top] - 1e-6 * (1.0 + abs(upper[top]))
            rivals = np.nonzero(upper >= floor)[0]
    return upper, width
