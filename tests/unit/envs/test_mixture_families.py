from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from voful.envs import (
    FAMILIES,
    ctgoal,
    ctqueue,
    ctrandom,
    gridworld,
    mixture_family,
    mortal,
    riverswim,
)
from voful.envs.mixture.families import default_theta

SMALL: dict[str, dict[str, Any]] = {name: {"horizon": 24} for name in FAMILIES}


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_is_a_sound_problem(family: str) -> None:
    env = mixture_family(family, **SMALL[family])
    np.testing.assert_allclose(env.theta_star.sum(), 1.0)
    assert env.model.stochastic
    assert env.model.horizon == 24
    assert 0.05 < env.optimal_value <= 1.0
    worst = min(
        env.policy_value(np.full((1, env.model.n_states), a)) for a in range(env.model.n_actions)
    )
    assert worst < env.optimal_value - 0.05  # something is to be learnt
    trajectories = env.rollout(env.optimal_actions, 50)
    env.model.check_trajectories(*trajectories)
    twin = mixture_family(family, **SMALL[family]).rollout(env.optimal_actions, 50)
    np.testing.assert_array_equal(twin.states, trajectories.states)


def test_default_parameters() -> None:
    np.testing.assert_allclose(default_theta(3), [0.15, 0.25, 0.6])
    for d in (1, 2, 5, 16):
        assert default_theta(d).shape == (d,)
        assert default_theta(d).sum() == pytest.approx(1.0)
        assert (default_theta(d) > 0).all()


@pytest.mark.parametrize("family", [ctgoal, ctqueue, ctrandom])
def test_refined_problems_stay_comparable(family: Any) -> None:
    coarse, fine, finest = (family(H) for H in (64, 512, 4096))
    limit = finest.optimal_value
    assert abs(fine.optimal_value - limit) < 0.02
    assert abs(coarse.optimal_value - limit) < 0.1
    assert abs(fine.optimal_value - limit) < abs(coarse.optimal_value - limit)


def test_the_goal_pays_once() -> None:
    env = ctgoal(100)
    P = env.model.base_models
    step = 12 / 100
    assert P[1, 2, 1, 3] == pytest.approx(0.9 * step)
    assert P[0, 2, 1, 3] == pytest.approx(0.05 * step)
    assert P[0, 2, 1, 1] == pytest.approx(0.25 * step)
    assert P[0, 0, 1, 0] == pytest.approx(1.0 - 0.05 * step)
    assert P[0, 5, 1, 6] == 1.0
    assert env.model.rewards.sum() == 3.0
    np.testing.assert_array_equal(env.model.absorbing, [False] * 6 + [True])
    assert ctgoal(128, dim=16).model.dim == ctgoal(128, dim=16).model.n_actions == 16


def test_the_queue() -> None:
    env = ctqueue(100)
    P, step = env.model.base_models, 8 / 100
    assert P[2, 3, 2, 2] == pytest.approx(0.65 * step)
    assert P[2, 3, 1, 2] == pytest.approx(0.1 * step)
    assert P[2, 3, 1, 4] == pytest.approx(0.35 * step)
    assert P[2, 7, 1, 7] == pytest.approx(1.0 - 0.1 * step)
    assert env.model.rewards[7, 0] == 0.0
    assert env.model.rewards[0, 0] == pytest.approx(0.01)
    assert env.model.initial_state == 4


def test_mortal_kills() -> None:
    env = mortal(100)
    assert env.model.base_models[0, 1, 0, 6] == pytest.approx(0.02)
    assert mortal(100, killing=0.5).optimal_value < 0.1 < env.optimal_value
    assert mortal(1024).optimal_value == pytest.approx(mortal(65536).optimal_value, rel=1e-9)


def test_riverswim_is_the_one_of_the_literature() -> None:
    env = riverswim()
    assert (env.model.n_states, env.model.horizon, env.model.dim) == (10, 100, 3)
    P = np.tensordot(env.theta_star, env.model.base_models, axes=1)
    np.testing.assert_allclose(P[4, 1, 3:6], [0.05, 0.05, 0.9])
    np.testing.assert_allclose(P[0, 1, :2], [0.1, 0.9])
    np.testing.assert_allclose(P[9, 1, 8:], [0.05, 0.95])
    np.testing.assert_array_equal(P[4, 0], np.eye(10)[3])
    assert env.model.rewards[9, 1] * 100 == pytest.approx(1.0)
    assert env.model.rewards[0, 0] * 100 == pytest.approx(0.005)


def test_gridworld_slips_into_pits() -> None:
    env = gridworld(12, size=5)
    P = env.model.base_models
    start, goal, end = 20, 24, 25
    assert env.model.initial_state == start
    assert P[0, start, 0, 15] == 1.0  # up
    assert P[1, start, 0, 21] == P[1, start, 0, start] == 0.5  # right into a pit, left is a wall
    assert P[2, start, 0, start] == 1.0
    assert P[0, 21, 0, end] == P[0, goal, 0, end] == 1.0
    assert env.model.rewards[goal, 0] == 1.0
    careful = gridworld(12, size=5, theta_star=[1.0, 0.0, 0.0])
    assert careful.optimal_value == 1.0
    assert 0.1 < env.optimal_value < 0.95
    assert gridworld(128, size=20).model.n_states == 401


def test_random_problems_differ_by_seed() -> None:
    a, b = ctrandom(32, seed=0), ctrandom(32, seed=1)
    assert not np.array_equal(a.model.rewards, b.model.rewards)
    np.testing.assert_array_equal(ctrandom(32, seed=1).model.base_models, b.model.base_models)
    assert a.model.base_models.shape == (3, 10, 4, 10)


@pytest.mark.parametrize(
    ("family", "params", "message"),
    [
        ("ctgoal", {"horizon": 8}, "horizon: got 8; expected a whole number >= 14"),
        ("ctgoal", {"horizon": 16.0}, "horizon"),
        ("ctgoal", {"horizon": 16, "dim": 0}, "dim"),
        ("ctqueue", {"horizon": 16, "capacity": 0}, "capacity"),
        ("ctrandom", {"horizon": 16, "n_successors": 11}, "n_successors"),
        ("ctrandom", {"horizon": 9}, "horizon"),
        ("mortal", {"horizon": 16, "killing": 1.0}, "killing"),
        ("mortal", {"horizon": 0}, "horizon"),
        ("gridworld", {"horizon": 16, "size": 1}, "size"),
        ("riverswim", {"n_states": -1}, "n_states"),
        ("ctgoal", {"horizon": 16, "theta_star": [1.0]}, "theta_star"),
        ("nowhere", {}, "family: got 'nowhere'; expected one of 'ctgoal'"),
    ],
)
def test_bad_arguments(family: str, params: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        mixture_family(family, **params)
