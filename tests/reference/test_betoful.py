from __future__ import annotations

import numpy as np
import pytest

from helpers import full, sphere
from reference.literal_betoful import LiteralBetOFUL
from voful import BetOFUL


@pytest.mark.parametrize("sigma", [0.0, 0.1, 0.6])
def test_the_product_bet_agrees_with_the_literal_one(sigma: float) -> None:
    """Same interval, prediction, slope, guard and set; alpha is a bound within its 1 %."""
    rng = np.random.default_rng(6)
    fast = BetOFUL(3, failure_prob=0.1, reward_range=(-1, 1.5), bet="product", refresh=False)
    slow = LiteralBetOFUL(3, 0.1, (-1.0, 1.5), rho=1.0)
    theta_star = np.array([0.4, -0.2, 0.1])
    Theta = fast.confidence_set.views().Theta
    fixed = sphere(rng, 6, 3)
    for k in range(150 if full() else 80):
        arms = fixed if k % 2 else sphere(rng, 6, 3)
        x = arms[fast.select(arms)]
        y = float(x @ theta_star + sigma * rng.uniform(-1, 1))
        before = Theta.A[0].sum(axis=0)
        fast.update(x, y)
        grown = Theta.A[0].sum(axis=0) - before
        alpha = float(x @ grown @ x)  # |x| = 1: what the round added, or 0 by the guard
        S = float(fast.confidence_set.views().latest.bet[4])
        used = alpha if alpha != 0.0 else None
        exact = slow.update(x, y, used)
        if used is not None:
            assert -1e-9 * S <= exact - alpha <= 0.011 * max(abs(exact), 0.1 * S)
        _, cen, rad = slow.solve()
        np.testing.assert_allclose(fast.confidence_set.center, cen, atol=1e-6)
        assert fast.confidence_set.rad[0] == pytest.approx(rad, rel=1e-6)
        probes = np.eye(3)
        Ai = slow.solve()[0]
        widths = np.sqrt(rad * np.diag(Ai))
        np.testing.assert_allclose(
            fast.confidence_set.support(probes), cen + widths, rtol=1e-6, atol=1e-6
        )
