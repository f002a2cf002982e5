"""UCB-V: empirical variances for finitely many arms, without the linear model."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from voful import validation
from voful.bandits.base import Policy
from voful.bandits.optimism import most_optimistic
from voful.bandits.rounds import Kernels, State, no_set
from voful.compiled import kernel
from voful.typing import BoolArray, FloatArray, IntArray, Seed
from voful.validation import ObservationSpace

FREE = -1  # a slot of the table that holds no arm
PLAYS, MEAN, SQUARES = 0, 1, 2  # columns of the statistics; SQUARES: sum of (y - mean)^2
REWARDS, ARMS = 0, 1  # entries of the tally
FIRST_CAPACITY = 16


# --- arms by their features -------------------------------------------------------------------


@kernel
def hash_of(x: FloatArray) -> int:
    """A nonnegative number that depends on every bit of x; 0 and -0 are the same."""
    bits = x.view(np.uint64)
    mixed = np.uint64(0x9E3779B97F4A7C15)
    for j in range(x.shape[0]):
        if x[j] != 0.0:
            mixed ^= bits[j]
        # The finaliser of splitmix64 (Steele, Lea, Flood 2014)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed = mixed ^ (mixed >> np.uint64(31))
    return int(mixed >> np.uint64(1))


@kernel
def slot_of(x: FloatArray, known: FloatArray, table: IntArray) -> int:
    """The slot that points to the row x of `known`, or the free one where it belongs."""
    last = len(table) - 1  # a power of two, at most half full
    slot = hash_of(x) & last
    while table[slot] != FREE:
        same = True
        for j in range(x.shape[0]):
            same = same and known[table[slot], j] == x[j]
        if same:
            return slot
        slot = (slot + 1) & last
    return slot


@kernel
def fill_table(known: FloatArray, n_known: int, table: IntArray) -> None:
    """The table of the first n_known rows."""
    for slot in range(table.shape[0]):
        table[slot] = FREE
    for i in range(n_known):
        table[slot_of(known[i], known, table)] = i


@kernel
def learn(
    known: FloatArray,
    table: IntArray,
    statistics: FloatArray,
    tally: IntArray,
    X: FloatArray,
    y: FloatArray,
    start: int,
) -> int:
    """Learn the rows of X from `start` on; returns the first that finds no room, or their number.

    Mean and sum of squares by Welford's recursion, which does not cancel.
    """
    for i in range(start, X.shape[0]):
        slot = slot_of(X[i], known, table)
        if table[slot] == FREE:
            if tally[ARMS] == known.shape[0]:
                return i
            table[slot] = tally[ARMS]
            for j in range(X.shape[1]):
                known[table[slot], j] = X[i, j]
            tally[ARMS] += 1
        arm = statistics[table[slot]]
        arm[PLAYS] += 1.0
        before = y[i] - arm[MEAN]
        arm[MEAN] += before / arm[PLAYS]
        arm[SQUARES] += before * (y[i] - arm[MEAN])
        tally[REWARDS] += 1
    return len(X)


@kernel
def statistics_of(
    X: FloatArray, known: FloatArray, table: IntArray, statistics: FloatArray
) -> FloatArray:
    """Plays, mean and sum of squares of the rows of X, zeros for those never played."""
    out = np.zeros((X.shape[0], 3))
    for i in range(X.shape[0]):
        place = table[slot_of(X[i], known, table)]
        if place != FREE:
            for k in range(3):
                out[i, k] = statistics[place, k]
    return out


# --- the rule ---------------------------------------------------------------------------------


@kernel
def ucb_v_widths(
    statistics: FloatArray, exponent: float, range_weight: float, span: float
) -> FloatArray:
    """sqrt(2 V E / s) + 3 c b E / s for arms played s > 0 times, V their empirical variance [1]."""
    widths = np.zeros(statistics.shape[0])
    for i in range(statistics.shape[0]):
        s = statistics[i, PLAYS]
        if s > 0.0:
            V = statistics[i, SQUARES] / s
            widths[i] = math.sqrt(2.0 * V * exponent / s) + 3.0 * range_weight * span * exponent / s
    return widths


@kernel
def choose(statistics: FloatArray, widths: FloatArray, mask: BoolArray) -> int:
    """The first arm never played, else the most optimistic."""
    upper = np.empty(statistics.shape[0])
    for i in range(statistics.shape[0]):
        if statistics[i, PLAYS] == 0.0 and (mask.shape[0] == 0 or mask[i]):
            return i
        upper[i] = statistics[i, MEAN] + widths[i]
    return most_optimistic(upper, widths, mask)


class UCBVState(NamedTuple):
    """The arms known, and the constants."""

    known: FloatArray
    table: IntArray
    statistics: FloatArray
    tally: IntArray
    exploration: float
    range_weight: float
    span: float
    width_scale: float


@kernel
def ucb_v_choose(state: UCBVState, arms: FloatArray, mask: BoolArray) -> int:
    """`select`."""
    statistics = statistics_of(arms, state.known, state.table, state.statistics)
    exponent = state.exploration * math.log(state.tally[REWARDS] + 1)
    widths = ucb_v_widths(statistics, exponent, state.range_weight, state.span)
    return choose(statistics, state.width_scale * widths, mask)


@kernel
def ucb_v_observe(state: UCBVState, x: FloatArray, reward: float, variance: float) -> None:
    """`update`, where there is room for another arm."""
    X, y = x.reshape(1, -1), np.full(1, reward)
    learn(state.known, state.table, state.statistics, state.tally, X, y, 0)


class UCBV(Policy):
    """UCB-V [1] for finitely many arms: empirical means and variances, arm by arm.

    In round t an arm played s times with mean X and (biased) empirical variance V has the index

        X + sqrt(2 V E / s) + 3 c b E / s,   E = zeta ln t,  b = high - low,

    and an arm never played comes first. For a fixed set of arms and c = 1, zeta = 1.2 the expected
    regret is at most 10 sum_i (sigma_i^2 / Delta_i + 2 b) ln K [1]. Anytime; O(d) an arm and an
    update, to find the arm.

    The linear model is not used: an arm is its exact row of features. Arms seen before keep their
    statistics when the arms change, but a row that never comes back teaches nothing: with arms
    drawn anew each round the policy plays the first arm for ever. Memory grows with the number of
    different arms played. There is no confidence set; `index` gives an arm never played
    the whole reward range.

    Parameters
    ----------
    dim
        Dimension d of the arms.
    reward_range
        (low, high).
    exploration
        zeta > 1 in the theory.
    range_weight
        c of the last term; 1 in the theory.
    feature_norm
        Arms must satisfy |x| <= feature_norm.
    width_scale
        Multiplies the width (1 = the theory).
    seed
        Unused by the rule itself, which is deterministic.

    References
    ----------
    [1] Audibert, Munos, Szepesvari. Exploration-exploitation tradeoff using variance estimates in
        multi-armed bandits. Theoretical Computer Science 2009.
    """

    _arrays = ("_known", "_table", "_statistics", "_tally")
    _growing = ("_known", "_table", "_statistics")
    _kernels = Kernels(ucb_v_choose, ucb_v_observe, no_set)

    def __init__(
        self,
        dim: int,
        *,
        reward_range: tuple[float, float] = (-1.0, 1.0),
        exploration: float = 1.2,
        range_weight: float = 1.0,
        feature_norm: float = 1.0,
        width_scale: float = 1.0,
        seed: Seed = 0,
    ) -> None:
        self._low, self._high = validation.reward_range(reward_range)
        space = ObservationSpace.checked(dim, (self._low, self._high), feature_norm=feature_norm)
        super().__init__(space, seed=seed)
        self.exploration = validation.positive_float("exploration", exploration)
        self.range_weight = validation.nonnegative_float("range_weight", range_weight)
        self.width_scale = validation.positive_float("width_scale", width_scale)
        for name in ("exploration", "range_weight", "width_scale"):
            if getattr(self, name) > 1e6:  # else widths may overflow
                raise validation.fail(name, getattr(self, name), "a number of at most 10^6")
        if not self._high - self._low <= 1e100:
            raise validation.fail("reward_range", reward_range, "a range of at most 1e100")
        self._known = np.zeros((FIRST_CAPACITY, self.dim))
        self._table = np.full(2 * FIRST_CAPACITY, FREE, dtype=np.int64)
        self._statistics = np.zeros((FIRST_CAPACITY, 3))
        self._tally = np.zeros(2, dtype=np.int64)

    @property
    def confidence_set(self) -> None:
        """None: no linear model, no set of parameters."""
        return None

    @property
    def n_observations(self) -> int:
        """How many rewards were learnt."""
        return int(self._tally[REWARDS])

    @property
    def n_known_arms(self) -> int:
        """How many different arms were played."""
        return int(self._tally[ARMS])

    def _choose(self, arms: FloatArray, mask: BoolArray) -> int:
        statistics, widths = self._bounds(arms)
        return choose(statistics, widths, mask)

    def _observe(self, x: FloatArray, reward: float) -> None:
        self._observe_many(x[np.newaxis], np.array([reward]))

    def _observe_many(self, X: FloatArray, rewards: FloatArray) -> None:
        learnt = 0
        while learnt < len(X):
            storage = self._known, self._table, self._statistics, self._tally
            learnt = learn(*storage, X, rewards, learnt)
            if learnt < len(X):
                self._make_room()

    def _predict(self, X: FloatArray) -> FloatArray:
        statistics = statistics_of(X, self._known, self._table, self._statistics)
        middle = 0.5 * self._low + 0.5 * self._high
        return np.where(statistics[:, PLAYS] > 0.0, statistics[:, MEAN], middle)

    def _index(self, arms: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        statistics, widths = self._bounds(arms)
        mean = self._predict(arms)
        played = statistics[:, PLAYS] > 0.0
        lower = np.where(played, mean - widths, self._low)
        upper = np.where(played, mean + widths, self._high)
        return mean, lower, upper

    def _bounds(self, arms: FloatArray) -> tuple[FloatArray, FloatArray]:
        statistics = statistics_of(arms, self._known, self._table, self._statistics)
        exponent = self.exploration * math.log(self.n_observations + 1)
        widths = ucb_v_widths(statistics, exponent, self.range_weight, self._high - self._low)
        return statistics, self.width_scale * widths

    def _state(self, n_arms: int) -> State:
        return UCBVState(
            self._known,
            self._table,
            self._statistics,
            self._tally,
            self.exploration,
            self.range_weight,
            self._high - self._low,
            self.width_scale,
        )

    def _reserve(self, rounds: int, n_arms: int) -> None:
        while len(self._known) < self.n_known_arms + min(rounds, n_arms):
            self._make_room()

    def _make_room(self) -> None:
        """Twice the storage, so that growing costs O(1) an arm."""
        n = len(self._known)
        self._known = np.concatenate([self._known, np.zeros((n, self.dim))])
        self._statistics = np.concatenate([self._statistics, np.zeros((n, 3))])
        self._table = np.empty(4 * n, dtype=np.int64)
        fill_table(self._known, self.n_known_arms, self._table)

    def _check(self, arrays: Mapping[str, np.ndarray[Any, Any]]) -> None:
        super()._check(arrays)
        known, table, statistics, tally = (arrays[name] for name in self._arrays)
        capacity = len(known)
        fits = (
            capacity >= FIRST_CAPACITY
            and capacity & (capacity - 1) == 0
            and known.shape == (capacity, self.dim)
            and table.shape == (2 * capacity,)
            and statistics.shape == (capacity, 3)
            and 0 <= tally[ARMS] <= capacity
            and ((table >= FREE) & (table < tally[ARMS])).all()
            and (table != FREE).sum() == tally[ARMS]
        )
        if not fits:
            raise ValueError("arrays of different sizes")
