from __future__ import annotations

import math

import numpy as np
import pytest

from helpers import sphere
from reference.literal_losan import LiteralLOSAN
from voful import LOSAN


@pytest.mark.parametrize("sigma_0", [0.3, 1.0])
def test_same_choices_and_same_set_as_the_literal_algorithm(sigma_0: float) -> None:
    rng = np.random.default_rng(5)
    fast = LOSAN(3, failure_prob=0.1, noise_scale=sigma_0, theta_norm=0.9)
    slow = LiteralLOSAN(3, sigma_0, 0.1, 0.9)
    theta_star = np.array([0.4, -0.2, 0.1])
    for _ in range(80):
        arms = sphere(rng, 6, 3)
        choice = fast.select(arms)
        assert choice == slow.select(arms)
        reward = float(arms[choice] @ theta_star + rng.uniform(-0.2, 0.2))
        fast.update(arms[choice], reward)
        slow.X.append(arms[choice])
        slow.y.append(reward)
        Sigma, theta_hat, beta = slow.matrices()
        np.testing.assert_allclose(fast.confidence_set.precision, Sigma)
        np.testing.assert_allclose(fast.confidence_set.center, theta_hat, atol=1e-12)
        assert fast.confidence_set.radius == pytest.approx(math.sqrt(2 * beta))
