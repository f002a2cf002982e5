from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
import pytest

from helpers import play_some
from voful import LOSAN


def test_before_the_first_reward() -> None:
    """sqrt(2 beta) = sigma_0 sqrt(1 + 2 ln(1/delta)), lambda = (sigma_0 / S)^2."""
    Theta = LOSAN(2, noise_scale=0.5, theta_norm=2.0, failure_prob=0.1).confidence_set
    np.testing.assert_array_equal(Theta.precision, 0.0625 * np.eye(2))
    assert Theta.radius == pytest.approx(0.5 * math.sqrt(1 + 2 * math.log(10)))


def test_noise_scale_defaults_to_half_the_range() -> None:
    assert LOSAN(2).noise_scale == 1.0
    assert LOSAN(2, reward_range=(0.0, 1.0)).noise_scale == 0.5
    with pytest.raises(ValueError, match="noise_scale: got None"):
        LOSAN(2, reward_range=None)
    policy = LOSAN(2, reward_range=None, noise_scale=1.0)
    for reward in (1e100, -1e100):
        policy.update([1.0, 0.0], reward)
    assert np.isfinite(policy.index(np.eye(2))).all()


def test_a_quiet_problem_gets_a_smaller_radius_than_a_loud_one() -> None:
    quiet, loud = LOSAN(3), LOSAN(3)
    play_some(quiet, 300, noise=0.01)
    play_some(loud, 300, noise=0.5)
    assert quiet.confidence_set.radius < loud.confidence_set.radius


def test_a_copy_has_its_own_radius() -> None:
    policy = LOSAN(2)
    clone = copy.deepcopy(policy)
    before = policy.confidence_set.radius
    clone.update([1.0, 0.0], 1.0)
    assert policy.confidence_set.radius == before
    assert clone.confidence_set.radius > before


@pytest.mark.parametrize(
    "bad",
    [{"dim": 0}, {"failure_prob": 0.0}, {"reward_range": (1, 1)}, {"noise_scale": 0.0},
     {"theta_norm": 0.0}, {"feature_norm": 1e9}, {"width_scale": -1.0}, {"seed": -1}],
)  # fmt: skip
def test_bad_arguments_are_named(bad: dict[str, Any]) -> None:
    (name,) = bad
    with pytest.raises((ValueError, TypeError), match=f"{name}: got"):
        LOSAN(**{"dim": 2, **bad})
