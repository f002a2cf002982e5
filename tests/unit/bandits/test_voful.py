from __future__ import annotations

import warnings

import numpy as np
import pytest

from helpers import play_some, sphere
from voful import VOFUL, VOFUL2


def test_offering_a_direction_does_not_disturb_the_frozen_choice() -> None:
    policy = VOFUL(2, n_rounds=400)
    play_some(policy, 60)
    arms = sphere(np.random.default_rng(0), 8, 2)
    before = policy.select(arms)
    policy.confidence_set.offer([3.0, 1.0])
    assert policy.select(arms) == before
    play_some(policy, 60, seed=1)
    assert policy.confidence_set.n_tests == 13


def test_it_learns_where_to_go() -> None:
    policy = VOFUL(2, n_rounds=1000)
    arms = sphere(np.random.default_rng(1), 10, 2)
    theta_star = np.array([0.5, 0.0])
    for _ in range(800):
        i = policy.select(arms)
        policy.update(arms[i], float(arms[i] @ theta_star))
    assert policy.select(arms) == int(np.argmax(arms @ theta_star))


def test_literal_directions_drive_the_rule_too() -> None:
    policy = VOFUL(2, n_rounds=1000, directions=2.0 * np.eye(2))
    arms = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    for _ in range(600):
        i = policy.select(arms)
        policy.update(arms[i], float(arms[i] @ [0.6, 0.1]))
    assert policy.select(arms) == 0
    assert policy.directions is not None


def test_questions_do_not_change_the_choices() -> None:
    asked, silent = VOFUL(3, n_rounds=200), VOFUL(3, n_rounds=200)
    rng = np.random.default_rng(2)
    for k in range(80):
        arms = sphere(rng, 6, 3)
        if k % 5 == 0:
            asked.index(arms)
        i = asked.select(arms)
        assert i == silent.select(arms)
        for policy in (asked, silent):
            policy.update(arms[i], float(arms[i] @ [0.3, -0.2, 0.1]))


def test_an_empty_set_leaves_the_predictions_to_decide() -> None:
    policy = VOFUL(1, n_rounds=2000, width_scale=1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        policy.partial_fit(np.ones((500, 1)), np.tile([0.9, 0.8], 250))
        assert policy.select([[0.5], [-1.0], [1.0]]) == 2
        assert policy.select([[0.5], [-1.0], [1.0]], mask=[True, True, False]) == 0


def test_voful2_has_its_own_levels() -> None:
    one, two = (
        cls(2, n_rounds=500, constants="paper").confidence_set._peeling for cls in (VOFUL, VOFUL2)
    )
    assert one.levels[0] == 2.0
    assert two.levels[0] == 0.5
    assert two.iota > one.iota


def test_beyond_n_rounds_nothing_is_learnt() -> None:
    policy = VOFUL(2, n_rounds=5)
    play_some(policy, 5)
    with pytest.raises(RuntimeError, match="n_rounds = 5"):
        policy.update([1.0, 0.0], 0.0)
    assert policy.n_observations == 5
