"""BetVTR transcribed without any thought for speed: plain sums about the origin 0, inverses from
scratch, Python loops over states, actions and outcomes; only short runs can be trusted.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np

from reference.literal_planning import maximum_by_faces
from voful import LinearMixtureModel
from voful.mdp.planning import OptimisticPlan
from voful.typing import FloatArray

C = 0.9
PRODUCT, RATIO = "product", "ratio"


def k(u: float) -> float:
    """(u - log(1+u)) / u^2."""
    if abs(u) < 1e-3:
        return sum((-u) ** i / (i + 2) for i in range(8))
    return (u - math.log1p(u)) / (u * u)


def l1(v: float) -> float:
    """-log(1-v) / v."""
    if abs(v) < 1e-3:
        return sum(v**i / (i + 1) for i in range(8))
    return -math.log1p(-v) / v


def clip(z: float, low: float, high: float) -> float:
    return min(max(z, low), high)


class ProductBet:
    """f = 1 + S t (r + t), t = a - <x, theta>, r = y - a."""

    n_slopes = 14

    def top(self, a: float, lo: float, up: float, s2: float) -> float:
        m1 = (a - lo) * lo if lo > a / 2 else (a / 2) ** 2
        m2 = (up - a) * (1 - up) if up < (a + 1) / 2 else ((1 - a) / 2) ** 2
        return C / max(m1, m2, 1e-10 / 4)

    def g(self, t: float, S: float, r: float) -> float:
        return S - S * S * (r + t) ** 2 * k(S * t * (r + t))

    def cost(
        self, s: float, a: float, lo: float, up: float, s2: float, facts: dict[str, float]
    ) -> float:
        grid = [a - up + (up - lo) * i / 8 for i in range(9)]
        sigma = math.sqrt(s2)
        abar = sum(min(self.g(t, s, r) for t in grid) for r in (sigma, -sigma)) / 2
        if not abar > 0:
            return math.inf
        price = facts["L"] + facts["lambda"] * facts["rho"] ** 2
        return (price + (facts["logdet"] + facts["d"]) * s * s * s2 / (4 * abar)) / abar

    def alpha(self, S: float, r: float, a: float, lo: float, up: float) -> float:
        """Branch and bound: 8 cells and the node -r/2, up to 24 bisections, 1 % of tolerance."""

        def phi(t: float) -> float:
            return (r + t) ** 2 * k(S * t * (r + t))

        def bound(ta: float, tb: float) -> float:
            u = min(S * ta * (r + ta), S * tb * (r + tb))
            return max((r + ta) ** 2, (r + tb) ** 2) * k(u)

        t0, t1 = a - up, a - lo
        nodes = {t0 + (t1 - t0) / 8 * i for i in range(8)} | {t1}
        if t0 < -r / 2 < t1:
            nodes.add(-r / 2)
        ordered = sorted(nodes)
        cells = list(itertools.pairwise(ordered))
        best = max(phi(t) for t in ordered)
        for _ in range(24):
            worst = max(cells, key=lambda cell: bound(*cell))
            tolerance = 0.01 * max(abs(S - S * S * best), 0.1 * S)
            if S * S * (bound(*worst) - best) <= tolerance:
                break
            middle = sum(worst) / 2
            best = max(best, phi(middle))
            cells.remove(worst)
            cells += [(worst[0], middle), (middle, worst[1])]
        highest = max(bound(*cell) for cell in cells)
        return S - S * S * highest - 1e-12 * (S + S * S * highest)

    def lowest(self, S: float, r: float, a: float, lo: float, up: float) -> float:
        t = clip(-r / 2, a - up, a - lo)
        return math.log1p(S * t * (r + t))


class RatioBet:
    """f = (1 + b r) / (1 - b t), b = clip(S t, -c/m_minus, c/m_plus)."""

    n_slopes = 24

    def top(self, a: float, lo: float, up: float, s2: float) -> float:
        reach = max((a - lo) * max(a, 1e-12), (up - a) * max(1 - a, 1e-12))
        return min(4 * C / reach, 4 / s2) if reach > 0 else 4 / s2

    def cost(
        self, s: float, a: float, lo: float, up: float, s2: float, facts: dict[str, float]
    ) -> float:
        plus, minus = max(a, 1e-12), max(1 - a, 1e-12)
        far = max(2 * math.sqrt(s2), facts["largest"])
        high, low = min(far, 0.999 * minus), -min(far, 0.999 * plus)
        p_high, p_low = s2 / (high * (high - low)), -s2 / (low * (high - low))
        total = p_high + p_low
        if total > 1:
            p_high, p_low = p_high / total, p_low / total
        value = 3 * facts["d"] / facts["rad"] * s2 * s * s / 4
        t0, t1 = a - up, a - lo
        for r, p in ((high, p_high), (low, p_low), (0.0, 1 - p_high - p_low)):
            if p > 0:
                whole = self.over(s, r, t0, t1, plus, minus)
                value -= p * (whole + self.over(s, r, t0 / 2, t1 / 2, plus, minus)) / 2
        return value

    def alpha(self, S: float, r: float, a: float, lo: float, up: float) -> float:
        return self.over(S, r, a - up, a - lo, max(a, 1e-12), max(1 - a, 1e-12))

    def over(self, S: float, r: float, t0: float, t1: float, plus: float, minus: float) -> float:
        values = []
        if t1 >= 0:
            values += self.side(S, r, max(t0, 0.0), t1, plus)
        if t0 <= 0:
            values += self.side(S, -r, max(-t1, 0.0), -t0, minus)
        return min(values) - 1e-9 * S

    def side(self, S: float, r: float, t0: float, t1: float, m: float) -> list[float]:
        bc = C / m
        tc, values = bc / S, []
        if t0 <= tc:
            end = min(t1, tc)
            if r >= 0:
                values.append(S * l1(S * t0**2) - (S * r) ** 2 * k(S * r * t0))
            else:
                for i in range(4):
                    ta, tb = (t0 + (end - t0) * j / 4 for j in (i, i + 1))
                    values.append(S * l1(S * ta**2) - (S * r) ** 2 * k(S * r * tb))
        if t1 > tc:
            begin = max(t0, tc)
            for i in range(4):
                ta, tb = (begin * (t1 / begin) ** (j / 4) for j in (i, i + 1))
                tm = (ta + tb) / 2
                slope = bc / (1 - bc * tm)
                P = slope - S * r
                Q = math.log1p(bc * r) - math.log1p(-bc * tm) - slope * tm
                places = [ta, tb]
                if P != 0 and ta < -2 * Q / P < tb:
                    places.append(-2 * Q / P)
                values += [(P * t + Q) / t**2 for t in places]
        return values

    def lowest(self, S: float, r: float, a: float, lo: float, up: float) -> float:
        t0, t1 = a - up, a - lo
        if r > 0 and t0 < 0:
            return math.log1p(-min(-S * t0, C / max(1 - a, 1e-12)) * r)
        if r < 0 and t1 > 0:
            return math.log1p(min(S * t1, C / max(a, 1e-12)) * r)
        return 0.0


class LiteralBettingSet:
    """theta0 = 1/d, rho^2 = 1 - 1/d, y in [0, 1], on the plane sum theta = 1."""

    def __init__(self, d: int, delta: float, bet: str) -> None:
        self.d, self.L = d, math.log(1 / delta)
        self.theta0, self.rho = np.full(d, 1 / d), math.sqrt(1 - 1 / d)
        scale = max(self.rho, 0.5 / math.sqrt(d)) ** 2
        self.lambdas = [value / scale for value in (0.3, 1.0, 3.0, 10.0)]
        if bet == "mixed":
            self.bets: list[ProductBet | RatioBet] = [ProductBet(), RatioBet()]
            self.shares: list[tuple[float, ...]] = [(p, 1 - p) for p in (1 / 3, 0.05, 0.8)]
            prior = (1 / 3, 2 / 3)
            prices = [
                -sum(p * math.log(p / pi) for p, pi in zip(share, prior, strict=True))
                for share in self.shares
            ]
        else:
            self.bets = [ProductBet() if bet == PRODUCT else RatioBet()]
            self.shares, prices = [(1.0,)], [0.0]
        n = len(self.shares)
        self.A = [np.zeros((d, d)) for _ in range(n)]
        self.b = [np.zeros(d) for _ in range(n)]
        self.kappa = list(prices)
        self.lam = [self.lambdas[0]] * n
        self.plays: list[FloatArray] = []
        self.ridges = [value * d for value in (0.01, 0.1, 1.0, 10.0)]
        self.gram, self.response = np.zeros((d, d)), np.zeros(d)
        self.errors = np.zeros(4)

    def ellipsoid(self, e: int, lam: float | None = None) -> tuple[FloatArray, FloatArray, float]:
        """(A + lambda I)^-1, centre and rad."""
        lam = self.lam[e] if lam is None else lam
        inverse = np.asarray(np.linalg.inv(self.A[e] + lam * np.eye(self.d)))
        right = self.b[e] + lam * self.theta0
        rad = self.L - self.kappa[e] - lam * (self.theta0 @ self.theta0 - self.rho**2)
        return inverse, inverse @ right, float(rad + right @ inverse @ right)

    def estimate(self, ridge: float) -> FloatArray:
        """Ridge regression towards theta0."""
        matrix = self.gram + ridge * np.eye(self.d)
        right = self.response - self.gram @ self.theta0
        return np.asarray(self.theta0 + np.linalg.solve(matrix, right))

    def upper_end(self, x: FloatArray) -> float:
        """Of <x, theta>: the maximum within the simplex over the ellipsoid that ends first."""
        u = x - x.mean()

        def plain(e: int) -> float:
            inverse, center, rad = self.ellipsoid(e)
            return float(u @ center) + math.sqrt(rad * (u @ inverse @ u))

        inverse, center, rad = self.ellipsoid(min(range(len(self.A)), key=plain))
        return maximum_by_faces(center, inverse, rad, x)

    def bet_ends(self, x: FloatArray) -> tuple[float, float]:
        """Of <x, theta> for bets: over each ellipsoid alone, the simplex and the ball."""
        u, shift = x - x.mean(), float(x.mean())
        lows, highs = [float(x.min())], [float(x.max())]
        for e in range(len(self.A)):
            inverse, center, rad = self.ellipsoid(e)
            width = math.sqrt(rad * (u @ inverse @ u))
            lows.append(shift + float(u @ center) - width)
            highs.append(shift + float(u @ center) + width)
        lows.append(shift + float(u @ self.theta0) - self.rho * float(np.linalg.norm(u)))
        highs.append(shift + float(u @ self.theta0) + self.rho * float(np.linalg.norm(u)))
        return max(lows), min(highs)

    def place(
        self, x: FloatArray, p: FloatArray, g: FloatArray
    ) -> tuple[float, float, float, list[float]]:
        """(lo, up, a, slopes) of the bets on outcomes that pay g, with probabilities p (B, d)."""
        lo, up = self.bet_ends(x)
        if abs(up - lo) < 1e-9:
            lo, up = (lo + up) / 2 - 5e-10, (lo + up) / 2 + 5e-10
        theta = self.estimate(self.ridges[int(np.argmin(self.errors))])
        u, shift = x - x.mean(), float(x.mean())
        a = clip(shift + float(u @ theta), lo, up)
        likely = [(float(q @ theta), float(v)) for q, v in zip(p, g, strict=True) if q @ theta > 0]
        s2 = clip(sum(q * (v - a) ** 2 for q, v in likely), 1e-7, 0.25)
        thin = [
            rad * (u @ inverse @ u) for inverse, _, rad in map(self.ellipsoid, range(len(self.A)))
        ]
        e = int(np.argmin(thin))
        facts = {
            "L": self.L,
            "lambda": self.lam[e],
            "rho": self.rho,
            "logdet": np.linalg.slogdet(np.eye(self.d) + self.A[e] / self.lam[e])[1],
            "d": self.d,
            "rad": self.ellipsoid(e)[2],
            "largest": max(abs(v - a) for _, v in likely),
        }
        slopes = []
        for bet in self.bets:
            top = bet.top(a, lo, up, s2)
            i, best = 0, bet.cost(top, a, lo, up, s2, facts)
            while i + 1 < bet.n_slopes:
                value = bet.cost(top * 2 ** (-(i + 1) / 2), a, lo, up, s2, facts)
                if value >= best and best < math.inf:
                    break
                i, best = i + 1, value
            slopes.append(top * 2 ** (-i / 2))
        return lo, up, a, slopes

    def minorant(
        self, bet: ProductBet | RatioBet, S: float, y: float, a: float, lo: float, up: float
    ) -> tuple[float, float, float, float]:
        """(c0, c1, c2, constant) with log f >= c0 + c1 t + c2 t^2 and >= constant."""
        r = y - a
        c0, c1, c2 = 0.0, S * r, bet.alpha(S, r, a, lo, up)
        lowest = bet.lowest(S, r, a, lo, up)
        m, w = a - (up + lo) / 2, (up - lo) / 2
        if isinstance(bet, RatioBet) and c2 < 0 and c1 * m + c2 * (m * m + 0.3 * w * w) < lowest:
            c0, c1, c2 = lowest, 0.0, 0.0
        return c0, c1, c2, lowest

    def settle(
        self, x: FloatArray, bet: tuple[float, float, float, list[float]], y: float, n: int
    ) -> None:
        lo, up, a, slopes = bet
        u, shift = x - x.mean(), float(x.mean())
        below = [self.minorant(f, S, y, a, lo, up) for f, S in zip(self.bets, slopes, strict=True)]
        for e, share in enumerate(self.shares):
            spread = u @ self.ellipsoid(e)[0] @ u
            c0, c1, c2 = (
                sum(p * q[i] for p, q in zip(share, below, strict=True)) for i in range(3)
            )
            if 1 + c2 * n * spread < 0.3:  # constants for the bets that bend downwards
                kept = [q[:3] if q[2] >= 0 else (q[3], 0.0, 0.0) for q in below]
                c0, c1, c2 = (
                    sum(p * q[i] for p, q in zip(share, kept, strict=True)) for i in range(3)
                )
            z = a - shift
            self.A[e] = self.A[e] + n * c2 * np.outer(u, u)
            self.b[e] = self.b[e] + n * (c2 * z + c1 / 2) * u
            self.kappa[e] += n * (c0 + c1 * z + c2 * z * z)

    def learn(self, laws: list[tuple[FloatArray, FloatArray, FloatArray]]) -> None:
        """Laws (p, g, counts): all bets first, then what happened."""
        X = [g @ p for p, g, _ in laws]
        bets = [self.place(x, p, g) for x, (p, g, _) in zip(X, laws, strict=True)]
        for x, bet, (_, g, counts) in zip(X, bets, laws, strict=True):
            for y, n in zip(g, counts, strict=True):
                if n > 0:
                    self.settle(x, bet, float(y), int(n))
            n = counts.sum()
            u = math.sqrt(n) * (x - x.mean())
            y = math.sqrt(n) * (g @ counts / n - x.mean())
            discount = 2 / (len(self.plays) + 3)
            for q, ridge in enumerate(self.ridges):
                error = float(y - u @ self.estimate(ridge)) ** 2
                self.errors[q] += discount * (error - self.errors[q])
            self.gram, self.response = self.gram + np.outer(u, u), self.response + y * u
            self.plays.append(x - x.mean())
        for e in range(len(self.A)):
            self.choose_lambda(e)

    def choose_lambda(self, e: int) -> None:
        """The best score over the last 50 plays, of those with eigmin(A) > -lambda/2."""
        scores = {}
        for lam in self.lambdas:
            if np.linalg.eigvalsh(self.A[e])[0] > -lam / 2:
                inverse, _, rad = self.ellipsoid(e, lam)
                scores[lam] = rad * sum(u @ inverse @ u for u in self.plays[-50:])
        if scores:
            self.lam[e] = min(scores, key=lambda lam: scores[lam])


class LiteralBetVTR:
    def __init__(self, model: LinearMixtureModel, delta: float, bet: str) -> None:
        self.P, self.r, self.H = model.base_models, model.rewards, model.horizon
        self.Theta = LiteralBettingSet(model.dim, delta, bet)

    def plan(self) -> FloatArray:
        """Values by steps to go, shape (H+1, S)."""
        _, S, A, _ = self.P.shape
        W = np.zeros((self.H + 1, S))
        for n in range(1, self.H + 1):
            for s in range(S):
                Q = [
                    self.r[s, a] + self.Theta.upper_end(self.P[:, s, a] @ W[n - 1])
                    for a in range(A)
                ]
                W[n, s] = max(0.0, min(1.0, max(Q)))
        return W

    def learn(self, plan: OptimisticPlan, episodes: list[tuple[list[int], list[int]]]) -> None:
        """All episodes of a plan at once."""
        values = plan.values
        block = list(range(len(values)))
        for n in range(len(values) - 2, -1, -1):  # a row is replaced by one that differs little
            above = block[n + 1]
            if np.ptp(values[n] - values[above]) <= 0.05 * np.ptp(values[n]):
                block[n] = above
        counts: Counter[tuple[int, int, int, int]] = Counter()
        for states, actions in episodes:
            for h, a in enumerate(actions):
                counts[block[plan.row(h + 1)], states[h], a, states[h + 1]] += 1
        laws = []
        for row, s, a in sorted({key[:3] for key in counts}):
            V = values[row]
            if np.ptp(V) > 1e-12:
                reached = np.flatnonzero(self.P[:, s, a].any(axis=0))
                g = ((V - V.min()) / np.ptp(V))[reached]
                happened = np.array([counts[row, s, a, int(t)] for t in reached])
                laws.append((self.P[:, s, a][:, reached].T, g, happened))
        if laws:
            self.Theta.learn(laws)
