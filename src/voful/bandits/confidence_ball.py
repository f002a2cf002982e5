"""ConfidenceBall2: the first optimism over an ellipsoid, with its printed constants."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from voful import validation
from voful.bandits import arguments as given
from voful.bandits.base import SetPolicy
from voful.bandits.optimism import choose_in_ellipsoid
from voful.compiled import kernel, part
from voful.confidence.ellipsoids.ridge import new_ridges, open_ridge, ridge_update
from voful.confidence.ellipsoids.sets import RidgeEllipsoid, in_ellipsoids
from voful.confidence.rule import rule
from voful.typing import FloatArray, Seed


@part
def confidence_ball_beta(t: float, dim: int, delta: float) -> float:
    """beta_t = max{128 d ln t ln(t^2/delta), (8/3 ln(t^2/delta))^2}, the squared radius in [1].

    At least 1, which |theta*|^2 may be at t = 1: that binds only for t = 1, delta > e^(-3/8).
    """
    price = 2.0 * math.log(t) + math.log(1.0 / delta)
    root = 8.0 / 3.0 * price
    return max(128.0 * dim * math.log(t) * price, root * root, 1.0)


class BallState(NamedTuple):
    """The set, and what its radius needs."""

    blocks: FloatArray
    constants: FloatArray  # unit, delta, width_scale


@part
def ball_radius(t: float, dim: int, constants: FloatArray) -> float:
    """The radius before round t, width_scale included."""
    unit, delta, width_scale = constants
    return float(width_scale * (unit * math.sqrt(confidence_ball_beta(t, dim, delta))))


@kernel
def ball_observe(
    blocks: FloatArray, constants: FloatArray, x: FloatArray, reward: float, variance: float
) -> None:
    """Ridge regression, and the radius of the round to come."""
    ridge = open_ridge(blocks[0], x.shape[0])
    ridge_update(ridge, x, reward, 1.0)
    ridge.radius[0] = ball_radius(ridge.n[0] + 1.0, x.shape[0], constants)


class ConfidenceBall2(SetPolicy[RidgeEllipsoid]):
    """ConfidenceBall2 of Dani, Hayes and Kakade [1], with the printed constants.

    With A_1 = I, A_{t+1} = A_t + x_t x_t' and mu_hat_t = A_t^-1 sum y x, for rewards scaled so that
    the noise and |theta*| are at most 1, |theta* - mu_hat_t|^2_{A_t} <= beta_t at all times with
    probability at least 1 - failure_prob,

        beta_t = max{128 d ln t ln(t^2/failure_prob), (8/3 ln(t^2/failure_prob))^2},

    and the policy plays argmax_x <x, mu_hat> + sqrt(beta) |x|_{A^-1}. Anytime; O(d^2) an update and
    an arm. The radius is enormous: expect linear regret over the first 10^4 rounds and more.

    Differs from the paper: (1) rewards are maximised instead of losses minimised; (2) the standard
    basis takes the place of the barycentric spanner, also where it is no part of the arms: the
    proof needs of it that |theta*|^2_{A_1} <= d and that arms have entries in [-1, 1], and the
    norm bounds give both; (3) the unit is max(high - low, theta_norm * feature_norm), since the
    noise of rewards in [low, high] can be as large as high - low.

    References
    ----------
    [1] Dani, Hayes, Kakade. Stochastic linear optimization under bandit feedback. COLT 2008.
    """

    _rule = rule(BallState, choose_in_ellipsoid, ball_observe, in_ellipsoids)

    failure_prob: float = given.failure_prob()
    reward_range: tuple[float, float] = given.reward_range("(low, high).")
    theta_norm: float = given.theta_norm("|theta*| <= theta_norm.")
    feature_norm: float = given.feature_norm(
        "Arms must satisfy |x| <= feature_norm; A_1 is feature_norm^2 I."
    )
    width_scale: float = given.width_scale("Multiplies the radius sqrt(beta) (1 = the theory).")
    seed: Seed = given.seed()

    def _build(self) -> None:
        super()._build()
        low, high = self.reward_range
        unit = max(high - low, self.theta_norm * self.feature_norm)
        _check_scales(self.feature_norm, self.theta_norm, unit)
        constants = np.array([unit, self.failure_prob, self.width_scale])
        radius = ball_radius(1.0, self.dim, constants)
        blocks = new_ridges(self.dim, np.array([self.feature_norm**2]), np.array([radius]))
        state = BallState(blocks, constants)
        self._learn_in(RidgeEllipsoid(self._space, state, theta_norm=self.theta_norm))


def _check_scales(feature_norm: float, theta_norm: float, unit: float) -> None:
    """ValueError where squares of the scales would overflow or vanish."""
    if not 1e-100 <= feature_norm <= 1e100:
        raise validation.fail("feature_norm", feature_norm, "a number from 1e-100 to 1e100")
    if not unit <= 1e100:
        name = "theta_norm" if unit == theta_norm * feature_norm else "reward_range"
        raise validation.fail(name, unit, "scales of at most 1e100")
