from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import voful
from helpers import play_some, sphere
from voful import BetOFUL, CRBetOFUL
from voful.bandits.betoful import CUT
from voful.confidence import BettingEllipsoid
from voful.confidence.betting.cut import (
    RISK_SHARE,
    CutBettingEllipsoid,
    cut_holds,
    cut_observe,
)
from voful.envs import linear_bandit
from voful.experiments.play.compiled_loop import can_play


def test_select_follows_the_support() -> None:
    policy, rng = CRBetOFUL(3), np.random.default_rng(1)
    for k in range(40):
        play_some(policy, 1, seed=k)
        arms = sphere(rng, 8, 3)
        assert policy.select(arms) == int(np.argmax(policy.confidence_set.support(arms)))


def test_a_zero_arm_is_counted_and_teaches_nothing() -> None:
    policy = CRBetOFUL(2)
    play_some(policy, 10)
    before, bound = policy.confidence_set.rad, policy.regret_bound
    policy.update([0.0, 0.0], 1.0)
    assert policy.n_observations == 11
    assert (policy.confidence_set.rad, policy.regret_bound) == (before, bound)
    assert policy.confidence_set.views().risk.bets[0] == 10


def test_the_regret_bound_is_what_it_says() -> None:
    policy, bound = CRBetOFUL(3), 0.0
    assert policy.regret_bound == 0.0
    rng = np.random.default_rng(0)
    for _ in range(30):
        x = sphere(rng, 1, 3)
        lower, upper = policy.confidence_set.interval(x)
        bound += float(upper[0] - lower[0])
        policy.update(x[0], 0.3 * float(x[0, 0]))
        assert policy.regret_bound == pytest.approx(bound)


def test_an_empty_set_stops_betting_and_bounds_nothing() -> None:
    """The parameter (0.5, 0) is not in the ball: at some point nothing is left."""
    policy = CRBetOFUL(2, theta_norm=0.1)
    rng = np.random.default_rng(0)
    X = sphere(rng, 3000, 2)
    policy.partial_fit(X, 0.5 * X[:, 0] + 0.02 * rng.choice([-1.0, 1.0], 3000))
    assert policy.confidence_set.is_empty
    assert policy.regret_bound == math.inf
    with pytest.warns(RuntimeWarning, match="is empty"):
        assert policy.select(np.array([[1.0, 0.0], [-1.0, 0.0]])) == 0
    policy.update([1.0, 0.0], 0.5)
    assert policy.n_observations == 3001


@pytest.mark.parametrize("scale", [0.25, 8.0])
def test_features_and_rewards_scale(scale: float) -> None:
    """Features times F, rewards times h, theta times h/F: the same set, scaled."""
    F, h = scale, 4.0
    plain = CRBetOFUL(3)
    scaled = CRBetOFUL(3, feature_norm=F, reward_range=(-h, h), theta_norm=h / F)
    rng = np.random.default_rng(3)
    X, theta = sphere(rng, 200, 3), np.array([0.5, 0.1, -0.2])
    y = X @ theta + 0.1 * rng.uniform(-1, 1, 200)
    plain.partial_fit(X, y)
    scaled.partial_fit(F * X, h * y)
    probes = sphere(rng, 10, 3)
    Theta, Scaled = plain.confidence_set, scaled.confidence_set
    np.testing.assert_array_equal(Scaled.support(F * probes), h * Theta.support(probes))
    assert scaled.regret_bound == h * plain.regret_bound


# --- BetOFUL's set cut with it ------------------------------------------------------------------


