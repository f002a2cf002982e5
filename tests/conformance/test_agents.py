"""Every registered agent passes the checks that users get, and what only the library promises."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba.core import config

import voful
from mdp_helpers import random_model, random_walk
from voful import registry
from voful.checks import AGENT_CHECKS, AgentSubject, NotApplicable
from voful.envs import LinearMixtureMDP
from voful.experiments.play.episodes import play_episodes
from voful.mdp.tabular import TabularAgent

IDS = [entry.id for entry in registry.entries("episodic")]
pytestmark = pytest.mark.parametrize("id", IDS)
PLAIN: bool = config.DISABLE_JIT  # type: ignore[attr-defined]
MODEL = random_model(2, dim=3, n_states=4 if PLAIN else 5, n_actions=2, horizon=3 if PLAIN else 7)
EPISODES = 12 if PLAIN else 60


def make(id: str, **params: Any) -> Any:
    return registry.create(id, params.pop("model", MODEL), n_episodes=EPISODES, **params)


def fingerprint(agent: Any) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in agent.state().items()}


def teach(agent: Any, n: int, seed: int = 0) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(n):
        agent.plan()
        agent.update(*random_walk(agent.model, rng))


@pytest.mark.parametrize("check", AGENT_CHECKS, ids=lambda check: check.__name__)
def test_check(id: str, check: Any) -> None:
    agent = make(id)
    asks_the_set = ("check_agent_support", "check_agent_interval", "check_agent_bad_questions")
    applies = agent.confidence_set is not None or check.__name__ not in asks_the_set
    try:
        check(AgentSubject(agent))
    except NotApplicable:
        assert not applies
    else:
        assert applies


def test_the_set_has_members_to_check(id: str) -> None:
    agent = make(id)
    if agent.confidence_set is not None:
        assert agent.confidence_set.contains([0.2, 0.3, 0.5])


def test_first_plan_is_optimistic_for_every_mixture(id: str) -> None:
    agent = make(id)
    plan = agent.plan()
    assert plan.value <= 1.0
    for theta in np.eye(3):
        best = LinearMixtureMDP(MODEL, theta).optimal_value
        assert plan.value >= best - 1e-12 or not agent.optimistic
    assert plan.episodes == 1


def test_the_library_knows_its_own_files(id: str, tmp_path: Path) -> None:
    agent = make(id)
    for n in (2, EPISODES // 2):  # before a set has been cut, and after
        teach(agent, n)
        agent.save(tmp_path / "agent")
        loaded = voful.load(tmp_path / "agent")
        assert type(loaded) is type(agent)
        for each in (agent, loaded):
            teach(each, EPISODES // 6, seed=5)
        assert fingerprint(agent) == fingerprint(loaded)


def test_errors_name_the_argument(id: str) -> None:
    agent = make(id)
    path, taken = random_walk(MODEL, np.random.default_rng(1))
    for states, actions in (
        ([*path[:-1], 99], taken),
        (path, [*taken[:-1], -1]),
        (path[:-1], taken),
        ([1, *path[1:]], taken),
        (np.array(path) + 0.5, taken),
        ([], []),
    ):
        with pytest.raises((ValueError, TypeError), match=": got .*; expected"):
            agent.update(states, actions)


def test_repr_and_bad_arguments(id: str) -> None:
    agent = make(id)
    assert repr(agent).startswith(type(agent).__name__ + "(model=LinearMixtureModel(")
    assert repr(agent).endswith("after 0 episodes")
    for bad in (
        {"failure_prob": 0.0},
        {"failure_prob": 1.5},
        {"seed": -1},
        {"n_episodes": 0},
        {"model": 3},
        {"width_scale": 0.0},
        {"width_scale": float("nan")},
    ):
        if not bad.keys() <= agent.config().keys():
            continue  # an agent without a set has neither
        with pytest.raises((ValueError, TypeError), match=": got .*; expected"):
            registry.create(id, **{"model": MODEL, "n_episodes": EPISODES, **bad})  # type: ignore[arg-type]


def test_plays_and_stays_optimistic(id: str) -> None:
    env = LinearMixtureMDP(MODEL, [0.2, 0.3, 0.5], seed=4)
    agent = make(id)
    *_, last = play_episodes(agent, env, EPISODES)
    assert last.covered in (None, True)
    assert last.optimistic or not agent.optimistic
    assert last.regret >= -1e-9


def test_one_base_model(id: str) -> None:
    """All checks with d = 1; a trained agent is left alone by them."""
    teach(agent := make(id, model=random_model(4, dim=1)), 2)
    before = fingerprint(agent)
    voful.checks.check_agent(agent)
    assert fingerprint(agent) == before
    teach(agent, EPISODES // 2)
    env = LinearMixtureMDP(agent.model, [1.0])
    known = getattr(agent, "cut", True)  # printed ellipsoids do not know that theta = 1
    known = known and not isinstance(agent, TabularAgent)
    assert agent.plan().value >= env.optimal_value - 1e-9
    assert not known or agent.plan().value == pytest.approx(env.optimal_value)
