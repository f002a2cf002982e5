from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import voful
from voful.envs import Drift, linear_bandit
from voful.experiments.play.compiled_loop import can_play, play_compiled
from voful.experiments.play.loop import play


def parameters(env: Any, rounds: int) -> np.ndarray[Any, Any]:
    """theta* of each round, as a player meets it."""
    seen = []
    for _ in range(rounds):
        seen.append(env.theta_star.copy())
        np.testing.assert_allclose(env.mean_rewards, env.arms @ env.theta_star, atol=1e-12)
        assert env.optimal_value == env.mean_rewards.max()
        env.pull(0)
    return np.array(seen)


def test_steps_come_after_their_rounds() -> None:
    thetas = parameters(linear_bandit(dim=3, change_at=[10, 300], seed=4), 400)
    np.testing.assert_allclose(np.linalg.norm(thetas, axis=1), 0.5)
    changed = np.flatnonzero((np.diff(thetas, axis=0) != 0.0).any(axis=1)) + 1
    np.testing.assert_array_equal(changed, [10, 300])


def test_a_flip_is_the_opposite_and_comes_back() -> None:
    thetas = parameters(linear_bandit(dim=2, change_at=[3, 6], change="flip"), 8)
    np.testing.assert_array_equal(thetas[3], -thetas[0])
    np.testing.assert_array_equal(thetas[6], thetas[0])


def test_a_walk_stays_on_its_sphere_and_depends_on_the_seed_only() -> None:
    env = linear_bandit(dim=3, walk=0.01, redraw=True, seed=5)
    thetas = parameters(env, 600)
    np.testing.assert_allclose(np.linalg.norm(thetas, axis=1), 0.5)
    steps = np.linalg.norm(np.diff(thetas, axis=0), axis=1)
    assert 0.005 < steps.mean() < 0.015
    again = linear_bandit(dim=3, walk=0.01, redraw=True, seed=5)
    np.testing.assert_array_equal(again.block(2).thetas[:88], thetas[512:])  # out of order


@pytest.mark.parametrize(
    "bad",
    [
        {"change_at": [5, 3]},
        {"change_at": [0]},
        {"change": "explode"},
        {"walk": -1.0},
        {"change_at": [3], "walk": 0.1},
    ],
)
def test_bad_drifts_are_named(bad: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError), match=next(iter(bad)).split("_")[0]):
        Drift(**bad)
    with pytest.raises((ValueError, TypeError)):
        linear_bandit(dim=2, **bad)


def test_every_parameter_must_fit_the_range() -> None:
    with pytest.raises(ValueError, match="theta_star"):
        linear_bandit(dim=2, theta_norm=0.8, reward_range=(-0.5, 1.0), change_at=[3])


@pytest.mark.parametrize("problem", [{"change_at": [300]}, {"walk": 0.01, "redraw": True}])
def test_the_compiled_loop_has_the_same_bits(problem: dict[str, Any]) -> None:
    runs, policies = [], []
    for compiled in (True, False):
        env = linear_bandit(dim=2, n_arms=5, sigma=0.1, seed=3, **problem)
        policy = voful.BetOFUL(2)
        assert can_play(policy, env, 700)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            at = [100, 301, 310, 350, 700]
            if compiled:
                played = play_compiled(policy, env, 700, record_at=at, check_every=7)
                runs.append([played[name] for name in ("regret", "in_set", "covered")])
            else:
                records = list(play(policy, env, 700, record_at=at, check_every=7))
                runs.append(
                    [
                        [getattr(r, name) for r in records]
                        for name in ("regret", "in_set", "covered")
                    ]
                )
        policies.append(policy)
    assert runs[0] == runs[1]
    assert policies[0].alarms == policies[1].alarms
    for name, array in policies[0].state().items():
        np.testing.assert_array_equal(array, policies[1].state()[name])
