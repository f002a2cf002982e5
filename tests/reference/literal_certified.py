"""CertifiedUCB as written on its page, with inverses from scratch; the betting set is asked."""

from __future__ import annotations

import math

import numpy as np

from voful.confidence.betting import BettingEllipsoid
from voful.typing import FloatArray
from voful.validation import ObservationSpace


class LiteralCertifiedUCB:
    def __init__(
        self, dim: int, delta: float, y_range: tuple[float, float], rho: float, F: float
    ) -> None:
        self.d, self.delta, self.rho, self.F = dim, delta, rho, F
        self.ylo, self.yhi = y_range
        self.h = (self.yhi - self.ylo) / 2
        self.lambdas = F**2 * np.array([1e-3, 1e-2, 0.1, 1.0, 10.0])
        self.S, self.M = np.zeros(5), np.zeros((dim, dim))
        self.lev = self.lev2 = 0.0
        self.gram, self.response, self.n = np.zeros((dim, dim)), np.zeros(dim), 0
        self.ledger = self.trusted = self.optimism = 0.0
        self.net = 0
        self.s02, self.a0 = (self.h / 4) ** 2, 0.5
        self.b0 = self.a0 * self.s02
        space = ObservationSpace(dim, F, y_range)
        self.bets = BettingEllipsoid(space, failure_prob=0.9 * delta, theta_norm=rho)

    def P(self, g: int) -> FloatArray:
        inverse = np.linalg.inv(self.lambdas[g] * np.eye(self.d) + self.gram)
        return np.asarray(inverse, dtype=np.float64)

    def D(self, g: int) -> float:
        return float(np.linalg.slogdet(np.eye(self.d) + self.gram / self.lambdas[g])[1])

    def best(self) -> int:
        evidence = [
            -self.D(g) / 2 - (self.a0 + self.n / 2) * math.log(self.b0 + self.S[g] / 2)
            for g in range(5)
        ]
        return int(np.argmax(np.round(evidence, 9)))

    def update(self, x: FloatArray, y: float) -> None:
        chosen = self.best()
        for g in range(5):
            P = self.P(g)
            r, q = y - x @ P @ self.response, x @ P @ x
            u = r * r / (1 + q)
            if g == chosen:
                leverage = q / (1 + q)
                self.lev += float(leverage)
                self.lev2 += float(leverage * u)
                self.M += u * np.outer(x, x)
            self.S[g] += u
        self.gram += np.outer(x, x)
        self.response += y * x
        self.n += 1
        self.bets.update(x, y)

    def index(self, arms: FloatArray) -> FloatArray:
        g, t = self.best(), self.n + 1
        P = self.P(g)
        v = max(
            (self.b0 + self.S[g] / 2) / (self.a0 + self.n / 2),
            (self.b0 + self.lev2) / (self.a0 + self.lev),
        )
        out = []
        for x in arms:
            p = P @ x
            w = x @ p
            V = max(v * w, self.lambdas[g] * v * (p @ p) + p @ self.M @ p)
            V += self.s02 * w * w / (1 + w)
            z = t * w
            log = math.log(1 + z**2 / (z + self.d**2))
            out.append(p @ self.response + math.sqrt(2 * V * log))
        return np.array(out)

    def ends(self, arms: FloatArray) -> tuple[FloatArray, FloatArray]:
        lower, upper = self.bets.interval(arms)
        P = self.P(3)
        R = self.h * math.sqrt(2 * math.log(10 / self.delta) + self.D(3)) + self.F * self.rho
        for i, x in enumerate(arms):
            middle, width = x @ P @ self.response, R * math.sqrt(x @ P @ x)
            lower[i], upper[i] = max(lower[i], middle - width), min(upper[i], middle + width)
        return lower, upper

    def gap(self, i: int, lower: FloatArray, upper: FloatArray) -> float:
        other = float(np.delete(upper, i).max(initial=-math.inf))
        gap = min(other, self.yhi) - max(float(lower[i]), self.ylo)
        return min(max(gap, 0.0), self.yhi - self.ylo)

    def select(self, arms: FloatArray) -> int:
        lower, upper = self.ends(arms)
        score = np.where(upper >= lower.max(), np.minimum(self.index(arms), upper), -math.inf)
        i, leader, t, d = int(np.argmax(score)), int(np.argmax(upper)), self.n + 1, self.d
        growth = d * math.log(1 + t / d)
        R = self.h * math.sqrt(2 * math.log(10 / self.delta) + growth) + self.F * self.rho
        beta = 2 * R * math.sqrt(2 * t * growth)
        gap = self.gap(i, lower, upper)
        late = self.ledger + gap > beta
        if i != leader and (late or self.trusted + gap > 40 * self.optimism + self.h):
            i, self.net = leader, self.net + 1
            gap = self.gap(i, lower, upper)
        self.ledger += gap
        if i == leader:
            self.optimism += gap
        else:
            self.trusted += gap
        return i
