"""FrozenLake with an unknown mixture of two slip settings, learnt through Gymnasium alone."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

from voful import registry
from voful.envs import from_gymnasium
from voful.envs.gym import GymnasiumMDP

EPISODES = 300
THETA = [0.7, 0.3]  # mostly firm ice; unknown to the agent


def play_one(env: Any, plan: Any) -> tuple[list[int], list[int]]:
    """One episode by `reset` and `step`."""
    observation, _ = env.reset()
    states, actions, over = [int(observation)], list[int](), False
    while not over:
        actions.append(plan.action(len(actions), states[-1]))
        observation, _, terminated, truncated, _ = env.step(actions[-1])
        states.append(int(observation))
        over = terminated or truncated
    return states, actions


@pytest.mark.parametrize("id", ["varlin", "varlin-mgf", "likelihood-ucrl"])
def test_solved(id: str) -> None:
    lakes = [gymnasium.make("FrozenLake-v1", is_slippery=slip) for slip in (False, True)]
    mdp = from_gymnasium(lakes, horizon=40).mdp(THETA)
    env = GymnasiumMDP(mdp)
    env.reset(seed=3)
    agent = registry.create(id, mdp.model, n_episodes=EPISODES)
    for _ in range(EPISODES):
        agent.update(*play_one(env, agent.plan()))
    value = mdp.policy_value(agent.plan().actions)
    assert value >= 0.95 * mdp.optimal_value
    assert agent.confidence_set.contains(THETA)
    # it learnt: neither of the two settings alone is still possible
    assert not any(agent.confidence_set.contains(corner) for corner in np.eye(2))
