"""SupLinUCB: LinUCB in levels whose samples are independent, so that its widths are proved."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from voful.bandits import arguments as given
from voful.bandits.armwise import ArmBounds, ArmwisePolicy, arm_bounds, arm_width
from voful.bandits.optimism import arms_in, eliminate, largest, most_optimistic
from voful.compiled import kernel, part
from voful.confidence.algebra import means_and_widths, whiten
from voful.confidence.ellipsoids.ridge import open_ridge, ridge_update
from voful.confidence.rule import rule
from voful.typing import BoolArray, FloatArray, Seed


class SupState(NamedTuple):
    """The levels; the radius of the first is the width of them all in the last `select`."""

    blocks: FloatArray  # behind the ridge: how many rewards it learnt or passed on
    constants: FloatArray  # ArmBounds


@part
def unit_and_floor(constants: FloatArray) -> tuple[float, float]:
    """U and U / sqrt(T)."""
    bounds = arm_bounds(constants)
    unit = 2.0 * bounds.noise_scale
    return unit, unit / math.sqrt(bounds.n_rounds)


@kernel
def sup_choose(blocks: FloatArray, constants: FloatArray, arms: FloatArray, mask: BoolArray) -> int:
    """The arm to play ([1], Algorithm 3)."""
    n, d = arms.shape
    unit, floor = unit_and_floor(constants)
    width = arm_width(arm_bounds(constants), n, blocks.shape[0])
    open_ridge(blocks[0], d).radius[0] = width
    left = arms_in(mask, n)
    for s in range(blocks.shape[0]):
        level = open_ridge(blocks[s], d)
        upper, widths = means_and_widths(arms, level.center, level.whitener, width)
        for i in range(n):
            upper[i] += widths[i]
        widest = largest(widths, left)
        if widths[widest] <= floor:
            break  # exploit; the last level is sure to end here or below: 2^-ceil(ln T) <= T^-1/2
        if widths[widest] > 0.5 ** (s + 1) * unit:
            return widest  # explore: of the arms that are too wide, the widest
        eliminate(left, upper, 0.5**s * unit)  # 2^(1-s) for s = 1..
    return most_optimistic(upper, widths, left)


@kernel
def sup_observe(
    blocks: FloatArray, constants: FloatArray, x: FloatArray, reward: float, variance: float
) -> None:
    """To the first level that finds x too wide.

    Level s = 1.. finds x too wide if its width there is above max(2^-s unit, floor). Where none
    does, nothing is learnt. Rewards play no part in it: a level's samples stay independent.
    """
    d = x.shape[0]
    unit, floor = unit_and_floor(constants)
    width, whitened = open_ridge(blocks[0], d).radius[0], np.empty(d)
    for s in range(blocks.shape[0]):
        blocks[s, -1] += 1.0
        level = open_ridge(blocks[s], d)
        leverage = whiten(level.whitener, x, whitened)
        if width * math.sqrt(leverage) > max(0.5 ** (s + 1) * unit, floor):
            ridge_update(level, x, reward, 1.0)
            break


class SupLinUCB(ArmwisePolicy):
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

    References
    ----------
    [1] Chu, Li, Reyzin, Schapire. Contextual bandits with linear payoff functions. AISTATS 2011,
        Algorithms 2 and 3.
    """

    _rule = rule(SupState, sup_choose, sup_observe, None)

    n_rounds: int = given.n_rounds("T: how many rewards will be learnt at most.")
    failure_prob: float = given.failure_prob("delta.")
    reward_range: tuple[float, float] | None = given.reward_range_or_none("noise_scale")
    noise_scale: float = given.noise_scale(
        "sigma: the noise is sigma-sub-Gaussian; U = 2 sigma. Default: half the reward range."
    )
    theta_norm: float = given.theta_norm()
    feature_norm: float = given.feature_norm()
    width_scale: float = given.width_scale("Multiplies the widths (1 = the theory).")
    seed: Seed = given.seed()

    def _build(self) -> None:
        super()._build()
        self.n_levels = max(1, math.ceil(math.log(self.n_rounds)))
        bounds = ArmBounds(
            self.noise_scale,
            float(self.n_rounds),
            self.failure_prob,
            self.theta_norm,
            self.width_scale,
        )
        self._state = SupState(*self._start(self.n_levels, bounds))

    def width(self, n_arms: int) -> float:
        """Factor alpha + S of |x|_{A_s^-1} among n_arms arms, width_scale included."""
        return self._width(n_arms)

    def _peek(self, arms: FloatArray, mask: BoolArray) -> int:
        width = open_ridge(self._blocks[0], self.dim).radius  # of the latest choice
        before = width[0]
        try:
            return self._choose(arms, mask)
        finally:
            width[0] = before
