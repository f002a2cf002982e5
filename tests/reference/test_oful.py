from __future__ import annotations

import numpy as np
import pytest

from helpers import sphere
from reference.literal_oful import LiteralOFUL
from voful import OFUL


@pytest.mark.parametrize("growth", [0.0, 0.5, 1.0])
def test_same_choices_and_same_set_as_the_literal_algorithm(growth: float) -> None:
    rng = np.random.default_rng(5)
    fast = OFUL(
        3, failure_prob=0.1, reward_range=(-0.5, 1.5), ridge=0.8, theta_norm=0.9, det_growth=growth
    )
    slow = LiteralOFUL(3, R=1.0, delta=0.1, ridge=0.8, S=0.9, C=growth)
    theta_star = np.array([0.4, -0.2, 0.1])
    for _ in range(150):
        arms = sphere(rng, 6, 3)
        choice = fast.select(arms)
        assert choice == slow.select(arms)
        reward = float(arms[choice] @ theta_star + rng.uniform(-0.05, 0.05))
        fast.update(arms[choice], reward)
        slow.update(arms[choice], reward)
        V, theta_hat, beta = slow.matrices(len(slow.X))
        np.testing.assert_allclose(fast.confidence_set.precision, V)
        np.testing.assert_allclose(fast.confidence_set.center, theta_hat, atol=1e-12)
        assert fast.confidence_set.radius == pytest.approx(beta)
