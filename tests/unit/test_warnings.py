"""Warnings name the line that called the library: by it Python shows each place once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import voful
from voful.confidence.standing import REFUTED, STATUS
from voful.monitor.watch import NEWS, ModelAlarm
from voful.typing import FloatArray

X: FloatArray = np.tile([1.0, 0.0, 0.0], (400, 1))
TURNED = np.repeat([0.9, -0.9], 200)
AXES: FloatArray = np.eye(2)


def one_by_one(policy: Any) -> None:
    for x, reward in zip(X, TURNED, strict=True):
        policy.update(x, float(reward))


def at_once(policy: Any) -> None:
    policy.partial_fit(X, TURNED)


@pytest.mark.parametrize("teach", [one_by_one, at_once])
@pytest.mark.parametrize(
    "make",
    [
        lambda: voful.BetOFUL(3, on_change="warn"),
        lambda: voful.BetOFUL(3, on_change="warn", grow_range=True),
        lambda: voful.BetOFUL(3, on_change="warn", misfit=0.01),
        lambda: voful.CertifiedUCB(3, on_change="warn"),
    ],
)
def test_of_a_refuted_model(make: Callable[[], Any], teach: Callable[[Any], None]) -> None:
    with pytest.warns(RuntimeWarning, match="is refuted") as caught:
        teach(make())
    assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.parametrize(
    "ask",
    [
        lambda policy: policy.select(AXES),
        lambda policy: policy.index(AXES),
        lambda policy: policy.status,
        lambda policy: policy.confidence_set.interval(AXES),
        lambda policy: policy.confidence_set.support(AXES),
    ],
)
def test_of_an_empty_set_that_is_asked(ask: Callable[[Any], Any]) -> None:
    policy = voful.CRBetOFUL(2, theta_norm=0.1)
    policy.partial_fit(np.tile(AXES, (500, 1)), np.full(1000, 0.9))
    with pytest.warns(RuntimeWarning, match="is empty") as caught:
        ask(policy)
    assert [(warning.filename, warning.lineno) for warning in caught] == [line_of(ask)]


def line_of(function: Any) -> tuple[str, int]:
    return __file__, function.__code__.co_firstlineno


def test_of_a_set_that_learning_has_emptied() -> None:
    with pytest.warns(RuntimeWarning, match="is empty") as caught:
        voful.BetOFUL(2, on_change=None).partial_fit(
            np.tile(AXES, (500, 1)), np.repeat([0.9, -0.9], 500)
        )
    assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.parametrize(
    "make", [voful.CertifiedUCB, lambda d, **k: voful.BetOFUL(d, grow_range=True, **k)]
)
def test_what_is_learnt_elsewhere_is_told_once_with_the_next_reward(make: Any) -> None:
    """A set under watch may be taught by hand, or say so from a file."""
    policy = make(3, on_change="warn")
    policy._watch.facts[[STATUS, NEWS]] = REFUTED, 1.0
    with pytest.warns(RuntimeWarning, match="is refuted") as caught:
        policy.update(X[0], 0.9)
    assert len(caught) == 1
    policy.update(X[0], 0.9)


def test_a_watched_set_that_is_taught_by_hand() -> None:
    policy = voful.CertifiedUCB(3, on_change="raise")
    policy.confidence_set.partial_fit(X, TURNED)
    assert policy.status == "refuted"
    with pytest.raises(ModelAlarm, match="CertifiedUCB is refuted"):
        policy.update(X[0], 0.9)
    policy.update(X[0], 0.9)


def test_of_wrong_propensities() -> None:
    rng = np.random.default_rng(0)
    played = rng.random(2000) < 0.3
    log = voful.Log(played.astype(int), rng.random(2000), np.where(played, 0.1, 0.9))
    with pytest.warns(UserWarning, match="propensities are wrong") as caught:
        voful.evaluate(log, played.astype(float))
    assert [warning.filename for warning in caught] == [__file__]
