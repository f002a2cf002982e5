"""SupLinUCB: LinUCB in levels whose samples are independent, so that its widths are proved."""

from __future__ import annotations

import math
from typing import ClassVar, NamedTuple

import numpy as np

from voful import validation
from voful.bandits.base import Policy
from voful.bandits.linucb import linucb_alpha
from voful.bandits.optimism import most_optimistic
from voful.bandits.rounds import Kernels, Ridge, State, no_set
from voful.compiled import kernel
from voful.confidence.algebra import dots, means_and_widths, whiten
from voful.confidence.ellipsoids.intersection import tightest_interval
from voful.confidence.ellipsoids.ridge import COUNT, check_conditioning, ridge_start, ridge_update
from voful.typing import BoolArray, FloatArray, IntArray, Seed
from voful.validation import ObservationSpace


@kernel
def sup_update(
    precisions: FloatArray,
    whiteners: FloatArray,
    responses: FloatArray,
    centers: FloatArray,
    tallies: FloatArray,
    learnt: IntArray,
    X: FloatArray,
    y: FloatArray,
    width: float,
    unit: float,
    floor: float,
) -> None:
    """The rows of X, in their order, each to the first level that finds it too wide.

    Level s = 1.. finds x too wide if its width there is above max(2^-s unit, floor). Where none
    does, nothing is learnt. Rewards play no part in it: a level's samples stay independent.
    """
    whitened = np.empty(X.shape[1])
    for i in range(X.shape[0]):
        learnt[0] += 1
        for s in range(centers.shape[0]):
            leverage = whiten(whiteners[s], X[i], whitened)
            if width * math.sqrt(leverage) > max(0.5 ** (s + 1) * unit, floor):
                ridge_update(
                    precisions[s],
                    whiteners[s],
                    responses[s],
                    centers[s],
                    tallies[s],
                    X[i],
                    y[i],
                    1.0,
                )
                break


@kernel
def sup_select(
    arms: FloatArray,
    mask: BoolArray,
    centers: FloatArray,
    whiteners: FloatArray,
    width: float,
    unit: float,
    floor: float,
) -> int:
    """The arm to play ([1], Algorithm 3)."""
    n, n_levels = arms.shape[0], centers.shape[0]
    left = np.ones(n, dtype=np.bool_) if mask.shape[0] == 0 else mask.copy()
    for s in range(n_levels):
        means, widths = means_and_widths(arms, centers[s], whiteners[s], width)
        upper = means + widths
        widest = -1
        for i in range(n):
            if left[i] and (widest < 0 or widths[i] > widths[widest]):
                widest = i
        if widths[widest] <= floor:
            break  # exploit; the last level is sure to end here or below: 2^-ceil(ln T) <= T^-1/2
        if widths[widest] > 0.5 ** (s + 1) * unit:
            return widest  # explore: of the arms that are too wide, the widest
        best = -np.inf
        for i in range(n):
            if left[i]:
                best = max(best, upper[i])
        left &= upper >= best - 0.5**s * unit  # 2^(1-s) for s = 1..
    return most_optimistic(upper, widths, left)


class SupState(NamedTuple):
    """The levels and their constants."""

    ridges: Ridge
    learnt: IntArray
    offered: IntArray
    scales: tuple[float, float, float]


@kernel
def sup_choose(state: SupState, arms: FloatArray, mask: BoolArray) -> int:
    """`select`."""
    state.offered[0] = arms.shape[0]
    width, unit, floor = state.scales
    return sup_select(arms, mask, state.ridges[3], state.ridges[1], width, unit, floor)


@kernel
def sup_observe(state: SupState, x: FloatArray, reward: float, variance: float) -> None:
    """`update`."""
    X, y = x.reshape(1, -1), np.full(1, reward)
    width, unit, floor = state.scales
    sup_update(*state.ridges, state.learnt, X, y, width, unit, floor)


