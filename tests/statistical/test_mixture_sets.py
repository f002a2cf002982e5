"""The sets of linear mixtures cover theta*, and where they do, plans are optimistic.

Power of each count: .81 against 3 failure_prob (77 runs); with --full (308) .90 against 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from helpers import assert_condemned, assert_covers, full, in_turn
from voful import registry
from voful.envs import LinearMixtureMDP
from voful.envs.mixture.families import mixture_family

IDS = [
    "varlin",
    "varlin-mgf",
    "varlin2",
    "likelihood-ucrl",
    "ucrl-vtr",
    "ucrl-vtr-plus",
    "hf-ucrl-vtr-plus",
    "bet-vtr",
]
DELTA = 0.1
BATCHES = (1, 1, 2, 4, 8, 16, 32, 64) if full() else (1, 3, 10, 30)
FAMILIES = {"ctgoal": 16, "ctqueue": 12, "ctrandom": 16, "mortal": 40}


def left_the_set(id: str, family: str, run: int, **params: Any) -> bool:
    """One run; episodes beyond a plan's own keep it cheap. Asserts optimism while covered."""
    rng = np.random.default_rng([47, run])
    env: LinearMixtureMDP = mixture_family(
        family,
        horizon=FAMILIES[family],
        theta_star=rng.permutation([0.15, 0.25, 0.6]),
        seed=int(rng.integers(2**40)),
    )
    agent = registry.create(id, env.model, n_episodes=sum(BATCHES), failure_prob=DELTA, **params)
    left = False
    for n in BATCHES:
        plan = agent.plan()
        left = left or not agent.confidence_set.contains(env.theta_star)
        assert left or plan.value >= env.optimal_value - 1e-9
        agent.update_many(*env.rollout(plan.actions, n))
    agent.plan()
    return left or not agent.confidence_set.contains(env.theta_star)


@pytest.mark.parametrize("families", in_turn(*FAMILIES))
@pytest.mark.parametrize("id", IDS)
def test_coverage(id: str, families: tuple[str, ...]) -> None:
    assert_covers(lambda family, run: left_the_set(id, family, run), families, DELTA)


@pytest.mark.parametrize("id", IDS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # sets this narrow run empty
def test_the_test_can_fail(id: str) -> None:
    """With hardly any width in 3 delta of the runs the same count condemns the set."""
    assert_condemned(lambda run: left_the_set(id, "ctgoal", run, width_scale=0.001), DELTA)