def test_the_cut_set_is_the_intersection() -> None:
    policy = BetOFUL(3, bet=CUT)
    mixed = BetOFUL(3, failure_prob=(1.0 - RISK_SHARE) * 0.05)
    alone = CRBetOFUL(3, failure_prob=RISK_SHARE * 0.05)
    rng = np.random.default_rng(5)
    theta = np.array([0.4, -0.2, 0.1])
    for _ in range(100):
        arms = sphere(rng, 12, 3)
        expected = np.minimum(mixed.index(arms)[2], alone.index(arms)[2])
        np.testing.assert_array_equal(policy.confidence_set.support(arms), expected)
        i = policy.select(arms)
        assert expected[i] >= expected.max() - 1e-8
        y = float(arms[i] @ theta + rng.choice([-0.2, 0.2]))
        for learner in (policy, mixed, alone):
            learner.update(arms[i], y)
    for probe in sphere(rng, 50, 3, 0.3) + theta:
        both = mixed.confidence_set.contains(probe) and alone.confidence_set.contains(probe)
        assert policy.confidence_set.contains(probe) == both
    assert policy.failure_prob == policy.confidence_set.failure_prob == 0.05


def test_the_constant_risk_set_can_decide() -> None:
    """Where only its end is low, the index and the choice follow it."""
    policy = BetOFUL(2, bet=CUT)
    play_some(policy, 30)
    Theta = policy.confidence_set
    assert isinstance(Theta, CutBettingEllipsoid)
    arms = sphere(np.random.default_rng(0), 20, 2)
    top = policy.select(arms)
    risk = Theta.constant_risk.views().Theta
    risk.center[0] = -10.0 * arms[top]
    ends = BettingEllipsoid._interval(Theta, arms)[1], Theta.constant_risk.support(arms)
    assert policy.select(arms) == int(np.argmax(np.minimum(*ends))) != top


@pytest.mark.parametrize("refresh", [True, False])
def test_the_cut_set_saves_and_continues(refresh: bool, tmp_path: Path) -> None:
    policy = BetOFUL(2, bet=CUT, refresh=refresh, theta_center=[0.1, 0.0], reward_range=(-1, 2))
    play_some(policy, 70)
    policy.save(tmp_path / "p")
    loaded = voful.load(tmp_path / "p")
    X, _ = play_some(policy, 70, seed=2)
    np.testing.assert_array_equal(X, play_some(loaded, 70, seed=2)[0])
    for name, array in policy.state().items():
        np.testing.assert_array_equal(array, loaded.state()[name])


def test_an_emptied_part_empties_the_cut_set() -> None:
    policy = BetOFUL(2, bet=CUT)
    play_some(policy, 20)
    Theta = policy.confidence_set
    assert isinstance(Theta, CutBettingEllipsoid)
    Theta.constant_risk.views().clock.emptied[0] = 1.0
    arms = np.array([[1.0, 0.0], [-1.0, 0.0]])
    with pytest.warns(RuntimeWarning, match="is empty"):
        choice = policy.select(arms)
    assert choice == int(np.argmax(policy.predict(arms)))


def test_the_rule_of_compiled_loops_does_the_same() -> None:
    """Not compiled here: what loops compile calls the same kernels."""
    policy, twin = BetOFUL(2, bet=CUT), BetOFUL(2, bet=CUT)
    play_some(policy, 20)
    play_some(twin, 20)
    Theta, Twin = policy.confidence_set, twin.confidence_set
    assert isinstance(Twin, CutBettingEllipsoid)
    x = np.array([0.6, -0.8])
    policy.update(x, 0.25)
    Twin.reserve(1)
    state = Twin.memory, Twin.history, Twin.constant_risk.memory
    plain(cut_observe)(*state, x, 0.25, 0.0)
    for name, array in Theta.state().items():
        np.testing.assert_array_equal(array, Twin.state()[name])
    for theta in sphere(np.random.default_rng(1), 50, 2, 0.7):
        assert plain(cut_holds)(*state, theta) == Theta.contains(theta)
    env = linear_bandit(dim=2, n_arms=8, sigma=0.2, seed=4)
    assert can_play(BetOFUL(2, bet=CUT), env, 100)


def plain(compiled: Callable[..., Any]) -> Callable[..., Any]:
    function: Callable[..., Any] = getattr(compiled, "py_func", compiled)
    return function
