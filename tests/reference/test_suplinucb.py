from __future__ import annotations

import numpy as np
import pytest

from helpers import sphere
from reference.literal_suplinucb import LiteralSupLinUCB, linucb
from voful import LinUCB, SupLinUCB
from voful.confidence.ellipsoids.ridge import open_ridge
from voful.typing import FloatArray

THETA_STAR = np.array([0.5, 0.4])


def counts(policy: SupLinUCB) -> FloatArray:
    return np.array([open_ridge(level, 2).n[0] for level in policy._state.blocks])


def round_of(rng: np.random.Generator, n_arms: int = 5) -> FloatArray:
    """Arms with means in [0, 1]."""
    arms: FloatArray = np.abs(sphere(rng, n_arms, 2)) * rng.uniform(0.5, 1.0, (n_arms, 1))
    return arms


def test_linucb_as_printed() -> None:
    rng = np.random.default_rng(1)
    fast = LinUCB(2, n_rounds=100, failure_prob=0.1, reward_range=(0.0, 1.0))
    rounds: list[tuple[FloatArray, float]] = []
    for k in range(100):
        arms = round_of(rng, 3 + k % 4)
        upper = linucb(rounds, arms, 100, 0.1)
        choice = fast.select(arms)
        assert choice == int(np.argmax(upper))
        np.testing.assert_allclose(fast.index(arms)[2], upper)
        reward = float(rng.random() < arms[choice] @ THETA_STAR)
        fast.update(arms[choice], reward)
        rounds.append((arms[choice], reward))


def test_suplinucb_same_choices_and_levels_as_the_literal_algorithm() -> None:
    """The level found when the reward comes is the one in which the arm was played."""
    rng = np.random.default_rng(1)
    fast = SupLinUCB(2, n_rounds=1500, failure_prob=0.1, reward_range=(0.0, 1.0))
    slow = LiteralSupLinUCB(1500, 0.1)
    assert fast.n_levels == slow.S == 8
    for _ in range(400):
        # Small arms are known to the first levels at once, and lead into the deeper ones.
        arms = round_of(rng) * rng.choice([1.0, 0.3, 0.1])
        choice, level = slow.select(arms)
        assert fast.select(arms) == choice
        reward = float(rng.random() < arms[choice] @ THETA_STAR)
        before = counts(fast)
        fast.update(arms[choice], reward)
        if level:
            slow.Psi[level].append((arms[choice], reward))
        assert level > 0
        assert np.flatnonzero(counts(fast) - before).tolist() == [level - 1]
    assert (counts(fast)[:3] > 100).all()


@pytest.mark.parametrize("size", [1e-3, 1e-9])
def test_arms_that_need_no_exploration(size: float) -> None:
    fast = SupLinUCB(2, n_rounds=1500, failure_prob=0.1, reward_range=(0.0, 1.0))
    slow = LiteralSupLinUCB(1500, 0.1)
    arms = size * np.array([[1.0, 0.0], [0.0, 0.5]])
    assert slow.select(arms) == (fast.select(arms), 0)
    fast.update(arms[0], 1.0)
    assert fast.n_observations == 1
    assert not counts(fast).any()
