"""Linear Thompson sampling, transcribed; the draws come from the same stream of normals."""

from __future__ import annotations

import math

import numpy as np

from voful.typing import FloatArray


class LiteralLinTS:
    def __init__(self, dim: int, R: float, delta: float | None, seed: int) -> None:
        """delta None: v = R, else v = R sqrt(9 d ln(t/delta))."""
        self.d, self.R, self.delta = dim, R, delta
        self.rng = np.random.default_rng(seed)
        self.X: list[FloatArray] = []
        self.y: list[float] = []

    def posterior(self) -> tuple[FloatArray, FloatArray, float]:
        """B, mu_hat, v."""
        B = np.eye(self.d) + sum((np.outer(x, x) for x in self.X), np.zeros((self.d, self.d)))
        terms = (y * x for y, x in zip(self.y, self.X, strict=True))
        mu_hat = np.linalg.solve(B, sum(terms, np.zeros(self.d)))
        t = len(self.X) + 1
        factor = 1.0 if self.delta is None else math.sqrt(9 * self.d * math.log(t / self.delta))
        return B, np.asarray(mu_hat), self.R * factor

    def select(self, arms: FloatArray) -> int:
        B, mu_hat, v = self.posterior()
        # L'^-1 z has the covariance (L L')^-1 = B^-1
        z = self.rng.standard_normal(self.d)
        mu = mu_hat + v * np.linalg.solve(np.linalg.cholesky(B).T, z)
        return int(np.argmax(arms @ mu))
