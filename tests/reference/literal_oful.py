"""OFUL, transcribed from the paper without any thought for speed."""

from __future__ import annotations

import math

import numpy as np

from voful.typing import FloatArray


class LiteralOFUL:
    """Keeps the history and solves from scratch at every question."""

    def __init__(
        self, dim: int, R: float, delta: float, ridge: float, S: float, C: float = 0.0
    ) -> None:
        self.R, self.delta, self.ridge, self.S, self.C = R, delta, ridge, S, C
        self.X: list[FloatArray] = []
        self.y: list[float] = []
        self.dim = dim
        self.tau = 0  # history used by the frozen set

    def matrices(self, n: int) -> tuple[FloatArray, FloatArray, float]:
        V = self.ridge * np.eye(self.dim)
        b = np.zeros(self.dim)
        for x, y in zip(self.X[:n], self.y[:n], strict=True):
            V += np.outer(x, x)
            b += y * x
        ratio = np.linalg.slogdet(V)[1] - self.dim * math.log(self.ridge)
        beta = self.R * math.sqrt(2 * math.log(math.exp(ratio / 2) / self.delta))
        theta_hat = np.asarray(np.linalg.solve(V, b), dtype=np.float64)
        return V, theta_hat, beta + math.sqrt(self.ridge) * self.S

    def select(self, arms: FloatArray) -> int:
        now, frozen = self.matrices(len(self.X))[0], self.matrices(self.tau)[0]
        if np.linalg.det(now) > (1 + self.C) * np.linalg.det(frozen):
            self.tau = len(self.X)
        V, theta_hat, beta = self.matrices(self.tau)
        index = [x @ theta_hat + beta * math.sqrt(x @ np.linalg.solve(V, x)) for x in arms]
        return int(np.argmax(index))

    def update(self, x: FloatArray, y: float) -> None:
        self.X.append(x)
        self.y.append(y)
