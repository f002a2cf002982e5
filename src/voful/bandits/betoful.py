"""BetOFUL: optimism over a betting ellipsoid."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from voful import validation
from voful.bandits.base import OptimisticPolicy
from voful.bandits.optimism import best_for, most_optimistic
from voful.bandits.rounds import Kernels, State
from voful.compiled import kernel
from voful.confidence.algebra import dots
from voful.confidence.betting import BettingEllipsoid
from voful.confidence.betting.extent import current_center, holds, is_empty, optimistic_ends
from voful.confidence.betting.round import play_round
from voful.confidence.betting.state import open_ellipsoids
from voful.typing import BoolArray, FloatArray, IntArray, Seed
from voful.validation import TOLERANCE, ObservationSpace


@kernel
def most_optimistic_in_bets(
    bets: int,
    constants: FloatArray,
    memory: FloatArray,
    count: IntArray,
    history: FloatArray,
    width_scale: float,
    arms: FloatArray,
    mask: BoolArray,
) -> int:
    """`most_optimistic` over a betting ellipsoid, -1 where it is empty.

    The index is not capped at the largest reward: ties there would hide the better arm.
    """
    Theta = open_ellipsoids(bets, constants, memory)
    if is_empty(Theta, count):
        return -1
    upper, width = optimistic_ends(Theta, width_scale, arms, mask)
    return most_optimistic(upper, width, mask)


class BetState(NamedTuple):
    """The set, as the kernels take it, and its width_scale."""

    everything: tuple[int, FloatArray, FloatArray, IntArray, FloatArray]
    width_scale: float


@kernel
def bet_choose(state: BetState, arms: FloatArray, mask: BoolArray) -> int:
    """`select`."""
    choice = most_optimistic_in_bets(*state.everything, state.width_scale, arms, mask)
    if choice >= 0:
        return choice
    return best_for(arms, mask, current_center(*state.everything)[1])


@kernel
def bet_observe(state: BetState, x: FloatArray, reward: float, variance: float) -> None:
    """`update`, where the history has room."""
    play_round(*state.everything, x, reward)


@kernel
def bet_holds(state: BetState, theta: FloatArray) -> bool:
    """`contains`."""
    empty = current_center(*state.everything)[0]
    return not empty and holds(*state.everything, state.width_scale, theta, TOLERANCE)


class BetOFUL(OptimisticPolicy):
    """Optimism over a betting ellipsoid: no variance, no horizon, no tuning.

    For rewards in a known range with E[y | past, x] = <x, theta*> and
    |theta* - theta_center| <= theta_norm, with probability at least 1 - failure_prob theta* is in
    `confidence_set` at all times. The noise may have any law given the past. The set adapts to its
    variance without being told: with little noise the regret is a burn-in and then nearly flat.

    The result depends on the order in which rewards are learnt, also in `partial_fit`: every bet is
    placed with what was learnt before. Delayed and batched rewards keep the guarantee as long as
    the mean of each reward given all that was learnt before it is <x, theta*>: so if noise is
    independent from round to round and neither the delay nor whether a reward arrives at all
    depends on the reward; or if rewards are learnt in the order of play.

    Cost: O(d^2) an update and an arm. With refresh=True the rounds are kept, 8 (d + 6) bytes each,
    and gone through again whenever there are half as many more (bet="product": as many): O(d^2) a
    round on average, but single updates take as long as the history. refresh=False is the streaming
    form, with O(d^2) memory, every update alike, and a somewhat larger set.

    Parameters
    ----------
    dim
        Dimension d of the arms.
    failure_prob
        Probability that theta* ever leaves the set.
    reward_range
        (low, high): rewards outside are refused.
    theta_norm, theta_center
        |theta* - theta_center| <= theta_norm; theta_center None: 0.
    feature_norm
        Arms must satisfy |x| <= feature_norm.
    bet
        "mixed" (default; as good as the better of the two nearly everywhere), "ratio" (a little
        better under light-tailed noise, worse under rare large deviations) or "product" (fastest).
    refresh
        Whether old rounds are used again, see above.
    width_scale
        Multiplies the half-width of the set where it is used or asked (1 = the theory); the bets
        themselves keep the theory's intervals.
    seed
        Unused by the rule itself, which is deterministic.

    Notes
    -----
    This library's own algorithm; the proof, step by step, is on its page in the documentation.
    """

    _kernels = Kernels(bet_choose, bet_observe, bet_holds)

    def __init__(
        self,
        dim: int,
        *,
        failure_prob: float = 0.05,
        reward_range: tuple[float, float] = (-1.0, 1.0),
        theta_norm: float = 1.0,
        theta_center: npt.ArrayLike | None = None,
        feature_norm: float = 1.0,
        bet: str = "mixed",
        refresh: bool = True,
        width_scale: float = 1.0,
        seed: Seed = 0,
    ) -> None:
        bounds = validation.reward_range(reward_range)
        space = ObservationSpace.checked(dim, bounds, feature_norm=feature_norm)
        super().__init__(space, seed=seed)
        self.failure_prob = validation.probability("failure_prob", failure_prob)
        self.theta_norm = validation.positive_float("theta_norm", theta_norm)
        self.theta_center = (
            None
            if theta_center is None
            else validation.vector("theta_center", theta_center, space.dim)
        )
        self.width_scale = validation.positive_float("width_scale", width_scale)
        self._set = BettingEllipsoid(
            space,
            failure_prob=self.failure_prob,
            theta_norm=self.theta_norm,
            theta_center=self.theta_center,
            bet=bet,
            refresh=refresh,
            width_scale=self.width_scale,
        )
        self.bet = self._set.bet
        self.refresh = self._set.refresh

    @property
    def confidence_set(self) -> BettingEllipsoid:
        """Live view of the set."""
        return self._set

    def _choose(self, arms: FloatArray, mask: BoolArray) -> int:
        Theta = self._set
        # The arguments one by one: this is the hot path.
        choice = most_optimistic_in_bets(
            Theta._bets,
            Theta._constants,
            Theta.memory,
            Theta.count,
            Theta.history,
            Theta.width_scale,
            arms,
            mask,
        )
        if choice >= 0:
            return choice
        Theta.warn_if_empty()
        return most_optimistic(dots(arms, Theta.center), np.zeros(len(arms)), mask)

    def _index(self, arms: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        mean, lower, upper = super()._index(arms)
        # The first ellipsoid's centre may lie outside another ellipsoid.
        return np.minimum(np.maximum(mean, lower), upper), lower, upper

    def _state(self, n_arms: int) -> State:
        return BetState(self._set._everything(), self.width_scale)

    def _reserve(self, rounds: int, n_arms: int) -> None:
        self._set._reserve(rounds)
