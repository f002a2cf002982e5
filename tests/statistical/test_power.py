"""The counts of the other suites: what they forgive, what they find, and that they can fail."""

from __future__ import annotations

import math

import numpy as np
import pytest

from helpers import (
    assert_condemned,
    assert_covers,
    assert_exit_rate,
    coverage_runs,
    full,
    most_exits,
    power,
)


def condemned(exits: int, runs: int, failure_prob: float) -> bool:
    try:
        assert_exit_rate(exits, runs, failure_prob)
    except AssertionError:
        return True
    return False


@pytest.mark.parametrize("delta", [0.05, 0.1])
def test_sets_that_leave_three_times_too_often_are_condemned(delta: float) -> None:
    """Drawn, not computed: .8 of them (--full: .9 of those that leave twice too often)."""
    runs, times, wanted = coverage_runs(delta), 2 if full() else 3, 0.9 if full() else 0.8
    rng = np.random.default_rng(5)
    for rate, low, high in ((delta, 0.0, 0.005), (times * delta, wanted - 0.03, 1.0)):
        drawn = rng.binomial(runs, rate, 2000)
        found = np.mean([condemned(int(exits), runs, delta) for exits in drawn])
        assert low <= found <= high
    assert power(runs, delta, times) >= wanted


@pytest.mark.parametrize("runs", [20, 30, 50])
def test_too_few_runs_are_no_count(runs: int) -> None:
    with pytest.raises(AssertionError, match="say too little"):
        assert_exit_rate(0, runs, 0.1)


def test_a_setting_that_fails_alone_is_found() -> None:
    """Of four that take turns: their common count forgives what its own does not."""
    names = ["bad", "b", "c", "d"]
    own = math.ceil(coverage_runs(0.1) / len(names))
    too_many = most_exits(own, 0.1) + 1
    assert too_many <= min(0.6 * own, most_exits(coverage_runs(0.1), 0.1))
    with pytest.raises(AssertionError, match=rf"^bad: theta\* left the set in {too_many} of {own}"):
        assert_covers(lambda name, run: name == "bad" and run < too_many, names, 0.1)
    assert_covers(lambda name, run: name == "bad" and run < too_many - 1, names, 0.1)


def test_a_control_that_does_not_leave_is_noticed() -> None:
    with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE"):
        assert_condemned(lambda run: False, 0.1)
