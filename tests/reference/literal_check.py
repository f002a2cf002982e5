"""A model check and guarded restarts, transcribed without any thought for speed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from voful.confidence import BettingEllipsoid
from voful.confidence.betting.state import HIGH, LOW
from voful.typing import FloatArray


class LiteralCheck:
    """Keeps every round and adds up all bets, begun in whatever round, at every question."""

    def __init__(self, low: float, high: float, run_length: bool = False) -> None:
        self.low, self.high, self.run_length = low, high, run_length
        self.rounds: list[tuple[float, float, float]] = []
        self.challenges: list[tuple[float, ...]] = []

    def update(
        self, lower: float, upper: float, y: float, predictions: Sequence[float] = ()
    ) -> None:
        lower, upper, *guesses = np.clip([lower, upper, *predictions], self.low, self.high).tolist()
        self.rounds.append((lower, upper, y))
        self.challenges.append(tuple(guesses))

    def weight(self, t: int) -> float:
        if self.run_length:
            return 1.0
        return 0.5 * (t == 1) + 0.5 * 0.47 / ((t + 1) * math.log(t + 1) ** 2)

    def bet(self, factors: list[float]) -> float:
        """Sum over the rounds s in which a bet may begin of w_s times what followed."""
        followed = np.cumprod(factors[::-1])[::-1]
        return float(sum(self.weight(s) * v for s, v in enumerate(followed, start=1)))

    @property
    def statistic(self) -> float:
        plain = []
        for k in range(8):
            c = 0.9 * 2.0**-k
            plain.append(self.bet([1 + c * (y - u) / (u - self.low) for _, u, y in self.rounds]))
            plain.append(
                self.bet([1 + c * (l - y) / (self.high - l) for l, _, y in self.rounds])  # noqa: E741
            )
        mean = float(np.mean(plain))
        if self.challenges and self.challenges[0]:
            n = len(self.challenges[0])
            mean = 0.5 * mean + 0.5 * float(np.mean([self.challenged(i) for i in range(n)]))
        if self.run_length:
            return mean
        return 1 - sum(self.weight(t) for t in range(1, len(self.rounds) + 1)) + mean

    def challenged(self, i: int) -> float:
        s2, factors = 0.05 * (0.5 * (self.high - self.low)) ** 2, []
        for (lower, upper, y), predictions in zip(self.rounds, self.challenges, strict=True):
            g, factor = predictions[i], 1.0
            if g > upper:
                stake = 0.5 * (g - upper) / (s2 + (g - upper) ** 2)
                factor = 1 + min(stake, 0.9 / (upper - self.low)) * (y - upper)
            if g < lower:
                stake = 0.5 * (lower - g) / (s2 + (lower - g) ** 2)
                factor = 1 + min(stake, 0.9 / (self.high - lower)) * (lower - y)
            factors.append(factor)
            s2 += 0.02 * ((y - g) ** 2 - s2)
        return self.bet(factors)


class LiteralGuard:
    """Guarded restarts over sets that are objects of their own."""

    def __init__(self, fresh: Callable[[], BettingEllipsoid], m: int, alpha: float) -> None:
        self.fresh, self.m, self.alpha = fresh, m, alpha
        self.alarms: list[tuple[int, str]] = []
        self.old: BettingEllipsoid | None = None  # its ridge learns on
        self.rounds = self.strikes = self.refutations = 0
        self.lasted = self.refuted = False
        self.begin()

    def begin(self) -> None:
        self.set, self.check, self.t = self.fresh(), LiteralCheck(-1.0, 1.0), 0

    @property
    def ridges(self) -> FloatArray:
        """All estimates that would be played where the model is refuted."""
        assert self.old is not None
        return self.old.views().predictors.theta.copy()

    def update(self, x: FloatArray, y: float) -> None:
        self.rounds += 1
        self.t += 1
        if self.old is not None:
            self.old.update(x, y)
        if self.refuted:
            if self.t >= self.m * 2 ** (self.refutations - 1):
                self.refuted = False
                self.begin()
            return
        self.set.update(x, y)
        bet = self.set.views().latest.bet
        if bet[LOW] <= bet[HIGH]:
            self.check.update(bet[LOW], bet[HIGH], y)
        if self.t >= self.m:
            self.lasted, self.strikes, self.refutations, self.old = True, 0, 0, None
        empty = self.set.is_empty
        if not empty and self.check.statistic < 1 / self.alpha:
            return
        self.alarms.append((self.rounds, "empty" if empty else "check"))
        if self.t >= self.m:
            self.begin()
            return
        self.strikes += 1
        if self.old is None:
            self.old = self.set
            self.old.views().clock.emptied[0] = 1.0  # stops betting
        if self.strikes >= (3 if self.lasted else 1):
            self.refuted = True
            self.refutations += 1
        self.begin()
