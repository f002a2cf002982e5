from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import voful
from helpers import play_some, sphere
from voful import OFUL, BetOFUL
from voful.confidence.betting.state import BETS


@pytest.mark.parametrize("bet", BETS)
def test_select_follows_the_support(bet: str) -> None:
    policy = BetOFUL(3, bet=bet)
    rng = np.random.default_rng(1)
    for k in range(60):
        play_some(policy, 1, seed=k)
        arms = sphere(rng, 8, 3)
        assert policy.select(arms) == int(np.argmax(policy.confidence_set.support(arms)))
        mask = rng.random(8) < 0.4
        mask[3] = True
        upper = np.where(mask, policy.confidence_set.support(arms), -np.inf)
        assert policy.select(arms, mask=mask) == int(np.argmax(upper))


def test_ties_go_to_the_lowest_index() -> None:
    arms = np.vstack([np.eye(3), np.eye(3)])
    assert BetOFUL(3).select(arms) == 0
    assert BetOFUL(3).select(arms, mask=[False, False, False, False, True, True]) == 4


def test_means_lie_in_their_intervals() -> None:
    policy = BetOFUL(3)
    play_some(policy, 80)
    mean, lower, upper = policy.index(sphere(np.random.default_rng(1), 50, 3))
    assert (lower <= mean).all()
    assert (mean <= upper).all()


@pytest.mark.parametrize("bet", BETS)
def test_an_empty_set_leaves_the_means_to_decide(bet: str) -> None:
    policy = BetOFUL(2, bet=bet, on_change=None)
    play_some(policy, 20)
    policy.confidence_set.views().Theta.rad[0] = -1.0
    arms = np.array([[1.0, 0.0], [-1.0, 0.0]])
    with pytest.warns(RuntimeWarning, match="is empty"):
        choice = policy.select(arms)
    assert choice == int(np.argmax(policy.predict(arms)))
    policy.update(arms[choice], 0.1)
    assert policy.n_observations == 21


@pytest.mark.parametrize("bet", BETS)
def test_a_ball_that_is_too_small_is_noticed(bet: str) -> None:
    """The parameter (0.5, 0) is not in the ball: at some point nothing is left, and it says so."""
    policy = BetOFUL(2, bet=bet, theta_norm=0.1, on_change=None)
    rng = np.random.default_rng(0)
    X = sphere(rng, 2000, 2)
    rewards = 0.5 * X[:, 0] + 0.05 * rng.choice([-1.0, 1.0], 2000)
    with pytest.warns(RuntimeWarning, match="is empty"):
        policy.partial_fit(X, rewards)
    Theta = policy.confidence_set
    assert not Theta.contains([0.05, 0.0])
    assert Theta.is_empty
    np.testing.assert_allclose(Theta.center, [0.5, 0.0], atol=0.02)  # predictions go on learning
    policy.partial_fit(X, np.zeros(2000))
    assert Theta.is_empty  # for ever


@pytest.mark.parametrize("bet", BETS)
def test_rewards_at_the_ends_of_the_range_are_learnt_from(bet: str) -> None:
    """Binary rewards have the largest variance that the range allows."""
    rng = np.random.default_rng(3)
    X = sphere(rng, 5000, 2)
    rewards = np.where(rng.random(5000) < 0.5 + 0.25 * X[:, 0], 1.0, -1.0)
    policy, oful = BetOFUL(2, bet=bet), OFUL(2)
    policy.partial_fit(X, rewards)
    oful.partial_fit(X, rewards)
    arms = sphere(rng, 20, 2)
    widths = [np.ptp(p.confidence_set.interval(arms), axis=0).max() for p in (policy, oful)]
    assert widths[0] <= 1.3 * widths[1]


@pytest.mark.parametrize("bet", BETS)
@pytest.mark.filterwarnings(
    "ignore:BettingEllipsoid is empty"
)  # three ellipsoids that are too small
def test_a_tiny_width_scale_never_turns_an_interval_round(bet: str) -> None:
    policy = BetOFUL(3, bet=bet, width_scale=0.001)
    play_some(policy, 200)
    mean, lower, upper = policy.index(sphere(np.random.default_rng(1), 200, 3))
    assert (lower <= mean).all()
    assert (mean <= upper).all()


@pytest.mark.parametrize("bet", BETS)
@pytest.mark.parametrize("refresh", [True, False])
def test_every_form_saves_and_continues(bet: str, refresh: bool, tmp_path: Path) -> None:
    policy = BetOFUL(
        2, bet=bet, refresh=refresh, theta_center=[0.1, 0.0], reward_range=(-1, 2), feature_norm=2.0
    )
    play_some(policy, 70)
    policy.save(tmp_path / "p")
    loaded = voful.load(tmp_path / "p")
    assert repr(loaded) == repr(policy)
    X, _ = play_some(policy, 70, seed=2)
    np.testing.assert_array_equal(X, play_some(loaded, 70, seed=2)[0])
    np.testing.assert_array_equal(policy.confidence_set.memory, loaded.confidence_set.memory)


def test_an_out_of_range_reward_changes_nothing() -> None:
    policy = BetOFUL(2, reward_range=(0.0, 1.0))
    policy.update([1.0, 0.0], 0.5)
    before = policy.confidence_set.memory.copy()
    for bad in (-0.1, 1.1, math.nan):
        with pytest.raises(ValueError, match="reward: got"):
            policy.update([1.0, 0.0], bad)
        with pytest.raises(ValueError, match="rewards"):
            policy.partial_fit(np.eye(2), [0.5, bad])
    np.testing.assert_array_equal(policy.confidence_set.memory, before)
    assert policy.n_observations == 1
    policy.update([1.0, 0.0], 1.0 + 1e-10)  # rounding is forgiven


def test_an_intercept_and_large_features() -> None:
    """Click rates in [0, 1] that are affine in features of size 30."""
    rng = np.random.default_rng(0)
    policy = BetOFUL(3, reward_range=(0.0, 1.0), feature_norm=31.0, theta_norm=1.0)
    theta_star = np.array([0.5, 0.004, -0.01])
    for _ in range(1500):
        arms = np.column_stack([np.ones(10), rng.uniform(-20, 20, (10, 2))])
        i = policy.select(arms)
        policy.update(arms[i], bool(rng.random() < arms[i] @ theta_star))
    assert policy.confidence_set.contains(theta_star)
    best = np.array([[1.0, 20.0, -20.0]])
    assert policy.predict(best)[0] == pytest.approx(0.78, abs=0.1)


@pytest.mark.parametrize(
    "bad",
    [{"dim": 0}, {"failure_prob": 1.0}, {"reward_range": None}, {"reward_range": (1, 1)},
     {"theta_norm": 0.0}, {"theta_norm": 1e9}, {"theta_center": [0.0]},
     {"theta_center": [math.nan, 0.0]}, {"theta_center": [1e9, 0.0]}, {"feature_norm": -1},
     {"bet": "none"}, {"bet": 3}, {"refresh": None}, {"width_scale": 0.0}, {"seed": "a"}],
)  # fmt: skip
def test_bad_arguments_are_named(bad: dict[str, Any]) -> None:
    (name,) = bad
    with pytest.raises((ValueError, TypeError), match=f"{name}: got"):
        BetOFUL(**{"dim": 2, **bad})
