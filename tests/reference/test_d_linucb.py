from __future__ import annotations

import numpy as np
import pytest

from helpers import sphere
from reference.literal_d_linucb import LiteralDLinUCB
from voful import DLinUCB


@pytest.mark.parametrize("gamma", [0.9, 0.999])
def test_same_choices_and_same_set_as_the_literal_algorithm(gamma: float) -> None:
    rng = np.random.default_rng(5)
    fast = DLinUCB(
        3, n_rounds=80, failure_prob=0.1, noise_scale=0.3, theta_norm=0.9, ridge=0.7, discount=gamma
    )
    slow = LiteralDLinUCB(3, gamma, 0.3, 0.1, 0.7, 0.9, 1.0)
    theta_star = np.array([0.4, -0.2, 0.1])
    for _ in range(80):
        arms = sphere(rng, 6, 3)
        choice, upper = fast.select(arms), slow.upper(arms)
        assert choice == int(np.argmax(upper))
        np.testing.assert_allclose(fast.confidence_set.support(arms), upper, rtol=1e-9)
        reward = float(arms[choice] @ theta_star + rng.uniform(-0.2, 0.2))
        fast.update(arms[choice], reward)
        slow.X.append(arms[choice])
        slow.y.append(reward)
        _, _, theta_hat, beta = slow.matrices()
        np.testing.assert_allclose(fast.confidence_set.center, theta_hat, atol=1e-12)
        assert fast.confidence_set.radius == pytest.approx(beta)


def test_it_forgets() -> None:
    """Half a memory of 100 rounds after the parameter turned over, the estimate has turned too."""
    rng = np.random.default_rng(0)
    policy = DLinUCB(2, n_rounds=1000, discount=0.98)
    X = sphere(rng, 1000, 2)
    policy.partial_fit(X[:500], 0.5 * X[:500, 0])
    policy.partial_fit(X[500:], -0.5 * X[500:, 0])
    np.testing.assert_allclose(policy.confidence_set.center, [-0.5, 0.0], atol=0.05)


def test_the_default_discount_is_the_papers() -> None:
    assert DLinUCB(4, n_rounds=1000, variation=2.0).discount == pytest.approx(
        1 - (2 / 4000) ** (2 / 3)
    )
