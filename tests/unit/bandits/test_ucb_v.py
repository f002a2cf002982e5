from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import voful
from helpers import sphere
from voful import UCBV
from voful.bandits.known_arms import hash_of


def test_the_index() -> None:
    policy = UCBV(2, reward_range=(0.0, 2.0))
    policy.partial_fit([[1.0, 0.0]] * 4 + [[0.0, 1.0]], [0.5, 1.5, 0.5, 1.5, 2.0])
    E = 1.2 * math.log(6)
    widths = np.array([math.sqrt(2 * 0.25 * E / 4) + 3 * 2 * E / 4, 3 * 2 * E])
    mean, lower, upper = policy.index(np.eye(2))
    np.testing.assert_allclose(mean, [1.0, 2.0])
    np.testing.assert_allclose(upper - mean, widths)
    np.testing.assert_allclose(mean - lower, widths)
    assert UCBV(2, width_scale=0.5, reward_range=(0.0, 2.0)).select(np.eye(2)) == 0


def test_an_arm_never_played_comes_first() -> None:
    policy = UCBV(2)
    policy.update([1.0, 0.0], 1.0)
    arms = [[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]]
    assert policy.select(arms) == 1
    assert policy.select(arms, mask=[True, False, True]) == 2
    assert policy.select(arms, mask=[True, False, False]) == 0
    mean, lower, upper = policy.index(arms)
    assert (mean[1], lower[1], upper[1]) == (0.0, -1.0, 1.0)
    assert policy.predict([[5.0, 5.0]]) == [0.0]


def test_arms_are_recognised_by_their_exact_row() -> None:
    policy = UCBV(2)
    policy.update([0.0, 0.5], 1.0)
    policy.update([-0.0, 0.5], 0.0)  # the same numbers
    policy.update([0.0, np.nextafter(0.5, 1.0)], 0.3)
    assert policy.n_known_arms == 2
    np.testing.assert_allclose(policy.predict([[0.0, 0.5]]), 0.5)
    assert hash_of(np.array([0.0, 1.0])) == hash_of(np.array([-0.0, 1.0]))
    assert hash_of(np.array([0.0, 1.0])) != hash_of(np.array([1.0, 0.0]))


def test_many_arms_are_kept_apart(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    arms = np.concatenate([sphere(rng, 3000, 3), np.eye(3)])
    policy, rewards = UCBV(3), rng.uniform(-1, 1, 3003)
    policy.partial_fit(arms, rewards)
    assert policy.n_known_arms == 3003
    np.testing.assert_array_equal(policy.predict(arms), rewards)
    policy.save(tmp_path / "p")
    loaded = voful.load(tmp_path / "p")
    np.testing.assert_array_equal(loaded.predict(arms), rewards)
    loaded.update(arms[0], 0.0)
    assert loaded.n_known_arms == 3003


def test_statistics_do_not_cancel() -> None:
    policy = UCBV(1, reward_range=(1e9, 1e9 + 1.0))
    policy.partial_fit([[1.0]] * 1000, 1e9 + np.tile([0.25, 0.75], 500))
    E = 1.2 * math.log(1001)
    mean, _, upper = policy.index([[1.0]])
    expected = math.sqrt(2 * 0.0625 * E / 1000) + 3 * E / 1000
    np.testing.assert_allclose(upper - mean, expected, rtol=1e-5)


@pytest.mark.parametrize("name", ["_records", "_table"])
def test_arrays_that_do_not_fit_are_refused(name: str) -> None:
    policy, other = UCBV(2), UCBV(2)
    other.update([1.0, 0.0], 0.5)
    arrays = other.state()
    arrays[name] = np.concatenate([arrays[name], arrays[name]])
    with pytest.raises(ValueError, match="twice as many slots as records"):
        policy.restore(arrays)
    assert policy.n_observations == 0
    arrays = other.state()
    arrays["_table"] = np.full(32, 5)
    with pytest.raises(ValueError, match="a slot for each record"):
        policy.restore(arrays)


def test_small_variances_are_used() -> None:
    """Two arms, the worse one quiet: it is dropped sooner than a noisy one with the same gap."""
    plays = []
    for noise in (0.0, 0.5):
        rng = np.random.default_rng(0)
        policy, count = UCBV(2, reward_range=(0.0, 1.0)), 0
        for _ in range(5000):
            i = policy.select(np.eye(2))
            count += i == 1
            policy.update(np.eye(2)[i], (0.5, 0.4)[i] + 0.8 * noise * rng.uniform(-1.0, 1.0))
        plays.append(count)
    assert plays[0] < 0.7 * plays[1]


@pytest.mark.parametrize(
    "bad",
    [{"dim": 0}, {"reward_range": None}, {"reward_range": (0.0, 1e101)}, {"exploration": 0.0},
     {"exploration": 1e7}, {"range_weight": -1.0}, {"feature_norm": 0.0}, {"width_scale": 0.0},
     {"width_scale": 1e7}, {"seed": -1}],
)  # fmt: skip
def test_bad_arguments_are_named(bad: dict[str, Any]) -> None:
    (name,) = bad
    with pytest.raises((ValueError, TypeError), match=f"{name}: got"):
        UCBV(**{"dim": 2, **bad})
