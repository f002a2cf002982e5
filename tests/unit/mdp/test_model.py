from __future__ import annotations

import copy
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import voful
from mdp_helpers import random_model, random_walk
from voful import LinearMixtureModel
from voful.mdp.model_checks import largest_total
from voful.mdp.trajectories import successor_index


def small() -> dict[str, Any]:
    """Two base models of three states, the last one absorbing; action 1 tends to it."""
    P = np.zeros((2, 3, 2, 3))
    P[0, :2, 0, 0] = P[1, :2, 0, 1] = 1.0
    P[0, :2, 1, 2] = 1.0
    P[1, :2, 1] = [0.5, 0.25, 0.25]
    P[:, 2, :, 2] = 1.0
    rewards = np.array([[0.0, 0.1], [0.2, 0.0], [0.0, 0.0]])
    return {"base_models": P, "rewards": rewards, "horizon": 5, "initial_state": 1}


def test_dense_and_sparse_are_one() -> None:
    dense = LinearMixtureModel(**small())
    assert (dense.dim, dense.n_states, dense.n_actions, dense.horizon) == (2, 3, 2, 5)
    assert dense.initial_state == 1
    assert dense.stochastic
    np.testing.assert_array_equal(dense.base_models, small()["base_models"])
    np.testing.assert_array_equal(dense.n_successors, [[2, 3], [2, 3], [1, 1]])
    np.testing.assert_array_equal(dense.absorbing, [False, False, True])
    # the same by lists, in another order and with superfluous padding
    lists = np.tile([2, 1, 0, 1], (3, 2, 1))
    P = np.concatenate([small()["base_models"][..., ::-1], np.zeros((2, 3, 2, 1))], axis=3)
    sparse = LinearMixtureModel.from_successors(lists, P, small()["rewards"], 5, 1)
    np.testing.assert_array_equal(sparse.base_models, dense.base_models)
    np.testing.assert_array_equal(sparse.n_successors, dense.n_successors)
    assert sparse.successors.shape == (3, 2, 3)
    for model in (dense, sparse):
        for s, a in itertools.product(range(3), range(2)):
            n = model.n_successors[s, a]
            assert (model.probabilities[s, a, :n] != 0.0).any(axis=1).all()
            assert (model.probabilities[s, a, n:] == 0.0).all()
            for t in range(3):
                b = successor_index(model.successors, model.n_successors, s, a, t)
                expected = model.base_models[:, s, a, t]
                found = np.zeros(2) if b < 0 else model.probabilities[s, a, b]
                np.testing.assert_array_equal(found, expected)


def test_features_are_expectations_under_the_base_models() -> None:
    model = random_model(3)
    V = np.random.default_rng(0).random(model.n_states)
    expected = np.einsum("isat,t->sai", model.base_models, V)
    np.testing.assert_allclose(model.features(V), expected, rtol=1e-14)
    assert model.probabilities.flags.c_contiguous


def test_an_absorbing_state_pays_nothing_under_every_model() -> None:
    arguments = small()
    arguments["rewards"][2, 1] = 0.1
    assert not LinearMixtureModel(**arguments).absorbing.any()
    arguments = small()
    arguments["base_models"][1, 2, 0] = [0.5, 0.0, 0.5]
    assert not LinearMixtureModel(**arguments).absorbing.any()


def test_the_parameter_set_comes_from_the_base_models() -> None:
    arguments = small()
    assert LinearMixtureModel(**arguments, signed=True).stochastic
    arguments["base_models"][1] *= -1.0
    model = LinearMixtureModel(**arguments, signed=True)
    assert not model.stochastic
    np.testing.assert_array_equal(model.check_parameter("theta", [0.5, -0.5]), [0.5, -0.5])
    with pytest.raises(ValueError, match="theta: got .* at most 1"):
        model.check_parameter("theta", [0.8, -0.5])
    model = LinearMixtureModel(**small())
    with pytest.raises(ValueError, match="theta: got .* sum 1"):
        model.check_parameter("theta", [0.5, -0.5])


