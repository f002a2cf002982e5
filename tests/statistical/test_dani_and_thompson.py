"""theta* stays in the sets of ConfidenceBall2 and Thompson sampling; UCB-V keeps its bound."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from helpers import assert_exit_rate, count, last_record
from voful import registry
from voful.envs import linear_bandit

LAWS = ["gaussian", "rare_positive", "adversary"]
DELTA, RUNS, ROUNDS = 0.1, 200, 300


def exits(id: str, law: str, runs: int, **params: Any) -> int:
    """In how many runs theta* left the set; arms alternate between fixed and redrawn."""
    left = 0
    for run in range(runs):
        seed = np.random.SeedSequence([23, run])
        env = linear_bandit(
            dim=2 + run % 4, n_arms=8, redraw=run % 2 == 0, noise=law, sigma=0.4, seed=seed
        )
        policy = registry.create(id, env.dim, failure_prob=DELTA, seed=run, **params)
        last = last_record(policy, env, ROUNDS)
        left += not last.covered
    return left


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("id", ["confidence-ball", "lin-ts", "lin-ts-paper"])
def test_theta_star_stays(id: str, law: str) -> None:
    runs = count(RUNS)
    assert_exit_rate(exits(id, law, runs), runs, DELTA)


@pytest.mark.parametrize(("id", "scale"), [("confidence-ball", 0.002), ("lin-ts", 0.1)])
def test_the_test_can_fail(id: str, scale: float) -> None:
    with pytest.raises(AssertionError, match="left the set"):
        assert_exit_rate(exits(id, "gaussian", 30, width_scale=scale), 30, DELTA)


@pytest.mark.parametrize("law", ["two_point", "bernoulli"])
def test_ucb_vs_regret_bound(law: str) -> None:
    """E regret <= 10 sum_i (sigma_i^2 / Delta_i + 2 b) ln K for rewards in [0, b], fixed arms."""
    arms = np.diag([0.9, 0.7, 0.5, 0.3])
    runs, rounds, regrets, bound = count(50), 2000, [], 0.0
    for run in range(runs):
        env = linear_bandit(
            dim=4, arms=arms, theta_star=[0.9] * 4, noise=law, sigma=0.1,
            reward_range=(0.0, 1.0), seed=run,
        )  # fmt: skip
        gaps = env.optimal_value - env.mean_rewards
        terms = env.variances[gaps > 0] / gaps[gaps > 0] + 2.0
        bound = 10.0 * float(terms.sum()) * math.log(rounds)
        policy = registry.create("ucb-v", 4, reward_range=(0.0, 1.0))
        last = last_record(policy, env, rounds)
        regrets.append(last.regret)
    error = np.std(regrets) / math.sqrt(runs)
    assert np.mean(regrets) + 4.0 * error < bound
    # Logarithmic, not linear: far from what a uniform choice pays.
    assert np.mean(regrets) < 0.5 * rounds * float(gaps.mean())
