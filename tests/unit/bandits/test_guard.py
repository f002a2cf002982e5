"""The guard with a heuristic of the user's own."""

from __future__ import annotations

import copy
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import voful
from helpers import play_some, sphere
from voful import Guarded
from voful.checks import check_policy
from voful.typing import FloatArray


class Greedy:
    """The best predicted arm."""

    def __init__(self, dim: int) -> None:
        self.gram, self.response = 1e-3 * np.eye(dim), np.zeros(dim)

    def scores(self, arms: FloatArray) -> FloatArray:
        return np.asarray(arms @ np.linalg.solve(self.gram, self.response))

    def update(self, x: FloatArray, reward: float) -> None:
        self.gram += np.outer(x, x)
        self.response += reward * x


class Says:
    """Always the same scores."""

    def __init__(self, scores: Any) -> None:
        self.said = scores

    def scores(self, arms: FloatArray) -> Any:
        return self.said

    def update(self, x: FloatArray, reward: float) -> None: ...


def quiet(policy: Guarded, rounds: int, seed: int = 0) -> tuple[FloatArray, float]:
    """Fixed arms without noise: the arms and the regret."""
    arms, theta = sphere(np.random.default_rng(seed), 6, policy.dim), np.eye(policy.dim)[0] / 2
    regret = 0.0
    for _ in range(rounds):
        i = policy.select(arms)
        policy.update(arms[i], float(arms[i] @ theta))
        regret += float((arms @ theta).max() - arms[i] @ theta)
    return arms, regret


def test_a_guarded_heuristic_keeps_the_contract() -> None:
    left_out = check_policy(
        Guarded(3, heuristic=Greedy(3)), load=lambda path: _loaded(path, Greedy(3))
    )
    assert set(left_out) == {"check_rounds_limit", "check_variances"}


def _loaded(path: Any, heuristic: Greedy) -> Any:
    # The user's own file would hold these; here they are read off the guard, which knew the same.
    policy = voful.load(path, cls=Guarded)
    ridge = policy.confidence_set.blocks[0]
    d = policy.dim
    heuristic.gram += ridge[: d * d].reshape(d, d) - np.eye(d)
    heuristic.response += ridge[2 * d * d : 2 * d * d + d]
    policy.heuristic = heuristic
    return policy


def test_the_heuristic_decides_among_survivors() -> None:
    rng = np.random.default_rng(0)
    for choice in range(4):
        scores = np.full(4, -5.0)
        scores[choice] = -4.0
        policy = Guarded(3, heuristic=Says(scores))
        play_some(policy := Guarded(3), 30)
        policy.heuristic = Says(scores)
        arms = sphere(rng, 4, 3)
        assert policy.survivors(arms).all()
        assert policy.select(arms) == choice


def test_what_is_surely_worse_is_never_played() -> None:
    policy = Guarded(2)
    arms, _ = quiet(policy, 400)
    left = policy.survivors(arms)
    assert not left.all()
    policy.heuristic = Says(np.where(left, 0.0, 1.0))
    assert left[policy.select(arms)]


def test_regret_stays_below_the_ledger_and_stops_with_the_certificate() -> None:
    policy = Guarded(2, heuristic=Greedy(2))
    arms, regret = quiet(policy, 3000)
    assert regret <= policy.ledger
    best, certified = policy.best_arm(arms)
    assert certified
    assert best == int(np.argmax(arms[:, 0]))
    before = policy.ledger
    assert policy.select(arms) == best
    assert policy.ledger == before  # nothing can be lost any more


def test_without_a_heuristic_it_is_optimism() -> None:
    policy = Guarded(3)
    play_some(policy, 60)
    arms = sphere(np.random.default_rng(1), 8, 3)
    assert policy.select(arms) == int(np.argmax(policy.confidence_set.support(arms)))
    assert policy.overruled == 0


