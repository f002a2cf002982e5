"""UCB-V: empirical variances for finitely many arms, without the linear model."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from voful.archive import Arrays
from voful.bandits import arguments as given
from voful.bandits.base import CompiledPolicy
from voful.bandits.known_arms import FREE, fill_table, slot_of
from voful.bandits.optimism import most_optimistic
from voful.compiled import kernel, part
from voful.confidence.rule import observe_many, rule
from voful.invariants import SLACK, Invariants, between, whole
from voful.parameters import parameter
from voful.typing import BoolArray, FloatArray, IntArray, Seed
from voful.validation import fail, nonnegative_float, positive_float

FIRST_CAPACITY = 16


class UCBVState(NamedTuple):
    """The arms that were played, by their features."""

    records: FloatArray  # (capacity, d + 3): features, plays, mean, sum of (y - mean)^2
    table: IntArray  # (2 capacity,): see `known_arms`
    counts: IntArray  # how many rewards came, how many records there are
    constants: FloatArray  # exploration, range_weight, low, high, width_scale


@part
def ucb_v_width(
    plays: float, squares: float, exponent: float, range_weight: float, span: float
) -> float:
    """sqrt(2 V E / s) + 3 c b E / s for an arm played s times, V its empirical variance [1]."""
    V = squares / plays
    return math.sqrt(2.0 * V * exponent / plays) + 3.0 * range_weight * span * exponent / plays


@kernel
def means_and_widths_of_arms(
    records: FloatArray,
    table: IntArray,
    counts: IntArray,
    constants: FloatArray,
    X: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Mean and width of the rows of X; of one never played the range's middle, and infinity."""
    n, d = X.shape
    exploration, range_weight, low, high, width_scale = constants
    exponent = exploration * math.log(counts[0] + 1)
    means, widths = np.full(n, 0.5 * low + 0.5 * high), np.full(n, np.inf)
    for i in range(n):
        place = table[slot_of(X[i], records, table)]
        if place != FREE:
            plays, means[i], squares = records[place, d:]
            width = ucb_v_width(plays, squares, exponent, range_weight, high - low)
            widths[i] = width_scale * width
    return means, widths


@kernel
def ucb_v_choose(
    records: FloatArray,
    table: IntArray,
    counts: IntArray,
    constants: FloatArray,
    arms: FloatArray,
    mask: BoolArray,
) -> int:
    """The first arm never played, else the most optimistic."""
    means, widths = means_and_widths_of_arms(records, table, counts, constants, arms)
    upper = np.empty(arms.shape[0])
    for i in range(arms.shape[0]):
        if widths[i] == np.inf and (mask.shape[0] == 0 or mask[i]):
            return i
        upper[i] = means[i] + widths[i]
    return most_optimistic(upper, widths, mask)


@kernel
def ucb_v_observe(
    records: FloatArray,
    table: IntArray,
    counts: IntArray,
    constants: FloatArray,
    x: FloatArray,
    reward: float,
    variance: float,
) -> None:
    """Mean and sum of squares by Welford's recursion, which does not cancel.

    There must be room for another arm.
    """
    d, n_rewards, n_known = x.shape[0], counts[:1], counts[1:]
    slot = slot_of(x, records, table)
    if table[slot] == FREE:
        table[slot] = n_known[0]
        for j in range(d):
            records[table[slot], j] = x[j]
        n_known[0] += 1
    plays, mean, squares = records[table[slot], d:]
    before = reward - mean
    mean += before / (plays + 1.0)
    records[table[slot], d] = plays + 1.0
    records[table[slot], d + 1] = mean
    records[table[slot], d + 2] = squares + before * (reward - mean)
    n_rewards[0] += 1


def at_most_a_million(check: Callable[[str, object], float]) -> Callable[[str, object], float]:
    """Beyond, widths may overflow."""

    def checked(name: str, value: object) -> float:
        number = check(name, value)
        if number > 1e6:
            raise fail(name, number, "a number of at most 10^6")
        return number

    return checked


positive, nonnegative = at_most_a_million(positive_float), at_most_a_million(nonnegative_float)


