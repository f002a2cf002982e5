"""Alarms and guarded restarts of BetOFUL and CertifiedUCB."""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import voful
from helpers import sphere
from voful.confidence.betting.state import RIDGES
from voful.monitor import ModelAlarm
from voful.typing import FloatArray

KINDS: dict[str, Callable[..., Any]] = {
    "betoful": lambda **params: voful.BetOFUL(2, **params),
    "certified": lambda **params: voful.CertifiedUCB(2, **params),
}


def lessons(n: int, turns: int, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    """Rewards along the first axis that turn over after every so many rounds."""
    rng = np.random.default_rng(seed)
    X = sphere(rng, n, 2)
    X[:, 0] = np.abs(X[:, 0])  # so that all means move the same way
    sign = np.where((np.arange(n) // turns) % 2 == 0, 1.0, -1.0)
    return X, np.clip(sign * 0.8 * X[:, 0] + 0.05 * rng.standard_normal(n), -1.0, 1.0)


def impossible(n: int) -> tuple[FloatArray, FloatArray]:
    """The mean is 0.8 along x and along -x: no parameter has that."""
    rng = np.random.default_rng(2)
    X = np.tile([[1.0, 0.0], [-1.0, 0.0]], (n // 2, 1))
    return X, 0.8 + 0.05 * rng.standard_normal(n).clip(-3, 3)


@pytest.mark.parametrize("kind", KINDS)
def test_refuted_and_begun_anew_in_one_batch(kind: str) -> None:
    """A world that turns over before a set is old: rows one by one, and all at once."""
    for seed in range(4):
        X, y = lessons(1500, 60, seed)
        single, batch = KINDS[kind](), KINDS[kind]()
        statuses = set()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            for x, reward in zip(X, y, strict=True):
                single.update(x, reward)
                statuses.add(single.status)
            batch.partial_fit(X, y)
        assert "refuted" in statuses
        assert batch.alarms == single.alarms
        assert batch.status == single.status


@pytest.mark.parametrize("kind", KINDS)
def test_after_a_change_it_learns_anew(kind: str) -> None:
    policy = KINDS[kind]()
    X, y = lessons(800, 400)
    policy.partial_fit(X[:400], y[:400])
    assert policy.alarms == []
    policy.partial_fit(X[400:], y[400:])
    (alarm,) = policy.alarms
    assert 400 < alarm.round < 440
    assert alarm.cause in ("check", "empty")
    assert policy.status in ("ok", "edge")
    assert policy.n_observations == 800
    assert policy.confidence_set.n_observations == 800 - alarm.round
    assert policy.confidence_set.contains([-0.8, 0.0])
    assert policy.select(np.array([[1.0, 0.0], [-1.0, 0.0]])) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_that_never_fits_is_refuted_and_tried_again(kind: str) -> None:
    policy = KINDS[kind]()
    X, y = impossible(400)
    said = []
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for x, reward in zip(X, y, strict=True):
            policy.update(x, float(reward))
            said.append(policy.status)
    first = said.index("refuted")
    assert first < 100  # one strike is enough where no set ever fitted
    assert said[first : first + 100] == ["refuted"] * 100
    assert said[first + 100] != "refuted"  # after 50 d rounds, one more try
    assert "is refuted" in str(told[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        policy = KINDS[kind]()
        with pytest.warns(RuntimeWarning, match="is refuted"):
            policy.partial_fit(X[: first + 1], y[: first + 1])
        assert (policy.status, policy.status_since) == ("refuted", first + 1)
        arms = np.array([[0.6, 0.8], [-0.6, 0.8], [0.0, -0.5]])
        np.testing.assert_array_equal(policy.confidence_set.interval(arms), [[-1] * 3, [1] * 3])
        assert getattr(policy, "ledger", math.inf) == math.inf


@pytest.mark.parametrize("kind", [*KINDS, "mixed+cr"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_refuted_policy_plays_linucb_in_units_of_its_residuals(kind: str) -> None:
    """The ridge that predicts best, all rounds, alpha its error: scales change no choice."""
    rng = np.random.default_rng(5)
    X, y = impossible(400)
    arms = sphere(rng, 40 * 6, 2).reshape(40, 6, 2)
    rewards = rng.uniform(-1.0, 1.0, 40).tolist()
    played = []
    for F, unit in ((1.0, 1.0), (8.0, 0.25)):  # powers of two: bits are the same
        params: dict[str, Any] = {
            "feature_norm": F,
            "reward_range": (-unit, unit),
            "theta_norm": unit / F,
        }
        if kind == "mixed+cr":
            params["bet"] = kind
        policy = KINDS.get(kind, KINDS["betoful"])(**params)
        n = 0
        while policy.status != "refuted":
            policy.update(F * X[n], unit * float(y[n]))
            n += 1
        G, b = F**2 * X[:n].T @ X[:n], F * unit * X[:n].T @ y[:n]
        choices: list[int] = []
        for offered in F * arms:
            error = policy._betting.views().predictors.error
            best = int(np.argmin(error))
            P = np.linalg.inv(RIDGES[best] * F**2 * np.eye(2) + G)
            spread = np.einsum("ij,jk,ik->i", offered, P, offered)
            scores = offered @ P @ b + np.sqrt(error[best] * spread)
            choice = policy.select(offered)
            assert scores[choice] >= scores.max() - 1e-6 * unit
            assert policy.select(offered, pending=offered[:2]) == choice
            allowed = np.arange(6) != choice
            second = policy.select(offered, mask=allowed)
            assert scores[second] >= scores[allowed].max() - 1e-6 * unit
            x, reward = offered[choice], unit * rewards[len(choices)]
            policy.update(x, reward)
            G, b = G + np.outer(x, x), b + reward * x
            choices.append(choice)
        assert policy.status == "refuted"
        played.append(choices)
    assert played[0] == played[1]


@pytest.mark.parametrize("kind", KINDS)
def test_warn_says_so_once_and_goes_on(kind: str) -> None:
    policy, silent = KINDS[kind](on_change="warn"), KINDS[kind](on_change=None)
    X, y = lessons(430, 400)
    with pytest.warns(RuntimeWarning, match="is refuted: the data refute the model"):
        policy.partial_fit(X, y)
    assert policy.status == "refuted"
    assert policy.status_since == policy.alarms[0].round
    np.testing.assert_array_equal(policy.index(X[:2])[1], [-1.0, -1.0])
    assert not policy.confidence_set.contains([0.8, 0.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        policy.partial_fit(X[:20], y[:20])
    silent.partial_fit(X[:410], y[:410])
    twin = KINDS[kind](on_change="restart")
    twin.partial_fit(X[:400], y[:400])
    silent = KINDS[kind](on_change=None)
    silent.partial_fit(X[:400], y[:400])
    memory = "confidence_set/memory" if kind == "betoful" else "confidence_set/betting/memory"
    np.testing.assert_array_equal(twin.state()[memory], silent.state()[memory])  # no price


@pytest.mark.parametrize("kind", KINDS)
def test_raise_leaves_a_policy_that_can_be_saved(kind: str, tmp_path: Path) -> None:
    policy = KINDS[kind](on_change="raise")
    X, y = lessons(430, 400)
    policy.partial_fit(X[:400], y[:400])
    with pytest.raises(ModelAlarm, match="since round 4"):
        policy.partial_fit(X[400:], y[400:])
    assert policy.n_observations == 430
    policy.save(tmp_path / "p")
    loaded = voful.load(tmp_path / "p")
    assert loaded.status == "refuted"
    assert loaded.alarms == policy.alarms
    loaded.update(X[0], float(y[0]))  # told once


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_saved_in_whatever_phase_it_continues_bit_for_bit(kind: str, tmp_path: Path) -> None:
    policy = KINDS[kind]()
    X, y = (np.concatenate(parts) for parts in zip(lessons(300, 300), impossible(500), strict=True))
    twins: list[Any] = []
    phases = set()
    for k, (x, reward) in enumerate(zip(X, y, strict=True)):
        if k % 40 == 15:
            policy.save(tmp_path / f"{k}")
            twins += [voful.load(tmp_path / f"{k}"), copy.deepcopy(policy)]
            phases.add((policy._watch.facts[8], policy.status))  # strikes
        for twin in (policy, *twins[-6:]):
            twin.update(x, float(reward))
        for twin in twins[-6:]:
            for name, array in policy.state().items():
                np.testing.assert_array_equal(array, twin.state()[name])
    assert len(phases) >= 3
    assert len(policy.alarms) >= 3


def test_audits_restart_without_an_alarm() -> None:
    policy = voful.BetOFUL(2, audit=350)
    X, y = lessons(1401, 10_000)
    policy.partial_fit(X[:349], y[:349])
    assert policy.confidence_set.n_observations == 349
    policy.partial_fit(X[349:350], y[349:350])
    assert policy.confidence_set.n_observations == 0
    policy.partial_fit(X[350:], y[350:])
    assert policy.confidence_set.n_observations == 1  # at 4 P
    assert policy.alarms == []


def test_the_second_set_restarts_too() -> None:
    policy: Any = voful.BetOFUL(2, bet="mixed+cr")
    X, y = lessons(800, 400)
    policy.partial_fit(X, y)
    (alarm,) = policy.alarms
    assert policy.confidence_set.constant_risk.n_observations == 800 - alarm.round
    assert policy.confidence_set.contains([-0.8, 0.0])


@pytest.mark.parametrize(
    ("params", "name"),
    [({"on_change": "explode"}, "on_change"), ({"audit": 0}, "audit"), ({"audit": 2.5}, "audit")],
)
def test_bad_arguments_are_named(params: dict[str, Any], name: str) -> None:
    with pytest.raises((ValueError, TypeError), match=name):
        voful.BetOFUL(2, **params)


def test_audits_need_restarts() -> None:
    with pytest.raises(ValueError, match="audit"):
        voful.BetOFUL(2, audit=100, on_change="warn")


def test_crafted_watches_are_refused(tmp_path: Path) -> None:
    policy = voful.BetOFUL(2)
    for place, value in ((0, 7.0), (9, 99.0), (15 + 4, -1.0)):
        twin = copy.deepcopy(policy)
        twin._watch.facts[place] = value
        with pytest.raises(ValueError, match="does not satisfy"):
            twin.save(tmp_path / "p")
