"""Faury et al.'s Bernstein set as a linear bandit: the score in the norm of its own variation."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from voful.bandits import arguments as given
from voful.bandits.base import SetPolicy
from voful.bandits.optimism import most_optimistic_between
from voful.compiled import kernel, part
from voful.concentration import best_variation_bernstein, faury_radius, variation_radius
from voful.confidence.ellipsoids.ridge import check_conditioning, open_ridge
from voful.confidence.ellipsoids.score import (
    ScoreEllipsoid,
    in_score_ellipsoid,
    new_score,
    score_interval,
    score_update,
)
from voful.confidence.ellipsoids.sets import is_empty
from voful.confidence.rule import rule
from voful.parameters import parameter
from voful.typing import BoolArray, FloatArray, Seed
from voful.validation import positive_float, scale


class Score(NamedTuple):
    """What the radius needs besides the determinant, and the largest variance."""

    as_printed: float
    curvature: float  # of the tight radius
    cap: float
    price: float
    variation_ridge: float
    b: float
    delta: float
    bias: float  # mu S / sqrt(lambda)
    width_scale: float
    largest_variance: float


@part
def score_radius(log_det_ratio: float, dim: int, rule: Score) -> float:
    """gamma_t + mu S / sqrt(lambda), width_scale included."""
    if rule.as_printed > 0.0:
        deviation = faury_radius(log_det_ratio, dim, rule.variation_ridge, rule.b, rule.delta)
    else:
        deviation = variation_radius(log_det_ratio, rule.curvature, rule.cap, rule.price)
    return rule.width_scale * (deviation + rule.bias)


class FauryState(NamedTuple):
    """The set, and what it needs to learn."""

    blocks: FloatArray  # behind the ridge of G: the variation H
    constants: FloatArray  # Score


@kernel
def faury_choose(
    blocks: FloatArray, constants: FloatArray, arms: FloatArray, mask: BoolArray
) -> int:
    """argmax_x <x, theta_hat> + radius |G^-1 x|_H."""
    lower, upper = score_interval(blocks, arms)
    return most_optimistic_between(lower, upper, mask, is_empty(blocks, arms.shape[1]))


@kernel
def faury_observe(
    blocks: FloatArray, constants: FloatArray, x: FloatArray, reward: float, variance: float
) -> None:
    """G, H and the estimate, and the radius that follows."""
    d, c = x.shape[0], constants
    rule = Score(c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8], c[9])
    growth = score_update(blocks[0], x, reward, min(variance, rule.largest_variance))
    open_ridge(blocks[0], d).radius[0] = score_radius(growth, d, rule)


class Faury(SetPolicy[ScoreEllipsoid]):
    """Optimism over the Bernstein set of Faury, Abeille, Calauzenes and Fercoq [1].

    For noise with |eta_s| <= R and known variances sigma_s^2, the estimate stays the unweighted
    one, theta_hat = G^-1 sum y_s x_s with G = mu I + sum x_s x_s', and variances enter through the
    norm in which its score is measured. With H = lambda I + sum sigma_s^2 x_s x_s', with
    probability at least 1 - failure_prob at all times

        |G (theta* - theta_hat)|_{H^-1} <= gamma_t + mu S / sqrt(lambda),

    since G (theta_hat - theta*) = sum eta_s x_s - mu theta* and H >= lambda I. Here gamma_t bounds
    |sum eta_s x_s|_{H^-1}, by

    - "tight": `voful.concentration.variation_bernstein`, whose proof is there;
    - "paper": Theorem 1 of [1], `voful.concentration.faury_radius`.

    The policy plays argmax_x <x, theta_hat> + radius |G^-1 x|_H. Anytime; O(d^2) an update and an
    arm.

    Differs from the paper, which is about logistic bandits: rewards are linear, so that the
    variances must be told; lambda is fixed, where [1] lets it grow like d ln t (its theorem is for
    a lambda fixed in advance); G and H have ridges of their own.

    References
    ----------
    [1] Faury, Abeille, Calauzenes, Fercoq. Improved optimistic algorithms for logistic bandits.
        ICML 2020.
    """

    needs_variance = True
    _rule = rule(FauryState, faury_choose, faury_observe, in_score_ellipsoid)

    failure_prob: float = given.failure_prob()
    reward_range: tuple[float, float] | None = given.reward_range_or_none("noise_bound")
    noise_bound: float = given.noise_bound(
        "R: |eta_s| <= R. Default: the length of the reward range, since the mean lies in it too."
    )
    theta_norm: float = given.theta_scale()
    feature_norm: float = parameter(scale, "A: arms must satisfy |x| <= A.", default=1.0)
    ridge: float = parameter(
        positive_float, 'mu. Default: A^2 ("tight") or d A^2 ("paper").', default=None
    )
    variation_ridge: float = parameter(
        positive_float,
        'lambda. Default: d A^2 R^2 / 8 ("tight"; chosen by experiment, any number is valid) or '
        'd A^2 R^2 ("paper").',
        default=None,
    )
    constants: str = given.constants('"tight" or "paper".')
    width_scale: float = given.width_scale()
    seed: Seed = given.seed()

    def _build(self) -> None:
        super()._build()
        tight, d, A, R = self.constants == "tight", self.dim, self.feature_norm, self.noise_bound
        b = R * A
        if self.ridge is None:
            self.ridge = A**2 * (1.0 if tight else d)
        if self.variation_ridge is None:
            size = b**2 * d * (0.125 if tight else 1.0)
            self.variation_ridge = positive_float("variation_ridge", size)
        mu, lam, delta = self.ridge, self.variation_ridge, self.failure_prob
        check_conditioning(A, mu)
        check_conditioning(A, lam / R**2, "sqrt(variation_ridge) / noise_bound")
        # The exponent is tuned to ln(det H / lambda^d) = d, which a long quiet run has.
        tuned = best_variation_bernstein(d, ridge=lam, b=b, delta=delta, log_det_ratio=float(d))
        bias = mu * self.theta_norm / math.sqrt(lam)
        rule = Score(float(not tight), *tuned, lam, b, delta, bias, self.width_scale, R**2)
        blocks = new_score(d, mu, lam, score_radius(0.0, d, rule))
        state = FauryState(blocks, np.array(rule))
        Theta = ScoreEllipsoid(
            self._space, state, theta_norm=self.theta_norm, unknown_variance=R**2
        )
        self._learn_in(Theta)
