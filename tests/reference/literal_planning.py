"""Optimistic backward induction as it is written in Algorithm 2: three plain loops.

And the maximum over an ellipsoid within the simplex, face by face.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from voful.typing import FloatArray


def literal_plan(
    base_models: FloatArray, rewards: FloatArray, horizon: int, Theta: Sequence[Sequence[float]]
) -> tuple[list[list[float]], list[list[list[float]]]]:
    """(V, Q) by step h = 0..H (V) and h = 0..H-1 (Q); Theta is a finite list of parameters."""
    d, S, A, _ = base_models.shape
    P = base_models.tolist()
    V = [[0.0] * S for _ in range(horizon + 1)]
    Q = [[[0.0] * A for _ in range(S)] for _ in range(horizon)]
    for h in reversed(range(horizon)):
        for s in range(S):
            for a in range(A):
                x = [sum(P[i][s][a][t] * V[h + 1][t] for t in range(S)) for i in range(d)]
                best = max(sum(theta[i] * x[i] for i in range(d)) for theta in Theta)
                Q[h][s][a] = min(1.0, float(rewards[s, a]) + best)
            V[h][s] = max(0.0, *Q[h][s])
    return V, Q


def maximum_by_faces(
    center: FloatArray, inverse: FloatArray, squared_radius: float, x: FloatArray
) -> float:
    """max <x, theta> over |theta - center|_M^2 <= squared_radius in the simplex; -inf: no member.

    The maximiser is that of the ellipsoid's cut with the plane of some face {theta_i = 0, i in I},
    and the best of those that lie in the simplex is it.
    """
    d = len(x)
    best = -math.inf
    for n in range(d):
        for zeros in itertools.combinations(range(d), n):
            A = np.vstack([np.ones(d), np.eye(d)[list(zeros)]])  # A theta = (1, 0, ..., 0)
            gap = np.eye(len(A))[0] - A @ center
            gram = A @ inverse @ A.T
            middle = center + inverse @ A.T @ np.linalg.solve(gram, gap)
            left = squared_radius - gap @ np.linalg.solve(gram, gap)
            if left < 0.0:
                continue
            along = inverse @ x - inverse @ A.T @ np.linalg.solve(gram, A @ inverse @ x)
            squared = float(x @ along) if n < d - 1 else 0.0  # a corner has no width
            theta = middle + (math.sqrt(left / squared) * along if squared > 0.0 else 0.0)
            if theta.min() >= -1e-9:
                best = max(best, float(x @ theta))
    return best
