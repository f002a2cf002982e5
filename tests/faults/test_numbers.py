"""Numbers at the edge of what a float can hold, and odd arrays: refused by name, or honoured."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

from helpers import make_policy, play_some, sphere, teach_one
from voful import LOSAN, OFUL, BetOFUL, registry
from voful.confidence.betting.state import open_clock


@pytest.mark.parametrize("id", [entry.id for entry in registry.entries("bandit")])
@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("dim", 2**62),
        ("failure_prob", 5e-324),
        ("reward_range", (-1e300, 1e300)),
        ("n_rounds", 10**30),
        ("theta_norm", 1e-300),
    ],
)
def test_numbers_beyond_use_are_refused_by_name(id: str, argument: str, value: Any) -> None:
    accepted = inspect.signature(registry.lookup(id).cls).parameters
    if argument not in accepted:
        return
    arguments = {"n_rounds": 10, argument: value}
    dim = arguments.pop("dim", 2)
    with pytest.raises(ValueError, match=argument):
        registry.create(id, dim, **arguments)


def test_the_least_norm_that_is_accepted_can_be_played() -> None:
    """The control: just inside of the limits all is finite."""
    policy = LOSAN(2, theta_norm=1e-6)
    play_some(policy, 5)
    assert np.isfinite(policy.index(np.eye(2))).all()


@pytest.mark.parametrize("id", ["save", "save-paper", "suplinucb", "lofav", "betoful"])
def test_means_lie_in_their_intervals(id: str) -> None:
    rng = np.random.default_rng(3)
    policy = make_policy(id)
    for _ in range(120):
        arms = sphere(rng, 6, 3)
        mean, lower, upper = policy.index(arms)
        assert ((lower <= mean) & (mean <= upper)).all()
        choice = policy.select(arms)
        teach_one(policy, arms[choice], float(rng.choice([-1.0, 1.0])))


@pytest.mark.parametrize("masked", [[True, False], [False, False]])
def test_masked_arrays_are_refused(masked: list[bool]) -> None:
    policy = OFUL(2)
    row = np.ma.array([0.5, 0.5], mask=masked)
    for call in (
        lambda: policy.select(row[None]),
        lambda: policy.update(row, 0.1),
        lambda: policy.partial_fit(np.eye(2), np.ma.array([0.1, 0.2], mask=masked)),
        lambda: policy.predict(row[None]),
        lambda: policy.confidence_set.contains(row),
        lambda: policy.select(np.eye(2), mask=np.ma.array([True, True], mask=masked)),
    ):
        with pytest.raises(TypeError, match="without a mask"):
            call()
    with pytest.raises((TypeError, ValueError), match="reward"):
        policy.update([1.0, 0.0], np.ma.masked)  # type: ignore[arg-type]
    assert policy.n_observations == 0


def test_early_updates_in_many_dimensions_do_not_pay_for_a_refresh() -> None:
    """A refresh costs d^3, which one update in d / 8 may."""
    assert open_clock(BetOFUL(500).confidence_set.memory).next_refresh[0] == 62
    assert open_clock(BetOFUL(5).confidence_set.memory).next_refresh[0] == 2
