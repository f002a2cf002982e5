"""BetOFUL's product bet in streaming form, transcribed without any thought for speed.

Plain sums about the origin 0 and inverses from scratch; only short runs can be trusted.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import minimize_scalar

from voful.typing import FloatArray


def g(t: float, S: float, r: float) -> float:
    """(log(1 + S t (r+t)) - S r t) / t^2, by its series near 0."""
    if abs(t) < 1e-4 * max(1.0, abs(r)):
        u = S * t * (r + t)
        k = 0.5 - u / 3 + u * u / 4
        return S - S * S * (r + t) ** 2 * k
    return (math.log1p(S * t * (r + t)) - S * r * t) / (t * t)


def lowest_g(S: float, r: float, t0: float, t1: float) -> float:
    """min of g over [t0, t1]: a dense grid, then a local search."""
    t = np.linspace(t0, t1, 401)
    i = int(np.argmin([g(v, S, r) for v in t]))
    ends = (t[max(i - 1, 0)], t[min(i + 1, 400)])
    found = minimize_scalar(g, bounds=ends, args=(S, r), method="bounded", options={"xatol": 1e-12})
    return min(g(t[i], S, r), float(found.fun))


class LiteralBetOFUL:
    c, lambdas, ridges = 0.9, (0.3, 1.0, 3.0, 10.0), (0.01, 0.1, 1.0, 10.0)

    def __init__(self, dim: int, delta: float, y_range: tuple[float, float], rho: float) -> None:
        self.d, self.L, self.rho = dim, math.log(1 / delta), rho
        self.ylo, self.yhi = y_range
        self.half = (self.yhi - self.ylo) / 2
        self.A, self.b, self.kappa = np.zeros((dim, dim)), np.zeros(dim), 0.0
        self.lam = self.lambdas[0] / max(rho, self.half) ** 2
        self.s2 = 0.01 * self.half**2
        self.n = 0
        self.gram, self.response = np.zeros((dim, dim)), np.zeros(dim)
        self.errors = np.zeros(4)

    def solve(self) -> tuple[FloatArray, FloatArray, float]:
        Ai = np.asarray(np.linalg.inv(self.A + self.lam * np.eye(self.d)), dtype=np.float64)
        cen = Ai @ self.b
        rad = self.L - self.kappa + self.lam * self.rho**2 + self.b @ cen
        return Ai, cen, float(rad)

    def estimate(self, ridge: float) -> FloatArray:
        gram = self.gram + ridge * np.eye(self.d)
        return np.asarray(np.linalg.solve(gram, self.response), dtype=np.float64)

    def update(self, x: FloatArray, y: float, alpha: float | None = None) -> float:
        """One round; returns this round's exact alpha, and uses `alpha` where it is given."""
        # 1
        Ai, cen, rad = self.solve()
        w, ball = math.sqrt(rad * (x @ Ai @ x)), self.rho * float(np.linalg.norm(x))
        middle = float(x @ cen)
        lo, up = max(middle - w, -ball, self.ylo), min(middle + w, ball, self.yhi)
        # 2
        leader = self.ridges[int(np.argmin(self.errors))]
        a = min(max(float(x @ self.estimate(leader)), lo), up)
        # 3
        m1 = (a - lo) * (lo - self.ylo) if lo > (a + self.ylo) / 2 else ((a - self.ylo) / 2) ** 2
        m2 = (up - a) * (self.yhi - up) if up < (a + self.yhi) / 2 else ((self.yhi - a) / 2) ** 2
        s_max = self.c / max(m1, m2, 1e-10 * self.half**2)
        D = np.linalg.slogdet(np.eye(self.d) + self.A / self.lam)[1]
        best, S = math.inf, s_max * 2 ** (-6.5)
        for i in range(14):
            s = s_max * 2 ** (-i / 2)
            grid = np.linspace(a - up, a - lo, 9)
            abar = 0.5 * sum(
                min(g(t, s, r) for t in grid) for r in (math.sqrt(self.s2), -math.sqrt(self.s2))
            )
            if abar > 0:
                price = self.L + self.lam * self.rho**2
                cost = (price + (D + self.d) * s * s * self.s2 / (4 * abar)) / abar
                if cost < best:
                    best, S = cost, s
        # 4, 5
        r = y - a
        exact = lowest_g(S, r, a - up, a - lo)
        alpha = exact if alpha is None else alpha
        if 1 + alpha * (x @ Ai @ x) >= 0.3:
            self.A += alpha * np.outer(x, x)
            self.b += (alpha * a + S * r / 2) * x
            self.kappa += alpha * a * a + S * r * a
        else:
            t = min(max(-r / 2, a - up), a - lo)
            self.kappa += math.log1p(S * t * (r + t))
        # 6, and the plug-in ridges
        discount = 2 / (self.n + 3)
        self.s2 = max(self.s2 + discount * (r * r - self.s2), 1e-6 * self.half**2)
        for q, ridge in enumerate(self.ridges):
            self.errors[q] += discount * ((y - x @ self.estimate(ridge)) ** 2 - self.errors[q])
        self.gram += np.outer(x, x)
        self.response += y * x
        self.n += 1
        return exact
