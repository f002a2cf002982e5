from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mdp_helpers import Counter, random_model, random_walk
from voful import LinearMixtureModel
from voful.envs import LinearMixtureMDP
from voful.mdp.planning import optimistic_plan_over_vertices, time_blocks

models = st.builds(
    random_model,
    seed=st.integers(0, 10**6),
    dim=st.integers(1, 4),
    n_states=st.integers(2, 6),
    n_actions=st.integers(1, 3),
    horizon=st.integers(1, 40),
    sparse=st.booleans(),
)
seeds = st.integers(0, 10**6)


@given(model=models, seed=seeds)
def test_a_plan_over_a_set_is_worth_what_any_member_is(
    model: LinearMixtureModel, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    vertices = rng.dirichlet(np.ones(model.dim), size=5)
    plan = optimistic_plan_over_vertices(model, vertices)
    theta = rng.dirichlet(np.ones(5)) @ vertices  # within the hull
    env = LinearMixtureMDP(model, theta)
    assert plan.value >= env.optimal_value - 1e-12
    assert env.policy_value(plan.actions) <= env.optimal_value + 1e-12
    smaller = optimistic_plan_over_vertices(model, vertices[:2])
    assert smaller.value <= plan.value + 1e-12


@given(model=models, seed=seeds)
def test_one_vertex_is_planning_in_a_known_mdp(model: LinearMixtureModel, seed: int) -> None:
    theta = np.random.default_rng(seed).dirichlet(np.ones(model.dim))
    env = LinearMixtureMDP(model, theta)
    plan = optimistic_plan_over_vertices(model, [theta])
    assert plan.value == pytest.approx(env.optimal_value, abs=1e-10)
    assert env.policy_value(plan.actions) == pytest.approx(env.optimal_value, abs=1e-10)


@given(model=models, seed=seeds)
def test_order_of_states_and_models_does_not_matter(model: LinearMixtureModel, seed: int) -> None:
    rng = np.random.default_rng(seed)
    states, parts = rng.permutation(model.n_states), rng.permutation(model.dim)
    P = model.base_models[parts][:, states][..., states]
    start = int(np.flatnonzero(states == model.initial_state)[0])
    shuffled = LinearMixtureModel(P, model.rewards[states], model.horizon, start)
    vertices = rng.dirichlet(np.ones(model.dim), size=3)
    a = optimistic_plan_over_vertices(model, vertices)
    b = optimistic_plan_over_vertices(shuffled, vertices[:, parts])
    assert a.value == pytest.approx(b.value, abs=1e-12)


@given(
    values=hnp.arrays(np.float64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=9),
                      elements=st.floats(0, 1)),
    tolerance=st.floats(0, 1),
)  # fmt: skip
def test_blocks_are_within_their_tolerance(values: Any, tolerance: float) -> None:
    rows = time_blocks(values, tolerance)
    for n, row in enumerate(rows):
        assert n <= row < len(values)
        assert rows[row] == row
        assert np.ptp(values[n] - values[row]) <= tolerance * np.ptp(values[n])


@given(model=models, seed=seeds)
def test_walks_are_trajectories_and_nothing_else_is(model: LinearMixtureModel, seed: int) -> None:
    rng = np.random.default_rng(seed)
    states, actions = random_walk(model, rng)
    model.check_trajectory(states, actions)
    if not actions:
        return
    h = int(rng.integers(len(actions)))
    states[h + 1] = int(rng.integers(-1, model.n_states + 1))
    P = model.base_models
    inside = 0 <= states[h + 1] < model.n_states
    possible = inside and all(
        P[:, s, a, t].any() for s, a, t in zip(states, actions, states[1:], strict=False)
    )
    if possible and (len(actions) == model.horizon or model.absorbing[states[-1]]):
        model.check_trajectory(states, actions)
    else:
        with pytest.raises(ValueError, match="states"):
            model.check_trajectory(states, actions)


scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.floats(), st.text(max_size=2),
    st.complex_numbers(),
)  # fmt: skip
arrays: st.SearchStrategy[Any] = hnp.arrays(
    dtype=st.sampled_from([np.float64, np.int64, np.uint64, np.bool_, np.complex128, "U1"]),
    shape=hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=3),
)
garbage = st.one_of(
    scalars,
    arrays,
    st.lists(scalars, max_size=4),
    st.lists(st.lists(st.integers(-1, 5), max_size=4), max_size=3),
)
MODEL = random_model(0)


@given(states=garbage, actions=garbage, lengths=garbage)
def test_garbage_trajectories(states: Any, actions: Any, lengths: Any) -> None:
    agent = Counter(MODEL)
    before = {name: array.tobytes() for name, array in agent.state().items()}
    for call, arguments in (
        (agent.update, (states, actions)),
        (agent.update_many, (states, actions, lengths)),
    ):
        try:
            call(*arguments)
        except (ValueError, TypeError) as error:
            assert str(error).split(":")[0].split("[")[0] in ("states", "actions", "lengths")
            after = {name: array.tobytes() for name, array in agent.state().items()}
            assert after == before
        else:
            before = {name: array.tobytes() for name, array in agent.state().items()}


@given(
    changes=st.dictionaries(
        st.sampled_from(["base_models", "rewards", "horizon", "initial_state", "signed"]),
        garbage,
        min_size=1,
        max_size=2,
    )
)
def test_garbage_models(changes: dict[str, Any]) -> None:
    sound: dict[str, Any] = {
        "base_models": MODEL.base_models,
        "rewards": MODEL.rewards,
        "horizon": 3,
    }
    try:
        model = LinearMixtureModel(**(sound | changes))
    except (ValueError, TypeError) as error:
        name = str(error).split(":")[0].split("[")[0].split(" ")[0]
        assert name in ("base_models", "rewards", "horizon", "initial_state", "signed")
    else:
        assert np.isfinite(model.probabilities).all()
        assert model.n_successors.min() >= 1
