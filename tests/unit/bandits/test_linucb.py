from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers import sphere
from voful import LinUCB, SupLinUCB, load
from voful.confidence.ellipsoids.ridge import open_ridge
from voful.typing import FloatArray


def counts(policy: SupLinUCB) -> FloatArray:
    return np.array([open_ridge(level, 2).n[0] for level in policy._state.blocks])


def test_alpha_as_printed_for_rewards_in_the_unit_interval() -> None:
    policy = LinUCB(2, n_rounds=1000, reward_range=(0.0, 1.0), failure_prob=0.1)
    assert policy.width(7) == pytest.approx(math.sqrt(0.5 * math.log(2 * 1000 * 7 / 0.1)))


@pytest.mark.parametrize("alpha", [0.0, 0.3])
def test_a_given_alpha_is_the_factor_whatever_the_rest(alpha: float) -> None:
    arms = sphere(np.random.default_rng(2), 6, 3)
    one = LinUCB(3, alpha=alpha, reward_range=None)
    other = LinUCB(3, alpha=0.5 * alpha, n_rounds=50, failure_prob=0.5, width_scale=2.0)
    for policy in (one, other):
        policy.partial_fit(arms, arms[:, 0])
        assert policy.width(2) == policy.width(2000) == pytest.approx(alpha)
    A = np.eye(3) + arms.T @ arms
    mean = arms @ np.linalg.solve(A, arms.T @ arms[:, 0])
    spread = np.sqrt(np.einsum("ij,ij->i", arms, np.linalg.solve(A, arms.T).T))
    np.testing.assert_allclose(
        one.index(arms), [mean, mean - alpha * spread, mean + alpha * spread]
    )
    assert one.select(arms) == other.select(arms) == np.argmax(mean + alpha * spread)
    assert one.confidence_set is None


def test_without_alpha_the_rounds_are_needed() -> None:
    with pytest.raises(ValueError, match="n_rounds: got None; expected .* where alpha is None"):
        LinUCB(2)
    with pytest.raises(ValueError, match="noise_scale: got None"):
        LinUCB(2, n_rounds=10, reward_range=None)
    with pytest.raises(ValueError, match="alpha: got -1"):
        LinUCB(2, alpha=-1.0)


def test_a_given_alpha_is_saved(tmp_path: Path) -> None:
    policy = LinUCB(2, alpha=0.7)
    policy.update([0.6, 0.8], 0.2)
    policy.save(tmp_path / "policy")
    loaded = load(tmp_path / "policy")
    assert (loaded.alpha, loaded.n_rounds) == (0.7, None)
    np.testing.assert_array_equal(loaded.index(np.eye(2)), policy.index(np.eye(2)))


def test_the_levels_share_the_failure_probability() -> None:
    policy = SupLinUCB(2, n_rounds=1000, reward_range=(0.0, 1.0), failure_prob=0.1, theta_norm=0.5)
    assert policy.n_levels == 7
    alpha = math.sqrt(0.5 * math.log(2 * 1000 * 7 * 12 / 0.1))
    assert policy.width(12) == pytest.approx(alpha + 0.5)


@pytest.mark.parametrize("cls", [LinUCB, SupLinUCB])
def test_more_arms_wider_bounds(cls: Any) -> None:
    policy = cls(2, n_rounds=100)
    arms = sphere(np.random.default_rng(0), 50, 2)
    few, many = policy.index(arms[:5]), policy.index(arms)
    assert (few[2] < many[2][:5]).all()
    assert (few[1] > many[1][:5]).all()
    assert policy.confidence_set is None


@pytest.mark.parametrize("cls", [LinUCB, SupLinUCB])
def test_scaling_the_rewards_scales_the_bounds(cls: Any) -> None:
    X = sphere(np.random.default_rng(1), 300, 2)
    y = X @ np.array([0.5, 0.2])
    one = cls(2, n_rounds=300)
    three = cls(2, n_rounds=300, reward_range=(-3.0, 3.0), **(
        {"theta_norm": 3.0} if cls is SupLinUCB else {}
    ))  # fmt: skip
    one.partial_fit(X, y)
    three.partial_fit(X, 3 * y)
    np.testing.assert_allclose(three.index(X[:9]), 3 * np.array(one.index(X[:9])))


def test_a_level_learns_what_it_finds_too_wide() -> None:
    """Rewards play no part in the choice of the level."""
    rng = np.random.default_rng(1)
    X = sphere(rng, 500, 2)
    one, other = SupLinUCB(2, n_rounds=500), SupLinUCB(2, n_rounds=500)
    one.partial_fit(X, rng.uniform(-1, 1, 500))
    other.partial_fit(X, rng.uniform(-1, 1, 500))
    for left, right in zip(one._state.blocks, other._state.blocks, strict=True):
        level, twin = open_ridge(left, 2), open_ridge(right, 2)
        assert (level.log_det, level.n) == (twin.log_det, twin.n)
    assert counts(one).sum() == 500
    assert (counts(one)[:2] > 0).all()


def test_linucb_finds_the_best_arm() -> None:
    policy = LinUCB(2, n_rounds=2000)
    arms = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.6]])
    plays = []
    for _ in range(2000):
        plays.append(policy.select(arms))
        policy.update(arms[plays[-1]], float(arms[plays[-1]] @ [0.1, 0.9]))
    assert np.mean(np.array(plays[1000:]) == 1) > 0.9


@pytest.mark.parametrize("cls", [LinUCB, SupLinUCB])
@pytest.mark.parametrize(
    "bad",
    [{"dim": 0}, {"n_rounds": 0}, {"failure_prob": 0.0}, {"reward_range": (1, 1)},
     {"noise_scale": 0.0}, {"feature_norm": 1e9}, {"width_scale": -1.0}, {"seed": -1}],
)  # fmt: skip
def test_bad_arguments_are_named(cls: Any, bad: dict[str, Any]) -> None:
    (name,) = bad
    with pytest.raises((ValueError, TypeError), match=f"{name}: got"):
        cls(**{"dim": 2, "n_rounds": 100, **bad})
