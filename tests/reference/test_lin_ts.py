from __future__ import annotations

import numpy as np
import pytest

from helpers import sphere
from reference.literal_lin_ts import LiteralLinTS
from voful import LinTS


@pytest.mark.parametrize("constants", ["posterior", "paper"])
def test_same_choices_as_the_literal_algorithm(constants: str) -> None:
    rng = np.random.default_rng(3)
    fast = LinTS(4, failure_prob=0.1, noise_scale=0.3, constants=constants, seed=5)
    slow = LiteralLinTS(4, 0.3, 0.1 if constants == "paper" else None, 5)
    theta_star = np.array([0.4, -0.2, 0.1, 0.3])
    for _ in range(120):
        arms = sphere(rng, 8, 4)
        choice = fast.select(arms)
        assert choice == slow.select(arms)
        reward = float(arms[choice] @ theta_star + rng.uniform(-0.2, 0.2))
        fast.update(arms[choice], reward)
        slow.X.append(arms[choice])
        slow.y.append(reward)
        B, mu_hat, v = slow.posterior()
        np.testing.assert_allclose(fast.confidence_set.precision, B)
        np.testing.assert_allclose(fast.confidence_set.center, mu_hat, atol=1e-12)
        assert fast.sampling_scale == pytest.approx(v)
