"""CR-BetOFUL, transcribed from docs/theory.md without any thought for speed.

Every choice that the theorem leaves free can be made by the caller: the kind of bet, the slope in
its band, alpha in its band, and how far the interval is cut.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from voful.typing import FloatArray


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

    ratio: bool
    a: float
    lo: float
    up: float
    w: float
    m: float
    nu: float
    g: float
    v: int
    B: float
    b: float

    def band(self, p: Parameters, R: float) -> tuple[float, float]:
        """(0): the slopes that the theorem allows."""
        top = min(self.g / math.sqrt(self.nu), p.c / self.m)
        widest = p.c / (self.w * max(R, self.w))
        return min(top, p.tau * self.v / (self.B + self.b), widest), top

    def log_wealth(self, S: float, r: float, t: FloatArray) -> FloatArray:
        if self.ratio:
            return np.log1p(S * t * r) - np.log1p(-S * t * t)
        return np.log1p(S * t * (r + t))

    def curvature(self, S: float, r: float, t: FloatArray) -> FloatArray:
        """(log f - S r t) / t^2, at 0 its limit."""
        if self.ratio:
            u = S * t * t
            rest = np.where(u < 1e-9, S, -np.log1p(-u) / np.where(u < 1e-9, 1.0, t * t))
            return rest - S * S * r * r * k(S * t * r)
        return S - S * S * (r + t) ** 2 * k(S * t * (r + t))


class Round(NamedTuple):
    """What a round did, for those who check it."""

    bet: Bet
    S: float
    r: float
    alpha: float
    alpha_low: float
    good: bool
    rad_before: float
    topped_up: bool
    lowest: float  # the constant of a bad round


Slope = Callable[[float, float, float], float]  # (lowest, highest, default) -> S
Alpha = Callable[[float, float], float]  # (alpha_low, the minimum) -> alpha-bar


@dataclass
class LiteralCR:
    dim: int
    delta: float
    y_low: float
    y_high: float
    rho: float
    p: Parameters
    theta0: FloatArray = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        self.L = math.log(1 / self.delta)
        if not len(self.theta0):
            self.theta0 = np.zeros(self.dim)
        self.R = max(self.y_high - self.y_low, self.rho)
        self.M = self.p.lam * np.eye(self.dim)
        self.center = self.theta0.copy()
        self.rad = self.L + self.p.lam * self.rho**2
        self.B, self.b, self.s, self.v, self.top_ups, self.bound = 0.0, self.R**2, 0.0, 0, 0, 0.0

    def leverages(self, X: FloatArray) -> FloatArray:
        """|x|^2_{M^-1} for the rows of X."""
        return np.asarray((X * np.linalg.solve(self.M, X.T).T).sum(axis=1))

    def place(
        self, x: FloatArray, ratio: bool = True, cut: tuple[float, float] = (-math.inf, math.inf)
    ) -> Bet:
        """Steps 2 and 3; `cut` must contain <x, theta*>."""
        nu = float(x @ np.linalg.solve(self.M, x))
        a, half = float(x @ self.center), math.sqrt(self.rad * nu)
        ball, middle = self.rho * float(np.linalg.norm(x)), float(x @ self.theta0)
        lo = max(a - half, middle - ball, self.y_low, cut[0])
        up = min(a + half, middle + ball, self.y_high, cut[1])
        w = max(abs(a - lo), abs(a - up))
        ratio = ratio and self.y_low < a < self.y_high
        if ratio:
            m = max((a - lo) * (a - self.y_low), (up - a) * (self.y_high - a))
        else:
            z = np.clip([lo, up, (a + self.y_low) / 2, (a + self.y_high) / 2], lo, up)
            y = np.array([self.y_low, self.y_high])
            m = max(float((-(a - z)[:, None] * (y[None, :] - z[:, None])).max()), w * w)
        self.v += 1
        self.b = max(self.b, (self.R + w) ** 2)
        g = math.sqrt(self.p.G / (self.B + self.b))
        return Bet(ratio, a, lo, up, w, m, nu, g, self.v, self.B, self.b)

    def update(
        self,
        x: FloatArray,
        y: float,
        bet: Bet,
        slope: Slope = lambda lowest, highest, default: default,
        choose_alpha: Alpha = lambda low, best: best,
        grid: int = 33,
    ) -> Round:
        """Steps 3 to 6."""
        p, before = self.p, self.rad
        self.bound += 2 * math.sqrt(self.rad * bet.nu)
        lowest, highest = bet.band(p, self.R)
        S = slope(lowest, highest, min(highest, p.tau * bet.v / (bet.B + bet.b)))
        r = y - bet.a
        self.B += r * r
        k_cap = float(k(np.array(-p.c)))
        alpha_low = S - k_cap * S * S * r * r
        if not bet.ratio:
            alpha_low = S - max(k_cap * S * S * r * r, 0.5 * S * S * (abs(r) + bet.w) ** 2)
        t = np.linspace(bet.a - bet.up, bet.a - bet.lo, grid)
        best = float(bet.curvature(S, r, t).min())
        alpha = choose_alpha(alpha_low, best) - p.epsilon * S
        D = 1 + alpha * bet.nu
        good, lowest_log = D >= 0.5, 0.0
        if good:
            self.rad += S * S * r * r * bet.nu / (4 * D)
            self.center = self.center + S * r / (2 * D) * np.linalg.solve(self.M, x)
            self.M = self.M + alpha * np.outer(x, x)
            if alpha < 0:
                self.s += -alpha * bet.nu
        elif bet.ratio:  # f >= 1 + S t r, since S t^2 >= 0
            lowest_log = float(np.log1p(min(0.0, float((S * t * r).min()))))
        else:
            vertex = np.clip(-r / 2, t[0], t[-1])
            lowest_log = float(bet.log_wealth(S, r, vertex))
        self.rad -= lowest_log
        topped_up = self.s > 0.5
        if topped_up:
            self.top_up()
        return Round(bet, S, r, alpha, alpha_low, good, before, topped_up, lowest_log)

    def top_up(self) -> None:
        """Step 6, as it is written."""
        weight, e = 0.75 * self.p.lam, self.center - self.theta0
        M = self.M + weight * np.eye(self.dim)
        moved = np.linalg.solve(M, self.M @ e)
        gap = moved - e
        lowest = gap @ self.M @ gap + weight * moved @ moved
        self.M, self.center = M, self.theta0 + moved
        self.rad += weight * self.rho**2 - float(lowest)
        self.s = 0.0
        self.top_ups += 1