def test_rounding_is_forgiven() -> None:
    arguments = small()
    arguments["base_models"][0, 0, 0] = [1.0 + 5e-10, -2e-10, 0.0]
    model = LinearMixtureModel(**arguments)
    assert model.probabilities.min() == 0.0
    assert model.n_successors[0, 0] == 2
    horizon = 49  # 49 * (1/49) is below 1, the sum of 49 terms is not
    rewards = np.full((3, 2), 1.0 / horizon)
    LinearMixtureModel(small()["base_models"], rewards, horizon)
    LinearMixtureModel(small()["base_models"], rewards * (1.0 + 5e-10), horizon)


def spoilt(**changes: Any) -> dict[str, Any]:
    return small() | changes


def with_row(row: list[float]) -> Any:
    P = small()["base_models"]
    P[1, 0, 1] = row
    return P


BAD_MODELS = [
    (spoilt(base_models=with_row([0.5, 0.5, 0.5])), r"base_models\[1, 0, 1\] \(sum\): got 1.5"),
    (spoilt(base_models=with_row([0.5, 0.49999, 0.0])), "sum 1"),
    (spoilt(base_models=with_row([0.8, -0.3, 0.5])), r"base_models\[1, 0, 1, 1\]: got -0.3"),
    (spoilt(base_models=with_row([np.nan, 1.0, 0.0])), r"base_models\[1, 0, 1, 0\]: got nan"),
    (spoilt(base_models=np.ones((2, 3, 3))), r"shape \(2, 3, 3\); expected .*\(d, S, A, S\)"),
    (spoilt(base_models=np.ones((2, 3, 2, 4)) / 4), r"shape \(2, 3, 2, 4\)"),
    (spoilt(base_models=np.ones((0, 3, 2, 3))), "base_models"),
    (spoilt(base_models=[[1.0], [2.0, 3.0]]), "base_models"),
    (spoilt(rewards=np.zeros((3, 3))), r"rewards: got an array of shape \(3, 3\)"),
    (spoilt(rewards=np.zeros(3)), "rewards"),
    (spoilt(rewards=-small()["rewards"]), "rewards: got -0.2"),
    (spoilt(rewards=small()["rewards"] + np.inf), "rewards"),
    (spoilt(rewards=small()["rewards"] * 1.01), "sum of at most 1 over the 5 steps"),
    (spoilt(horizon=6), "sum of at most 1 over the 6 steps"),
    (spoilt(horizon=0), "horizon"),
    (spoilt(horizon=10**13, rewards=np.zeros((3, 2))), "horizon"),
    (spoilt(base_models=with_row([1e308, 1e308, 0.0])), r"base_models\[1, 0, 1, 0\]: got 1e\+308"),
    (spoilt(rewards=small()["rewards"] + 1e308), "sum of at most 1"),
    (spoilt(initial_state=3), "initial_state: got 3; expected a state from 0 to 2"),
    (spoilt(initial_state=-1), "initial_state"),
    (spoilt(base_models=2 * with_row([1.0, 0.0, 0.0]), signed=True), "at most 1"),
    (spoilt(base_models=0 * with_row([1.0, 0.0, 0.0]), signed=True), "some next state"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD_MODELS)
def test_bad_models(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LinearMixtureModel(**arguments)


@pytest.mark.parametrize(
    "changes",
    [{"horizon": 5.0}, {"horizon": True}, {"initial_state": 0.5}, {"rewards": [["a"]]},
     {"base_models": None}, {"signed": 1}],
)  # fmt: skip
def test_wrong_types(changes: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match=next(iter(changes))):
        LinearMixtureModel(**spoilt(**changes))


LISTS: dict[str, Any] = {
    "successors": [[[0, 1]], [[0, 1]]],
    "probabilities": [[[[0.5, 0.5]], [[0.0, 1.0]]]],
    "rewards": [[0.0], [0.0]],
    "horizon": 3,
}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"successors": [[[0, 2]], [[0, 1]]]}, "successors: got 2; expected states from 0 to 1"),
        ({"successors": [[[0, -1]], [[0, 1]]]}, "successors: got -1"),
        ({"successors": [[[1, 1]], [[0, 1]]]}, r"successors\[0, 0\]: got \[1, 1\]; .*distinct"),
        ({"successors": [[0, 1], [0, 1]]}, "successors"),
        ({"successors": np.zeros((2, 0, 2), dtype=int)}, "successors"),
        ({"probabilities": [[[[0.5, 0.4]], [[0.0, 1.0]]]]}, "probabilities.*sum"),
        ({"probabilities": [[[0.5, 0.5]], [[0.0, 1.0]]]}, "probabilities"),
        ({"probabilities": np.ones((1, 2, 2, 2)) / 2}, r"expected .*\(d, 2, 1, 2\)"),
        ({"rewards": [[0.0, 0.0]]}, "rewards"),
    ],
)
def test_bad_lists(changes: dict[str, Any], message: str) -> None:
    LinearMixtureModel.from_successors(**LISTS)
    with pytest.raises(ValueError, match=message):
        LinearMixtureModel.from_successors(**(LISTS | changes))
    with pytest.raises(TypeError, match="successors"):
        LinearMixtureModel.from_successors(**(LISTS | {"successors": [[[0.0, 1.0]], [[0.0, 1.0]]]}))


