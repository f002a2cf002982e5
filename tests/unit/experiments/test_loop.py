from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from voful import OFUL, BetOFUL, registry
from voful.envs import linear_bandit
from voful.experiments.play.loop import doubling, log_spaced, play
from voful.monitor.watch import Alarm


class Stubborn:
    """Always plays arm 0, remembers what it was told."""

    dim = 2
    confidence_set = None

    def __init__(self) -> None:
        self.told: list[dict[str, Any]] = []

    def select(self, arms: Any, mask: Any = None) -> int:
        return 0

    def update(self, x: Any, reward: float, *, variance: float | None = None) -> None:
        self.told.append({"x": x, "reward": reward, "variance": variance})

    def partial_fit(self, X: Any, rewards: Any, *, variances: Any = None) -> None:
        raise AssertionError("not used by the loop")

    def save(self, path: Any) -> None:
        raise AssertionError("not used by the loop")


def test_regret_and_variance_are_those_of_the_environment() -> None:
    env = linear_bandit(dim=2, n_arms=5, noise="two_point", sigma=0.25, seed=3)
    gap = float(np.max(env.mean_rewards) - env.mean_rewards[0])
    policy = Stubborn()
    records = list(play(policy, env, 40, record_at=[1, 10, 40]))
    assert [record.round for record in records] == [1, 10, 40]
    assert [record.regret for record in records] == pytest.approx([gap, 10 * gap, 40 * gap])
    assert records[-1].sum_variance == pytest.approx(40 * 0.25**2)
    assert records[-1].in_set is None
    assert records[-1].covered is None
    assert records[-1].width is None
    assert len(policy.told) == 40
    assert policy.told[0]["variance"] is None


def test_variance_is_passed_on_demand() -> None:
    env = linear_bandit(dim=2, noise="two_point", sigma=0.25, seed=3)
    policy = Stubborn()
    list(play(policy, env, 3, pass_variance=True))
    assert policy.told[0]["variance"] == pytest.approx(0.0625)


def test_coverage_remembers_an_exit() -> None:
    env = linear_bandit(dim=2, noise="two_point", sigma=0.4, seed=0)
    narrow = OFUL(2, width_scale=1e-3)
    records = list(play(narrow, env, 200))
    assert not records[-1].covered
    wide = OFUL(2)
    env = linear_bandit(dim=2, noise="two_point", sigma=0.4, seed=0)
    records = list(play(wide, env, 200))
    assert records[-1].covered
    assert records[-1].in_set


def test_width_is_that_of_the_played_arm() -> None:
    env = linear_bandit(dim=2, n_arms=1, sigma=0.1, seed=0)
    policy = OFUL(2)
    records = list(play(policy, env, 64, record_at=[1, 3, 4, 5, 50, 64]))
    widths = [record.width for record in records]
    assert [width is None for width in widths] == [False, True, True, False, True, False]
    lower, upper = policy.confidence_set.interval(env.arms)
    assert widths[-1] == pytest.approx(upper[0] - lower[0])
    assert widths[0] is not None
    assert widths[0] > upper[0] - lower[0]


def test_widths_are_measured_at_doublings() -> None:
    assert doubling([]) == frozenset()
    assert doubling([7]) == {7}
    assert doubling(range(1, 21)) == {1, 2, 5, 10, 20}
    assert doubling(range(1, 21), 8) == {2, 20}
    assert len(doubling(log_spaced(10**6))) <= 20


def test_costly_widths_are_measured_more_rarely() -> None:
    widths = {
        id: [
            record.round
            for record in play(
                registry.create(id, 2, n_rounds=64), linear_bandit(dim=2, seed=0), 64
            )
            if record.width is not None
        ]
        for id in ("oful", "voful")
    }
    assert widths["voful"] == [1, 8, 64]
    assert len(widths["oful"]) == 7


@pytest.mark.parametrize("entry", list(registry.entries("bandit")), ids=lambda entry: entry.id)
def test_records_do_not_change_the_run(entry: registry.Entry) -> None:
    def last(record_at: list[int]) -> Any:
        policy = registry.create(entry.id, 2, n_rounds=32, seed=1)
        env = linear_bandit(dim=2, n_arms=5, sigma=0.3, redraw=True, seed=0)
        record = list(
            play(policy, env, 32, record_at=record_at, pass_variance=entry.needs_variance)
        )[-1]
        return record.regret, record.sum_variance, record.in_set, record.width

    every = last(list(range(1, 33)))
    assert every == last([32])
    _, low, high = registry.create(entry.id, 2, n_rounds=32).index(np.eye(2))
    assert (every[-1] is None) == bool((low == high).all())  # who bounds nothing has no width


def test_time_is_counted() -> None:
    env = linear_bandit(dim=2, seed=0)
    first, last = list(play(OFUL(2), env, 50, record_at=[25, 50]))
    assert 0 < first.select_time < last.select_time
    assert 0 < first.update_time < last.update_time


class Restless(BetOFUL):
    """An alarm every 20 rounds; it remembers 64."""

    @property
    def alarms(self) -> list[Alarm]:
        return [Alarm(t, 20.0, "check") for t in range(20, self.n_observations + 1, 20)][-64:]


def test_alarms_are_those_of_the_run_however_many() -> None:
    policy, env = Restless(2), linear_bandit(dim=2, seed=0)
    taught = 30
    for _ in range(taught):
        policy.update(env.arms[0], 0.0)
    records = list(play(policy, env, 1600, record_at=[1, 10, 1600]))
    assert [record.alarms for record in records] == [0, 1, 80]


def test_what_others_call_alarms_is_theirs() -> None:
    policy = Stubborn()
    policy.alarms = 3  # type: ignore[attr-defined]
    (record,) = play(policy, linear_bandit(dim=2, seed=0), 5, record_at=[5])
    assert record.alarms == 0


def test_recording_points() -> None:
    points = log_spaced(1000)
    assert points[0] == 1
    assert points[-1] == 1000
    assert list(points) == sorted(set(points))
    assert log_spaced(1) == (1,)


@pytest.mark.parametrize(
    "bad",
    [
        {"n_rounds": 0},
        {"n_rounds": 5, "check_every": 0},
        {"n_rounds": 5, "record_at": [6]},
        {"n_rounds": 5, "record_at": ["a"]},
    ],
)
def test_bad_arguments(bad: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError), match="n_rounds|check_every|record_at"):
        play(OFUL(2), linear_bandit(dim=2, seed=0), **bad)  # at once, not at the first record
