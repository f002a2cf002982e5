"""The boundary of a set in the plane, whatever its shape: for figures."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from voful import validation
from voful.confidence.base import BaseConfidenceSet
from voful.typing import BoolArray, ConfidenceSet, FloatArray, IntArray

BLOCKS = 13  # of the grid along each axis of the set; the outermost lie beyond it
CELLS = 3  # of a block, along each axis: only blocks at the boundary are divided
HALVINGS = 6  # of a cell's edge, to find where the boundary crosses it
_TRIES = 12  # boxes, each about the members that were found in the one before

Edge = tuple[int, int, int]  # node (i, j), and 0 or 1: the edge to (i + 1, j) or (i, j + 1)


def outline(Theta: ConfidenceSet) -> list[FloatArray]:
    """Closed polygons (n, 2) that bound a set of dimension 2; members lie within an odd number.

    Marching squares on `contains`, on a grid along the axes in which the set is thinnest and
    longest; the crossings are found by bisection, so that the corners lie on the boundary. Parts
    and holes that are smaller than a tenth of the set may be missed. An empty set has no polygon.
    """
    if Theta.dim != 2:
        raise validation.fail("Theta (its dimension)", Theta.dim, "2")
    if Theta.is_empty or getattr(Theta, "is_refuted", False):
        return []
    grid = _grid_about(Theta)
    if grid is None:
        return []
    tolerance = 0.02 * float(grid.cell.min())
    loops = [_thinned(grid.cell * loop, tolerance) for loop in _loops(grid, _nodes(grid))]
    return [(grid.origin + loop) @ grid.axes.T for loop in loops]


class _Grid(NamedTuple):
    """Node (i, j) is the parameter axes @ (origin + cell * (i, j))."""

    contains: Callable[[FloatArray], bool]
    axes: FloatArray
    origin: FloatArray
    cell: FloatArray

    def has(self, i: float, j: float) -> bool:
        """Whether the parameter at this place is a member."""
        return self.contains(self.axes @ (self.origin + self.cell * (i, j)))


def _grid_about(Theta: ConfidenceSet) -> _Grid | None:
    """A grid that the set fills; None where no member was found."""
    axes, low, high = _oriented_box(Theta)
    found = None
    # Thousands of questions, of a set that stays as it is: whether it is empty was asked once.
    contains = Theta._contains if isinstance(Theta, BaseConfidenceSet) else Theta.contains
    for _ in range(_TRIES):
        block = (high - low) / (BLOCKS - 2)
        grid = _Grid(contains, axes, low - block, block / CELLS)
        rows, columns = np.nonzero(_corners(grid))
        if len(rows) == 0:  # lost in a box that is far too large: look about the estimate
            middle, half = axes.T @ Theta.center, (high - low) / (BLOCKS - 2)
            low, high = middle - half, middle + half
            continue
        found = grid
        least = np.array([rows.min(), columns.min()]) - 1
        most = np.array([rows.max(), columns.max()]) + 1
        if (most - least).min() > 0.6 * BLOCKS:
            break
        low, high = grid.origin + block * least, grid.origin + block * most
    return found


def _oriented_box(Theta: ConfidenceSet) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(axes as columns, low, high): the box about the set along its thinnest direction."""
    angles = np.linspace(0.0, math.pi, 24, endpoint=False)
    spacing = math.pi / 24
    for _ in range(4):  # a needle's box is thin only if its axis is met exactly
        directions = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        lower, upper = Theta.interval(directions)
        best = float(angles[np.argmin(upper - lower)])
        angles = best + np.linspace(-spacing, spacing, 9)
        spacing /= 4.0
    axes = np.array([[math.cos(best), -math.sin(best)], [math.sin(best), math.cos(best)]])
    lower, upper = Theta.interval(np.ascontiguousarray(axes.T))
    margin = 1e-3 * (upper - lower) + 1e-12
    return axes, lower - margin, upper + margin


def _corners(grid: _Grid) -> BoolArray:
    """Which corners of blocks are members; those on the rim, beyond the set, are not asked."""
    inside = np.zeros((BLOCKS + 1, BLOCKS + 1), dtype=bool)
    within = range(CELLS, CELLS * BLOCKS, CELLS)
    inside[1:-1, 1:-1] = [[grid.has(i, j) for j in within] for i in within]
    return inside


