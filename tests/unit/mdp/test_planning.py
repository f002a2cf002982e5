from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mdp_helpers import random_model
from voful import LinearMixtureModel
from voful.envs import ctgoal, mortal
from voful.mdp.planning import (
    FIXED_POINT,
    OptimisticPlan,
    backward_induction,
    optimistic_plan,
    optimistic_plan_over_vertices,
    time_blocks,
)
from voful.typing import FloatArray


def corner_support(X: FloatArray) -> FloatArray:
    upper: FloatArray = X.max(axis=1)
    return upper


def span(row: FloatArray) -> float:
    return float(row.max() - row.min())


def plan_with(model: LinearMixtureModel, way: str) -> OptimisticPlan:
    if way == "oracle":
        return optimistic_plan(model, corner_support)
    return optimistic_plan_over_vertices(model, np.eye(model.dim))


@pytest.mark.parametrize("way", ["oracle", "vertices"])
def test_one_row_stands_for_all_after_the_fixed_point(way: str) -> None:
    short, long, longest = (plan_with(mortal(H).model, way) for H in (1024, 65536, 10**9))
    assert short.values.shape[0] < 300
    for plan in (long, longest):
        np.testing.assert_array_equal(plan.values, short.values)
        np.testing.assert_array_equal(plan.actions, short.actions)
    assert longest.action(0, 0) == longest.action(10**9 - 500, 0) == short.actions[-1, 0]
    np.testing.assert_array_equal(longest.value_row(5), short.values[-1])
    np.testing.assert_array_equal(longest.value_row(10**9 - 2), short.values[2])


@pytest.mark.parametrize("horizon", [200, 1000, 65536])
def test_the_value_bounds_what_the_saved_steps_could_have_added(horizon: int) -> None:
    model = mortal(horizon).model
    plan = plan_with(model, "vertices")
    P, V = model.base_models, np.zeros(model.n_states)
    for _ in range(min(horizon, 3000)):  # long after rounding has the last word
        V = np.minimum(1.0, model.rewards + np.einsum("isat,t->sai", P, V).max(axis=2)).max(axis=1)
    assert V[0] <= plan.value <= V[0] + horizon * FIXED_POINT + 1e-11
    assert plan.values.max() <= 1.0


@pytest.mark.parametrize("way", ["oracle", "vertices"])
def test_rows_by_steps_to_go(way: str) -> None:
    model = ctgoal(700).model  # more rows than are made at first
    plan = plan_with(model, way)
    assert plan.values.shape == plan.actions.shape == (701, model.n_states)
    assert plan.value == plan.values[700, 0] == plan.value_row(0)[0]
    assert plan.row(0) == 700
    assert plan.row(700) == 0
    assert not plan.value_row(700).any()
    np.testing.assert_array_equal(plan.value_row(699), model.rewards.max(axis=1))
    assert (np.diff(plan.values, axis=0) >= -1e-15).all()
    other = plan_with(model, "vertices" if way == "oracle" else "oracle")
    np.testing.assert_allclose(plan.values, other.values, atol=1e-12)


@pytest.mark.parametrize(("h", "s"), [(16, 0), (-1, 0), (0, 7), (0, -1)])
def test_steps_and_states_out_of_range(h: int, s: int) -> None:
    plan = plan_with(ctgoal(16).model, "vertices")
    assert plan.action(15, 6) == 0
    with pytest.raises(ValueError, match="expected a (step|state) from 0 to"):
        plan.action(h, s)


def test_ties_go_to_the_first_action() -> None:
    model = ctgoal(64).model  # over the whole simplex every action looks the same
    assert not plan_with(model, "vertices").actions.any()
    theta = [[0.2, 0.5, 0.3]]
    best = optimistic_plan_over_vertices(model, theta).actions[7:, :5]
    assert (best == 1).all()


def test_values_are_capped() -> None:
    P = np.ones((1, 1, 1, 1))
    model = LinearMixtureModel(P, [[0.25]], 4)
    plan = optimistic_plan(model, lambda X: X[:, 0] + 0.5)
    np.testing.assert_array_equal(plan.values[:, 0], [0.0, 0.75, 1.0, 1.0])
    assert plan.value == 1.0
    below = optimistic_plan(model, lambda X: X[:, 0] - 9.0)
    assert below.value == 0.0


def test_supports_that_enlarge_differences_are_followed_to_the_end() -> None:
    """x -> 2 x grows from almost nothing; stopping at small changes would miss it."""
    model = LinearMixtureModel(np.ones((1, 1, 1, 1)), [[1e-14]], 60)
    doubled = optimistic_plan(model, lambda X: 2.0 * X[:, 0], within_simplex=False)
    assert doubled.value == 1.0
    assert optimistic_plan(model, lambda X: 2.0 * X[:, 0]).value < 1e-11
    capped = optimistic_plan(ctgoal(4096).model, lambda X: X[:, 0] + 1.0, within_simplex=False)
    assert capped.values.shape[0] == 3  # exactly fixed at the cap


def test_any_backup() -> None:
    model = random_model(4, horizon=12)
    plan = backward_induction(model, lambda V: model.rewards + model.features(V)[..., 0], 1e-12)
    known = optimistic_plan_over_vertices(model, [[1.0, 0.0, 0.0]])
    np.testing.assert_allclose(plan.values, known.values, atol=1e-14)


@pytest.mark.parametrize("bad", [np.empty((0, 3)), np.ones((1, 2)), [[np.nan, 0, 0]], [0, 0, 1]])
def test_bad_vertices(bad: Any) -> None:
    with pytest.raises(ValueError, match="vertices"):
        optimistic_plan_over_vertices(ctgoal(16).model, bad)


@pytest.mark.parametrize("horizon", [16, 256, 4096])
def test_time_blocks(horizon: int) -> None:
    values = plan_with(ctgoal(horizon).model, "vertices").values
    rows = time_blocks(values)
    assert rows.shape == (horizon + 1,)
    assert rows[0] == 0
    assert rows[-1] == horizon
    assert (np.diff(rows) >= 0).all()
    for n, row in enumerate(rows):
        assert row >= n
        assert rows[row] == row
        assert span(values[n] - values[row]) <= 0.05 * span(values[n])
    for n in np.flatnonzero(
        np.diff(rows)
    ).tolist():  # row n began a block: the one above did not serve
        assert span(values[n] - values[rows[n + 1]]) > 0.05 * span(values[n])
    assert len(np.unique(rows)) <= 60


def test_the_longer_the_horizon_the_fewer_the_blocks_in_proportion() -> None:
    counts = [len(np.unique(time_blocks(plan_with(ctgoal(H).model, "vertices").values)))
              for H in (64, 512, 4096)]  # fmt: skip
    assert counts[2] < 2 * counts[0]


def test_a_constant_row_is_its_own_block_only_where_it_must() -> None:
    values = np.array([[0.0, 0.0], [0.5, 0.5], [0.5, 0.5], [0.0, 1.0]])
    np.testing.assert_array_equal(time_blocks(values), [2, 2, 2, 3])


def test_repr_says_what_it_is() -> None:
    plan = plan_with(random_model(0), "oracle")
    assert repr(plan).startswith("OptimisticPlan(value=0.")
