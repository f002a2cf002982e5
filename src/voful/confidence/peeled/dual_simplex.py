"""A small dual simplex for max x.theta over {A theta <= h} inside the unit ball.

Rows 0..2d-1 are the box |theta_k| <= 1, so the corner sign(x) is always a dual feasible start.
Every dual feasible basis B (x = A_B' lam, lam >= 0) gives x.theta <= lam.h_B: stopping early, or on
any numerical doubt, still returns an upper bound. Bases are tiny (d x d) and starts are warm, which
is why this is in-house: an optimum costs some 10 microseconds, a call of a general solver more.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from voful.compiled import part
from voful.typing import FloatArray, IntArray

HOLDS = 1e-9  # violation below which a row holds
OPTIMAL, EMPTY, STOPPED = 0, 1, 2


class Polytope(NamedTuple):
    """Rows A theta <= h with room for more; `used` says when a row was last in a basis."""

    A: FloatArray  # (capacity, d), normalised
    h: FloatArray  # (capacity,)
    used: FloatArray  # (capacity,)
    size: IntArray  # (1,) rows in use


class Basis(NamedTuple):
    """d tight rows and the inverse of their matrix; `vertex` is where they meet."""

    rows: IntArray  # (d,)
    inverse: FloatArray  # (d, d) A_B^-1
    vertex: FloatArray  # (d,)


@part
def new_basis(d: int) -> Basis:
    """Room for a basis."""
    return Basis(np.empty(d, dtype=np.int64), np.empty((d, d)), np.empty(d))


@part
def reset(P: Polytope) -> None:
    """Back to the box |theta_k| <= 1."""
    d = P.A.shape[1]
    P.A[: 2 * d] = 0.0
    for k in range(d):
        P.A[k, k] = 1.0
        P.A[d + k, k] = -1.0
    P.h[: 2 * d] = 1.0
    P.used[: 2 * d] = 0.0  # nobody asks: the box is never dropped
    P.size[0] = 2 * d


@part
def add_row(P: Polytope, w: FloatArray, t: float, clock: float) -> None:
    """Append w.theta <= t, normalised, with 1e-11 of slack against rounding."""
    norm = math.sqrt(np.dot(w, w))
    at = P.size[0]
    for k in range(w.shape[0]):
        P.A[at, k] = w[k] / norm
    P.h[at] = t / norm + 1e-11
    P.used[at] = clock
    P.size[0] = at + 1


@part
def make_room(P: Polytope, B: Basis, rows: int) -> None:
    """Where fewer than `rows` rows are free, drop those used longest ago, never the box or B.

    Dropping rows only enlarges the polytope.
    """
    capacity, d = P.A.shape
    size = P.size[0]
    if size + rows <= capacity:
        return
    oldest_last = np.argsort(-P.used[2 * d : size])
    kept = np.zeros(size, dtype=np.bool_)
    kept[: 2 * d] = True
    for i in range(min(capacity // 2, oldest_last.shape[0])):
        kept[2 * d + oldest_last[i]] = True
    for i in range(d):
        kept[B.rows[i]] = True
    where = np.empty(size, dtype=np.int64)
    new = 0
    for i in range(size):
        where[i] = new
        if kept[i]:
            for k in range(d):
                P.A[new, k] = P.A[i, k]
            P.h[new] = P.h[i]
            P.used[new] = P.used[i]
            new += 1
    for i in range(d):
        B.rows[i] = where[B.rows[i]]
    P.size[0] = new


@part
def multipliers(a: FloatArray, B: Basis, out: FloatArray) -> None:
    """out = lam with a = A_B' lam."""
    d = a.shape[0]
    for i in range(d):
        total = 0.0
        for k in range(d):
            total += a[k] * B.inverse[k, i]
        out[i] = total


@part
def add_multiple(P: Polytope, row: int, m: float, left: FloatArray) -> float:
    """Add m times the left side of a row; returns m times its right side."""
    for k in range(left.shape[0]):
        left[k] += m * P.A[row, k]
    return float(m * P.h[row])


@part
def start_at_corner(x: FloatArray, B: Basis) -> None:
    """The dual feasible start: the corner sign(x) of the box."""
    d = x.shape[0]
    B.inverse[:, :] = 0.0
    for k in range(d):
        B.rows[k] = k if x[k] >= 0.0 else d + k
        B.inverse[k, k] = 1.0 if x[k] >= 0.0 else -1.0


@part
def invert(P: Polytope, B: Basis) -> bool:
    """Take A_B^-1 anew, with one Newton step; False where the basis is singular."""
    d = B.rows.shape[0]
    matrix = np.empty((d, d))
    for i in range(d):
        for k in range(d):
            matrix[i, k] = P.A[B.rows[i], k]
    if not abs(np.linalg.det(matrix)) > 1e-250:
        return False
    Z = np.linalg.inv(matrix)
    twice = Z @ (matrix @ Z)
    for i in range(d):
        for k in range(d):
            B.inverse[i, k] = 2.0 * Z[i, k] - twice[i, k]
    return True


