from __future__ import annotations

import math

import numpy as np
import pytest

from helpers import sphere
from reference.literal_confidence_ball import LiteralConfidenceBall2
from voful import ConfidenceBall2


@pytest.mark.parametrize(
    ("reward_range", "unit"), [((0.0, 1.0), 1.0), ((-1.0, 1.0), 2.0), ((-0.1, 0.1), 1.0)]
)
def test_same_choices_and_same_ball(reward_range: tuple[float, float], unit: float) -> None:
    """A reward y is the loss -y / unit: unit 1 where noise and |theta*| are at most 1 already."""
    rng = np.random.default_rng(3)
    fast = ConfidenceBall2(3, failure_prob=0.1, reward_range=reward_range)
    slow = LiteralConfidenceBall2(3, 0.1)
    for _ in range(80):
        arms = sphere(rng, 6, 3)
        choice = fast.select(arms)
        assert choice == slow.select(arms)
        reward = float(rng.uniform(*reward_range))
        fast.update(arms[choice], reward)
        slow.X.append(arms[choice])
        slow.losses.append(-reward / unit)
        A, mu_hat, beta = slow.ball()
        np.testing.assert_allclose(fast.confidence_set.precision, A)
        np.testing.assert_allclose(fast.confidence_set.center, -unit * mu_hat, atol=1e-12)
        assert fast.confidence_set.radius == pytest.approx(unit * math.sqrt(beta))
