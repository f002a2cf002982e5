"""The known-variance algorithms, transcribed: every question goes through all rounds."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import numpy as np

from voful.typing import FloatArray


class LiteralKnownVariance(ABC):
    """What the three share: the data, and optimism over {|theta - center|_M <= radius}."""

    def __init__(self, dim: int, R: float, S: float, delta: float, n_rounds: int) -> None:
        self.dim, self.R, self.S, self.delta, self.n_rounds = dim, R, S, delta, n_rounds
        self.data: list[tuple[FloatArray, float, float]] = []
        self.chosen: tuple[float, ...] = ()

    @abstractmethod
    def ellipsoid(self) -> tuple[FloatArray, FloatArray, float]:
        """M, center, radius."""

    def select(self, arms: FloatArray) -> int:
        M, center, radius = self.ellipsoid()
        widths = [radius * math.sqrt(x @ np.linalg.solve(M, x)) for x in arms]
        return int(np.argmax(arms @ center + widths))

    def line(self, L: float, linear: float, square: float, s: float, u: float) -> tuple[float, ...]:
        """(beta_bar, g, square^2 l / s + l / a) of the self-normalised bound at (s, u)."""
        log = math.log(2 / self.delta)
        g, c = (math.exp(s) - 1) / s, (math.exp(u) - 1 - u) / u**2
        A = g * L + square**2 * log / s
        beta = math.sqrt(A + 4 * c * log)
        if 2 * linear * beta / u > 4 * c:
            beta = linear * log / u + math.sqrt((linear * log / u) ** 2 + A)
        a = min(1 / (4 * c), u / (2 * linear * beta))
        return beta, g, square**2 * log / s + log / a

    def tight(self, Z: FloatArray, lam: float, L: float, linear: float, square: float) -> float:
        grid = [
            (s, u)
            for s in np.geomspace(0.02, 4.0, 128)
            for u in np.geomspace(0.05, 12.0, 128)
        ]  # fmt: skip
        if not self.chosen:  # fixed before the data: the same in every round
            self.chosen = min(self.line(L, linear, square, s, u) for s, u in grid)
        _, g, offset = self.chosen
        realised = np.linalg.slogdet(Z)[1] - self.dim * math.log(lam)
        return math.sqrt(g * realised + offset)


class LiteralWeightedOFUL(LiteralKnownVariance):
    constants = "tight"

    def ellipsoid(self) -> tuple[FloatArray, FloatArray, float]:
        d, lam = self.dim, 1 / self.S**2
        Z, b = lam * np.eye(d), np.zeros(d)
        for x, y, variance in self.data:
            sigma_bar = max(math.sqrt(variance), self.R / math.sqrt(d))
            Z = Z + np.outer(x, x) / sigma_bar**2
            b = b + y * x / sigma_bar**2
        t, smallest = len(self.data), self.R / math.sqrt(d)
        if self.constants == "tight":
            L = d * math.log(1 + self.n_rounds / (smallest**2 * d * lam))
            deviation = self.tight(Z, lam, L, math.sqrt(d) / 2, math.sqrt(d))
        elif t == 0:
            deviation = 0.0
        else:
            log = math.log(4 * t**2 / self.delta)
            deviation = 8 * math.sqrt(d * math.log(1 + t / (smallest**2 * d * lam)) * log)
            deviation += 4 * self.R / smallest * log
        return Z, np.asarray(np.linalg.solve(Z, b), float), deviation + math.sqrt(lam) * self.S


class LiteralWeightedOFULPlus(LiteralKnownVariance):
    constants = "tight"

    def ellipsoid(self) -> tuple[FloatArray, FloatArray, float]:
        d, lam = self.dim, self.dim / self.S**2
        alpha, gamma = self.R / math.sqrt(self.n_rounds), math.sqrt(self.R) / d**0.25
        Z, b = lam * np.eye(d), np.zeros(d)
        for x, y, variance in self.data:
            norm = math.sqrt(x @ np.linalg.solve(Z, x))
            sigma_bar = max(math.sqrt(variance), alpha, gamma * math.sqrt(norm))
            Z = Z + np.outer(x, x) / sigma_bar**2
            b = b + y * x / sigma_bar**2
        k, rho = len(self.data), self.R / gamma**2
        if self.constants == "tight":
            L = d * math.log(1 + self.n_rounds / (alpha**2 * d * lam))
            deviation = self.tight(Z, lam, L, rho, rho)
        elif k == 0:
            deviation = 0.0
        else:
            tau = math.log(32 * (math.log(gamma**2 / alpha) + 1) * k**2 / self.delta)
            deviation = 12 * math.sqrt(d * math.log(1 + k / (alpha**2 * d * lam)) * tau)
            deviation += 30 * tau * self.R / gamma**2
        return Z, np.asarray(np.linalg.solve(Z, b), float), deviation + math.sqrt(lam) * self.S


class LiteralFaury(LiteralKnownVariance):
    """Printed constants, mu = d and lambda = d R^2."""

    def ellipsoid(self) -> tuple[FloatArray, FloatArray, float]:
        d, lam = self.dim, self.dim * self.R**2
        G, H, b = d * np.eye(d), lam * np.eye(d), np.zeros(d)
        for x, y, variance in self.data:
            G, H, b = G + np.outer(x, x), H + variance * np.outer(x, x), b + y * x
        half_log_det = 0.5 * (np.linalg.slogdet(H)[1] - d * math.log(lam))
        root = math.sqrt(d)
        gamma = root / 2 + 2 / root * (half_log_det + math.log(1 / self.delta) + d * math.log(2))
        M = G @ np.linalg.solve(H, G)
        return (
            np.asarray(M, float),
            np.asarray(np.linalg.solve(G, b), float),
            float(gamma) + d * self.S / math.sqrt(lam),
        )
