"""Regret does not grow with the horizon: one continuous-time problem, refined."""

from __future__ import annotations

from typing import Any

import pytest

from helpers import full
from voful import registry
from voful.envs.mixture.families import ctgoal
from voful.experiments.play.episodes import play_episodes

EPISODES = 3000 if full() else 1000
PERMUTATIONS = ([0.15, 0.25, 0.6], [0.25, 0.6, 0.15])


def regret(id: str, horizon: int, **params: Any) -> float:
    total = 0.0
    for theta in PERMUTATIONS:
        env = ctgoal(horizon, theta_star=theta, seed=1)
        agent = registry.create(id, env.model, n_episodes=EPISODES, **params)
        *_, last = play_episodes(agent, env, EPISODES, record_at=[EPISODES])
        assert last.covered
        assert last.optimistic
        total += last.regret
    return total / len(PERMUTATIONS)


@pytest.mark.parametrize(
    ("id", "params", "most"),
    [
        ("varlin", {}, 15.0),
        ("varlin-mgf", {}, 10.0),
        ("likelihood-ucrl", {}, 8.0),
        ("varlin-paper", {"iota_scale": 3e-3, "moments": 6}, 200.0),
        ("varlin2", {"iota_scale": 0.1, "moments": 6}, 200.0),
    ],
)
def test_flat_in_the_horizon(id: str, params: dict[str, Any], most: float) -> None:
    short, long = regret(id, 16, **params), regret(id, 512, **params)
    assert long <= 2.0 * max(short, 2.0)
    assert long <= most
