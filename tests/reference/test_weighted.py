from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from helpers import sphere
from reference.literal_weighted import (
    LiteralFaury,
    LiteralKnownVariance,
    LiteralWeightedOFUL,
    LiteralWeightedOFULPlus,
)
from voful import Faury, WeightedOFUL, WeightedOFULPlus

ROUNDS = 50


def agree(fast: Any, slow: LiteralKnownVariance, radius: Any) -> None:
    """Same choices, same interval, on the choices of both."""
    rng = np.random.default_rng(5)
    theta_star = np.array([0.4, -0.2, 0.1])
    probes = sphere(rng, 5, 3)
    for k in range(ROUNDS):
        arms = sphere(rng, 6, 3) * rng.uniform(0.1, 1.0, (6, 1))
        choice = fast.select(arms)
        assert choice == slow.select(arms)
        variance = float(rng.choice([0.0, 0.01, 0.3]))
        reward = float(np.clip(arms[choice] @ theta_star + rng.uniform(-0.2, 0.2), -1, 1))
        fast.update(arms[choice], reward, variance=variance)
        slow.data.append((arms[choice], reward, variance))
        if k % 20 == 0:
            M, center, expected = slow.ellipsoid()
            np.testing.assert_allclose(fast.confidence_set.center, center, atol=1e-11)
            assert radius(fast) == pytest.approx(expected, rel=1e-10)
            widths = expected * np.sqrt([x @ np.linalg.solve(M, x) for x in probes])
            np.testing.assert_allclose(
                fast.confidence_set.support(probes), probes @ center + widths, rtol=1e-9
            )


@pytest.mark.parametrize("constants", ["tight", "paper"])
@pytest.mark.parametrize("R", [0.5, 2.0])
def test_weighted_oful(constants: str, R: float) -> None:
    fast = WeightedOFUL(
        3, n_rounds=ROUNDS, noise_bound=R, theta_norm=0.9, failure_prob=0.1, constants=constants
    )
    slow = LiteralWeightedOFUL(3, R, 0.9, 0.1, ROUNDS)
    slow.constants = constants
    agree(fast, slow, lambda policy: policy.confidence_set.radius)


@pytest.mark.parametrize("constants", ["tight", "paper"])
@pytest.mark.parametrize("R", [0.5, 2.0])
def test_weighted_oful_plus(constants: str, R: float) -> None:
    fast = WeightedOFULPlus(
        3, n_rounds=ROUNDS, noise_bound=R, theta_norm=0.9, failure_prob=0.1, constants=constants
    )
    slow = LiteralWeightedOFULPlus(3, R, 0.9, 0.1, ROUNDS)
    slow.constants = constants
    agree(fast, slow, lambda policy: policy.confidence_set.radii[0])


@pytest.mark.parametrize("R", [0.6, 2.0])
def test_faury(R: float) -> None:
    fast = Faury(3, noise_bound=R, theta_norm=0.9, failure_prob=0.1, constants="paper")
    slow = LiteralFaury(3, R, 0.9, 0.1, ROUNDS)
    agree(fast, slow, lambda policy: policy.confidence_set.radius)
