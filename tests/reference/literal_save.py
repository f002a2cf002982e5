"""SAVE, transcribed from its definition: it remembers the layer in which it played."""

from __future__ import annotations

import math

import numpy as np

from voful.typing import FloatArray


class LiteralSAVE:
    def __init__(self, dim: int, K: int, R: float, delta: float, paper: bool) -> None:
        self.dim, self.K, self.R, self.delta, self.paper = dim, K, R, delta, paper
        self.alpha = 1 / (R * K**1.5)
        self.L = math.ceil(math.log2(1 / self.alpha))
        self.k = 0
        self.rounds: dict[int, list[tuple[FloatArray, float, float]]] = {
            ell: [] for ell in range(1, self.L + 1)
        }  # (a, r, w) of Psi_l
        self.beta = {ell: 2.0**-ell * (2 if paper else 1) for ell in self.rounds}

    def matrices(self, ell: int) -> tuple[FloatArray, FloatArray]:
        """Sigma_l, theta_hat_l."""
        Sigma, b = 4.0**-ell * np.eye(self.dim), np.zeros(self.dim)
        for a, r, w in self.rounds[ell]:
            Sigma = Sigma + w * w * np.outer(a, a)
            b = b + w * w * r * a
        return Sigma, np.asarray(np.linalg.solve(Sigma, b))

    def norm(self, ell: int, a: FloatArray) -> float:
        return math.sqrt(a @ np.linalg.solve(self.matrices(ell)[0], a))

    def select(self, arms: FloatArray) -> tuple[int, int]:
        """The arm, and the layer in which it was played (0: nothing will be learnt)."""
        left = list(range(len(arms)))
        upper = np.full(len(arms), math.inf)
        for ell in range(1, self.L + 1):
            Sigma, theta_hat = self.matrices(ell)
            norms = np.sqrt([a @ np.linalg.solve(Sigma, a) for a in arms])
            means = arms @ theta_hat
            upper = np.minimum(upper, means + self.beta[ell] * norms)
            if all(norms[i] <= self.alpha for i in left):
                return max(left, key=lambda i: upper[i]), 0
            if all(norms[i] <= 2.0**-ell for i in left):
                best = max(means[i] for i in left)
                left = [i for i in left if means[i] >= best - 2 * 2.0**-ell * self.beta[ell]]
                continue
            return max((i for i in left if norms[i] > 2.0**-ell), key=lambda i: upper[i]), ell
        raise AssertionError("the last layer exploits")

    def update(self, a: FloatArray, r: float, ell: int) -> None:
        self.k += 1
        if ell == 0:
            return
        w = 2.0**-ell / self.norm(ell, a)
        self.rounds[ell].append((a, r, w))
        self.beta[ell] = self.printed(ell) if self.paper else self.tight(ell)

    def printed(self, ell: int) -> float:
        theta_hat = self.matrices(ell)[1]
        now = math.log(4 * self.k**2 * self.L / self.delta)
        later = math.log(4 * (self.k + 1) ** 2 * self.L / self.delta)
        Psi = self.rounds[ell]
        if 2**ell >= 64 * math.sqrt(later):
            variance = sum(w * w * float(r - theta_hat @ a) ** 2 for a, r, w in Psi)
        else:
            variance = self.R**2 * len(Psi)
        inside = 8 * variance + 6 * self.R**2 * later + 2.0 ** (-2 * ell + 4)
        return (
            16 * 2.0**-ell * math.sqrt(inside * now)
            + 6 * 2.0**-ell * self.R * now
            + 2.0 ** (-ell + 1)
        )

    def tight(self, ell: int) -> float:
        theta_hat = self.matrices(ell)[1]
        Psi, rho, R = self.rounds[ell], 2.0**-ell, self.R
        delta = self.delta / self.L
        ranges = max(1, math.ceil(math.log2(math.sqrt(self.K) / (2 * rho * -math.log(delta)))) + 1)
        xi = 0.5 * math.log(math.pi * len(Psi) + 1) + math.log(ranges / delta)
        kappa = rho * (1 + math.sqrt(8 * xi))
        offset = 4 * R * rho * xi + rho
        beta = kappa * R * math.sqrt(sum(w * w for _, _, w in Psi)) + offset
        if kappa < 1:
            squares = sum(w * w * float(r - theta_hat @ a) ** 2 for a, r, w in Psi)
            squares += rho * rho * float(theta_hat @ theta_hat)
            # beta = kappa sqrt(squares + beta^2) + offset, by bisection
            low, high = 0.0, beta
            if high > kappa * math.sqrt(squares + high**2) + offset:
                for _ in range(200):
                    middle = (low + high) / 2
                    if middle <= kappa * math.sqrt(squares + middle**2) + offset:
                        low = middle
                    else:
                        high = middle
                beta = high
        return beta
