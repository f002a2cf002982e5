"""Scales that are not known: theta_norm=None, and reward ranges that grow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import voful
from helpers import last_record, play_some, sphere
from voful.bandits.growth import grown, has_grown
from voful.envs import linear_bandit
from voful.experiments.play.compiled_loop import can_play
from voful.monitor.watch import ModelAlarm
from voful.typing import FloatArray


def data(n: int = 150, size: float = 1.0) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(5)
    X = sphere(rng, n, 3)
    return X, size * (X @ np.array([0.5, -0.3, 0.1]) + 0.1 * rng.choice([-1.0, 1.0], n))


def same_state(a: Any, b: Any) -> bool:
    one, other = a.state(), b.state()
    return one.keys() == other.keys() and all((one[k] == other[k]).all() for k in one)


@pytest.mark.parametrize("make", [voful.BetOFUL, voful.CertifiedUCB])
def test_an_unknown_norm_is_a_thousand_half_ranges(make: Any, tmp_path: Path) -> None:
    policy = make(3, theta_norm=None, reward_range=(0.0, 4.0), feature_norm=5.0)
    assert policy.theta_norm is None
    assert policy.confidence_set.theta_norm == 400.0
    policy.save(tmp_path / "policy")
    assert voful.load(tmp_path / "policy").confidence_set.theta_norm == 400.0


def test_a_norm_that_is_not_known_is_no_edge() -> None:
    policy = voful.BetOFUL(3, theta_norm=None)
    play_some(policy, 100)
    assert policy.status == "ok"


@pytest.mark.parametrize(
    ("reward", "expected"),
    [(0.5, (0.0, 1.0)), (1.2, (0.0, 1.5)), (3.0, (0.0, 4.5)), (-0.1, (-0.5, 1.0))],
)
def test_each_side_is_doubled_by_itself(reward: float, expected: tuple[float, float]) -> None:
    wider = grown((0.0, 1.0), (0.0, 1.0), reward)
    assert wider == expected
    assert has_grown((0.0, 1.0), wider)
    assert not has_grown((0.0, 1.1), wider)
    assert not has_grown(wider, (0.0, 1.0)) or wider == (0.0, 1.0)


@pytest.mark.parametrize("bet", ["mixed", "mixed+cr"])
def test_from_then_on_it_is_the_set_that_knew_the_range(bet: str) -> None:
    X, y = data()
    guessing = voful.BetOFUL(3, bet=bet, reward_range=(-0.1, 0.1), grow_range=True)
    shown = guessing.confidence_set
    guessing.partial_fit(X, y)
    known = voful.BetOFUL(3, bet=bet, reward_range=guessing.reward_range)
    known.partial_fit(X, y)
    assert guessing.reward_range == (-0.8, 0.8)
    assert guessing.n_observations == known.n_observations == len(y)
    assert (shown.rad == known.confidence_set.rad).all()
    assert guessing.confidence_set is shown  # live
    assert (guessing.confidence_set.center == known.confidence_set.center).all()
    with pytest.raises(ValueError, match="reward: got 0.9; expected a number in reward_range"):
        known.update(X[0], 0.9)


def test_batches_and_files_give_the_same_bits(tmp_path: Path) -> None:
    X, y = data()
    options: Any = {"reward_range": (-0.1, 0.1), "grow_range": True, "theta_norm": None}
    batch, single = voful.BetOFUL(3, **options), voful.BetOFUL(3, **options)
    batch.partial_fit(X, y)
    for k, (x, reward) in enumerate(zip(X, y, strict=True)):
        single.update(x, float(reward))
        if k == 60:
            single.save(tmp_path / "policy")
            single = voful.load(tmp_path / "policy")
    assert same_state(batch, single)
    assert batch.reward_range == single.reward_range
    single.update(X[0], -30.0)
    assert single.reward_range == (-51.2, 0.8)  # from the guess, also after a file


def test_what_the_kept_rounds_say_in_a_wider_range_is_told_at_once() -> None:
    rng = np.random.default_rng(53)
    s, m = rng.uniform(0.01, 0.4), rng.uniform(0.1, 0.6)
    turn = int(rng.integers(10, 80))
    means = np.where(np.arange(97) < turn, m, -m)
    y = np.clip(means + rng.uniform(-s, s, 97), -1.0, 1.0)
    policy = voful.BetOFUL(1, grow_range=True, bet="ratio", on_change="raise")
    policy.partial_fit(np.ones((97, 1)), y)
    assert policy.status == "ok"
    with pytest.raises(ModelAlarm, match="BetOFUL is refuted since round 9"):
        policy.update([1.0], -1.02)
    assert policy.n_observations == 98


TURNED = np.concatenate([np.full(200, 0.9), np.full(200, -0.9)])


@pytest.mark.parametrize("kept", [{}, {"misfit": 0.01}])
def test_a_refutation_is_told_once_however_the_range_grows(kept: dict[str, Any]) -> None:
    policy = voful.BetOFUL(3, grow_range=True, on_change="raise", **kept)
    x = np.array([1.0, 0.0, 0.0])
    with pytest.raises(ModelAlarm):
        policy.partial_fit(np.tile(x, (400, 1)), TURNED)
    for reward in (1.5, 0.0, 4.0, 0.0):
        policy.update(x, reward)
    policy.partial_fit(np.tile(x, (3, 1)), [0.0, 9.0, 0.0])
    assert policy.status == "refuted"
    assert (policy.n_observations, policy.reward_range) == (407, (-1.0, 16.0))


def test_an_alarm_comes_when_the_whole_batch_is_learnt() -> None:
    policy = voful.BetOFUL(3, grow_range=True, on_change="raise")
    rewards = TURNED.copy()
    rewards[[350, 390]] = 1.5, 4.0
    with pytest.raises(ModelAlarm, match="refuted since round 2"):
        policy.partial_fit(np.tile([1.0, 0.0, 0.0], (400, 1)), rewards)
    assert policy.n_observations == 400
    policy.update([1.0, 0.0, 0.0], 0.0)


def test_restarts_forget_and_alarms_are_kept() -> None:
    policy = voful.BetOFUL(3, reward_range=(-1.0, 1.0), grow_range=True)
    x = np.tile([1.0, 0.0, 0.0], (400, 1))
    policy.partial_fit(x, np.repeat([0.9, -0.9], 200))
    alarms, rounds = policy.alarms, policy.n_observations
    assert len(alarms) >= 1
    policy.update(x[0], 1.5)
    assert policy.alarms == alarms
    assert policy.n_observations == rounds + 1
    assert policy.status == "ok"


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e70, "much"])
def test_bad_rewards_change_nothing(bad: Any) -> None:
    policy = voful.BetOFUL(3, reward_range=(-0.1, 0.1), grow_range=True)
    policy.update(np.ones(3) / 2, 0.05)
    before = {name: array.copy() for name, array in policy.state().items()}
    with pytest.raises((ValueError, TypeError), match="reward"):
        policy.update(np.ones(3) / 2, bad)
    with pytest.raises((ValueError, TypeError), match="reward"):
        policy.partial_fit(np.ones((2, 3)) / 2, [0.3, bad])
    with pytest.raises(ValueError, match="x: got"):
        policy.update(np.ones(3), 3.0)
    assert policy.reward_range == (-0.1, 0.1)
    assert all((policy.state()[name] == before[name]).all() for name in before)


def test_it_needs_the_history() -> None:
    with pytest.raises(ValueError, match="grow_range: got True; expected refresh=True"):
        voful.BetOFUL(3, grow_range=True, refresh=False)


def test_a_crafted_guess_is_refused(tmp_path: Path) -> None:
    policy = voful.BetOFUL(3, reward_range=(-0.1, 0.1), grow_range=True)
    policy.partial_fit(*data())
    policy._guess[...] = (-0.3, 0.1)
    with pytest.raises(ValueError, match="a range that grew from its guess"):
        policy.save(tmp_path / "policy")


def test_it_is_played_in_python() -> None:
    """With the same regret as elsewhere: see benchmarks/shapes.py."""
    env = linear_bandit(dim=3, n_arms=5, seed=1)
    policy = voful.BetOFUL(3, reward_range=(-0.1, 0.1), grow_range=True)
    assert not can_play(policy, env, 50)
    assert last_record(policy, env, 50).covered is not None
