"""theta* stays in the layered sets, and means in SupLinUCB's bounds, at all times.

Power of each count: .81 against 3 failure_prob (77 runs); with --full (308) .90 against 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from helpers import (
    assert_condemned,
    assert_covers,
    assert_exit_rate,
    coverage_runs,
    full,
    in_turn,
    last_record,
    sphere,
)
from voful import registry
from voful.envs import linear_bandit

LAWS = ["two_point", "rare_positive", "adversary"]
DELTA, ROUNDS = 0.1, 400 if full() else 200


def left(id: str, law: str, run: int, **params: Any) -> bool:
    """Whether theta* left the set in a run; arms alternate between fixed and redrawn."""
    seed = np.random.SeedSequence([23, run])
    env = linear_bandit(
        dim=2 + run % 3, n_arms=8, redraw=run % 2 == 0, noise=law, sigma=0.4, seed=seed
    )
    policy = registry.create(id, env.dim, n_rounds=ROUNDS, failure_prob=DELTA, **params)
    return not last_record(policy, env, ROUNDS, check_every=5).covered


@pytest.mark.parametrize("laws", in_turn(*LAWS))
@pytest.mark.parametrize("id", ["lofav", "lofav-paper", "save", "save-paper"])
def test_theta_star_stays_in_the_set(id: str, laws: tuple[str, ...]) -> None:
    assert_covers(lambda law, run: left(id, law, run), laws, DELTA)


@pytest.mark.parametrize("id", ["lofav", "save"])
def test_arms_of_every_size(id: str) -> None:
    """Arms from 1 to 10^-3 fill deep layers at once, and off the policy's own choices."""
    runs, exits = coverage_runs(DELTA), 0
    for run in range(runs):
        rng = np.random.default_rng([29, run])
        X = sphere(rng, ROUNDS, 3) * rng.choice([1.0, 0.1, 0.01, 0.001], (ROUNDS, 1))
        theta_star = sphere(rng, 1, 3, 0.5)[0]
        y = X @ theta_star + np.where(rng.random(ROUNDS) < 0.1, 0.45, -0.05)  # variance 0.0225
        policy = registry.create(id, 3, n_rounds=ROUNDS, failure_prob=DELTA)
        covered = True
        for k in range(0, ROUNDS, 10):
            policy.partial_fit(X[k : k + 10], y[k : k + 10])
            covered = covered and policy.confidence_set.contains(theta_star)
        exits += not covered
    assert_exit_rate(exits, runs, DELTA)


@pytest.mark.parametrize("law", ["two_point", "rare_positive", "bernoulli"])
def test_means_stay_in_suplinucbs_bounds(law: str) -> None:
    runs, missed = coverage_runs(DELTA), 0
    for run in range(runs):
        env = linear_bandit(
            dim=3,
            n_arms=6,
            redraw=True,
            noise=law,
            sigma=0.4,
            seed=np.random.SeedSequence([31, run]),
        )
        policy = registry.create("suplinucb", 3, n_rounds=ROUNDS, failure_prob=DELTA)
        inside = True
        for _ in range(ROUNDS):
            arms = env.arms
            _, lower, upper = policy.index(arms)
            means = env.mean_rewards
            inside = inside and bool(((lower <= means) & (means <= upper)).all())
            choice = policy.select(arms)
            policy.update(arms[choice], env.pull(choice).reward)
        missed += not inside
    assert_exit_rate(missed, runs, DELTA)


@pytest.mark.filterwarnings("ignore:.* is empty")
@pytest.mark.parametrize("id", ["lofav", "save"])
def test_the_test_can_fail(id: str) -> None:
    """With a fraction of the radii in 3 delta of the runs the same count condemns the set."""
    assert_condemned(lambda run: left(id, "two_point", run, width_scale=0.03), DELTA)