def enumerated_total(model: LinearMixtureModel) -> float:
    """Largest sum over all trajectories, by walking each of them."""

    def below(s: int, steps: int) -> float:
        if steps == 0:
            return 0.0
        return max(
            float(model.rewards[s, a])
            + max(below(t, steps - 1) for t in model.successors[s, a, : model.n_successors[s, a]])
            for a in range(model.n_actions)
        )

    return float(below(model.initial_state, model.horizon))


@pytest.mark.parametrize("seed", range(10))
def test_the_largest_total_is_found(seed: int) -> None:
    model = random_model(seed, n_states=4, horizon=4)
    exact = enumerated_total(model)
    for limit in (0.5 * exact, exact - 1e-9, exact + 1e-9, 2.0 * exact):
        found = largest_total(model.transitions, model.rewards, 0, model.horizon, limit)
        assert (found > limit) == (exact > limit)
        assert found <= exact + 1e-12 if exact > limit else found >= exact - 1e-12
    factor = 1.0 / exact
    LinearMixtureModel(model.base_models, model.rewards * factor, model.horizon)
    with pytest.raises(ValueError, match="sum of at most 1"):
        LinearMixtureModel(model.base_models, model.rewards * factor * (1 + 1e-6), model.horizon)


def test_rewards_behind_an_unreachable_state_do_not_count() -> None:
    P = np.zeros((1, 3, 1, 3))
    P[0, 0, 0, 2] = P[0, 1, 0, 1] = P[0, 2, 0, 2] = 1.0
    LinearMixtureModel(P, [[0.5], [1.0], [0.0]], 100_000)
    with pytest.raises(ValueError, match="sum of at most 1"):
        LinearMixtureModel(P, [[0.5], [1.0], [0.0]], 100_000, initial_state=1)


def test_possible_trajectories_pass() -> None:
    rng = np.random.default_rng(0)
    for seed in range(10):
        model = random_model(seed, horizon=20)
        for stop in (True, False):
            states, actions = random_walk(model, rng, stop)
            path, taken = model.check_trajectory(states, actions)
            assert path.dtype == taken.dtype == np.int64
            assert path.tolist() == states
            assert taken.tolist() == actions
    model = LinearMixtureModel(**spoilt(initial_state=2))
    assert [len(part) for part in model.check_trajectory([2], [])] == [1, 0]