@part
def is_farkas_proof(P: Polytope, B: Basis, j: int, alpha: FloatArray) -> bool:
    """Whether row j and the basis rows, with multipliers max(-alpha, 0), exclude the unit ball.

    With m >= 0, every theta of the polytope has (A_j + m.A_B) theta <= h_j + m.h_B; a right side
    below -|A_j + m.A_B| leaves no |theta| <= 1, however alpha rounds.
    """
    d = alpha.shape[0]
    rest = P.A[j].copy()
    right, weight = P.h[j], 1.0
    for i in range(d):
        m = max(-alpha[i], 0.0)
        right += add_multiple(P, B.rows[i], m, rest)
        weight += m
    return bool(right < -math.sqrt(np.dot(rest, rest)) - 1e-13 * weight)


@part
def most_violated(P: Polytope, point: FloatArray) -> int:
    """The row that `point` exceeds most, -1 where all hold; four rows side by side."""
    d = point.shape[0]
    size = P.size[0]
    at, violation = -1, HOLDS
    over = np.empty(4)
    for first in range(0, size, 4):
        p, q = min(first + 1, size - 1), min(first + 2, size - 1)
        r = min(first + 3, size - 1)
        s0, s1, s2, s3 = -P.h[first], -P.h[p], -P.h[q], -P.h[r]
        for k in range(d):
            x = point[k]
            s0 += P.A[first, k] * x
            s1 += P.A[p, k] * x
            s2 += P.A[q, k] * x
            s3 += P.A[r, k] * x
        over[0], over[1], over[2], over[3] = s0, s1, s2, s3
        if max(max(s0, s1), max(s2, s3)) > violation:
            for i in range(min(4, size - first)):
                if over[i] > violation:
                    violation, at = over[i], first + i
    return at


@part
def optimise(P: Polytope, x: FloatArray, B: Basis, floor: float) -> int:
    """Dual simplex from a dual feasible basis: OPTIMAL, EMPTY or STOPPED (still a bound).

    The bound falls from pivot to pivot; below `floor` it is of no interest how far.
    """
    d = x.shape[0]
    lam, alpha = np.empty(d), np.empty(d)
    for iteration in range(60 + 12 * d):
        if iteration % 25 == 24 and not invert(P, B):
            return STOPPED
        for k in range(d):
            position = 0.0
            for i in range(d):
                position += B.inverse[k, i] * P.h[B.rows[i]]
            B.vertex[k] = position
        if np.dot(x, B.vertex) < floor:
            return STOPPED
        entering = most_violated(P, B.vertex)
        if entering < 0:
            return OPTIMAL
        multipliers(x, B, lam)
        multipliers(P.A[entering], B, alpha)
        largest = 0.0
        for i in range(d):
            largest = max(largest, abs(alpha[i]))
        leaving, ratio = -1, np.inf
        for i in range(d):
            if alpha[i] > 1e-9 * largest and alpha[i] > 1e-11:
                q = max(lam[i], 0.0) / alpha[i]
                if q < ratio - 1e-12 or (q <= ratio + 1e-12 and alpha[i] > alpha[leaving]):
                    ratio, leaving = min(q, ratio), i
        if leaving < 0:
            return EMPTY if is_farkas_proof(P, B, entering, alpha) else STOPPED
        pivot = alpha[leaving]
        alpha[leaving] = 0.0
        for k in range(d):
            B.inverse[k, leaving] /= pivot
            step = B.inverse[k, leaving]
            for i in range(d):
                B.inverse[k, i] -= alpha[i] * step
        B.rows[leaving] = entering
    return STOPPED


@part
def dual_bound(P: Polytope, x: FloatArray, B: Basis) -> float:
    """lam+.h_B + |x - A_B' lam+|: a bound for |theta| <= 1 by weak duality, however B rounds."""
    d = x.shape[0]
    rest, lam = x.copy(), np.empty(d)
    multipliers(x, B, lam)
    total = 0.0
    for i in range(d):
        if lam[i] > 0.0:
            total -= add_multiple(P, B.rows[i], -lam[i], rest)
    return total + math.sqrt(np.dot(rest, rest))


@part
def mark_used(P: Polytope, B: Basis, clock: float) -> None:
    """Note that the basis rows were of use now."""
    for i in range(B.rows.shape[0]):
        P.used[B.rows[i]] = clock


@part
def bound(P: Polytope, x: FloatArray, B: Basis, clock: float, floor: float) -> float:
    """Upper bound of max x.theta over the rows as they are; -inf if there is nothing in them.

    Below `floor` it is no closer than needed.
    """
    norm = math.sqrt(np.dot(x, x))
    if norm == 0.0:
        return 0.0
    if most_violated(P, x / norm) < 0:  # the ball's own maximiser is inside
        return norm
    start_at_corner(x, B)
    if optimise(P, x, B, floor) == EMPTY:
        return -np.inf
    mark_used(P, B, clock)
    return min(norm, dual_bound(P, x, B))