class SupLinUCB(Policy):
    """LinUCB in levels [1].

    Level s = 1..ceil(ln T) keeps A_s = I + sum x x' over its own rounds, their ridge estimate, and
    the width w_s(x) = (alpha + S) |x|_{A_s^-1}, alpha = sigma sqrt(2 ln(2 T K L / delta)) for K
    arms and L levels. With probability at least 1 - delta, <x, theta*> is within w_s of its
    estimate for all arms, levels and rounds. A round goes down the levels:

    - if all arms that are left have w_s <= U / sqrt(T), play the largest upper bound;
    - if some arm has w_s > 2^-s U, play the widest; level s learns its reward;
    - else keep the arms whose upper bound is within 2^(1-s) U of the largest.

    U is the width of the reward range (1 in [1]). The bounds hold for the arms of the round, not
    for theta* at large: there is no confidence set, and `index` gives the least of the levels'
    bounds. O(d^2) an update, O(L d^2) an arm.

    Differs from the paper: delta is shared by the levels too, as the proof needs; K is the number
    of arms of the round; the level of an observation is found when its reward comes, from x and
    the levels' widths alone, which gives the level in which x was played if rewards come at once
    (in the first case a later level may learn, where [1] discards the reward).

    Parameters
    ----------
    dim
        Dimension d of the arms.
    n_rounds
        T: how many rewards will be learnt at most.
    failure_prob
        delta.
    reward_range
        (low, high); None where rewards are unbounded (then `noise_scale` is needed).
    noise_scale
        sigma: the noise is sigma-sub-Gaussian; U = 2 sigma. Default: half the reward range.
    theta_norm
        S: |theta*| <= S.
    feature_norm
        Arms must satisfy |x| <= feature_norm.
    width_scale
        Multiplies the widths (1 = the theory).
    seed
        Unused by the rule itself, which is deterministic.

    References
    ----------
    [1] Chu, Li, Reyzin, Schapire. Contextual bandits with linear payoff functions. AISTATS 2011,
        Algorithms 2 and 3.
    """

    _kernels = Kernels(sup_choose, sup_observe, no_set)
    _arrays: ClassVar[tuple[str, ...]] = (
        "precisions",
        "whiteners",
        "responses",
        "centers",
        "tallies",
        "learnt",
        "offered",
    )

    def __init__(
        self,
        dim: int,
        *,
        n_rounds: int,
        failure_prob: float = 0.05,
        reward_range: tuple[float, float] | None = (-1.0, 1.0),
        noise_scale: float | None = None,
        theta_norm: float = 1.0,
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
        self.theta_norm = validation.positive_float("theta_norm", theta_norm)
        self.width_scale = validation.positive_float("width_scale", width_scale)
        check_conditioning(space.feature_norm, 1.0, "1")
        self.n_levels = max(1, math.ceil(math.log(self.n_rounds)))
        start = ridge_start(space.dim, np.ones(self.n_levels))
        self.precisions, self.whiteners, self.responses, self.centers, self.tallies = start
        self.learnt = np.zeros(1, dtype=np.int64)
        self.offered = np.ones(1, dtype=np.int64)  # how many arms the last `select` had

    @property
    def confidence_set(self) -> None:
        """None: the bounds are those of single arms, not of theta*."""
        return None

    @property
    def n_observations(self) -> int:
        """How many rewards came, learnt by a level or not."""
        return int(self.learnt[0])

    def width(self, n_arms: int) -> float:
        """Factor alpha + S of |x|_{A_s^-1} among n_arms arms, width_scale included."""
        n_bounds = float(self.n_rounds) * n_arms * self.n_levels
        alpha = linucb_alpha(self.noise_scale, n_bounds, self.failure_prob)
        return self.width_scale * (alpha + self.theta_norm)

    def _scales(self, n_arms: int) -> tuple[float, float, float]:
        """Factor of the widths, U and U / sqrt(T)."""
        unit = 2.0 * self.noise_scale
        return self.width(n_arms), unit, unit / math.sqrt(self.n_rounds)

    def _choose(self, arms: FloatArray, mask: BoolArray) -> int:
        self.offered[0] = len(arms)
        return sup_select(arms, mask, self.centers, self.whiteners, *self._scales(len(arms)))

    def _observe(self, x: FloatArray, reward: float) -> None:
        self._observe_many(x[np.newaxis], np.array([reward]))

    def _observe_many(self, X: FloatArray, rewards: FloatArray) -> None:
        sup_update(
            self.precisions,
            self.whiteners,
            self.responses,
            self.centers,
            self.tallies,
            self.learnt,
            X,
            rewards,
            *self._scales(int(self.offered[0])),
        )

    def _predict(self, X: FloatArray) -> FloatArray:
        fullest = int(np.argmax(self.tallies[:, COUNT]))
        return dots(X, self.centers[fullest])

    def _index(self, arms: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        widths = np.full(self.n_levels, self.width(len(arms)))
        lower, upper = tightest_interval(arms, self.centers, self.whiteners, widths)
        return self._predict(arms), lower, upper

    def _state(self, n_arms: int) -> State:
        ridges = self.precisions, self.whiteners, self.responses, self.centers, self.tallies
        return SupState(ridges, self.learnt, self.offered, self._scales(n_arms))
