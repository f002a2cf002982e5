from __future__ import annotations

import numpy as np
import pytest

from helpers import sphere
from reference.literal_epsilon_greedy import LiteralEpsilonGreedy
from voful import EpsilonGreedy


@pytest.mark.parametrize(("epsilon", "decay"), [(0.2, 0.0), (3.0, 0.5)])
def test_same_choices_as_the_literal_algorithm(epsilon: float, decay: float) -> None:
    rng = np.random.default_rng(3)
    fast = EpsilonGreedy(3, epsilon=epsilon, decay=decay, seed=8)
    slow = LiteralEpsilonGreedy(3, epsilon, decay, 8)
    for _ in range(150):
        arms = sphere(rng, 6, 3)
        choice = fast.select(arms)
        assert choice == slow.select(arms)
        reward = float(0.5 * arms[choice, 0] + rng.uniform(-0.2, 0.2))
        fast.update(arms[choice], reward)
        slow.X.append(arms[choice])
        slow.y.append(reward)
    np.testing.assert_allclose(fast.predict(np.eye(3)), slow.theta_hat(), atol=1e-12)
