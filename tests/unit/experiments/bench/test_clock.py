from __future__ import annotations

import pytest

from voful import registry
from voful.bench.clock import affordable, growth, measure, speeds
from voful.bench.contenders import REFERENCE, Timed, lean_numpy_oful
from voful.bench.data import Data, make_data


def test_measure_reports_every_policy() -> None:
    measured = measure(dim=2, n_arms=3, n_rounds=40, repetitions=1)
    names = [speed.name for speed in measured]
    assert names[0] == REFERENCE
    assert {entry.id for entry in registry.entries("bandit")} <= set(names)
    assert measured[0].ratio == 1.0
    for speed in measured:
        assert speed.microseconds > 0
        assert speed.rounds_per_second == pytest.approx(1e6 / speed.microseconds)
        assert speed.ratio == pytest.approx(measured[0].microseconds / speed.microseconds)


def test_repetitions_take_turns() -> None:
    """A load on the machine that comes and goes must not fall on one contender."""
    order: list[str] = []

    def takes(name: str, seconds: float) -> Timed:
        order.append(name)
        return Timed([0.0, seconds, 2 * seconds, 3 * seconds, 5 * seconds], [])

    data = make_data(2, 2, 64)
    measured = speeds(
        data,
        {REFERENCE: lambda data, n: takes("a", 1e-3), "b": lambda data, n: takes("b", 2e-3)},
        repetitions=3,
    )
    assert order[-6:] == ["a", "b"] * 3
    assert measured[1].ratio == pytest.approx(0.5)
    assert measured[1].growth == pytest.approx(2.0)
    assert measured[1].microseconds == pytest.approx(1e-2 / 64 * 1e6)


def test_slow_contenders_play_fewer_rounds() -> None:
    asked: list[int] = []

    def slow(data: Data, n: int) -> Timed:
        asked.append(n)
        return Timed([0.0, 0.01 * n], [])

    assert affordable(slow, make_data(2, 2, 10_000), 2.0) == 200
    assert max(asked) <= 200
    assert affordable(lean_numpy_oful, make_data(2, 2, 100), 5.0) == 100


def test_growth_compares_the_quarters() -> None:
    assert growth([0.0, 1.0, 2.0, 3.0, 6.0]) == 3.0
