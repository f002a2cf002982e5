"""The maximum of <x, theta> over an ellipsoid within the simplex.

With sum theta = 1 the ellipsoid is {c + B'v : |v| <= 1}, sum c = 1 and B'v along the plane. For
every lambda >= 0 and theta >= 0

    <x, theta> <= <x + lambda, theta> <= <x + lambda, c> + |B'(x + lambda)|,

and the least of these bounds is the maximum over both (there is no gap: a convex problem). All of
them are sound, so the search for the least may stop anywhere. It goes along one coordinate after
the other, each time to the minimum, and then along all those that are not 0 at once: there
the minimum is that over the ellipsoid's cut with a face of the simplex, which is an ellipsoid
again.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from voful.compiled import part
from voful.confidence.algebra import dot
from voful.typing import FloatArray, IntArray

SWEEPS = 6
"""Over the coordinates, at most."""

FACES = 3
"""Faces that are tried after a sweep, at most: one after the other loses a coordinate."""

ENOUGH = 1e-4
"""A sweep that lowers the bound by less, over the half-width, is the last one."""

FLAT = 1e-12
"""A pivot this small against its diagonal: the face is a corner, or nothing."""

FAR = 1e6
"""Where a bound falls without end, so many half-widths are enough to lose a coordinate."""


class Room(NamedTuple):
    """What a search needs, made once for many."""

    multipliers: FloatArray  # (d,): lambda
    spread: FloatArray  # (d,): B'(x + lambda)
    active: IntArray  # (d,): where lambda > 0
    triangle: FloatArray  # (d, d): a Cholesky factor
    solved: FloatArray  # (2, d)


@part
def new_room(d: int) -> Room:
    """Room for d coordinates."""
    return Room(
        np.empty(d), np.empty(d), np.empty(d, dtype=np.int64), np.empty((d, d)), np.empty((2, d))
    )


@part
def plain_end(
    centers: FloatArray,
    factors: FloatArray,
    e: int,
    X: FloatArray,
    k: int,
    shift: float,
    p: FloatArray,
) -> float:
    """<x - shift, c> + |B'(x - shift)|, x = X[k] and the e-th c, B; p becomes B'(x - shift).

    By their numbers: a view of a row takes as long as three dimensions.
    """
    d = X.shape[1]
    middle = 0.0
    for j in range(d):
        p[j] = 0.0
    for i in range(d):
        u = X[k, i] - shift
        middle += u * centers[e, i]
        for j in range(d):
            p[j] += u * factors[e, i, j]
    return middle + math.sqrt(dot(p, p))


@part
def lowest_along(c: float, b: float, size: float, squared: float, least: float) -> float:
    """The t >= least that minimises c t + sqrt(squared + 2 b t + size t^2), where it falls at 0.

    At the minimum t + b / size = -c / sqrt(size) sqrt(rest / (1 - c^2 / size)), rest what is
    left of `squared` / size. Where c^2 >= size there is none: it falls up to `least`, or for ever.
    """
    steep = c * c / size
    if steep >= 1.0:
        return least if c > 0.0 else 0.0
    rest = max(squared - b * b / size, 0.0)
    return max(-(b + c * math.sqrt(rest / (1.0 - steep))) / size, least)


@part
def towards_face(center: FloatArray, factor: FloatArray, room: Room) -> int:
    """solved[1, :n]: the step to the minimum over the n multipliers > 0; 0: there is none.

    With G the Gram matrix of their rows of B, b = B p and s = |p| at the minimum it is
    -G^-1 (s c + b), and s^2 (1 - c G^-1 c) = |p|^2 - b G^-1 b. Where c G^-1 c >= 1 the face misses
    the ellipsoid: the bound falls for ever along -G^-1 c.
    """
    n = 0
    for i in range(center.shape[0]):
        if room.multipliers[i] > 0.0:
            room.active[n] = i
            n += 1
    if n < 2:
        return 0
    L, p = room.triangle, room.spread
    along, step = room.solved[0], room.solved[1]
    left, rest = 1.0, dot(p, p)
    far = FAR * math.sqrt(rest)
    for k in range(n):
        row = factor[room.active[k]]
        for m in range(k + 1):
            product = dot(row, factor[room.active[m]])
            pivot = product - dot(L[k, :m], L[m, :m])
            if m < k:
                L[k, m] = pivot / L[m, m]
            elif pivot <= FLAT * product:
                return 0
            else:
                L[k, k] = math.sqrt(pivot)
        along[k] = (center[room.active[k]] - dot(L[k, :k], along[:k])) / L[k, k]
        step[k] = (dot(row, p) - dot(L[k, :k], step[:k])) / L[k, k]
        left -= along[k] * along[k]
        rest -= step[k] * step[k]
    s = math.sqrt(max(rest, 0.0) / left) if left > 0.0 else far
    for k in range(n - 1, -1, -1):
        total = -s * along[k] - (step[k] if left > 0.0 else 0.0)
        for m in range(k + 1, n):
            total -= L[m, k] * step[m]
        step[k] = total / L[k, k]
    return n


@part
def lower_by_multipliers(
    center: FloatArray,
    factor: FloatArray,
    sizes: FloatArray,
    bound: float,
    floor: float,
    room: Room,
) -> float:
    """The bound with lambda = 0, whose p `plain_end` has left in the room, made nearly the least.

    factor is B, whose rows sum up to 0; sizes are their squared lengths. The search ends as soon
    as the bound lies below the floor.
    """
    d = center.shape[0]
    lam, p = room.multipliers, room.spread
    for i in range(d):
        lam[i] = 0.0
    squared = dot(p, p)
    width = math.sqrt(squared)
    middle = bound - width
    for _ in range(SWEEPS):
        moved, n_active = False, 0
        for i in range(d):
            b = 0.0
            for j in range(d):
                b += p[j] * factor[i, j]
            # theta_i of the maximiser is c_i + b / width: nothing to do where it is >= 0
            if (lam[i] > 0.0 or b < -center[i] * width) and sizes[i] > 0.0:
                t = lowest_along(center[i], b, sizes[i], squared, -lam[i])
                moved = moved or t != 0.0
                lam[i] += t
                middle += t * center[i]
                for j in range(d):
                    p[j] += t * factor[i, j]
                squared = dot(p, p)
                width = math.sqrt(squared)
                n_active += lam[i] > 0.0
        if not moved:
            break
        for _ in range(FACES if n_active > 1 else 0):
            n, part, lost = towards_face(center, factor, room), 1.0, -1
            step = room.solved[1]
            for k in range(n):
                i = room.active[k]
                if lam[i] + part * step[k] < 0.0:
                    part, lost = -lam[i] / step[k], i
            for k in range(n):  # so far that one of them becomes 0
                i = room.active[k]
                t = -lam[i] if i == lost else max(part * step[k], -lam[i])
                lam[i] += t
                middle += t * center[i]
                for j in range(d):
                    p[j] += t * factor[i, j]
            if lost < 0:
                break
        squared = dot(p, p)
        width = math.sqrt(squared)
        fall = bound - (middle + width)
        bound = min(bound, middle + width)
        if fall <= ENOUGH * width or bound < floor:
            break
    return bound
