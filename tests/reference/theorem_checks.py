"""Every inequality of docs/theory.md, checked at theta* as runs go on side by side.

`TheoremChecks.see` is told what a round did and notes the names of the inequalities that fail. All
are claims on the event that the wealth at theta* stays below 1/delta, in exact arithmetic: hence a
relative tolerance of 1e-7. A run that leaves the event is followed no further.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from reference.literal_cr_betoful import LiteralCR, Parameters, Round, dots, k, times
from voful.typing import BoolArray, FloatArray

MATRICES_EVERY = 50
SUMS = (
    "log_wealth", "G_K", "sum_g2r2", "sum_h", "sum_root", "lost", "sum_St2", "sum_t2", "H",
    "regret", "largest_inverse", "bad",
)  # fmt: skip


class TheoremChecks:
    on_the_event: BoolArray
    log_wealth: FloatArray
    G_K: FloatArray
    sum_g2r2: FloatArray
    sum_h: FloatArray
    sum_root: FloatArray
    lost: FloatArray
    sum_St2: FloatArray
    sum_t2: FloatArray
    H: FloatArray
    regret: FloatArray
    largest_inverse: FloatArray
    bad: FloatArray

    def __init__(
        self, cr: LiteralCR, theta_star: FloatArray, ratio_bets: bool, claimed: Parameters
    ) -> None:
        self.cr, self.theta_star, self.p = cr, theta_star, claimed
        p = claimed
        self.failed: set[str] = set()
        self.mu = 1 - 0.75 * p.c - p.epsilon
        self.k_cap = float(k(np.array(-p.c)))
        self.kappa = max(self.k_cap, 1.5)
        self.Lambda = math.log(1 / (1 - p.c))
        self.varpi = self.Lambda / p.c if ratio_bets else 1.0
        self.gentle = self.kappa * p.G <= 0.5  # no bad rounds then
        bad = 0.0 if self.gentle else 2 * self.kappa * self.Lambda
        self.gamma0 = 0.5 + bad + 1.5 * self.kappa * p.lam * cr.rho**2
        self.Y = 1 + self.mu * math.sqrt(2 * p.G / p.lam) / cr.R
        n = len(theta_star)
        for name in SUMS:
            setattr(self, name, np.zeros(n))
        self.on_the_event = np.ones(n, dtype=np.bool_)
        self.probes = [theta_star, np.full_like(theta_star, 0.3)]
        squares = [dots(probe - cr.theta0, probe - cr.theta0) for probe in self.probes]
        self.F = [p.lam * square for square in squares]  # Lemma 2, at two points
        self.q = self.distance(theta_star)

    def keep(self, runs: BoolArray) -> None:
        """Go on with these only."""
        for name in (*SUMS, "on_the_event", "theta_star", "q"):
            setattr(self, name, getattr(self, name)[runs])
        self.probes = [probe[runs] for probe in self.probes]
        self.F = [F[runs] for F in self.F]

    def distance(self, theta: FloatArray) -> FloatArray:
        u = theta - self.cr.center
        return dots(u, times(self.cr.M, u))

    def at_most(
        self,
        name: str,
        left: Any,
        right: Any,
        where: BoolArray | bool = True,
    ) -> None:
        holds = left <= right + 1e-7 * (1.0 + np.abs(right))
        if (~np.asarray(holds) & self.on_the_event & where).any():
            self.failed.add(name)

    def see(self, x: FloatArray, y: FloatArray, done: Round, regret: FloatArray) -> None:
        """After the round; `regret` is this round's."""
        bet, S, r = done.bet, done.S, done.r
        mean = dots(x, self.theta_star)
        t = bet.a - mean
        phi = bet.log_wealth(S, r, t)
        self.log_wealth += phi
        self.at_most("1: f >= 1 - c", math.log(1 - self.p.c), phi)
        self.on_the_event = self.log_wealth < self.cr.L
        self.one_round(x, done, t, phi)
        self.H += (y - mean) ** 2
        self.regret += regret
        self.G_K += S * S * bet.nu * r * r
        self.sum_g2r2 += bet.g**2 * r * r
        self.sum_h += S * bet.nu
        self.sum_root += np.sqrt(bet.nu)
        self.largest_inverse = np.maximum(self.largest_inverse, 1 / S)
        self.sum_St2 += S * t * t
        self.sum_t2 += t * t
        self.sums(bet.v, bet.g)

    def one_round(self, x: FloatArray, done: Round, t: FloatArray, phi: FloatArray) -> None:
        cr, p, bet, S, r, alpha = self.cr, self.p, done.bet, done.S, done.r, done.alpha
        lowest, highest = bet.band(p, cr.R)
        self.at_most("(0) band", lowest, highest)
        self.at_most("m <= w max(R, w)", bet.m, bet.w * np.maximum(cr.R, bet.w))
        # Lemma 1
        grid = np.concatenate([np.linspace(bet.a - bet.up, bet.a - bet.lo, 5), t[None]])
        logs = bet.log_wealth(S, r, grid)
        self.at_most("1: f >= 1 - c", math.log(1 - p.c), logs.min(axis=0))
        self.at_most("1: S t^2 <= c", S * (grid**2).max(axis=0), p.c)
        below = S * r * grid + (alpha + p.epsilon * S) * grid**2
        self.at_most("1 (i)", (below - logs).max(axis=0), 0.0)
        self.at_most("1 (ii) low", (self.mu * S - self.kappa * S * S * r * r) / S, alpha / S)
        self.at_most("1 (ii) high", alpha / S, self.varpi)
        # Lemma 2: F is what the rounds added
        good, bad = done.good, ~done.good
        self.bad += bad
        self.at_most("bad: below log f", done.lowest, phi, bad)
        self.at_most("bad: at least log(1 - c)", math.log(1 - p.c), done.lowest, bad)
        self.at_most("4 (c)", 1.0, 2 * self.kappa * S * S * bet.nu * r * r, bad)
        self.lost += np.where(good & (alpha < 0), -alpha * bet.nu, 0.0)
        lam = p.lam * (1 + 0.75 * cr.top_ups)
        for i, probe in enumerate(self.probes):
            step, offset = bet.a - dots(x, probe), probe - cr.theta0
            added = np.where(good, S * r * step + alpha * step**2, done.lowest)
            self.F[i] = self.F[i] + added + done.topped_up * 0.75 * p.lam * dots(offset, offset)
            whole = self.distance(probe) + cr.L + lam * cr.rho**2 - cr.rad
            self.at_most("2", np.abs(whole - self.F[i]), 1e-6 * (1.0 + np.abs(self.F[i])))
        # Lemma 3
        q = self.distance(self.theta_star)
        self.at_most("3: theta* is covered", q, cr.rad)
        self.at_most("3: |t| <= w", np.abs(t), bet.w)
        self.at_most("3: w <= sqrt(rad nu)", bet.w, np.sqrt(done.rad_before * bet.nu))
        self.at_most("3: |r| <= R + w", np.abs(r), cr.R + bet.w)
        self.at_most("3: R + w <= sqrt(b)", cr.R + bet.w, np.sqrt(bet.b))
        # the drift of Lemma 7
        drift = 0.5 * S * S * bet.nu * r * r + phi - p.epsilon * S * t * t
        raised = done.topped_up * 0.75 * p.lam * cr.rho**2
        self.at_most("7: drift", q - self.q, drift + raised, good)
        self.q = q
        self.at_most("4 (b): nu", bet.nu, 2 / p.lam * dots(x, x))
        if bet.v % MATRICES_EVERY == 0:
            spectrum = np.linalg.eigvalsh(cr.M)
            self.at_most("4 (b): M", p.lam / 2, spectrum[:, 0])
            self.at_most("5: det", np.log(spectrum / p.lam).sum(axis=1), self.Gamma(bet.v))

    def Gamma(self, K: int) -> FloatArray:
        cr, p = self.cr, self.p
        slopes = self.varpi * math.sqrt(p.G) * K / (2 * cr.R * math.sqrt(p.lam * cr.dim))
        return np.asarray(2 * cr.dim * np.log(1 + 0.75 * self.kappa * self.G_K + slopes))

    def sums(self, K: int, g: FloatArray) -> None:
        """Lemmas 4 to 7, (2), (3) and (4) after K rounds."""
        cr, p, kappa, G_K = self.cr, self.p, self.kappa, self.G_K
        beta2 = cr.L + p.lam * cr.rho**2 + self.gamma0 * G_K
        beta = np.sqrt(beta2)
        omega = cr.R + beta * math.sqrt(2 / p.lam)
        P = 1 / g + beta * omega / p.c
        # Lemma 4
        self.at_most("4 (a) left", G_K, self.sum_g2r2)
        log = np.log((cr.B + cr.b) / cr.R**2)
        self.at_most("4 (a) right", self.sum_g2r2, p.G / math.log(2) * log)
        self.at_most("4 (b): lost", self.lost, kappa * G_K)
        self.at_most("4 (b): top-ups", cr.top_ups, 2 * kappa * G_K)
        self.at_most("4 (c): bad rounds", self.bad, 0.0 if self.gentle else 2 * kappa * G_K)
        self.at_most("4 (d): rad", cr.rad, beta2)
        self.at_most("4 (d): b", cr.b, omega**2)
        A = self.gamma0 * p.G / math.log(2)
        inner = 2 * (K + 1) * (1 + 4 * A / (p.lam * cr.R**2))
        self.at_most("(3)", beta2, 2 * (cr.L + p.lam * cr.rho**2) + 2 * A * math.log(inner))
        # Lemma 5
        potential = self.Y / self.mu * (self.Gamma(K) + 2 * kappa * math.log(2 * self.Y) * G_K)
        self.at_most("5", self.sum_h, potential)
        # Lemma 6
        free = math.isinf(p.tau)
        logs = 0.0 if free else p.G * (1 + math.log(K)) / (2 * p.tau)
        factor = 1.0 if free else 1.5
        self.at_most("6: sum", self.sum_root, P * (factor * self.sum_h + logs))
        slowest = math.sqrt(2 / p.lam) * P + omega**2 / p.tau
        self.at_most("6: 1/S", self.largest_inverse, slowest)
        # Lemma 7
        share = 1 + 1 / p.epsilon
        self.at_most("7: sum S t^2", self.sum_St2, share * beta2)
        self.at_most("7: sum t^2", self.sum_t2, share * beta2 * slowest)
        # (4) and (2)
        Sigma = factor * potential + logs
        self.at_most("observable bound", self.regret, cr.bound)
        self.at_most("(4)", cr.bound, 2 * beta * P * Sigma)
        plain = omega * (
            1 / math.sqrt(p.G) + beta / p.c + beta * math.sqrt(2 * share / (p.tau * p.G))
        )
        last = share * math.sqrt(2 / p.lam) * beta2 / p.G
        right = 4 * beta * Sigma * (np.sqrt(2 * self.H / p.G) + plain + last)
        self.at_most("(2)", self.regret, right)
