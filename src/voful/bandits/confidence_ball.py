"""ConfidenceBall2: the first optimism over an ellipsoid, with its printed constants."""

from __future__ import annotations

import math
from typing import NamedTuple

from voful import validation
from voful.bandits.base import EllipsoidPolicy
from voful.bandits.rounds import Kernels, Ridge, State, choose_in_ellipsoid, in_ellipsoid
from voful.compiled import kernel, shared
from voful.confidence.ellipsoids.ridge import COUNT, RidgeEllipsoid, ridge_update
from voful.typing import BoolArray, FloatArray, Seed
from voful.validation import ObservationSpace


@shared
def confidence_ball_beta(t: float, dim: int, delta: float) -> float:
    """beta_t = max{128 d ln t ln(t^2/delta), (8/3 ln(t^2/delta))^2}, the squared radius in [1].

    At least 1, which |theta*|^2 may be at t = 1: that binds only for t = 1, delta > e^(-3/8).
    """
    price = 2.0 * math.log(t) + math.log(1.0 / delta)
    root = 8.0 / 3.0 * price
    return max(128.0 * dim * math.log(t) * price, root * root, 1.0)


class BallState(NamedTuple):
    """The set and its radius' constants."""

    ridge: Ridge
    unit: float
    delta: float
    width_scale: float


@kernel
def ball_radius(state: BallState) -> float:
    """The radius of the set, width_scale included."""
    t = state.ridge[4][COUNT] + 1.0  # the round to come
    beta = confidence_ball_beta(t, state.ridge[3].shape[0], state.delta)
    return state.width_scale * (state.unit * math.sqrt(beta))


@kernel
def ball_choose(state: BallState, arms: FloatArray, mask: BoolArray) -> int:
    """`select`."""
    return choose_in_ellipsoid(state.ridge, ball_radius(state), arms, mask)


@kernel
def ball_observe(state: BallState, x: FloatArray, reward: float, variance: float) -> None:
    """`update`."""
    ridge_update(*state.ridge, x, reward, 1.0)


@kernel
def ball_holds(state: BallState, theta: FloatArray) -> bool:
    """`contains`."""
    return in_ellipsoid(state.ridge, ball_radius(state), theta)


class ConfidenceBall2(EllipsoidPolicy):
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

    Parameters
    ----------
    dim
        Dimension d of the arms.
    failure_prob
        Probability that theta* ever leaves the set.
    reward_range
        (low, high).
    theta_norm
        |theta*| <= theta_norm.
    feature_norm
        Arms must satisfy |x| <= feature_norm; A_1 is feature_norm^2 I.
    width_scale
        Multiplies the radius sqrt(beta) (1 = the theory).
    seed
        Unused by the rule itself, which is deterministic.

    References
    ----------
    [1] Dani, Hayes, Kakade. Stochastic linear optimization under bandit feedback. COLT 2008.
    """

    _kernels = Kernels(ball_choose, ball_observe, ball_holds)

    def __init__(
        self,
        dim: int,
        *,
        failure_prob: float = 0.05,
        reward_range: tuple[float, float] = (-1.0, 1.0),
        theta_norm: float = 1.0,
        feature_norm: float = 1.0,
        width_scale: float = 1.0,
        seed: Seed = 0,
    ) -> None:
        low, high = validation.reward_range(reward_range)
        space = ObservationSpace.checked(dim, (low, high), feature_norm=feature_norm)
        super().__init__(space, seed=seed)
        self.failure_prob = validation.probability("failure_prob", failure_prob)
        self.theta_norm = validation.positive_float("theta_norm", theta_norm)
        self.width_scale = validation.positive_float("width_scale", width_scale)
        self._unit = max(high - low, self.theta_norm * space.feature_norm)
        _check_scales(space.feature_norm, self.theta_norm, self._unit)
        self._set = RidgeEllipsoid(
            space,
            ridge=space.feature_norm**2,
            radius=self._radius,
            theta_norm=self.theta_norm,
            width_scale=self.width_scale,
        )

    @property
    def confidence_set(self) -> RidgeEllipsoid:
        """Live view of the ellipsoid."""
        return self._set

    def _radius(self, Theta: RidgeEllipsoid) -> float:
        t = Theta.n_observations + 1  # the round to come
        return self._unit * math.sqrt(confidence_ball_beta(t, self.dim, self.failure_prob))

    def _state(self, n_arms: int) -> State:
        return BallState(self._set._matrices(), self._unit, self.failure_prob, self.width_scale)


def _check_scales(feature_norm: float, theta_norm: float, unit: float) -> None:
    """ValueError where squares of the scales would overflow or vanish."""
    if not 1e-100 <= feature_norm <= 1e100:
        raise validation.fail("feature_norm", feature_norm, "a number from 1e-100 to 1e100")
    if not unit <= 1e100:
        name = "theta_norm" if unit == theta_norm * feature_norm else "reward_range"
        raise validation.fail(name, unit, "scales of at most 1e100")
