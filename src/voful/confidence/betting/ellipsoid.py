"""The betting ellipsoid as a confidence set."""

from __future__ import annotations

from typing import Any

import numpy as np

from voful.archive import Arrays
from voful.confidence.betting.base import BettingSet
from voful.confidence.betting.questions import bet_holds, center_of, ends, is_empty
from voful.confidence.betting.refresh import bet_refresh
from voful.confidence.betting.round import bet_observe
from voful.confidence.betting.sound import sound_history, sound_memory
from voful.confidence.betting.state import (
    BETS,
    BetState,
    State,
    new_memory,
    open_clock,
    open_state,
)
from voful.invariants import Invariants
from voful.typing import FloatArray
from voful.validation import ObservationSpace, boolean, choice, fail, nonnegative_float

FIRST_CAPACITY = 64


class BettingEllipsoid(BettingSet):
    """Ellipsoids on which no bet against the truth would have won 1/failure_prob.

    Each round, before the reward, a bet is placed against every parameter: its wealth is a
    nonnegative martingale at theta*, so it ever reaches 1/failure_prob with probability at most
    failure_prob (Ville). A quadratic in theta below the log-wealth makes {log-wealth <
    log(1/failure_prob)} an ellipsoid, updated in O(d^2). Needs rewards in a known range and
    |theta* - theta_center| <= theta_norm; no variance, no horizon. The variance shows by itself:
    the smaller the residuals, the steeper the bets.

    With probability at least 1 - failure_prob theta* is in the set at all times, whatever the noise
    (any law given the past, centred, that keeps rewards in the range).

    Parameters
    ----------
    space
        What is accepted as an arm and a reward; its `reward_range` is needed.
    failure_prob
        Probability that theta* ever leaves the set.
    theta_norm, theta_center
        theta* lies in the ball about theta_center (default 0) with radius theta_norm.
    bet
        "product", "ratio", or "mixed": the weighted sum of both wealths, as three ellipsoids.
    refresh
        True: keep all rounds and bend old minorants anew whenever the history has doubled (or grown
        by half, for "ratio" and "mixed"): 8 (d + 6) bytes a round at most. False: streaming, O(d^2)
        memory, a somewhat larger set.
    width_scale
        Multiplies sqrt(rad) in `contains`, `support` and `interval` (1 = the theory); the recursion
        keeps the theory's intervals.
    misfit
        e: means need not be linear, |E[y | past, x] - <x, theta*>| <= e. The set then holds every
        such theta*, and `support` and `interval` are those of the mean: wider by e. For "product".
    """

    _arrays = ("memory", "history")
    _growing = ("history",)

    def __init__(
        self,
        space: ObservationSpace,
        *,
        failure_prob: float,
        theta_norm: float = 1.0,
        theta_center: FloatArray | None = None,
        bet: str = "mixed",
        refresh: bool = True,
        width_scale: float = 1.0,
        misfit: float = 0.0,
    ) -> None:
        super().__init__(
            space, failure_prob=failure_prob, theta_norm=theta_norm, theta_center=theta_center
        )
        self.bet = choice("bet", bet, BETS)
        self.refresh = boolean("refresh", refresh)
        self.width_scale = width_scale
        self.misfit = nonnegative_float("misfit", misfit)
        if self.misfit > 0.0 and bet != "product":
            raise fail("misfit", misfit, 'bet="product": no other bet allows for it')
        self.memory = new_memory(
            bet,
            delta=failure_prob,
            reward_range=self.reward_range,
            rho=theta_norm,
            theta0=self.theta_center,
            feature_norm=space.feature_norm,
            refresh=self.refresh,
            width_scale=width_scale,
            misfit=self.misfit,
        )
        state = self.views()
        self._n = state.clock.n
        columns = space.dim + len(state.latest.bet)
        self.history: FloatArray = np.zeros((FIRST_CAPACITY if refresh else 0, columns))

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._n = open_clock(self.memory).n  # a copy's own

    @property
    def rule_state(self) -> BetState:
        """What the kernels are given."""
        return BetState(self.memory, self.history)

    def views(self) -> State:
        """The named parts of the memory, live."""
        return open_state(self.memory)

    @property
    def n_observations(self) -> int:
        """How many rewards were learnt."""
        return int(self._n[0])

    @property
    def rad(self) -> FloatArray:
        """Squared radius of each ellipsoid in its own norm, shape (n_ellipsoids,)."""
        return self.views().Theta.rad.copy()

    @property
    def is_empty(self) -> bool:
        """Whether the ellipsoids, the ball and the range have been seen without a common point."""
        return is_empty(self.memory)

    @property
    def center(self) -> FloatArray:
        """Centre of the (first) ellipsoid; of an empty set, the ridge estimate that predicts best.

        The latter goes on learning, while the bets have stopped.
        """
        return center_of(self.memory)

    def _contains(self, theta: FloatArray) -> bool:
        return self.in_ball(theta) and bool(bet_holds(*self.rule_state, theta))

    def _support(self, X: FloatArray) -> FloatArray:
        return self._upper_ends(X)

    def _interval(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        lower, upper = ends(self.memory, X)
        return lower - self.misfit, upper + self.misfit

    def _whatever_support(self, X: FloatArray) -> FloatArray:
        in_ball = super()._whatever_support(X) + self.misfit
        return np.minimum(in_ball, self._space.reward_limits[1])

    def _observe(self, x: FloatArray, reward: float) -> None:
        self.reserve(1)
        if bet_observe(self.memory, self.history, x, reward, 0.0):
            bet_refresh(self.memory, self.history)

    def _observe_many(self, X: FloatArray, rewards: FloatArray) -> None:
        self.reserve(len(rewards))
        for x, reward in zip(X, rewards, strict=True):
            self._observe(x, float(reward))

    def reserve(self, rounds: int) -> None:
        """Room for so many more rounds in the history."""
        needed = self._n.item() + rounds
        if self.refresh and needed > len(self.history):
            capacity = max(int(needed), 2 * len(self.history))
            longer = np.zeros((capacity, self.history.shape[1]))
            longer[: len(self.history)] = self.history
            self.history = longer

    def state(self) -> Arrays:
        """The arrays that change; of the history only what is in use."""
        used = self.history[: self.n_observations]
        return super().state() | {"history": used}

    def _invariants(self, state: Arrays) -> Invariants:
        memory, history, norm = state["memory"], state["history"], self._space.feature_norm
        yield from sound_memory(memory, self.memory, norm)
        rows = int(open_clock(memory).n[0]) if self.refresh else 0
        yield "a row of history for each round", history.shape == (rows, self.history.shape[1])
        yield from sound_history(history, self.memory, norm)