class UCBV(CompiledPolicy):
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

    References
    ----------
    [1] Audibert, Munos, Szepesvari. Exploration-exploitation tradeoff using variance estimates in
        multi-armed bandits. Theoretical Computer Science 2009.
    """

    _arrays = ("_records", "_table", "_counts")
    _growing = ("_records", "_table")
    _rule = rule(UCBVState, ucb_v_choose, ucb_v_observe, None)

    reward_range: tuple[float, float] = given.reward_range("(low, high).")
    exploration: float = parameter(positive, "zeta > 1 in the theory.", default=1.2)
    range_weight: float = parameter(
        nonnegative, "c of the last term; 1 in the theory.", default=1.0
    )
    feature_norm: float = given.feature_norm()
    width_scale: float = parameter(positive, "Multiplies the width (1 = the theory).", default=1.0)
    seed: Seed = given.seed()

    def _build(self) -> None:
        super()._build()
        low, high = self.reward_range
        if not high - low <= 1e100:
            raise fail("reward_range", (low, high), "a range of at most 1e100")
        self._records = np.zeros((FIRST_CAPACITY, self.dim + 3))
        self._table = np.full(2 * FIRST_CAPACITY, FREE, dtype=np.int64)
        self._counts = np.zeros(2, dtype=np.int64)
        self._collect()

    def _collect(self) -> None:
        constants = self.exploration, self.range_weight, *self.reward_range, self.width_scale
        self._state = UCBVState(self._records, self._table, self._counts, np.array(constants))

    @property
    def confidence_set(self) -> None:
        """None: no linear model, no set of parameters."""
        return None

    @property
    def n_observations(self) -> int:
        """How many rewards were learnt."""
        return int(self._counts[0])

    @property
    def n_known_arms(self) -> int:
        """How many different arms were played."""
        return int(self._counts[1])

    def _observe_many(self, X: FloatArray, rewards: FloatArray, variances: FloatArray) -> None:
        new = np.unique(X[np.isinf(self._means_and_widths(X)[1])], axis=0)
        self._reserve(len(new), len(new))
        observe_many(self._state, X, rewards, variances)

    def _predict(self, X: FloatArray) -> FloatArray:
        return self._means_and_widths(X)[0]

    def _means_and_widths(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        state: UCBVState = self._state
        return means_and_widths_of_arms(*state, X)

    def _index(self, arms: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        mean, widths = self._means_and_widths(arms)
        low, high = self.reward_range
        lower = np.where(widths < np.inf, mean - widths, low)
        return mean, lower, np.where(widths < np.inf, mean + widths, high)

    def _reserve(self, rounds: int, n_arms: int) -> None:
        while len(self._records) < self.n_known_arms + min(rounds, n_arms):
            # Twice the storage, so that growing costs O(1) an arm.
            self._records = np.concatenate([self._records, np.zeros_like(self._records)])
            self._table = np.empty(2 * len(self._records), dtype=np.int64)
            fill_table(self._records, self.n_known_arms, self.dim, self._table)
            self._collect()

    @classmethod
    def _least_numbers(cls, config: Mapping[str, Any]) -> int:
        return int(config["dim"])

    def _invariants(self, state: Arrays) -> Invariants:
        records, table, (rewards, known) = state["_records"], state["_table"], state["_counts"]
        capacity = len(records)
        yield "room for a power of two", capacity >= FIRST_CAPACITY and not capacity & capacity - 1
        yield "features and three sums", records.shape == (capacity, self.dim + 3)
        yield "twice as many slots as records", table.shape == (2 * capacity,)
        yield "counts in their range", whole([rewards, known]) and bool(known <= capacity)
        used = np.sort(table[table != FREE])
        yield "a slot for each record", np.array_equal(used, np.arange(known))
        yield "nothing behind the records", not records[known:].any()
        arms, (plays, means, squares) = records[:known, :-3], records[:known, -3:].T
        longest = self.feature_norm * (1.0 + SLACK)
        yield "arms that are allowed", bool((np.linalg.norm(arms, axis=1) <= longest).all())
        yield "whole numbers of plays", whole(plays, 1) and float(plays.sum()) == rewards
        low, high = self.reward_range
        yield "means in the reward range", between(means, low, high)
        yield "sums of squares", between(squares / plays, 0.0, (high - low) ** 2)
        yield "no negative squares", bool((squares >= 0.0).all())

    def _assign(self, arrays: Mapping[str, np.ndarray[Any, Any]]) -> None:
        super()._assign(arrays)
        self._collect()
