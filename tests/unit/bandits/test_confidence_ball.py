from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from helpers import play_some, sphere
from voful import OFUL, ConfidenceBall2
from voful.bandits.confidence_ball import confidence_ball_beta


def test_the_printed_squared_radius() -> None:
    log = math.log(100 / 0.05)
    assert confidence_ball_beta(10, 4, 0.05) == pytest.approx(128 * 4 * math.log(10) * log)
    assert confidence_ball_beta(1, 4, 0.05) == pytest.approx((8 / 3 * math.log(20)) ** 2)
    assert confidence_ball_beta(1, 1, 0.9) == 1.0  # theta* itself must fit before any reward


def test_the_unit_is_the_largest_possible_noise_or_parameter() -> None:
    at_start = 8 / 3 * math.log(20)
    for params, unit in (
        ({}, 2.0),
        ({"reward_range": (0.0, 1.0)}, 1.0),
        ({"theta_norm": 5.0}, 5.0),
        ({"theta_norm": 5.0, "feature_norm": 10.0}, 50.0),
    ):
        Theta = ConfidenceBall2(2, **params).confidence_set
        assert Theta.radius == pytest.approx(unit * at_start)


def test_rescaling_the_features_changes_nothing() -> None:
    plain = ConfidenceBall2(3)
    scaled = ConfidenceBall2(3, feature_norm=10.0, theta_norm=0.1)
    X, y = play_some(plain, 50)
    scaled.partial_fit(10.0 * X, y)
    arms = sphere(np.random.default_rng(1), 9, 3)
    np.testing.assert_allclose(scaled.index(10.0 * arms), plain.index(arms))


def test_it_is_far_wider_than_oful() -> None:
    ball, oful = ConfidenceBall2(4), OFUL(4)
    X, y = play_some(oful, 200)
    ball.partial_fit(X, y)
    np.testing.assert_allclose(ball.confidence_set.center, oful.confidence_set.center)
    assert ball.confidence_set.radius > 50.0 * oful.confidence_set.radius


@pytest.mark.parametrize(
    "bad",
    [{"dim": 0}, {"failure_prob": 1.0}, {"reward_range": None}, {"reward_range": (0.0, 1e101)},
     {"theta_norm": 0.0}, {"theta_norm": 1e101}, {"feature_norm": 1e101},
     {"feature_norm": 1e-101}, {"width_scale": 0.0}, {"seed": "a"}],
)  # fmt: skip
def test_bad_arguments_are_named(bad: dict[str, Any]) -> None:
    (name,) = bad
    with pytest.raises((ValueError, TypeError), match=f"{name}: got"):
        ConfidenceBall2(**{"dim": 2, **bad})
