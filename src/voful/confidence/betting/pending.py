"""Ends of the betting set when arms were played whose rewards are still to come.

What these rewards will tell is foreseeable: they narrow the set along their arms. So widths, not
centres, are those of a set that has them already:

    u_h(x) = max(min_e <x, center_e> + sqrt(rad_e x'(A_e + lambda I + c_e P)^-1 x), l(x))

with P = sum x x' over the arms that wait, c_e = max(tr A_e / sum |x_learnt|^2, 1 / (4 h^2)) the
curvature that a reward is expected to bring, and l the set's own lower end. It is for choosing
only: no interval is made of it. On the event that theta* is in the set, no arm is played that is
surely not the best: u_h(x) >= u_h(x*) >= l(x*) where x is played.
"""

from __future__ import annotations

import math

import numpy as np

from voful.compiled import inlined, part
from voful.confidence.algebra import (
    CANCELLED,
    dot,
    means_and_squares,
    update_whitener_within,
    whiten,
)
from voful.confidence.betting.questions import radius_of
from voful.confidence.betting.state import (
    Ellipsoids,
    open_clock,
    open_ellipsoids,
    open_latest,
    open_rules,
)
from voful.typing import FloatArray

LEAST = 0.25  # c h^2, at least: before anything is learnt
SOME = 16  # recent plays that tell how long arms are: c need not be exact


@part
def gathered(pending: FloatArray) -> FloatArray:
    """At most d rows z with sum z z' = P = sum x x': P's Cholesky factor, transposed.

    Directions along which nothing waits have a pivot of 0: their rows are 0.
    """
    m, d = pending.shape
    if m <= d:
        return pending
    P, rows = np.zeros((d, d)), np.zeros((d, d))
    k = 0
    while k + 4 <= m:  # four arms for one look at an entry
        x0, x1, x2, x3 = pending[k], pending[k + 1], pending[k + 2], pending[k + 3]
        for j in range(d):
            for i in range(j, d):
                P[j, i] += (x0[j] * x0[i] + x1[j] * x1[i]) + (x2[j] * x2[i] + x3[j] * x3[i])
        k += 4
    while k < m:
        for j in range(d):
            for i in range(j, d):
                P[j, i] += pending[k, j] * pending[k, i]
        k += 1
    for j in range(d):
        for k in range(j):
            scale = rows[k, j]
            for i in range(j, d):
                rows[j, i] -= scale * rows[k, i]
        pivot = P[j, j] + rows[j, j]
        if pivot > CANCELLED * P[j, j]:
            root = math.sqrt(pivot)
            for i in range(j, d):
                rows[j, i] = (P[j, i] + rows[j, i]) / root
        else:
            for i in range(j, d):
                rows[j, i] = 0.0
    return rows


@part
def foreseen(whitener: FloatArray, rows: FloatArray, weight: float) -> FloatArray:
    """The whitener of M + weight sum z z' over the rows z."""
    d = whitener.shape[0]
    work = np.empty((d + 2, d))
    out, whitened, carries = work[:d], work[d], work[d + 1]
    for i in range(d):
        for j in range(d):
            out[i, j] = whitener[i, j]
    for k in range(rows.shape[0]):
        whiten(out, rows[k], whitened)
        update_whitener_within(out, whitened, weight, carries)
    return out


@part
def curvature_to_come(Theta: Ellipsoids, e: int, squares: float, half: float) -> float:
    """c_e, with `squares` the sum of |x|^2 over the rounds learnt."""
    least, trace = LEAST / (half * half), 0.0
    for i in range(Theta.b.shape[2]):
        trace += Theta.A[e, 0, i, i] + Theta.A[e, 1, i, i]
    return max(trace / squares, least) if squares > 0.0 else least


@inlined
def foreseen_ends(
    memory: FloatArray, arms: FloatArray, rows: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """u_h before the maximum with l, and half-widths to break ties; rows: pending, gathered."""
    rules, Theta, latest = open_rules(memory), open_ellipsoids(memory), open_latest(memory)
    n_arms, n = arms.shape[0], int(open_clock(memory).n[0])
    squares, some = 0.0, min(n, SOME)
    for i in range(some):
        squares += dot(latest.recent[i], latest.recent[i])
    squares *= n / max(some, 1)
    upper, width = np.empty(n_arms), np.empty(n_arms)
    for e in range(Theta.rad.shape[0]):
        radius = radius_of(Theta, e, rules.width_scale)
        to_come = curvature_to_come(Theta, e, squares, rules.half)
        narrower = foreseen(Theta.whitener[e], rows, to_come)
        means, spread = means_and_squares(arms, Theta.center[e], narrower)
        for i in range(n_arms):
            half = radius * math.sqrt(spread[i])
            if e == 0 or means[i] + half < upper[i]:
                upper[i], width[i] = means[i] + half, half
    return upper, width