def test_a_heuristic_that_costs_too_much_is_overruled() -> None:
    """It wants the worst arm for ever; optimism gets its share, and the other arm is certified."""
    policy = Guarded(2, heuristic=Says([0.0, 1.0]))
    arms, theta = np.eye(2), np.array([0.4, 0.0])
    played = np.zeros(2)
    for _ in range(3000):
        i = policy.select(arms)
        policy.update(arms[i], float(theta[i]))
        played[i] += 1
    assert policy.overruled > 0
    assert policy.best_arm(arms) == (0, True)
    assert 0.4 * played[1] <= policy.ledger
    books = policy.confidence_set.books
    assert books.trusted[0] <= 40.0 * books.optimism[0] + 1.0


def test_a_mask_hides_arms_from_the_ledger() -> None:
    policy = Guarded(2, heuristic=Says([0.0, 1.0, 0.5]))
    arms = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    assert policy.select(arms, mask=[False, False, True]) == 2
    assert policy.ledger == 0.0  # nothing else could have been played
    policy.select(arms, mask=[True, False, True])
    assert policy.ledger > 0.0


def test_every_choice_is_charged_and_learning_is_not() -> None:
    policy = Guarded(2)
    policy.select(np.eye(2))
    once = policy.ledger
    policy.update([1.0, 0.0], 0.1)
    assert 0.0 < policy.ledger == once
    policy.select(np.eye(2))
    assert policy.ledger > once


def test_an_empty_set_certifies_nothing() -> None:
    policy = Guarded(2, heuristic=Says([0.0, 1.0]))
    play_some(policy_ := Guarded(2), 20)
    policy_.heuristic, policy = policy.heuristic, policy_
    policy.confidence_set.betting.views().Theta.rad[0] = -1.0
    with pytest.warns(RuntimeWarning, match="is empty"):
        assert policy.select(np.eye(2)) == 1
    assert policy.ledger == math.inf
    assert policy.best_arm(np.eye(2))[1] is False


def test_ends_that_cross_empty_the_set() -> None:
    """The two ellipsoids have no common point: no parameter explains the data."""
    policy = Guarded(2)
    play_some(policy, 20)
    theta_set = policy.confidence_set
    theta_set.blocks[0, 2 * 4 + 2 : 2 * 4 + 4] += 100.0  # OFUL's centre
    with pytest.warns(RuntimeWarning, match="is empty"):
        policy.select(np.eye(2))
    assert theta_set.is_empty
    assert policy.ledger == math.inf


@pytest.mark.parametrize("bad", [[0.0], [[0.0, 1.0]], [math.nan, 0.0], "ab", None])
def test_bad_scores_are_refused_and_change_nothing(bad: Any) -> None:
    policy = Guarded(2, heuristic=Says(bad))
    before = {name: array.copy() for name, array in policy.state().items()}
    with pytest.raises((ValueError, TypeError), match="scores"):
        policy.select(np.eye(2))
    for name, array in policy.state().items():
        np.testing.assert_array_equal(array, before[name])


@pytest.mark.parametrize("bad", ["greedy", 3, object(), np.zeros(2)])
def test_a_heuristic_needs_two_methods(bad: Any) -> None:
    with pytest.raises(TypeError, match=r"heuristic: got .*scores\(arms\) and update"):
        Guarded(2, heuristic=bad)


def test_the_guard_saves_and_copies(tmp_path: Path) -> None:
    policy = Guarded(3, heuristic=Greedy(3))
    play_some(policy, 50)
    twin = copy.deepcopy(policy)
    policy.save(tmp_path / "p")
    loaded = voful.load(tmp_path / "p", cls=Guarded)
    assert loaded.heuristic is None
    loaded.heuristic = copy.deepcopy(policy.heuristic)
    assert loaded.ledger == policy.ledger == twin.ledger
    X, _ = play_some(policy, 40, seed=3)
    np.testing.assert_array_equal(X, play_some(loaded, 40, seed=3)[0])
    np.testing.assert_array_equal(X, play_some(twin, 40, seed=3)[0])
    assert loaded.ledger == policy.ledger == twin.ledger
