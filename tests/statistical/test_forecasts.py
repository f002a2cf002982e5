"""The likelihood-ratio set covers theta* where forecasts pay for it, and forecasts are fair.

Power of the coverage: .81 against 3 failure_prob (77 runs); with --full (308) .90 against 2.
"""

from __future__ import annotations

import numpy as np

from helpers import assert_condemned, assert_covers, full
from voful.confidence import LikelihoodSet
from voful.confidence.mixture.log_likelihood import maximum_likelihood, relative_log_likelihood
from voful.typing import FloatArray

DELTA = 0.1
CALLS = 40 if full() else 12
BETS = 2000 if full() else 200


class Play:
    """A few transitions a call, of the state about which the centre says most."""

    def __init__(self, kind: type[LikelihoodSet], dim: int, run: int, **params: float) -> None:
        self.rng = np.random.default_rng([53, dim, run])
        self.theta = self.rng.dirichlet(np.ones(dim))
        self.laws: FloatArray = np.moveaxis(self.rng.dirichlet(np.ones(3), size=(3, dim)), 1, 2)
        self.Theta = kind(self.laws.reshape(-1, dim), failure_prob=DELTA, **params)

    def call(self) -> None:
        state = int(np.argmax(np.ptp(self.laws @ self.Theta.center, axis=1)))
        counts = np.zeros((3, 3))
        counts[state] = self.rng.multinomial(4, self.laws[state] @ self.theta)
        self.Theta.learn(counts.reshape(-1))

    def leaves(self) -> bool:
        for _ in range(CALLS):
            self.call()
            if not self.Theta.contains(self.theta):
                return True
        return False

    def wealth(self) -> float:
        """e^(F - L(theta*)) after three calls."""
        for _ in range(3):
            self.call()
        p, n, center = self.laws.reshape(-1, len(self.theta)), self.Theta.counts, self.Theta.center
        seen = n > 0.0
        against = relative_log_likelihood(p[seen], n[seen], center, self.theta[None, :])[0]
        return float(np.exp(self.Theta._wealth[0] - against))


class Cheats(LikelihoodSet):
    """Forecasts what it has seen already."""

    def learn(self, counts: object) -> None:
        n = np.asarray(counts, dtype=float)
        self._forecast = maximum_likelihood(self._laws[self._where], n + 1e-3, self._forecast)
        super().learn(n)


def test_coverage() -> None:
    dims = (2, 3, 6) if full() else (2, 3)
    assert_covers(lambda dim, run: Play(LikelihoodSet, dim, run).leaves(), dims, DELTA)


def test_the_test_can_fail() -> None:
    assert_condemned(lambda run: Play(LikelihoodSet, 3, run, width_scale=1e-3).leaves(), DELTA)


def too_high(kind: type[LikelihoodSet]) -> float:
    """Mean wealth above 1, in standard errors."""
    wealth = [Play(kind, 2, run).wealth() for run in range(BETS)]
    return float((np.mean(wealth) - 1.0) / (np.std(wealth) / np.sqrt(BETS)))


def test_forecasts_are_fair_bets() -> None:
    """A martingale of mean 1, and the control: not when they are made after the fact."""
    assert abs(too_high(LikelihoodSet)) < 4.0
    assert too_high(Cheats) > 4.0
