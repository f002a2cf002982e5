from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from voful import OFUL
from voful.envs import linear_bandit
from voful.experiments.loop import log_spaced, play


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


def test_time_is_counted() -> None:
    env = linear_bandit(dim=2, seed=0)
    first, last = list(play(OFUL(2), env, 50, record_at=[25, 50]))
    assert 0 < first.select_time < last.select_time
    assert 0 < first.update_time < last.update_time


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