def _crossed(inside: BoolArray) -> IntArray:
    """(n, 2) the squares whose corners do not agree."""
    counts = inside[:-1, :-1].astype(int) + inside[1:, :-1] + inside[1:, 1:] + inside[:-1, 1:]
    return np.argwhere((counts > 0) & (counts < 4))


def _nodes(grid: _Grid) -> BoolArray:
    """Which nodes are members: those of a block whose corners agree, agree with them."""
    corners = _corners(grid)
    inside = np.repeat(np.repeat(corners, CELLS, axis=0), CELLS, axis=1)
    inside = inside[: CELLS * BLOCKS + 1, : CELLS * BLOCKS + 1]
    asked = np.zeros_like(inside)
    for i, j in CELLS * _crossed(corners):
        asked[i : i + CELLS + 1, j : j + CELLS + 1] = True
    asked[::CELLS, ::CELLS] = False  # the corners are known
    for i, j in np.argwhere(asked).tolist():
        inside[i, j] = grid.has(i, j)
    return inside


def _loops(grid: _Grid, inside: BoolArray) -> list[FloatArray]:
    """The crossings of the boundary with the grid's edges, in cells, joined cell by cell."""
    following = _segments(grid, inside)
    points = {edge: _crossing(grid, inside, edge) for edge in following}
    loops = []
    while following:
        edge = start = next(iter(following))
        loop = []
        while True:
            loop.append(points[edge])
            edge = following.pop(edge)
            if edge == start:
                break
        loops.append(np.array(loop))
    return loops


def _segments(grid: _Grid, inside: BoolArray) -> dict[Edge, Edge]:
    """Crossed edge -> the next one, members on the left."""
    following: dict[Edge, Edge] = {}
    for i, j in _crossed(inside).tolist():
        around = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)]
        edges: list[Edge] = [(i, j, 0), (i + 1, j, 1), (i, j + 1, 0), (i, j, 1)]
        member = [bool(inside[corner]) for corner in around]
        exits = [k for k in range(4) if member[k] and not member[(k + 1) % 4]]
        entries = [k for k in range(4) if not member[k] and member[(k + 1) % 4]]
        joined = len(exits) == 2 and grid.has(i + 0.5, j + 0.5)
        for leaving in exits:
            ahead = {(entry - leaving) % 4: entry for entry in entries}
            # On to where the next members begin, or back to where these began.
            following[edges[leaving]] = edges[ahead[min(ahead) if joined else max(ahead)]]
    return following


def _crossing(grid: _Grid, inside: BoolArray, edge: Edge) -> FloatArray:
    """The last member found on the way from an edge's end inside to the one outside."""
    i, j, upwards = edge
    near, far = np.array([i, j], float), np.array([i, j + 1] if upwards else [i + 1, j], float)
    if not inside[i, j]:
        near, far = far, near
    for _ in range(HALVINGS):
        middle = 0.5 * (near + far)
        if grid.has(*middle):
            near = middle
        else:
            far = middle
    return near


def _thinned(loop: FloatArray, tolerance: float) -> FloatArray:
    """Without the corners that lie within `tolerance` of the line between those kept."""
    closed = np.concatenate([loop, loop[:1]])
    opposite = int(np.argmax(((loop - loop[0]) ** 2).sum(axis=1)))
    keep = np.zeros(len(loop), dtype=bool)
    keep[[0, opposite]] = True
    stretches = [(0, opposite), (opposite, len(loop))]
    while stretches:
        first, last = stretches.pop()
        if last - first < 2:
            continue
        chord = closed[last] - closed[first]
        offsets = closed[first + 1 : last] - closed[first]
        across = np.abs(chord[0] * offsets[:, 1] - chord[1] * offsets[:, 0])
        furthest = int(np.argmax(across))
        if across[furthest] > tolerance * math.hypot(*chord):
            middle = first + 1 + furthest
            keep[middle] = True
            stretches += [(first, middle), (middle, last)]
    return loop[keep]
