"""Every registered episodic agent keeps the public contract."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import voful
from mdp_helpers import random_model, random_walk
from voful import registry
from voful.envs import LinearMixtureMDP
from voful.experiments.episodes import play_episodes
from voful.typing import ConfidenceSet, EpisodicAgent

IDS = [entry.id for entry in registry.entries("episodic")]
pytestmark = pytest.mark.parametrize("id", IDS)
MODEL = random_model(2, dim=3, n_states=5, n_actions=2, horizon=7)
EPISODES = 60


def make(id: str, **params: Any) -> Any:
    return registry.create(id, params.pop("model", MODEL), n_episodes=EPISODES, **params)


def fingerprint(agent: Any) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in agent.state().items()}


def teach(agent: Any, n: int, seed: int = 0) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(n):
        agent.plan()
        agent.update(*random_walk(agent.model, rng))


def batch(n: int, seed: int = 0) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    walks = [random_walk(MODEL, rng) for _ in range(n)]
    states = np.zeros((n, MODEL.horizon + 1), dtype=np.int64)
    actions = np.zeros((n, MODEL.horizon), dtype=np.int64)
    for k, (path, taken) in enumerate(walks):
        states[k, : len(path)], actions[k, : len(taken)] = path, taken
    return states, actions, np.array([len(taken) for _, taken in walks])


def test_protocols(id: str) -> None:
    agent = make(id)
    assert isinstance(agent, EpisodicAgent)
    if agent.confidence_set is not None:
        assert isinstance(agent.confidence_set, ConfidenceSet)
        assert agent.confidence_set.dim == 3
        assert agent.confidence_set.contains([0.2, 0.3, 0.5])


def test_first_plan_is_optimistic_for_every_mixture(id: str) -> None:
    agent = make(id)
    plan = agent.plan()
    assert plan.value <= 1.0
    for theta in np.eye(3):
        best = LinearMixtureMDP(MODEL, theta).optimal_value
        assert plan.value >= best - 1e-12 or not agent.optimistic
    assert plan.episodes == 1
    assert all(0 <= plan.action(h, s) < 2 for h in range(7) for s in range(5))


def test_batch_equals_one_by_one(id: str) -> None:
    one, many = make(id), make(id)
    states, actions, lengths = batch(EPISODES)
    k = 0
    while k < EPISODES:
        n = one.plan().episodes
        many.plan()
        for i in range(k, k + n):
            one.update(states[i, : lengths[i] + 1], actions[i, : lengths[i]])
        many.update_many(states[k : k + n], actions[k : k + n], lengths[k : k + n])
        k += n
    assert fingerprint(one) == fingerprint(many)


def test_more_episodes_than_planned_batch_or_not(id: str) -> None:
    one, many = make(id), make(id)
    states, actions, lengths = batch(30)
    for i in range(30):
        one.update(states[i, : lengths[i] + 1], actions[i, : lengths[i]])
    many.update_many(states, actions, lengths)
    assert fingerprint(one) == fingerprint(many)
    assert one.plan().value == many.plan().value
    assert fingerprint(one) == fingerprint(many)


def test_save_load_continues_bit_for_bit(id: str, tmp_path: Path) -> None:
    agent = make(id)
    teach(agent, 33)
    agent.save(tmp_path / "agent")
    loaded = voful.load(tmp_path / "agent")
    assert type(loaded) is type(agent)
    assert repr(loaded) == repr(agent)
    twin = copy.deepcopy(agent)
    for each in (agent, loaded, twin):
        teach(each, 27, seed=5)
    assert fingerprint(agent) == fingerprint(loaded) == fingerprint(twin)
    assert agent.plan().value == loaded.plan().value == twin.plan().value


def test_a_copy_is_its_own(id: str) -> None:
    agent = make(id)
    teach(agent, 10)
    before = fingerprint(agent)
    teach(copy.deepcopy(agent), 10, seed=1)
    assert fingerprint(agent) == before


def test_bad_trajectories_change_nothing(id: str) -> None:
    agent = make(id)
    teach(agent, 5)
    path, taken = random_walk(MODEL, np.random.default_rng(1))
    before = fingerprint(agent)
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
    assert fingerprint(agent) == before


def test_no_more_than_n_episodes(id: str) -> None:
    agent = make(id)
    agent.update_many(*batch(EPISODES))
    with pytest.raises(RuntimeError, match="n_episodes"):
        agent.update(*random_walk(MODEL, np.random.default_rng(0)))


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
    agent = make(id, model=random_model(4, dim=1))
    teach(agent, 30)
    env = LinearMixtureMDP(agent.model, [1.0])
    known = getattr(agent, "cut", True)  # printed ellipsoids do not know that theta = 1
    assert agent.plan().value >= env.optimal_value - 1e-9
    assert not known or agent.plan().value == pytest.approx(env.optimal_value)
