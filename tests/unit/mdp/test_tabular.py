from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from mdp_helpers import random_model, random_walk
from voful import MVP, UCBVI, LinearMixtureModel, registry
from voful.envs.mixture.families import ctgoal
from voful.experiments.play.episodes import play_episodes
from voful.mdp.agents.mvp import SHARP
from voful.mdp.tabular import empirical_moments

IDS = ["mvp", "mvp-sharp", "mvp-paper", "ucbvi-bf", "ucbvi-ch"]
MODEL = random_model(5, n_states=4, horizon=6)


def teach(agent: Any, n: int, model: LinearMixtureModel = MODEL, **how: Any) -> None:
    rng = np.random.default_rng(0)
    for _ in range(n):
        agent.plan()
        agent.update(*random_walk(model, rng, **how))


@pytest.mark.parametrize("id", IDS)
def test_base_models_make_no_difference(id: str) -> None:
    """The same trajectories under a model that can go anywhere: the same plans."""
    P = MODEL.base_models
    anywhere = np.full_like(P[:1], 1.0 / MODEL.n_states)
    anywhere[:, -1] = P[:1, -1]  # the absorbing state stays
    other = LinearMixtureModel(np.concatenate([P[:2], anywhere]), MODEL.rewards, MODEL.horizon)
    assert other.successors.shape != MODEL.successors.shape or (
        other.n_successors.sum() > MODEL.n_successors.sum()
    )
    mine, wide = (
        registry.create(id, model, n_episodes=300, width_scale=0.01) for model in (MODEL, other)
    )
    rng = np.random.default_rng(0)
    narrow = LinearMixtureModel(P[:2], MODEL.rewards, MODEL.horizon)  # possible under both
    for _ in range(300):
        plans = [agent.plan() for agent in (mine, wide)]
        assert np.array_equal(plans[0].actions, plans[1].actions)
        np.testing.assert_allclose(plans[0].values, plans[1].values, rtol=1e-12)
        walk = random_walk(narrow, rng)
        mine.update(*walk)
        wide.update(*walk)
    assert mine.plan().value < 1.0


@pytest.mark.parametrize("id", IDS)
def test_absorbing_states_are_known_or_found_out(id: str) -> None:
    told, not_told = (
        registry.create(id, MODEL, n_episodes=400, width_scale=1e-3, known_absorbing=known)
        for known in (True, False)
    )
    last = MODEL.n_states - 1
    assert (told.plan().values[:, last] == 0.0).all()
    assert (not_told.plan().values[1:, last] == 1.0).all()
    for agent in (told, not_told):
        teach(agent, 400)
    assert (told.plan().values[:, last] == 0.0).all()
    assert not_told.plan().value_row(0)[last] < 0.9
    # A trajectory that stops goes on in its view: all of its steps are counted.
    assert not_told._counts.sum() == 400 * MODEL.horizon
    assert told._counts.sum() < 400 * MODEL.horizon


def test_empirical_moments() -> None:
    V = np.array([0.1, 0.9, 0.4, 0.0])
    counts, successors = np.array([3, 1, 0]), np.array([1, 2, 0])
    n, mean, variance = empirical_moments(counts, successors, V)
    seen = [0.9, 0.9, 0.9, 0.4]
    assert n == 4
    assert mean == pytest.approx(np.mean(seen))
    assert variance == pytest.approx(np.var(seen))
    assert empirical_moments(0 * counts, successors, V) == (0, 0.0, 0.0)


def test_mvp_bonuses_bound_the_empirical_bernstein_inequality() -> None:
    """For all variances and counts, and "sharp" touches it."""
    assert pytest.approx(math.sqrt(2.0) * SHARP + 7.0 / 3.0) == SHARP**2
    rng = np.random.default_rng(0)
    n = 2.0 ** rng.integers(1, 25, 10_000)
    iota, variance = rng.uniform(1.0, 50.0, 10_000), 0.25 * rng.random(10_000) ** 4
    m = n - 1.0
    bernstein = np.sqrt(2.0 * variance * iota / m) + 7.0 * iota / (3.0 * m)
    tight = np.maximum(4.0 * np.sqrt(variance * iota / n), 16.0 * iota / n)
    sharp = np.maximum(SHARP * np.sqrt(variance * iota / m), SHARP**2 * iota / m)
    assert (bernstein <= tight).all()
    assert (bernstein <= sharp * (1.0 + 1e-12)).all()
    assert (bernstein / sharp).max() > 0.99
    large = n >= 8.0
    assert (sharp <= tight)[large].all()


def test_the_least_tried_of_equal_actions_is_planned() -> None:
    agent = MVP(MODEL, n_episodes=50)
    s = MODEL.initial_state
    assert agent.plan().action(0, s) == 0
    states, actions = [s], list[int]()
    rng = np.random.default_rng(1)
    while len(actions) < MODEL.horizon and not MODEL.absorbing[states[-1]]:
        actions.append(0)
        n = MODEL.n_successors[states[-1], 0]
        states.append(int(MODEL.successors[states[-1], 0, rng.integers(n)]))
    agent.update(states, actions)
    assert agent.plan().value == 1.0
    assert agent.plan().action(0, s) == 1


def test_bad_arguments() -> None:
    for cls, bad in (
        (UCBVI, {"bonus": "gauss"}),
        (MVP, {"constants": "kt"}),
        (MVP, {"known_absorbing": 1}),
        (UCBVI, {"model": random_model(1, horizon=10**8)}),
    ):
        with pytest.raises((ValueError, TypeError), match=": got .*; expected"):
            cls(**{"model": MODEL, "n_episodes": 5, **bad})  # type: ignore[arg-type]


def test_mvp_learns_the_chain() -> None:
    """Regret flattens: the last quarter costs far less than the first."""
    env = ctgoal(16, seed=1)
    agent = MVP(env.model, n_episodes=8000, constants="sharp")
    regret = [r.regret for r in play_episodes(agent, env, 8000, record_at=[2000, 6000, 8000])]
    assert regret[2] - regret[1] < 0.3 * regret[0]
