from __future__ import annotations

import copy
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import voful
from helpers import play_some, sphere
from voful import OFUL, LinTS
from voful.bandits.lin_ts import paper_scale


def test_scales() -> None:
    assert paper_scale(7, 4, 0.5, 0.05) == pytest.approx(0.5 * math.sqrt(36 * math.log(140)))
    assert LinTS(2).sampling_scale == 1.0
    assert LinTS(2, reward_range=(0.0, 1.0), width_scale=0.1).sampling_scale == 0.05
    paper = LinTS(2, constants="paper", failure_prob=0.1)
    first = paper.sampling_scale
    assert first == pytest.approx(math.sqrt(18 * math.log(10)))
    paper.update([1.0, 0.0], 0.5)
    assert paper.sampling_scale > first


def test_draws_have_the_posteriors_mean_and_covariance() -> None:
    """The arms +-e_i tell the signs of a draw: their rates are those of N(mu_hat, v^2 B^-1)."""
    policy = LinTS(2, seed=3)
    policy.partial_fit([[1.0, 0.0], [0.6, 0.8], [0.6, 0.8]], [0.5, -0.2, 0.4])
    Theta = policy.confidence_set
    covariance = np.linalg.inv(Theta.precision)
    n = 4000
    for x in (np.array([1.0, 0.0]), np.array([0.0, 1.0]), np.array([0.8, -0.6])):
        played = sum(policy.select(np.stack([x, -x])) == 0 for _ in range(n))
        z = float(x @ Theta.center / math.sqrt(x @ covariance @ x))
        expected = 0.5 * (1.0 + math.erf(z / math.sqrt(2.0)))
        assert abs(played / n - expected) < 5.0 * math.sqrt(expected * (1 - expected) / n)


def test_the_set_is_ofuls() -> None:
    policy, oful = LinTS(3, failure_prob=0.1), OFUL(3, failure_prob=0.1)
    X, y = play_some(policy, 60)
    oful.partial_fit(X, y)
    probes = sphere(np.random.default_rng(1), 9, 3)
    np.testing.assert_array_equal(
        policy.confidence_set.support(probes), oful.confidence_set.support(probes)
    )


def test_the_stream_of_draws_is_saved(tmp_path: Path) -> None:
    policy = LinTS(3, seed=1)
    arms = sphere(np.random.default_rng(1), 50, 3)
    for _ in range(10):
        policy.select(arms)
    policy.save(tmp_path / "p")
    loaded = voful.load(tmp_path / "p")
    choices = [policy.select(arms) for _ in range(50)]
    assert [loaded.select(arms) for _ in range(50)] == choices
    assert len(set(choices)) > 1
    assert [LinTS(3, seed=2).select(arms) for _ in range(50)] != choices


def test_refused_arms_draw_nothing() -> None:
    policy = LinTS(2, seed=1)
    twin = copy.deepcopy(policy)
    with pytest.raises(ValueError, match="mask"):
        policy.select(np.eye(2), mask=[False, False])
    arms = sphere(np.random.default_rng(1), 50, 2)
    assert [policy.select(arms) for _ in range(20)] == [twin.select(arms) for _ in range(20)]


@pytest.mark.parametrize(
    "bad",
    [{"dim": 0}, {"failure_prob": 0.0}, {"reward_range": 3}, {"noise_scale": 0.0},
     {"noise_scale": 1e101}, {"theta_norm": 0.0}, {"feature_norm": 1e9}, {"ridge": 0.0},
     {"constants": "tight"}, {"width_scale": -1.0}, {"width_scale": 1e101}, {"seed": -1}],
)  # fmt: skip
def test_bad_arguments_are_named(bad: dict[str, Any]) -> None:
    (name,) = bad
    with pytest.raises((ValueError, TypeError), match=f"{name}: got"):
        LinTS(**{"dim": 2, **bad})
