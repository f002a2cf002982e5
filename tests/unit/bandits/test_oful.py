from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from helpers import play_some, sphere
from voful import OFUL
from voful.bandits.oful import oful_radius


def test_radius_formula() -> None:
    expected = 0.5 * math.sqrt(3.0 + 2 * math.log(20)) + 2.0 * 0.7
    assert oful_radius(3.0, 0.5, 0.05, 4.0, 0.7) == pytest.approx(expected)


def test_noise_scale_defaults_to_half_the_range() -> None:
    assert OFUL(2).noise_scale == 1.0
    assert OFUL(2, reward_range=(0.0, 1.0)).noise_scale == 0.5
    assert OFUL(2, reward_range=None, noise_scale=3.0).noise_scale == 3.0
    with pytest.raises(ValueError, match="noise_scale: got None"):
        OFUL(2, reward_range=None)


def test_unnormalised_features() -> None:
    policy = OFUL(2, feature_norm=10.0)
    policy.update([6.0, 8.0], 0.5)
    with pytest.raises(ValueError, match="norm <= 10"):
        policy.update([9.0, 9.0], 0.5)


def test_rarely_switching_freezes_the_rule_not_the_set() -> None:
    policy = OFUL(2, det_growth=1e6)
    arms = sphere(np.random.default_rng(0), 5, 2)
    first = policy.select(arms)
    for _ in range(30):
        policy.update(arms[first], -1.0)
    assert policy.select(arms) == first  # det V has not grown by 10^6
    assert policy.confidence_set.center @ arms[first] < -0.8
    assert OFUL(2).select(arms) == first


def test_switches_are_few() -> None:
    policy = OFUL(3, det_growth=1.0)
    chosen = set()
    for k in range(400):
        play_some(policy, 1, seed=k)
        chosen.add(policy._chosen[0])
    assert 3 < len(chosen) < 3 * math.log2(400)


def test_index_and_predict() -> None:
    policy = OFUL(3)
    play_some(policy, 40)
    arms = sphere(np.random.default_rng(1), 5, 3)
    mean, lower, upper = policy.index(arms)
    np.testing.assert_allclose(mean, policy.predict(arms))
    np.testing.assert_allclose((lower + upper) / 2, mean)
    assert policy.select(arms) == int(np.argmax(upper))


def test_unbounded_rewards_stay_finite() -> None:
    policy = OFUL(2, reward_range=None, noise_scale=1.0)
    for reward in (1e100, 1e100, -1e100):
        policy.update([1.0, 0.0], reward)
    assert policy.select(np.eye(2)) in (0, 1)
    assert np.isfinite(policy.index(np.eye(2))).all()


def test_variance_is_refused() -> None:
    with pytest.raises(ValueError, match="variance: got 0.1; expected nothing"):
        OFUL(2).update([1.0, 0.0], 0.5, variance=0.1)
    with pytest.raises(ValueError, match="variances: got"):
        OFUL(2).partial_fit([[1.0, 0.0]], [0.5], variances=[0.1])


def test_predictions_lie_inside_their_intervals() -> None:
    policy = OFUL(3, width_scale=1e-15)
    play_some(policy, 40)
    mean, lower, upper = policy.index(sphere(np.random.default_rng(1), 50, 3))
    assert (lower <= mean).all()
    assert (mean <= upper).all()


def test_repr() -> None:
    policy = OFUL(2, failure_prob=0.1)
    policy.update([1.0, 0.0], 0.0)
    assert repr(policy).startswith("OFUL(dim=2, failure_prob=0.1, reward_range=(-1.0, 1.0),")
    assert repr(policy).endswith("after 1 observations")


@pytest.mark.parametrize(
    "bad",
    [{"dim": 0}, {"dim": 2.0}, {"dim": None}, {"failure_prob": 0.0}, {"failure_prob": 1.0},
     {"failure_prob": math.nan}, {"reward_range": (1, 1)}, {"reward_range": 3}, {"noise_scale": 0},
     {"noise_scale": -1.0}, {"theta_norm": 0.0}, {"theta_norm": math.inf}, {"feature_norm": -1},
     {"feature_norm": 1e9},
     {"ridge": 0.0}, {"det_growth": -0.1}, {"width_scale": 0.0}, {"seed": -1}, {"seed": "a"}],
)  # fmt: skip
def test_bad_arguments_are_named(bad: dict[str, Any]) -> None:
    (name,) = bad
    with pytest.raises((ValueError, TypeError), match=f"{name}: got"):
        OFUL(**{"dim": 2, **bad})


def test_arguments_after_dim_are_keyword_only() -> None:
    with pytest.raises(TypeError):
        OFUL(2, 0.05)  # type: ignore[call-arg]
