"""CR-BetOFUL, transcribed from docs/theory.md without any thought for speed, n runs side by side.

Every choice that the theorem leaves free can be made by the caller: the kind of bet, the slope in
its band, alpha in its band, and how far the interval is cut. A number of the page is an array with
an entry for each run.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from voful.typing import BoolArray, FloatArray, IntArray


class Parameters(NamedTuple):
    G: float = 12.0
    tau: float = 0.3
    c: float = 0.9
    epsilon: float = 0.02
    lam: float = 0.3


def k(u: FloatArray) -> FloatArray:
    small = np.abs(u) < 1e-4
    safe = np.where(small, 1.0, u)
    return np.where(small, 0.5 - u / 3 + u * u / 4, (safe - np.log1p(safe)) / safe**2)


class Bet(NamedTuple):
    """What is fixed before the reward."""

    ratio: BoolArray
    a: FloatArray
    lo: FloatArray
    up: FloatArray
    w: FloatArray
    m: FloatArray
    q: FloatArray  # (n, d): M^-1 x
    nu: FloatArray
    g: FloatArray
    v: int
    B: FloatArray
    b: FloatArray

    def band(self, p: Parameters, R: float) -> tuple[FloatArray, FloatArray]:
        """(0): the slopes that the theorem allows."""
        top = np.minimum(self.g / np.sqrt(self.nu), p.c / self.m)
        widest = p.c / (self.w * np.maximum(R, self.w))
        mean = p.tau * self.v / (self.B + self.b)
        return np.minimum(np.minimum(top, mean), widest), top

    def log_wealth(self, S: FloatArray | float, r: FloatArray | float, t: FloatArray) -> FloatArray:
        ratio = np.log1p(S * t * self.of_ratio(r)) - np.log1p(-S * t * t)
        return np.where(self.ratio, ratio, np.log1p(S * t * (r + t)))

    def of_ratio(self, r: FloatArray | float) -> FloatArray:
        """0 for product bets, where the ratio's formula would have no value."""
        return np.where(self.ratio, r, 0.0)

    def curvature(self, S: FloatArray, r: FloatArray, t: FloatArray) -> FloatArray:
        """(log f - S r t) / t^2, at 0 its limit."""
        u = S * t * t
        rest = np.where(u < 1e-9, S, -np.log1p(-u) / np.where(u < 1e-9, 1.0, t * t))
        product = S - S * S * (r + t) ** 2 * k(S * t * (r + t))
        return np.where(self.ratio, rest - S * S * r * r * k(S * t * self.of_ratio(r)), product)


class Round(NamedTuple):
    """What a round did, for those who check it."""

    bet: Bet
    S: FloatArray
    r: FloatArray
    alpha: FloatArray
    good: BoolArray
    rad_before: FloatArray
    topped_up: BoolArray
    lowest: FloatArray  # the constant of a bad round


Slope = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]  # lowest, highest, default -> S
Alpha = Callable[[FloatArray, FloatArray], FloatArray]  # (alpha_low, the minimum) -> alpha-bar
NO_CUT = (np.array(-math.inf), np.array(math.inf))


def times(matrices: FloatArray, vectors: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("nij,nj->ni", matrices, vectors))


def dots(u: Any, v: Any) -> FloatArray:
    return np.asarray((u * v).sum(axis=-1))


