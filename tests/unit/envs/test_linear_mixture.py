from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from mdp_helpers import random_model
from voful import LinearMixtureModel
from voful.envs import LinearMixtureMDP, ctgoal, mixture_family, mortal
from voful.mdp.planning import optimistic_plan_over_vertices
from voful.typing import FloatArray, IntArray

THETA = np.array([0.2, 0.3, 0.5])


def dense(env: LinearMixtureMDP) -> FloatArray:
    P: FloatArray = np.tensordot(env.theta_star, env.model.base_models, axes=1)
    return P


def literal_value(env: LinearMixtureMDP, actions: IntArray) -> float:
    model, P = env.model, dense(env)
    V = np.zeros(model.n_states)
    s = np.arange(model.n_states)
    for n in range(1, model.horizon + 1):
        a = actions[min(n, len(actions) - 1)]
        V = model.rewards[s, a] + np.einsum("st,t->s", P[s, a], V)
    return float(V[model.initial_state])


def test_the_transition_is_the_mixture() -> None:
    env = LinearMixtureMDP(random_model(0), THETA)
    P = np.zeros_like(dense(env))
    model = env.model
    for s, a in itertools.product(range(model.n_states), range(model.n_actions)):
        for b in range(model.n_successors[s, a]):
            P[s, a, model.successors[s, a, b]] += env.transition[s, a, b]
    np.testing.assert_allclose(P, dense(env), atol=1e-15)
    with pytest.raises(ValueError, match="read-only"):
        env.theta_star[0] = 1.0


@pytest.mark.parametrize("seed", range(5))
def test_values_are_exact(seed: int) -> None:
    env = LinearMixtureMDP(random_model(seed, horizon=9), THETA)
    model = env.model
    rng = np.random.default_rng(seed)
    for rows in (1, 2, 5, 10):
        policy = rng.integers(model.n_actions, size=(rows, model.n_states))
        assert env.policy_value(policy) == pytest.approx(literal_value(env, policy), rel=1e-13)
        assert env.policy_value(policy) <= env.optimal_value + 1e-15
    assert env.policy_value(env.optimal_actions) == pytest.approx(env.optimal_value, rel=1e-14)
    plan = optimistic_plan_over_vertices(model, [THETA])
    assert env.optimal_value == pytest.approx(plan.value, rel=1e-13)


def test_values_beyond_the_fixed_point_are_those_of_the_fixed_point() -> None:
    near, far = mortal(2000), mortal(10**11)
    assert len(far.optimal_actions) < 1000
    policy = np.array([[2] * 7])
    assert far.policy_value(policy) == pytest.approx(near.policy_value(policy), rel=1e-12)
    assert far.optimal_value == pytest.approx(near.optimal_value, rel=1e-12)
    # a policy that changes late is evaluated to its last row
    late = np.repeat(policy, 1500, axis=0)
    late[-1] = 0
    assert far.policy_value(late) == pytest.approx(far.policy_value([[0] * 7]), rel=1e-9)


def test_rollouts_follow_the_policy_and_the_transition() -> None:
    env = LinearMixtureMDP(random_model(2, horizon=12), THETA, seed=3)
    model, P = env.model, dense(env)
    rng = np.random.default_rng(0)
    policy = rng.integers(model.n_actions, size=(7, model.n_states))
    states, actions, lengths = env.rollout(policy, 4000)
    assert env.episode == 4000
    model.check_trajectories(states, actions, lengths)
    counts = np.zeros_like(P)
    total = 0.0
    for path, taken, T in zip(states, actions, lengths, strict=True):
        assert (T == 12) or model.absorbing[path[T]]
        assert not model.absorbing[path[:T]].any()
        assert (path[T:] == path[T]).all()
        assert not taken[T:].any()
        for h in range(T):
            assert taken[h] == policy[min(12 - h, 6), path[h]]
            counts[path[h], taken[h], path[h + 1]] += 1
            total += model.rewards[path[h], taken[h]]
    visits = counts.sum(axis=2, keepdims=True)
    error = np.abs(counts - visits * P)
    assert (error <= 4.5 * np.sqrt(visits * P * (1 - P)) + 1e-9).all()
    assert total / 4000 == pytest.approx(env.policy_value(policy), abs=0.01)


