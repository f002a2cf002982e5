"""ConfidenceBall2, transcribed: losses are minimised, every question goes through all rounds."""

from __future__ import annotations

import math

import numpy as np

from voful.typing import FloatArray


class LiteralConfidenceBall2:
    def __init__(self, dim: int, delta: float) -> None:
        self.n, self.delta = dim, delta
        self.X: list[FloatArray] = []
        self.losses: list[float] = []

    def ball(self) -> tuple[FloatArray, FloatArray, float]:
        """A_t, mu_hat_t, beta_t."""
        t = len(self.X) + 1
        A = np.eye(self.n) + sum((np.outer(x, x) for x in self.X), np.zeros((self.n, self.n)))
        terms = (loss * x for loss, x in zip(self.losses, self.X, strict=True))
        mu_hat = np.linalg.solve(A, sum(terms, np.zeros(self.n)))
        log = math.log(t**2 / self.delta)
        return A, np.asarray(mu_hat), max(128 * self.n * math.log(t) * log, (8 / 3 * log) ** 2)

    def select(self, arms: FloatArray) -> int:
        A, mu_hat, beta = self.ball()
        least = [mu_hat @ x - math.sqrt(beta * (x @ np.linalg.solve(A, x))) for x in arms]
        return int(np.argmin(least))
