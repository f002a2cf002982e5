"""Convex polygons (and segments, and points) cut by halfspaces, vertex by vertex."""

from __future__ import annotations

import numpy as np

from voful.compiled import kernel, part
from voful.typing import FloatArray

SAME = 1e-12  # vertices that are nearer than this are one


@part
def fill_largest_products(vertices: FloatArray, X: FloatArray, out: FloatArray) -> None:
    """out = max over the vertices v of <x, v>, for the rows x of X."""
    for k in range(X.shape[0]):
        out[k] = -np.inf
        for v in range(vertices.shape[0]):
            product = 0.0
            for i in range(X.shape[1]):
                product += X[k, i] * vertices[v, i]
            out[k] = max(out[k], product)


@kernel
def largest_products(vertices: FloatArray, X: FloatArray) -> FloatArray:
    """max over the vertices v of <x, v>, for the rows x of X."""
    out = np.empty(X.shape[0])
    fill_largest_products(vertices, X, out)
    return out


@part
def _same(u: FloatArray, v: FloatArray) -> bool:
    """Whether two vertices are one."""
    same = True
    for i in range(u.shape[0]):
        same = same and abs(u[i] - v[i]) <= SAME
    return same


@part
def _append(polygon: FloatArray, size: int, u: FloatArray, v: FloatArray, share: float) -> int:
    """Append (1 - share) u + share v unless it is the last vertex again; the new size."""
    for i in range(u.shape[0]):
        polygon[size, i] = (1.0 - share) * u[i] + share * v[i]
    if size > 0 and _same(polygon[size - 1], polygon[size]):
        return size
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
    for v in range(size):
        for i in range(d):
            polygon[v, i] = vertices[v, i]
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
                new = _append(clipped, new, polygon[v], polygon[v], 0.0)
            if (excess[v] < 0.0 and excess[after] > 0.0) or (
                excess[v] > 0.0 and excess[after] < 0.0
            ):
                share = excess[v] / (excess[v] - excess[after])
                new = _append(clipped, new, polygon[v], polygon[after], share)
        while new > 1 and _same(clipped[new - 1], clipped[0]):
            new -= 1
        polygon, clipped = clipped, polygon
        size = new
    return polygon[:size].copy(), skipped
