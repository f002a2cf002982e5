"""Questions to the set: upper ends, membership, the optimistic arm."""

from __future__ import annotations

import math

import numpy as np

from voful.compiled import kernel
from voful.confidence.algebra import dot, whiten
from voful.confidence.betting.quadratic import distance
from voful.confidence.betting.state import RAD, State, open_state
from voful.typing import BoolArray, FloatArray, IntArray


@kernel
def radii(state: State, width_scale: float) -> FloatArray:
    """width_scale sqrt(rad) of each ellipsoid, 0 where it is empty."""
    out = np.empty(state.Theta.scalars.shape[0])
    for e in range(out.shape[0]):
        out[e] = width_scale * math.sqrt(max(state.Theta.scalars[e, RAD], 0.0))
    return out


@kernel
def upper_end(
    whitener: FloatArray, center: FloatArray, radius: float, x: FloatArray, work: FloatArray
) -> tuple[float, float]:
    """<x, c> + radius |W x|, and the second term."""
    width = radius * math.sqrt(whiten(whitener, x, work))
    return dot(x, center) + width, width


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
    Theta, work = state.Theta, state.scratch.u
    radius = radii(state, width_scale)
    lower, upper = np.empty(X.shape[0]), np.empty(X.shape[0])
    for i in range(X.shape[0]):
        lower[i], upper[i] = -math.inf, math.inf
        for e in range(radius.shape[0]):
            width = radius[e] * math.sqrt(whiten(Theta.whitener[e], X[i], work))
            middle = dot(X[i], Theta.center[e])
            lower[i] = max(lower[i], middle - width)
            upper[i] = min(upper[i], middle + width)
    return lower, upper


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
    bets: int,
    constants: FloatArray,
    memory: FloatArray,
    count: IntArray,
    history: FloatArray,
    width_scale: float,
    arms: FloatArray,
    mask: BoolArray,
) -> tuple[FloatArray, FloatArray]:
    """Upper ends and half-widths for the optimistic rule.

    An arm whose first upper end is below another's smallest one cannot be chosen: its other
    ellipsoids are not asked.
    """
    state = open_state(bets, constants, memory, count, history)
    Theta, work = state.Theta, state.scratch.u
    radius = radii(state, width_scale)
    n = arms.shape[0]
    upper, width = np.empty(n), np.empty(n)
    top = -1
    for i in range(n):
        upper[i], width[i] = upper_end(Theta.whitener[0], Theta.center[0], radius[0], arms[i], work)
        if mask.shape[0] > 0 and not mask[i]:
            upper[i] = -math.inf
        if top < 0 or upper[i] > upper[top]:
            top = i
    if radius.shape[0] == 1:
        return upper, width
    floor = -math.inf
    for k in range(-1, n):  # the first ellipsoid's favourite comes first: it sets the floor
        i = top if k < 0 else k
        if (k >= 0 and i == top) or upper[i] < floor - 1e-6 * (1.0 + abs(floor)):
            continue
        for e in range(1, radius.shape[0]):
            value, half = upper_end(Theta.whitener[e], Theta.center[e], radius[e], arms[i], work)
            if value < upper[i]:
                upper[i], width[i] = value, half
        floor = max(floor, upper[i])
    return upper, width