class LiteralCR:
    def __init__(
        self,
        n: int,
        delta: float,
        y_low: float,
        y_high: float,
        rho: float,
        p: Parameters,
        theta0: FloatArray,
    ) -> None:
        self.y_low, self.y_high, self.rho, self.p, self.theta0 = y_low, y_high, rho, p, theta0
        self.dim = len(theta0)
        self.L = math.log(1 / delta)
        self.R = max(y_high - y_low, rho)
        self.M = np.stack([p.lam * np.eye(self.dim)] * n)
        self.center = np.stack([theta0] * n)
        self.rad = np.full(n, self.L + p.lam * rho**2)
        self.B, self.b, self.s, self.bound = np.zeros((4, n))
        self.b = self.b + self.R**2
        self.top_ups: IntArray = np.zeros(n, dtype=np.int64)
        self.v = 0

    def keep(self, runs: BoolArray) -> None:
        """Go on with these only."""
        for name in ("M", "center", "rad", "B", "b", "s", "bound", "top_ups"):
            setattr(self, name, getattr(self, name)[runs])

    def upper_ends(self, arms: FloatArray) -> FloatArray:
        """Of the index of step 1, for arms (n, A, d)."""
        leverages = dots(arms, np.linalg.solve(self.M, arms.swapaxes(1, 2)).swapaxes(1, 2))
        means: FloatArray = np.einsum("nad,nd->na", arms, self.center)
        return means + np.sqrt(self.rad[:, None] * leverages)

    def place(
        self, x: FloatArray, ratio: BoolArray, cut: tuple[FloatArray, FloatArray] = NO_CUT
    ) -> Bet:
        """Steps 2 and 3; `cut` must contain <x, theta*>."""
        q: Any = np.linalg.solve(self.M, x[:, :, None])[:, :, 0]
        nu, a = dots(x, q), dots(x, self.center)
        half, ball, middle = np.sqrt(self.rad * nu), self.rho * np.sqrt(dots(x, x)), x @ self.theta0
        lo = np.maximum(np.maximum(a - half, middle - ball), np.maximum(self.y_low, cut[0]))
        up = np.minimum(np.minimum(a + half, middle + ball), np.minimum(self.y_high, cut[1]))
        w = np.maximum(np.abs(a - lo), np.abs(a - up))
        ratio = ratio & (self.y_low < a) & (a < self.y_high)
        z = np.clip([lo, up, (a + self.y_low) / 2, (a + self.y_high) / 2], lo, up)
        worst = np.maximum(-(a - z) * (self.y_low - z), -(a - z) * (self.y_high - z)).max(axis=0)
        simple = np.maximum((a - lo) * (a - self.y_low), (up - a) * (self.y_high - a))
        m = np.where(ratio, simple, np.maximum(worst, w * w))
        self.v += 1
        self.b = np.maximum(self.b, (self.R + w) ** 2)
        g = np.sqrt(self.p.G / (self.B + self.b))
        return Bet(ratio, a, lo, up, w, m, q, nu, g, self.v, self.B, self.b)

    def update(
        self,
        x: FloatArray,
        y: FloatArray,
        bet: Bet,
        slope: Slope = lambda lowest, highest, default: default,
        choose_alpha: Alpha = lambda low, best: best,
        grid: int = 33,
    ) -> Round:
        """Steps 3 to 6."""
        p, before = self.p, self.rad
        self.bound = self.bound + 2 * np.sqrt(self.rad * bet.nu)
        lowest, highest = bet.band(p, self.R)
        S = slope(lowest, highest, np.minimum(highest, p.tau * bet.v / (bet.B + bet.b)))
        r = y - bet.a
        self.B = self.B + r * r
        lost = float(k(np.array(-p.c))) * r * r
        product_lost = np.maximum(lost, 0.5 * (np.abs(r) + bet.w) ** 2)
        alpha_low = S - S * S * np.where(bet.ratio, lost, product_lost)
        t = np.linspace(bet.a - bet.up, bet.a - bet.lo, grid)
        alpha = choose_alpha(alpha_low, bet.curvature(S, r, t).min(axis=0)) - p.epsilon * S
        good = 1 + alpha * bet.nu >= 0.5
        D, used = np.where(good, 1 + alpha * bet.nu, 1.0), np.where(good, alpha, 0.0)
        self.center = self.center + np.where(good, S * r / (2 * D), 0.0)[:, None] * bet.q
        self.M = self.M + used[:, None, None] * x[:, :, None] * x[:, None, :]
        self.s = self.s + np.where(used < 0, -used * bet.nu, 0.0)
        # f >= 1 + S t r of a ratio bet, since S t^2 >= 0; the product's f is a parabola in t
        vertex = bet.log_wealth(S, r, np.clip(-r / 2, t[0], t[-1]))
        slanted = np.log1p(np.minimum(0.0, (S * t * bet.of_ratio(r)).min(axis=0)))
        constant = np.where(bet.ratio, slanted, vertex)
        self.rad = self.rad + np.where(good, S * S * r * r * bet.nu / (4 * D), -constant)
        topped_up = self.s > 0.5
        if topped_up.any():
            self.top_up(topped_up)
        return Round(bet, S, r, alpha, good, before, topped_up, constant)

    def top_up(self, runs: BoolArray) -> None:
        """Step 6, as it is written."""
        weight, e = 0.75 * self.p.lam, self.center[runs] - self.theta0
        M = self.M[runs] + weight * np.eye(self.dim)
        moved = np.linalg.solve(M, times(self.M[runs], e)[:, :, None])[:, :, 0]
        gap = moved - e
        lowest = dots(gap, times(self.M[runs], gap)) + weight * dots(moved, moved)
        self.M[runs], self.center[runs] = M, self.theta0 + moved
        self.rad[runs] += weight * self.rho**2 - lowest
        self.s[runs] = 0.0
        self.top_ups[runs] += 1
