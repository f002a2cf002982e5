from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mdp_helpers import random_model, random_walk
from voful import LikelihoodUCRL, LinearMixtureModel, VARLin
from voful.confidence.mixture.layered_tests import layer
from voful.envs import LinearMixtureMDP
from voful.envs.mixture.families import ctgoal, mortal
from voful.experiments.play.episodes import EpisodeRecord, play_episodes
from voful.mdp.counting import count_transitions
from voful.mdp.trajectories import Walks
from voful.potential import EpisodePotential

MODEL = random_model(1, horizon=8)


def run(agent: Any, env: LinearMixtureMDP, n: int) -> EpisodeRecord:
    *_, last = play_episodes(agent, env, n, record_at=[n])
    return last


def signed_model(seed: int = 0) -> LinearMixtureModel:
    rng = np.random.default_rng(seed)
    base, other = rng.dirichlet(np.ones(4), size=(2, 4, 2))
    rewards = rng.random((4, 2)) / 5
    return LinearMixtureModel(np.stack([base, base - other]), rewards, 5, signed=True)


def test_transitions_are_counted_under_the_values_of_the_next_step() -> None:
    agent = VARLin(MODEL, n_episodes=50, constants="paper", directions=np.eye(3))
    plan = agent.plan()
    path, taken = random_walk(MODEL, np.random.default_rng(0), stop=False)
    block = np.arange(len(plan.values))
    counts = np.zeros((len(block), *MODEL.successors.shape), dtype=np.int64)
    walks = Walks(np.array([path]), np.array([taken]), np.array([len(taken)]))
    count_transitions(MODEL.transitions, block, MODEL.horizon, walks, counts)
    assert counts.sum() == len(taken)
    for h, (s, a, t) in enumerate(zip(path, taken, path[1:], strict=False)):
        b = list(MODEL.successors[s, a]).index(t)
        assert counts[plan.row(h + 1), s, a, b] >= 1


def test_the_set_learns_when_a_plan_is_over() -> None:
    agent = VARLin(MODEL, n_episodes=400)
    rng = np.random.default_rng(0)
    while agent.plan().episodes < 2:
        agent.update(*random_walk(MODEL, rng))
    learnt, plan = agent.confidence_set.n_observations, agent.plan()
    while agent.plan() is plan:
        assert agent.confidence_set.n_observations == learnt
        agent.update(*random_walk(MODEL, rng))
    assert agent.confidence_set.n_observations > learnt


@pytest.mark.parametrize("constants", ["bernstein", "mgf"])
def test_learns_which_action_works(constants: str) -> None:
    env = ctgoal(24, theta_star=[0.15, 0.25, 0.6], seed=0)
    agent = VARLin(env.model, n_episodes=1500, constants=constants)
    last = run(agent, env, 1500)
    assert last.covered
    assert last.optimistic
    assert last.regret < 15
    assert env.policy_value(agent.plan().actions) == pytest.approx(env.optimal_value, abs=1e-3)


def test_likelihood_learns_faster() -> None:
    env = ctgoal(24, theta_star=[0.15, 0.25, 0.6], seed=0)
    last = run(LikelihoodUCRL(env.model, n_episodes=1500), env, 1500)
    assert last.covered
    assert last.optimistic
    assert last.regret < 4


@pytest.mark.parametrize("kind", ["bernstein", "mgf", "likelihood"])
def test_five_base_models_are_planned_by_boxes(kind: str) -> None:
    env = ctgoal(20, dim=5, seed=1)
    agent: Any = (
        LikelihoodUCRL(env.model, n_episodes=150)
        if kind == "likelihood"
        else VARLin(env.model, n_episodes=150, constants=kind)
    )
    assert agent.confidence_set.vertices is None
    last = run(agent, env, 150)
    assert last.covered
    assert last.optimistic
    assert last.regret < 0.7 * 150 * env.optimal_value


