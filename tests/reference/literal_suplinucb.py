"""LinUCB and SupLinUCB, transcribed from Chu et al. (2011), Algorithms 1 to 3."""

from __future__ import annotations

import math

import numpy as np

from voful.typing import FloatArray


def base(rounds: list[tuple[FloatArray, float]], arms: FloatArray) -> tuple[FloatArray, FloatArray]:
    """theta'x and sqrt(x' A^-1 x), A = I + sum x x' over the rounds (BaseLinUCB, lines 1-6)."""
    d = arms.shape[1]
    A, b = np.eye(d), np.zeros(d)
    for x, r in rounds:
        A, b = A + np.outer(x, x), b + r * x
    theta = np.linalg.solve(A, b)
    return arms @ theta, np.sqrt([x @ np.linalg.solve(A, x) for x in arms])


def linucb(
    rounds: list[tuple[FloatArray, float]], arms: FloatArray, T: int, delta: float
) -> FloatArray:
    """Upper bounds of Algorithm 1 for rewards in [0, 1]."""
    means, s = base(rounds, arms)
    return means + math.sqrt(0.5 * math.log(2 * T * len(arms) / delta)) * s


class LiteralSupLinUCB:
    """Rewards in [0, 1], |theta*| <= 1; it remembers the level in which it played."""

    def __init__(self, T: int, delta: float) -> None:
        self.T, self.delta, self.S = T, delta, max(1, math.ceil(math.log(T)))
        self.Psi: dict[int, list[tuple[FloatArray, float]]] = {s: [] for s in range(1, self.S + 1)}

    def select(self, arms: FloatArray) -> tuple[int, int]:
        """The arm, and the level that learns (0: none)."""
        alpha = math.sqrt(0.5 * math.log(2 * self.T * len(arms) * self.S / self.delta))
        s, left = 1, list(range(len(arms)))
        while True:
            means, norms = base(self.Psi[s], arms)
            w = (alpha + 1) * norms
            if all(w[a] <= 1 / math.sqrt(self.T) for a in left):
                return max(left, key=lambda a: means[a] + w[a]), 0
            if all(w[a] <= 2.0**-s for a in left):
                best = max(means[a] + w[a] for a in left)
                left = [a for a in left if means[a] + w[a] >= best - 2.0 ** (1 - s)]
                s += 1
            else:
                return max((a for a in left if w[a] > 2.0**-s), key=lambda a: w[a]), s