def test_chances_depend_on_seed_episode_and_step_only() -> None:
    def fresh(seed: int = 1) -> LinearMixtureMDP:
        return LinearMixtureMDP(random_model(2, horizon=12), THETA, seed)

    policy = np.zeros((1, 5), dtype=int)
    whole = fresh().rollout(policy, 20)
    env = fresh()
    parts = [env.rollout(policy, n) for n in (1, 0, 7, 12)]
    np.testing.assert_array_equal(np.concatenate([part.lengths for part in parts]), whole.lengths)
    for k, part in ((0, parts[0]), (1, parts[2]), (8, parts[3])):
        for i, T in enumerate(part.lengths):
            np.testing.assert_array_equal(part.states[i, : T + 1], whole.states[k + i, : T + 1])
    other = fresh(2).rollout(policy, 20)
    assert not np.array_equal(other.lengths, whole.lengths)
    # another policy meets the same chances as long as it does the same
    late = np.zeros((13, 5), dtype=int)
    late[:6] = 1
    changed = fresh().rollout(late, 20)
    for i, T in enumerate(changed.lengths):
        shared = min(T, 7)
        np.testing.assert_array_equal(changed.states[i, :shared], whole.states[i, :shared])


def test_batches_are_the_same_episodes() -> None:
    policy = [[2] * 7]
    whole = mortal(10**6).rollout(policy, 300)
    assert whole.states.shape[1] < 1000
    env = mortal(10**6)
    batches = list(env.rollouts(policy, 300, max_cells=2000))
    assert len(batches) > 5
    assert env.episode == 300
    for batch in batches:
        assert batch.states.size <= 2000 or len(batch.lengths) == 1
        assert batch.states.shape[1] == batch.lengths.max() + 1
    np.testing.assert_array_equal(np.concatenate([b.lengths for b in batches]), whole.lengths)
    k = 0
    for batch in batches:
        for i, T in enumerate(batch.lengths):
            np.testing.assert_array_equal(batch.states[i, : T + 1], whole.states[k, : T + 1])
            k += 1
    env = mortal(10**6)
    interleaved = env.rollouts(policy, 300, max_cells=2000)
    first = next(interleaved)
    env.rollout(policy, 5)  # does not disturb the batches under way
    np.testing.assert_array_equal(first.states, batches[0].states)
    np.testing.assert_array_equal(next(interleaved).states, batches[1].states)
    assert len(list(mortal(10).rollouts(policy, 5, max_cells=1))) == 5
    assert list(mortal(10).rollouts(policy, 0)) == []


def test_an_absorbing_start_ends_at_once() -> None:
    P = np.ones((1, 1, 1, 1))
    env = LinearMixtureMDP(LinearMixtureModel(P, [[0.0]], 5), [1.0])
    assert [part.shape for part in env.rollout([[0]], 3)] == [(3, 1), (3, 0), (3,)]
    assert env.optimal_value == 0.0


def test_a_signed_mixture_must_be_a_kernel() -> None:
    kernels = np.random.default_rng(0).dirichlet(np.ones(3), size=(2, 3, 1))
    P = np.stack([2 * kernels[0] - 0, kernels[1] - kernels[0]]) * 0.5
    model = LinearMixtureModel(np.stack([kernels[0], P[1]]), np.zeros((3, 1)), 4, signed=True)
    LinearMixtureMDP(model, [1.0, 0.0])
    with pytest.raises(ValueError, match="a mixture whose rows are probabilities"):
        LinearMixtureMDP(model, [0.5, 0.5])


@pytest.mark.parametrize(
    "theta",
    [
        [0.5, 0.5],
        [0.5, 0.6, -0.1],
        [0.5, 0.4, 0.0],
        [1e308, 1e308, 0.0],
        [np.nan, 0.5, 0.5],
        "abc",
        None,
    ],
)
def test_bad_parameters(theta: Any) -> None:
    with pytest.raises((ValueError, TypeError), match="theta_star"):
        LinearMixtureMDP(random_model(0), theta)


@pytest.mark.parametrize(
    "actions",
    [[0] * 7, [[0] * 6], [[3] * 7], [[-1] * 7], [[0.0] * 7], np.zeros((0, 7), int), [["a"] * 7]],
)
def test_bad_policies(actions: Any) -> None:
    env = ctgoal(16)
    for call in (env.policy_value, env.rollout, lambda bad: env.rollouts(bad, 3)):
        with pytest.raises((ValueError, TypeError), match="actions"):
            call(actions)
    assert env.episode == 0


def test_bad_arguments() -> None:
    with pytest.raises(TypeError, match="model"):
        LinearMixtureMDP("model", THETA)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="n_episodes"):
        ctgoal(16).rollout([[0] * 7], -1)
    with pytest.raises(ValueError, match="seed"):
        LinearMixtureMDP(random_model(0), THETA, -1)


def test_repr() -> None:
    text = repr(mixture_family("ctgoal", horizon=16))
    assert text.startswith("LinearMixtureMDP(LinearMixtureModel(dim=3")
    assert "theta_star=[0.15 0.25 0.6 ]" in text
