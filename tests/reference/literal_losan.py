"""LOSAN, transcribed from its definition: every question goes through all rounds."""

from __future__ import annotations

import math

import numpy as np

from voful.typing import FloatArray


class LiteralLOSAN:
    def __init__(self, dim: int, sigma_0: float, delta: float, S: float) -> None:
        self.dim, self.sigma_0, self.delta, self.S = dim, sigma_0, delta, S
        self.X: list[FloatArray] = []
        self.y: list[float] = []

    def matrices(self) -> tuple[FloatArray, FloatArray, float]:
        """Sigma, theta_hat, beta."""
        lam = self.sigma_0**2 / self.S**2
        Sigma, b = lam * np.eye(self.dim), np.zeros(self.dim)
        beta = lam / 2 * self.S**2 + self.sigma_0**2 * math.log(1 / self.delta)
        for x, y in zip(self.X, self.y, strict=True):
            theta_hat = np.linalg.solve(Sigma, b)
            w = min(1.0, 1 / math.sqrt(x @ np.linalg.solve(Sigma, x)))
            Sigma = Sigma + w * w * np.outer(x, x)
            b = b + w * w * y * x
            D2 = w * w * float(x @ np.linalg.solve(Sigma, x))
            beta += D2 * 0.5 * w * w * float(y - x @ theta_hat) ** 2
        return Sigma, np.asarray(np.linalg.solve(Sigma, b)), float(beta)

    def select(self, arms: FloatArray) -> int:
        Sigma, theta_hat, beta = self.matrices()
        widths = [math.sqrt(2 * beta * (x @ np.linalg.solve(Sigma, x))) for x in arms]
        return int(np.argmax(arms @ theta_hat + widths))
