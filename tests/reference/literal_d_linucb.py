"""D-LinUCB, transcribed from the paper without any thought for speed."""

from __future__ import annotations

import math

import numpy as np

from voful.typing import FloatArray


class LiteralDLinUCB:
    """Keeps the history and sums it up anew at every question."""

    def __init__(
        self, dim: int, gamma: float, sigma: float, delta: float, ridge: float, S: float, L: float
    ) -> None:
        self.dim, self.gamma, self.sigma, self.delta = dim, gamma, sigma, delta
        self.ridge, self.S, self.L = ridge, S, L
        self.X: list[FloatArray] = []
        self.y: list[float] = []

    def matrices(self) -> tuple[FloatArray, FloatArray, FloatArray, float]:
        t, g = len(self.X), self.gamma
        V, Vt, b = self.ridge * np.eye(self.dim), self.ridge * np.eye(self.dim), np.zeros(self.dim)
        for s, (x, y) in enumerate(zip(self.X, self.y, strict=True), start=1):
            V += g ** (t - s) * np.outer(x, x)
            Vt += g ** (2 * (t - s)) * np.outer(x, x)
            b += g ** (t - s) * y * x
        inner = 1 + self.L**2 * (1 - g ** (2 * t)) / (self.ridge * self.dim * (1 - g**2))
        root = math.sqrt(2 * math.log(1 / self.delta) + self.dim * math.log(inner))
        beta = math.sqrt(self.ridge) * self.S + self.sigma * root
        return V, Vt, np.asarray(np.linalg.solve(V, b), dtype=np.float64), beta

    def upper(self, X: FloatArray) -> FloatArray:
        V, Vt, theta_hat, beta = self.matrices()
        inverse = np.linalg.inv(V)
        norms = [math.sqrt(x @ inverse @ Vt @ inverse @ x) for x in X]
        return np.asarray(X @ theta_hat + beta * np.array(norms), dtype=np.float64)
