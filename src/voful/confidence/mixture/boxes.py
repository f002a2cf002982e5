"""Two boxes around a polytope: along the coordinates, and along axes that fit its shape.

Above four dimensions vertices are too many. The support function of each box is a sum, and the
smaller of the two bounds that of the polytope.
"""

from __future__ import annotations

import numpy as np

from voful.compiled import kernel
from voful.confidence.algebra import dot
from voful.confidence.mixture.domain import Domain
from voful.confidence.mixture.linear_programmes import Programme
from voful.typing import FloatArray


@kernel
def box_support(X: FloatArray, lower: FloatArray, upper: FloatArray, simplex: bool) -> FloatArray:
    """sup of <x, theta> over lower <= theta <= upper in the simplex or the L1 ball.

    A continuous knapsack: from the smallest theta, fill up the coordinates that pay most.
    """
    n, d = X.shape
    out = np.empty(n)
    gain, room, order = np.empty(d), np.empty(d), np.empty(d, dtype=np.int64)
    for k in range(n):
        x = X[k]
        budget, total = 1.0, 0.0
        for i in range(d):
            start = lower[i] if simplex else min(max(0.0, lower[i]), upper[i])
            budget -= abs(start)
            total += x[i] * start
            gain[i] = x[i] if simplex else abs(x[i])
            if simplex or (x[i] > 0.0 and start >= 0.0):
                room[i] = upper[i] - start
            elif x[i] < 0.0 and start <= 0.0:
                room[i] = start - lower[i]
            else:  # to the other side of 0 it only pays to come as near as possible
                room[i] = 0.0
            j = i
            while j > 0 and gain[order[j - 1]] < gain[i]:
                order[j] = order[j - 1]
                j -= 1
            order[j] = i
        for j in range(d):
            i = order[j]
            step = min(room[i], max(budget, 0.0))
            total += gain[i] * step
            budget -= step
        out[k] = total
    return out


@kernel
def frame_support(
    X: FloatArray, frame: FloatArray, lower: FloatArray, upper: FloatArray, simplex: bool
) -> FloatArray:
    """sup of <x, theta> over lower <= frame theta <= upper, frame orthonormal along the domain."""
    n, d = X.shape
    out = np.empty(n)
    for k in range(n):
        total = 0.0
        if simplex:  # theta = 1/d + sum (q.theta) q
            for i in range(d):
                total += X[k, i] / d
        for q in range(frame.shape[0]):
            z = dot(frame[q], X[k])
            total += max(z * lower[q], z * upper[q])
        out[k] = total
    return out


def fitting_frame(domain: Domain, A: FloatArray, b: FloatArray, center: FloatArray) -> FloatArray:
    """Axes of Dikin's ellipsoid at the centre, orthonormal rows, shape (n_free, dim)."""
    basis = domain.tangent()
    if domain.simplex:
        facets, right = domain.facets
        A, b = np.concatenate([A, facets]), np.concatenate([b, right])
    along = A @ basis.T
    distance = np.maximum(b - A @ center, 1e-9)
    _, axes = np.linalg.eigh((along / distance[:, None] ** 2).T @ along)
    return np.ascontiguousarray(axes.T @ basis)


def box(programme: Programme, directions: FloatArray) -> FloatArray:
    """(2, n) lower and upper ends of <q, theta> for the rows q of directions."""
    upper = [programme.maximum(q) for q in directions]
    return np.array([[-programme.maximum(-q) for q in directions], upper])
