from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from helpers import play_some, sphere
from voful import EpsilonGreedy


def test_rates() -> None:
    assert EpsilonGreedy(2).exploration_rate == 0.1
    policy = EpsilonGreedy(2, epsilon=2.0, decay=0.5)
    assert policy.exploration_rate == 1.0
    play_some(policy, 99)
    assert policy.exploration_rate == pytest.approx(0.2)
    assert EpsilonGreedy(2, epsilon=2.0, decay=1e300).exploration_rate == 1.0


def test_random_arms_are_uniform_over_the_allowed_ones() -> None:
    policy = EpsilonGreedy(2, epsilon=1.0)
    arms = sphere(np.random.default_rng(0), 5, 2)
    mask = np.array([True, False, True, True, False])
    counts = np.bincount([policy.select(arms, mask) for _ in range(3000)], minlength=5)
    assert (counts[~mask] == 0).all()
    assert (np.abs(counts[mask] - 1000) < 5 * np.sqrt(3000 * 2 / 9)).all()


def test_greedy_without_chance() -> None:
    policy = EpsilonGreedy(3, epsilon=0.0)
    play_some(policy, 40)
    arms = sphere(np.random.default_rng(1), 9, 3)
    mean, lower, upper = policy.index(arms)
    np.testing.assert_array_equal(mean, policy.predict(arms))
    np.testing.assert_array_equal(lower, upper)
    assert policy.select(arms) == int(np.argmax(mean))
    assert policy.confidence_set is None


def test_unbounded_rewards() -> None:
    policy = EpsilonGreedy(2, reward_range=None)
    policy.update([1.0, 0.0], 1e100)
    assert policy.select(np.eye(2)) in (0, 1)


@pytest.mark.parametrize(
    "bad",
    [{"dim": 0}, {"epsilon": -0.1}, {"epsilon": None}, {"decay": -1.0}, {"reward_range": 3},
     {"feature_norm": 1e9}, {"ridge": 0.0}, {"seed": -1}],
)  # fmt: skip
def test_bad_arguments_are_named(bad: dict[str, Any]) -> None:
    (name,) = bad
    with pytest.raises((ValueError, TypeError), match=f"{name}: got"):
        EpsilonGreedy(**{"dim": 2, **bad})