def test_paper_constants_need_a_scale_to_learn() -> None:
    env = ctgoal(16, theta_star=[0.15, 0.25, 0.6])
    printed = VARLin(env.model, n_episodes=300, constants="paper")
    scaled = VARLin(env.model, n_episodes=300, constants="paper", iota_scale=1e-3)
    run(printed, env, 300)
    run(scaled, ctgoal(16, theta_star=[0.15, 0.25, 0.6]), 300)
    np.testing.assert_allclose(printed.confidence_set.support(np.eye(3)), 1.0)
    assert scaled.confidence_set.support(np.eye(3)).min() < 0.9
    assert scaled.confidence_set.contains(env.theta_star)


def test_signed_base_models() -> None:
    model = signed_model()
    env = LinearMixtureMDP(model, [1.0, 0.0], seed=0)
    agent = VARLin(model, n_episodes=200)
    last = run(agent, env, 200)
    assert last.covered
    assert last.optimistic
    with pytest.raises(ValueError, match="constants: got 'mgf'; expected base models"):
        VARLin(model, n_episodes=5, constants="mgf")
    with pytest.raises(ValueError, match="model: got .*; expected base models"):
        LikelihoodUCRL(model, n_episodes=5)


def test_expected_regret_takes_delta_of_one_over_K() -> None:
    agent = VARLin(MODEL, n_episodes=400, failure_prob=None)
    assert agent.failure_prob == 1 / 400
    assert agent.confidence_set.failure_prob == 1 / 400
    assert VARLin(MODEL, n_episodes=1, failure_prob=None).failure_prob == 0.5
    with pytest.raises(ValueError, match="n_episodes"):
        VARLin(MODEL, n_episodes=0, failure_prob=None)


def test_inputs_are_expectations_of_powers_of_the_next_value() -> None:
    agent = VARLin(MODEL, n_episodes=50)
    path, taken = random_walk(MODEL, np.random.default_rng(2), stop=False)
    plan = agent.plan()
    for m in (0, 2):
        X = agent.inputs(path, taken, m)
        for h, (s, a) in enumerate(zip(path, taken, strict=False)):
            V = plan.value_row(h + 1) ** (2**m)
            np.testing.assert_allclose(X[h], MODEL.base_models[:, s, a] @ V)


def test_few_episodes_outgrow_the_potential_before_them() -> None:
    env = ctgoal(32, theta_star=[0.15, 0.25, 0.6], seed=3)
    agent = VARLin(env.model, n_episodes=300)
    mu = np.array([[1.0, -1.0, 0.0], [0.0, 1.0, -1.0], [1.0, 0.0, -1.0]]) / 2
    plain, layered = EpisodePotential(mu), EpisodePotential(mu)
    while agent.episodes_learnt < 300:
        plan = agent.plan()
        batch = env.rollout(plan.actions, plan.episodes)
        for states, actions, n in zip(*batch, strict=True):
            X = agent.inputs(states[: n + 1], actions[:n])
            X2 = agent.inputs(states[: n + 1], actions[:n], m=1)
            plain.add(X)
            layered.add(X, layer(agent.confidence_set.variance_bound(X, X2)))
        agent.update_many(*batch)
    assert plain.episodes == layered.episodes == 300
    assert plain.outgrown <= layered.outgrown <= 30
    assert layered.outgrown >= 1  # small levels: the first informative steps


def test_the_horizon_costs_nothing_once_values_stand_still() -> None:
    agents = []
    for H in (1024, 65536):
        env = mortal(H, theta_star=[0.15, 0.25, 0.6], seed=0)
        agent = VARLin(env.model, n_episodes=60)
        run(agent, env, 60)
        agents.append(agent)
    rows = [len(agent.plan().values) for agent in agents]
    assert rows[0] >= 0.5 * rows[1]
    assert agents[1]._counter.counts.nbytes < 10**6


def test_bad_arguments() -> None:
    for bad in (
        {"constants": "kt"},
        {"moments": 0},
        {"iota_scale": 0.5},
        {"directions": [[1.0]]},
        {"constants": "paper", "directions": [[3.0, 0.0, 0.0]]},
    ):
        with pytest.raises((ValueError, TypeError), match=": got .*; expected"):
            VARLin(MODEL, n_episodes=10, **bad)
    with pytest.raises(ValueError, match="m: got -1"):
        VARLin(MODEL, n_episodes=10).inputs([0], [], m=-1)