@pytest.mark.parametrize(
    ("states", "actions", "message"),
    [
        ([0, 0, 2], [0, 1], r"states\[0\]: got 0; expected initial_state 1"),
        ([1, 0, 3], [0, 1], r"states\[2\]: got 3; expected a state from 0 to 2"),
        ([1, -1, 2], [0, 1], r"states\[1\]: got -1"),
        ([1, 0, 2], [0, 2], r"actions\[1\]: got 2; expected an action from 0 to 1"),
        ([1, 0, 2], [-1, 1], r"actions\[0\]: got -1"),
        ([1, 2], [0], r"states\[1\]: got 2; expected a state that some base model reaches from"),
        ([1, 2, 1], [1, 1], r"states\[2\]: got 1"),
        ([1, 0, 0], [0, 0], "an end in state 0 after 2 steps.* expected 5 steps"),
        ([1, 0, 0, 0, 0, 0, 0], [0] * 6, "6 steps.*expected 0 to 5 steps"),
        ([1, 0, 2], [0], r"states: got an array of shape \(3,\); expected shape \(2,\)"),
        ([[1, 0, 2]], [0, 1], "states"),
        ([], [], r"states: got an array of shape \(0,\); expected shape \(1,\)"),
        ([1, 0, 2], [[0, 1]], "actions"),
        (np.array([1, 0, 2**64 - 1], dtype=np.uint64), [0, 1], "states: got 18446744073709551615"),
    ],
)
def test_bad_trajectories(states: Any, actions: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LinearMixtureModel(**small()).check_trajectory(states, actions)


@pytest.mark.parametrize("bad", [[1.0, 0.0, 2.0], ["a", "b", "c"], [True, False, True], None])
def test_trajectories_are_whole_numbers(bad: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="states"):
        LinearMixtureModel(**small()).check_trajectory(bad, [0, 1])


def test_many_trajectories_are_checked_as_one_by_one() -> None:
    model = LinearMixtureModel(**small())
    states = np.array([[1, 0, 0, 2, 2, 2], [1, 2, 99, 99, 99, 99], [1, 0, 1, 0, 1, 0]])
    actions = np.array([[0, 0, 1, 0, 0], [1, 77, 77, 77, 77], [0, 0, 0, 0, 0]])
    model.check_trajectories(states, actions, [3, 1, 5])
    with pytest.raises(ValueError, match=r"states\[2\]: got 99"):
        model.check_trajectories(states, actions, [3, 2, 5])
    with pytest.raises(ValueError, match="an end in state 1 after 4 steps"):
        model.check_trajectories(states, actions, [3, 1, 4])
    for lengths in ([3, 1], [3, 1, 6], [3, -1, 5], [[3, 1, 5]]):
        with pytest.raises(ValueError, match="lengths|steps"):
            model.check_trajectories(states, actions, lengths)
    with pytest.raises(ValueError, match="states"):
        model.check_trajectories(states[:, :-1], actions, [3, 1, 5])
    model.check_trajectories(np.empty((0, 6), int), np.empty((0, 5), int), [])


def test_saved_models_come_back(tmp_path: Path) -> None:
    arguments = small()
    arguments["base_models"][0, 0, 0] = [1.0 + 5e-10, -2e-10, 0.0]
    for model in (LinearMixtureModel(**arguments), random_model(2, sparse=False)):
        model.save(tmp_path / "model")
        loaded = voful.load(tmp_path / "model")
        assert isinstance(loaded, LinearMixtureModel)
        assert repr(loaded) == repr(model)
        for name in ("successors", "n_successors", "probabilities", "rewards", "absorbing"):
            np.testing.assert_array_equal(getattr(loaded, name), getattr(model, name))
        assert (loaded.signed, loaded.stochastic) == (model.signed, model.stochastic)
        assert copy.deepcopy(model) is model
