"""Test directions that are fixed in advance: nothing here looks at data."""

from __future__ import annotations

import functools
import math

import numpy as np

from voful.typing import FloatArray
from voful.validation import fail


@functools.cache
def spread_lines(dim: int, count: int, seed: int = 0) -> FloatArray:
    """`count` unit vectors whose lines repel each other over the sphere, shape (count, dim).

    Equal angles at d = 2; above, gradient descent on sum 1 / (1 - cos^2) from a seeded start.
    """
    if dim == 1:
        U = np.ones((1, 1))
    elif dim == 2:
        angle = math.pi * (np.arange(count) + 0.5) / count
        U = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    else:
        U = np.random.default_rng(seed).standard_normal((count, dim))
        U /= np.linalg.norm(U, axis=1, keepdims=True)
        step = 0.3
        for _ in range(300):
            cosine = U @ U.T
            np.fill_diagonal(cosine, 0.0)
            force = (cosine / np.maximum(1.0 - cosine * cosine, 1e-2) ** 2) @ U
            force -= np.sum(force * U, axis=1, keepdims=True) * U
            force /= max(float(np.max(np.linalg.norm(force, axis=1))), 1e-12)
            U = U - step * force
            U /= np.linalg.norm(U, axis=1, keepdims=True)
            step *= 0.985
    U.flags.writeable = False  # shared by all who ask
    return U


def collapse(directions: FloatArray, levels: FloatArray) -> FloatArray:
    """nu = mu / l for every mu (rows of directions) and level l, shape (N * levels, dim)."""
    nu: FloatArray = directions[:, None, :] / levels[None, :, None]
    return np.ascontiguousarray(nu.reshape(-1, directions.shape[1]))


MOST_DIMENSIONS = 200  # their pairs take d^3 numbers


@functools.cache
def mixture_directions(dim: int, simplex: bool) -> FloatArray:
    """Unit vectors along which mixtures are told apart, both signs of each, shape (n, dim).

    On the simplex only differences of base models matter, and all vectors sum up to 0: one
    line at d = 2, twelve equal angles at d = 3, and from d = 4 on all pairs, each against the
    rest, and 8 d random ones. The L1 ball has its coordinates too.
    """
    if dim > MOST_DIMENSIONS:
        allowed = f"at most {MOST_DIMENSIONS} dimensions where directions are not given"
        raise fail("dim", dim, allowed)
    n_free = dim - 1 if simplex else dim
    if n_free == 0:
        U = np.empty((0, dim))
    elif n_free == 1:
        U = np.array([[1.0, -1.0], [-1.0, 1.0]] if simplex else [[1.0], [-1.0]])
    elif n_free == 2:
        angle = 2.0 * math.pi * np.arange(12) / 12
        plane = np.array([[1.0, -1.0, 0.0], [1.0, 1.0, -2.0]]) if simplex else np.eye(2)
        plane = plane / np.linalg.norm(plane, axis=1, keepdims=True)
        U = np.stack([np.cos(angle), np.sin(angle)], axis=1) @ plane
    else:
        unit = np.eye(dim)
        first, second = np.triu_indices(dim, 1)
        pairs = unit[first] - unit[second]
        random = np.random.default_rng(0).standard_normal((4 * dim, dim))
        lines = (
            [pairs, unit, random] if simplex else [pairs, unit[first] + unit[second], unit, random]
        )
        U = np.concatenate(lines)
        U = np.concatenate([U, -U])
        if simplex:
            U = U - U.mean(axis=1, keepdims=True)
    unit_length: FloatArray = U / np.linalg.norm(U, axis=1, keepdims=True)
    unit_length.flags.writeable = False  # shared by all who ask
    return unit_length
