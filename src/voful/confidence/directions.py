"""Test directions that are fixed in advance: nothing here looks at data."""

from __future__ import annotations

import functools
import math

import numpy as np

from voful.typing import FloatArray


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
