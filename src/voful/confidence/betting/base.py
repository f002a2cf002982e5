"""What confidence sets by betting share."""

from __future__ import annotations

import math

import numpy as np

from voful.confidence.base import BallSet
from voful.typing import FloatArray
from voful.validation import ObservationSpace, fail

LARGEST_NORM = 1e4  # of theta, times feature_norm over half the reward range


class BettingSet(BallSet):
    """A set in a ball, for rewards in a known range.

    Parameters
    ----------
    space
        What is accepted as an arm and a reward; its `reward_range` is needed.
    failure_prob
        Probability that theta* ever leaves the set.
    theta_norm, theta_center
        theta* lies in the ball about theta_center (None: 0) with radius theta_norm.
    """

    def __init__(
        self,
        space: ObservationSpace,
        *,
        failure_prob: float,
        theta_norm: float,
        theta_center: FloatArray | None,
    ) -> None:
        super().__init__(space)
        if space.reward_range is None:
            raise fail("reward_range", None, "a pair (low, high): the bets need a bounded reward")
        self.reward_range = space.reward_range
        self.failure_prob = failure_prob
        self.theta_norm = theta_norm
        self.theta_center = np.zeros(space.dim) if theta_center is None else theta_center.copy()
        _check_scales(space.reward_range, space.feature_norm, theta_norm, self.theta_center)


def _check_scales(
    reward_range: tuple[float, float],
    feature_norm: float,
    theta_norm: float,
    theta_center: FloatArray,
) -> None:
    """ValueError where squares of the scales would drown the reward range in rounding."""
    half = 0.5 * (reward_range[1] - reward_range[0])
    if not 1e-6 <= 2.0 * half <= 1e60:
        raise fail("reward_range", reward_range, "a width between 1e-6 and 1e60")
    if not 1e-60 <= feature_norm <= 1e60:
        raise fail("feature_norm", feature_norm, "a number between 1e-60 and 1e60")
    largest = LARGEST_NORM * half / feature_norm
    if not theta_norm <= largest:
        allowed = f"at most 10^4 half the reward range / feature_norm = {largest:g}"
        raise fail("theta_norm", theta_norm, allowed)
    if not math.hypot(*theta_center) <= largest:
        allowed = f"a norm of at most 10^4 half the reward range / feature_norm = {largest:g}"
        raise fail("theta_center", theta_center, allowed)
    reach = feature_norm * (math.hypot(*theta_center) + theta_norm)
    if reward_range[0] > reach or reward_range[1] < -reach:
        allowed = f"a range that meets <x, theta>, which lies within {-reach:g} and {reach:g}"
        raise fail("reward_range", reward_range, allowed)
