"""What Weighted OFUL and Weighted OFUL+ share: weights by known variances, and the radius."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from voful.bandits import arguments as given
from voful.bandits.base import Set, SetPolicy
from voful.compiled import part
from voful.concentration import bernstein_radius, log_det_growth, self_normalized_bernstein
from voful.confidence.ellipsoids.ridge import Ridge, log_det_ratio, new_ridges, open_ridge
from voful.typing import FloatArray


class Weighted(NamedTuple):
    """What the radius of a set about a variance-weighted ridge estimate needs."""

    as_printed: float
    slope: float  # of the tight radius
    offset: float
    feature_norm: float  # over the floor of sigma_bar
    ridge: float
    bias: float  # sqrt(lambda) S
    delta: float
    width_scale: float


@part
def weighted(constants: FloatArray) -> Weighted:
    """The constants by name."""
    c = constants
    return Weighted(c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7])


@part
def weighted_radius(ridge: Ridge, rule: Weighted, printed: float) -> float:
    """beta_t + sqrt(lambda) S, width_scale included, where the paper's beta_t is `printed`."""
    if rule.as_printed > 0.0:
        deviation = printed
    else:
        deviation = bernstein_radius(log_det_ratio(ridge), rule.slope, rule.offset)
    return rule.width_scale * (deviation + rule.bias)


class WeightedPolicy(SetPolicy[Set]):
    """Optimism over ridge regression weighted by 1 / sigma_bar^2, for known variances."""

    needs_variance = True

    n_rounds: int = given.n_rounds()
    failure_prob: float = given.failure_prob()
    reward_range: tuple[float, float] | None = given.reward_range_or_none("noise_bound")
    noise_bound: float = given.noise_bound(
        "R: |eta| <= R. Default: the length of the reward range, since the mean lies in it too."
    )
    theta_norm: float = given.theta_scale()
    feature_norm: float = given.feature_norm("A: arms must satisfy |x| <= A.")
    ridge: float
    constants: str
    width_scale: float

    def _weighted(self, linear: float, square: float, floor: float, delta: float) -> Weighted:
        """The constants of the radius; `linear`, `square` as in `self_normalized_bernstein`.

        `floor` is that of sigma_bar.
        """
        feature_norm = self.feature_norm / floor
        bernstein = self_normalized_bernstein(
            variance=1.0,
            linear=linear,
            square=square,
            log_det_bound=log_det_growth(self.n_rounds, self.dim, feature_norm, self.ridge),
            delta=delta,
        )
        return Weighted(
            float(self.constants == "paper"),
            bernstein.slope,
            bernstein.offset,
            feature_norm,
            self.ridge,
            math.sqrt(self.ridge) * self.theta_norm,
            delta,
            self.width_scale,
        )

    def _weighted_blocks(self, rule: Weighted) -> FloatArray:
        """The set before any data, when the printed deviation is 0."""
        blocks = new_ridges(self.dim, np.array([self.ridge]), np.zeros(1))
        start = open_ridge(blocks[0], self.dim)
        start.radius[0] = weighted_radius(start, rule, 0.0)
        return blocks
