"""Convex polygons (and segments, and points) cut by halfspaces, vertex by vertex."""

from __future__ import annotations

import numpy as np

from voful.compiled import kernel
from voful.typing import FloatArray

SAME = 1e-12  # vertices that are nearer than this are one


@kernel
def largest_products(vertices: FloatArray, X: FloatArray) -> FloatArray:
    """max over the vertices v of <x, v>, for the rows x of X."""
    n, d = X.shape
    out = np.empty(n)
    for k in range(n):
        best = -np.inf
        for v in range(vertices.shape[0]):
            product = 0.0
            for i in range(d):
                product += X[k, i] * vertices[v, i]
            best = max(best, product)
        out[k] = best
    return out


@kernel
def _append(polygon: FloatArray, size: int, point: FloatArray) -> int:
    """Append a vertex unless it is the last one again; the new size."""
    if size > 0 and np.abs(polygon[size - 1] - point).max() <= SAME:
        return size
    polygon[size] = point
    return size + 1


@kernel
def clip_polygon(vertices: FloatArray, A: FloatArray, b: FloatArray) -> tuple[FloatArray, int]:
    """The vertices, in order, of what {A theta <= b} leaves; and how many rows were skipped.

    Sutherland and Hodgman 1974. A row that would leave nothing is skipped.
    """
    d = vertices.shape[1]
    room = vertices.shape[0] + A.shape[0] + 4
    polygon, clipped = np.empty((room, d)), np.empty((room, d))
    excess = np.empty(room)
    size = vertices.shape[0]
    polygon[:size] = vertices
    skipped = 0
    for row in range(A.shape[0]):
        least, most = np.inf, -np.inf
        for v in range(size):
            over = -b[row]
            for i in range(d):
                over += A[row, i] * polygon[v, i]
            excess[v] = over
            least, most = min(least, over), max(most, over)
        if most <= 0.0:
            continue
        if least > 0.0:
            skipped += 1
            continue
        new = 0
        for v in range(size):
            after = v + 1 if v + 1 < size else 0
            if excess[v] <= 0.0:
                new = _append(clipped, new, polygon[v])
            if (excess[v] < 0.0 and excess[after] > 0.0) or (
                excess[v] > 0.0 and excess[after] < 0.0
            ):
                share = excess[v] / (excess[v] - excess[after])
                new = _append(clipped, new, (1.0 - share) * polygon[v] + share * polygon[after])
        while new > 1 and np.abs(clipped[new - 1] - clipped[0]).max() <= SAME:
            new -= 1
        polygon, clipped = clipped, polygon
        size = new
    return polygon[:size].copy(), skipped
