from __future__ import annotations

import copy
import math
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voful import FileFormatError
from voful.monitor import ModelCheck


def run(check: ModelCheck, rounds: int, mean: float, seed: int = 0) -> int:
    """Rounds until an alarm where the interval says 0 and the mean is another; -1: none."""
    rng = np.random.default_rng(seed)
    for t in range(rounds):
        if check.update(-0.01, 0.01, float(np.clip(mean + 0.1 * rng.standard_normal(), -1, 1))):
            return t
    return -1


def test_it_alarms_for_a_mean_outside_and_not_for_one_inside() -> None:
    assert run(ModelCheck((-1.0, 1.0)), 2000, 0.0) == -1
    for mean in (0.4, -0.4):
        assert 0 <= run(check := ModelCheck((-1.0, 1.0)), 200, mean) < 60
        assert check.alarmed
        assert check.statistic >= check.threshold == 20.0


def test_a_run_length_is_faster_and_tires_never() -> None:
    late = ModelCheck((-1.0, 1.0), run_length=1e6)
    assert run(late, 1000, 0.0) == -1
    assert 0 <= run(late, 100, 0.4, seed=1) < 60


def test_an_interval_without_a_point_is_an_alarm() -> None:
    check = ModelCheck((0.0, 1.0))
    assert not check.update(-math.inf, math.inf, 0.3)
    assert check.update(0.6, 0.4, 0.5)
    assert check.alarmed
    check.reset()
    assert not check.alarmed
    assert (check.rounds, check.statistic) == (0, 1.0)


def test_challengers_find_misfit_of_both_signs() -> None:
    """The mean is -+0.3 by turns around an interval that says 0; one challenger knows."""
    rng = np.random.default_rng(2)
    alone, challenged = ModelCheck((-1.0, 1.0)), ModelCheck((-1.0, 1.0), challengers=2)
    for t in range(400):
        mean = 0.3 if t % 2 else -0.3
        y = float(np.clip(mean + 0.1 * rng.standard_normal(), -1.0, 1.0))
        alone.update(-0.01, 0.01, y)
        challenged.update(-0.01, 0.01, y, predictions=[mean, 0.0])
    assert challenged.alarmed
    assert not alone.alarmed


@given(
    st.lists(
        st.tuples(st.floats(-2, 2), st.floats(-2, 2), st.floats(-1, 1), st.floats(-3, 3)),
        min_size=1,
        max_size=40,
    ),
    st.sampled_from([None, 100.0]),
)
def test_any_rounds_leave_a_state_that_can_be_saved(rounds: Any, run_length: float | None) -> None:
    check = ModelCheck((-1.0, 1.0), run_length=run_length, challengers=1)
    for lower, upper, y, g in rounds:
        alarmed = check.update(lower, upper, y, predictions=[g])
        assert math.isfinite(check.statistic)
        assert check.statistic >= 0.0
        assert alarmed or (lower <= upper and check.statistic < check.threshold)
    check._check(check.state())


def test_a_loaded_check_continues_bit_for_bit(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    one = ModelCheck((-1.0, 1.0), challengers=1)
    for k in range(1300):
        if k == 700:
            one.save(tmp_path / "check")
            two, three = ModelCheck.load(tmp_path / "check"), copy.deepcopy(one)
        y, g = rng.uniform(-1, 1), rng.uniform(-1, 1)
        for check in (one, two, three) if k >= 700 else (one,):
            check.update(-0.5, 0.5, y, predictions=[g])
    for other in (two, three):
        for name, array in one.state().items():
            np.testing.assert_array_equal(array, other.state()[name])
    assert "after 1300 rounds" in repr(one)


def test_crafted_files_are_refused(tmp_path: Path) -> None:
    check = ModelCheck((-1.0, 1.0))
    check.facts[1] = 1e6
    with pytest.raises(ValueError, match="points of the trace"):
        check.save(tmp_path / "check")
    (tmp_path / "other").write_bytes(b"no check")
    with pytest.raises(FileFormatError):
        ModelCheck.load(tmp_path / "other")


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda c: c.update(math.nan, 1.0, 0.0), "lower"),
        (lambda c: c.update(0.0, "b", 0.0), "upper"),
        (lambda c: c.update(0.0, 1.0, 1.5), "reward"),
        (lambda c: c.update(0.0, 1.0, 0.5, predictions=[0.1]), "predictions"),
    ],
)
def test_bad_rounds_change_nothing(call: Any, name: str) -> None:
    check = ModelCheck((-1.0, 1.0))
    check.update(0.0, 0.5, 0.2)
    before = {key: array.copy() for key, array in check.state().items()}
    with pytest.raises((ValueError, TypeError), match=name):
        call(check)
    for key, array in check.state().items():
        np.testing.assert_array_equal(array, before[key])


@pytest.mark.parametrize(
    "bad",
    [
        {"reward_range": (1.0, 0.0)},
        {"failure_prob": 0.0},
        {"run_length": -1.0},
        {"challengers": -1},
        {"challengers": 10**6},
    ],
)
def test_bad_arguments_are_named(bad: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError), match=next(iter(bad))):
        ModelCheck(**{"reward_range": (-1.0, 1.0), **bad})


def test_the_plot_shows_the_statistic_and_the_level() -> None:
    mpl.use("Agg")
    check = ModelCheck((-1.0, 1.0))
    for _ in range(3000):
        check.update(-0.1, 0.1, 0.0)
    ax = check.plot()
    x, y = ax.lines[0].get_data()
    assert 256 <= len(x) <= 512
    assert x[-1] > 2900
    assert (np.diff(x) > 0).all()
    assert ax.lines[1].get_ydata()[0] == check.threshold
    assert np.isfinite(y).all()
