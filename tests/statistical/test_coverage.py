"""theta* stays in the set at all times in at least 1 - failure_prob of the runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from helpers import assert_exit_rate, count, last_record
from voful import OFUL
from voful.envs import linear_bandit

LAWS = ["gaussian", "two_point", "rare_positive", "rare_negative", "bernoulli", "adversary"]
DELTA, RUNS, ROUNDS = 0.1, 300, 300


def exits(law: str, runs: int, **params: Any) -> int:
    """In how many runs theta* left the set; arms alternate between fixed and redrawn."""
    left = 0
    for run in range(runs):
        seed = np.random.SeedSequence([17, run])
        env = linear_bandit(
            dim=2 + run % 4, n_arms=8, redraw=run % 2 == 0, noise=law, sigma=0.4, seed=seed
        )
        policy = OFUL(env.dim, failure_prob=DELTA, **params)
        last = last_record(policy, env, ROUNDS)
        left += not last.covered
    return left


@pytest.mark.parametrize("law", LAWS)
def test_oful_covers(law: str) -> None:
    runs = count(RUNS)
    assert_exit_rate(exits(law, runs), runs, DELTA)


def test_heteroscedastic_noise() -> None:
    runs = count(RUNS)
    left = 0
    for run in range(runs):
        env = linear_bandit(
            dim=3, sigma_low=0.02, sigma_high=0.5, seed=np.random.SeedSequence([18, run])
        )
        last = last_record(OFUL(3, failure_prob=DELTA), env, ROUNDS)
        left += not last.covered
    assert_exit_rate(left, runs, DELTA)


def test_the_test_can_fail() -> None:
    """With a tenth of the radius the same count condemns the set."""
    runs = 30
    with pytest.raises(AssertionError, match="left the set"):
        assert_exit_rate(exits("two_point", runs, width_scale=0.1), runs, DELTA)
