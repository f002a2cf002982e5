"""epsilon-greedy on ridge regression, transcribed; chance comes from the same stream."""

from __future__ import annotations

import numpy as np

from voful.typing import FloatArray


class LiteralEpsilonGreedy:
    def __init__(self, dim: int, epsilon: float, decay: float, seed: int) -> None:
        self.d, self.epsilon, self.decay = dim, epsilon, decay
        self.rng = np.random.default_rng(seed)
        self.X: list[FloatArray] = []
        self.y: list[float] = []

    def theta_hat(self) -> FloatArray:
        X, y = np.array(self.X).reshape(-1, self.d), np.array(self.y)
        return np.asarray(np.linalg.solve(np.eye(self.d) + X.T @ X, X.T @ y))

    def select(self, arms: FloatArray) -> int:
        t = len(self.X) + 1
        if self.rng.random() < min(1.0, self.epsilon / t**self.decay):
            return int(self.rng.choice(np.arange(len(arms))))
        return int(np.argmax(arms @ self.theta_hat()))
