"""LOFAV, transcribed from its definition: every question goes through all rounds.

`safe` is the one deliberate difference from the authors' code: which bound the next round's range
rests on. The long-double form follows the same formulas over one long run.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from voful.typing import FloatArray


@dataclass
class LiteralLayer:
    """Everything about one layer after the rounds so far."""

    Sigma: FloatArray
    theta_hat: FloatArray
    Q: FloatArray
    theta_bar: FloatArray
    beta: float
    gamma: float
    L_minus_K: float
    sum_f: float
    sum_F2_f: float
    lam: float
    f_star: float  # sum f_s(theta) at the probe


class LiteralLOFAV:
    def __init__(
        self, dim: int, T: int, R: float, sigma_0: float, S: float, delta: float, safe: bool
    ) -> None:
        self.dim, self.R, self.sigma_0, self.S, self.delta = dim, R, sigma_0, S, delta
        self.safe = safe
        self.L = max(1, math.ceil(math.log2(T / dim) / 2))
        self.X: list[FloatArray] = []
        self.y: list[float] = []

    def layer(self, ell: int, probe: FloatArray) -> LiteralLayer:
        X, y = np.array(self.X).reshape(-1, self.dim), np.array(self.y)
        R, S, delta, L, d = self.R, self.S, self.delta, self.L, self.dim
        rho = 2.0**-ell
        lam = rho**2 * R**2 / S**2
        beta_0 = lam * S**2 / 2
        w: list[float] = []
        thetas = [np.zeros(d)]
        F2: list[float] = []
        f: list[float] = []
        Sigma, b = lam * np.eye(d), np.zeros(d)
        distances, beta, gamma, L_minus_K = [beta_0], beta_0, beta_0, 0.0
        Q, theta_bar = Sigma, thetas[0]
        for t in range(1, len(y) + 1):
            x = X[t - 1]
            w.append(min(1.0, rho / math.sqrt(x @ np.linalg.solve(Sigma, x))))
            Sigma = Sigma + w[-1] ** 2 * np.outer(x, x)
            b = b + w[-1] ** 2 * y[t - 1] * x
            F2.append(w[-1] ** 2 * float(x @ np.linalg.solve(Sigma, x)))
            f.append(0.5 * w[-1] ** 2 * float(y[t - 1] - x @ thetas[-1]) ** 2)
            thetas.append(np.linalg.solve(Sigma, b))
            if t == len(y) or not self.safe:
                w2 = np.array(w) ** 2
                predicted = np.array([X[s] @ thetas[s] for s in range(t)])
                Q = lam * np.eye(d) + 2 * (X[:t].T * w2) @ X[:t]
                theta_bar = np.linalg.solve(Q, X[:t].T @ (w2 * (y[:t] + predicted)))

                def loss(theta: FloatArray, t: int = t, w2: FloatArray = w2) -> float:
                    fit = 0.5 * w2 @ (y[:t] - X[:t] @ theta) ** 2
                    return float(fit + lam / 2 * theta @ theta)

                K = loss(theta_bar) + 0.5 * w2 @ (X[:t] @ theta_bar - predicted) ** 2
                L_minus_K = loss(thetas[-1]) - float(K)
            beta_max = max(distances)
            k = max(1, math.ceil(math.log2(math.sqrt(beta_max / beta_0))))
            steps = math.pi * t + 1 if self.safe else math.pi * (t + 1)
            xi = math.log(math.sqrt(steps) * 6.8 * L * k * math.log(1 + k) ** 2 / delta)
            subgaussian = self.sigma_0**2 * math.log(2 * L / delta)
            common = lam / 2 * S**2 + float(np.dot(F2, f))
            B = common + math.sqrt(8 * rho**2 * beta_max * (sum(f) + subgaussian) * xi)
            B += 2**k * rho * R * math.sqrt(2 * beta_0) * xi
            gamma = common + subgaussian
            beta = L_minus_K + B
            distances.append(min(B, gamma) if self.safe else beta)
        f_star = float(0.5 * np.array(w) ** 2 @ (y - X @ probe) ** 2) if w else 0.0
        return LiteralLayer(
            Sigma, thetas[-1], Q, theta_bar, beta, gamma, L_minus_K,
            sum(f), float(np.dot(F2, f)) if f else 0.0, lam, f_star,
        )  # fmt: skip

    def layers(self, probe: FloatArray | None = None) -> list[LiteralLayer]:
        probe = np.zeros(self.dim) if probe is None else probe
        return [self.layer(ell, probe) for ell in range(1, self.L + 1)]

    def select(self, arms: FloatArray) -> int:
        bounds = []
        for layer in self.layers():
            for center, M, level in (
                (layer.theta_bar, layer.Q, layer.beta),
                (layer.theta_hat, layer.Sigma, layer.gamma),
            ):
                norms = np.sqrt([x @ np.linalg.solve(M, x) for x in arms])
                bounds.append(arms @ center + math.sqrt(2 * level) * norms)
        return int(np.argmax(np.min(bounds, axis=0)))


def solve_exactly(A: Any, b: Any) -> Any:
    """A^-1 b by Gaussian elimination in the precision of A (LAPACK has no long double)."""
    M = np.concatenate([A, b[:, np.newaxis]], axis=1)
    n = len(b)
    for i in range(n):
        M[i] /= M[i, i]
        for j in range(n):
            if j != i:
                M[j] -= M[j, i] * M[i]
    return M[:, n]


def long_double_gaps(X: FloatArray, y: FloatArray, R: float, S: float, L: int) -> Any:
    """K(theta_bar) - L(theta_hat) of each layer after all rounds, in long double."""
    wide = np.longdouble
    n, d = X.shape
    Xw, yw = X.astype(wide), y.astype(wide)
    rho = wide(0.5) ** np.arange(1, L + 1)
    lam = (rho * wide(R) / wide(S)) ** 2
    inverse = np.eye(d, dtype=wide) / lam[:, None, None]
    theta = np.zeros((L, d), dtype=wide)
    w2, predicted = np.empty((n, L), dtype=wide), np.empty((n, L), dtype=wide)
    for t in range(n):
        x = Xw[t]
        direction = inverse @ x
        leverage = direction @ x
        weight = np.minimum(1, rho**2 / leverage)
        predicted[t] = theta @ x
        w2[t] = weight
        scale = weight / (1 + weight * leverage)
        inverse -= scale[:, None, None] * direction[:, :, None] * direction[:, None, :]
        theta += (scale * (yw[t] - predicted[t]))[:, None] * direction
    gaps = np.empty(L, dtype=wide)
    for layer in range(L):
        v, p = w2[:, layer], predicted[:, layer]
        gram = np.einsum("t,ti,tj->ij", v, Xw, Xw)
        ridge = lam[layer] * np.eye(d, dtype=wide)
        hat = solve_exactly(ridge + gram, np.einsum("t,t,ti->i", v, yw, Xw))
        bar = solve_exactly(ridge + 2 * gram, np.einsum("t,t,ti->i", v, yw + p, Xw))
        loss_hat = (v * (yw - Xw @ hat) ** 2).sum() + lam[layer] * (hat**2).sum()
        loss_bar = (v * (yw - Xw @ bar) ** 2).sum() + lam[layer] * (bar**2).sum()
        gaps[layer] = (loss_bar + (v * (Xw @ bar - p) ** 2).sum() - loss_hat) / 2
    return gaps
