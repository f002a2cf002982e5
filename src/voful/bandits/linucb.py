"""LinUCB: one ridge estimate, and a width that is right for each arm by itself."""

from __future__ import annotations

import math
from typing import ClassVar, NamedTuple

import numpy as np

from voful import validation
from voful.bandits.base import Policy
from voful.bandits.optimism import most_optimistic_in_ellipsoid
from voful.bandits.rounds import Kernels, Ridge, State, choose_in_ellipsoid, no_set
from voful.compiled import kernel
from voful.confidence.algebra import dots, means_and_widths
from voful.confidence.ellipsoids.ridge import COUNT, check_conditioning, ridge_start, ridge_update
from voful.typing import BoolArray, FloatArray, Seed
from voful.validation import ObservationSpace


def linucb_alpha(noise_scale: float, n_bounds: float, failure_prob: float) -> float:
    """sigma sqrt(2 ln(2 n / delta)): the width of n two-sided Azuma bounds that share delta.

    For rewards in [0, 1], sigma = 1/2, it is sqrt(ln(2 n / delta) / 2), as printed.
    """
    return noise_scale * math.sqrt(2.0 * math.log(2.0 * n_bounds / failure_prob))


class LinUCBState(NamedTuple):
    """The estimate, and the width's factor."""

    ridge: Ridge
    alpha: float


@kernel
def linucb_choose(state: LinUCBState, arms: FloatArray, mask: BoolArray) -> int:
    """`select`."""
    return choose_in_ellipsoid(state.ridge, state.alpha, arms, mask)


@kernel
def linucb_observe(state: LinUCBState, x: FloatArray, reward: float, variance: float) -> None:
    """`update`."""
    ridge_update(*state.ridge, x, reward, 1.0)


class LinUCB(Policy):
    """Linear upper confidence bounds [1].

    With A = I + sum x x' and the ridge estimate theta_hat, the policy plays the argmax over the K
    arms of the round of <x, theta_hat> + alpha |x|_{A^-1}, alpha = sigma sqrt(2 ln(2 T K / delta)).
    The width would be right for samples that are independent of each other; those of an adaptive
    policy are not, and no regret bound is known for this rule (`SupLinUCB` is the one with a
    proof). It has no confidence set: `index` gives the bounds that it uses. O(d^2) an update and an
    arm.

    Parameters
    ----------
    dim
        Dimension d of the arms.
    n_rounds
        T: how many rewards will be learnt at most.
    failure_prob
        delta of alpha.
    reward_range
        (low, high); None where rewards are unbounded (then `noise_scale` is needed).
    noise_scale
        sigma: the noise is sigma-sub-Gaussian. Default: half the reward range.
    feature_norm
        Arms must satisfy |x| <= feature_norm.
    width_scale
        Multiplies alpha.
    seed
        Unused by the rule itself, which is deterministic.

    References
    ----------
    [1] Chu, Li, Reyzin, Schapire. Contextual bandits with linear payoff functions. AISTATS 2011,
        Algorithm 1.
    """

    _arrays: ClassVar[tuple[str, ...]] = ("precision", "whitener", "response", "center", "tally")
    _kernels = Kernels(linucb_choose, linucb_observe, no_set)

    def __init__(
        self,
        dim: int,
        *,
        n_rounds: int,
        failure_prob: float = 0.05,
        reward_range: tuple[float, float] | None = (-1.0, 1.0),
        noise_scale: float | None = None,
        feature_norm: float = 1.0,
        width_scale: float = 1.0,
        seed: Seed = 0,
    ) -> None:
        bounds = validation.reward_range_or_none(reward_range)
        self.n_rounds = validation.positive_int("n_rounds", n_rounds)
        space = ObservationSpace.checked(
            dim, bounds, feature_norm=feature_norm, n_rounds=self.n_rounds
        )
        super().__init__(space, seed=seed)
        self.failure_prob = validation.probability("failure_prob", failure_prob)
        self.noise_scale = validation.noise_scale(noise_scale, bounds)
        self.width_scale = validation.positive_float("width_scale", width_scale)
        check_conditioning(space.feature_norm, 1.0, "1")
        start = (stacked[0].copy() for stacked in ridge_start(space.dim, np.ones(1)))
        self.precision, self.whitener, self.response, self.center, self.tally = start

    @property
    def confidence_set(self) -> None:
        """None: the bounds are meant for single arms, not for theta*."""
        return None

    @property
    def n_observations(self) -> int:
        """How many rewards were learnt."""
        return int(self.tally[COUNT])

    def alpha(self, n_arms: int) -> float:
        """The width's factor among n_arms arms, width_scale included."""
        n_bounds = float(self.n_rounds) * n_arms
        return self.width_scale * linucb_alpha(self.noise_scale, n_bounds, self.failure_prob)

    def _choose(self, arms: FloatArray, mask: BoolArray) -> int:
        alpha = self.alpha(len(arms))
        return most_optimistic_in_ellipsoid(arms, mask, self.center, self.whitener, alpha)

    def _observe(self, x: FloatArray, reward: float) -> None:
        ridge_update(
            self.precision, self.whitener, self.response, self.center, self.tally, x, reward, 1.0
        )

    def _predict(self, X: FloatArray) -> FloatArray:
        return dots(X, self.center)

    def _index(self, arms: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        means, widths = means_and_widths(arms, self.center, self.whitener, self.alpha(len(arms)))
        return means, means - widths, means + widths

    def _state(self, n_arms: int) -> State:
        ridge = self.precision, self.whitener, self.response, self.center, self.tally
        return LinUCBState(ridge, self.alpha(n_arms))
