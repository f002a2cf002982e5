"""Warnings name the line that called the library: by it Python shows each place once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import voful
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
@pytest.mark.parametrize(
    ("make", "then"),
    [
        (lambda: voful.BetOFUL(2, on_change=None), -0.9),
        (lambda: voful.CRBetOFUL(2, theta_norm=0.1), 0.9),
    ],
)
def test_of_an_empty_set(make: Callable[[], Any], then: float, ask: Callable[[Any], Any]) -> None:
    def learn_and_ask() -> None:
        policy = make()
        policy.partial_fit(np.tile(AXES, (500, 1)), np.repeat([0.9, then], 500))
        ask(policy)

    with pytest.warns(RuntimeWarning, match="is empty") as caught:
        learn_and_ask()
    assert [warning.filename for warning in caught] == [__file__]


def test_of_wrong_propensities() -> None:
    rng = np.random.default_rng(0)
    played = rng.random(2000) < 0.3
    log = voful.Log(played.astype(int), rng.random(2000), np.where(played, 0.1, 0.9))
    with pytest.warns(UserWarning, match="propensities are wrong") as caught:
        voful.evaluate(log, played.astype(float))
    assert [warning.filename for warning in caught] == [__file__]
