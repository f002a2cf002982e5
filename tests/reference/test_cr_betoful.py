from __future__ import annotations

import numpy as np
import pytest

from helpers import sphere
from reference.literal_cr_betoful import LiteralCR, Parameters, Round
from voful import CRBetOFUL
from voful.confidence import ConstantRiskSet
from voful.confidence.betting.risk_state import RiskParameters
from voful.typing import FloatArray
from voful.validation import ObservationSpace


def agree(fast: ConstantRiskSet, slow: LiteralCR) -> None:
    _, Theta, risk, _ = fast.views()
    M = Theta.A[0, 0] + Theta.lam[0] * np.eye(slow.dim)
    np.testing.assert_allclose(M, slow.M[0], rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(fast.center, slow.center[0], atol=1e-8)
    sums = risk.squares[0], risk.largest[0], risk.shrunk[0], risk.bets[0], fast.regret_bound
    expected = slow.B[0], slow.b[0], slow.s[0], slow.v, slow.bound[0]
    np.testing.assert_allclose([fast.rad, *sums], [slow.rad[0], *expected], rtol=1e-7, atol=1e-9)


class Follower:
    """Lets the literal set use the slope that it would, and the alpha that the fast one used."""

    def __init__(self, alpha: float, epsilon: float) -> None:
        self.added, self.epsilon, self.S = alpha, epsilon, np.zeros(1)

    def slope(self, lowest: FloatArray, highest: FloatArray, default: FloatArray) -> FloatArray:
        self.S = default
        return default

    def alpha(self, low: FloatArray, best: FloatArray) -> FloatArray:
        if self.added == 0.0:  # a bad round
            return low
        used = self.added + self.epsilon * self.S  # a bound of `best`, coarse where slopes are wild
        assert low - 1e-9 * self.S <= used <= best + 1e-6 * self.S
        return used


def both_learn(fast: ConstantRiskSet, slow: LiteralCR, x: FloatArray, y: float) -> Round | None:
    before = fast.views().Theta.A[0, 0].copy()
    fast.update(x, y)
    if fast.is_empty:
        return None
    added = float(x @ (fast.views().Theta.A[0, 0] - before) @ x)  # |x| = 1
    follower = Follower(added, slow.p.epsilon)
    bet = slow.place(x[None], np.ones(1, dtype=np.bool_))
    done = slow.update(x[None], np.array([y]), bet, follower.slope, follower.alpha, 2001)
    agree(fast, slow)
    return done


@pytest.mark.parametrize("sigma", [0.0, 0.1, 0.6])
def test_the_set_agrees_with_the_literal_one(sigma: float) -> None:
    rng = np.random.default_rng(6)
    theta0 = np.array([0.1, -0.1, 0.0])
    fast = CRBetOFUL(3, failure_prob=0.1, reward_range=(-1, 1.5), theta_center=theta0)
    slow = LiteralCR(1, 0.1, -1.0, 1.5, 1.0, Parameters(lam=1.2 / 2.5**2), theta0)
    theta_star, fixed = np.array([0.4, -0.2, 0.1]), sphere(rng, 6, 3)
    for k in range(150):
        arms = fixed if k % 2 else sphere(rng, 6, 3)
        x = arms[fast.select(arms)]
        y = float(x @ theta_star + sigma * rng.uniform(-1, 1))
        assert both_learn(fast.confidence_set, slow, x, y)


def wild() -> tuple[ConstantRiskSet, LiteralCR]:
    """A small radius and steep slopes: bad rounds and top-ups happen."""
    space = ObservationSpace(2, 1.0, (-1.0, 1.0))
    parameters = RiskParameters(G=60.0, tau=50.0, ridge=0.2)
    fast = ConstantRiskSet(space, failure_prob=0.5, parameters=parameters)
    slow = LiteralCR(1, 0.5, -1.0, 1.0, 1.0, Parameters(60.0, 50.0, 0.9, 0.02, 0.05), np.zeros(2))
    return fast, slow


def test_bad_rounds_and_top_ups_agree() -> None:
    rng, bad, top_ups = np.random.default_rng(2), 0, 0
    for run in range(40):
        fast, slow = wild()
        theta_star = sphere(rng, 1, 2, 0.5)[0]
        for k in range(80):
            x = sphere(rng, 1, 2)[0]
            y = float(x @ theta_star) if k < 20 + run else float(rng.choice([-1.0, 1.0]))
            done = both_learn(fast, slow, x, y)
            if done is None:  # rewards that have no mean <x, theta>
                break
            bad += int(not done.good[0])
        top_ups += int(slow.top_ups[0])
    assert bad >= 10
    assert top_ups >= 10
