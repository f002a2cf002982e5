"""A guard for any heuristic: survivors of a valid set, a ledger of the regret, and a net.

Nothing about the heuristic is used in the proofs (docs/algorithms/certified.md), so the guarantees
are those of the set whatever it does.
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from voful.bandits import arguments as given
from voful.bandits.base import CompiledPolicy, OptimisticPolicy
from voful.bandits.optimism import arms_in, largest
from voful.compiled import kernel, part
from voful.confidence.betting.questions import none_left
from voful.confidence.betting.refresh import bet_refresh
from voful.confidence.betting.round import bet_observe
from voful.confidence.betting.state import open_clock, open_ellipsoids
from voful.confidence.ellipsoids.ridge import open_ridge, ridge_update
from voful.confidence.guarded import (
    CROSSED,
    Books,
    GuardedSet,
    guarded_ends,
    guarded_holds,
    hoeffding_radius,
    open_books,
    settle_radius,
)
from voful.confidence.rule import rule
from voful.parameters import parameter
from voful.typing import BoolArray, FloatArray, Seed
from voful.validation import boolean, fail_type, vector

TRUST: Final = 40.0  # kappa: what a heuristic may cost, over what optimism has cost
CREDIT: Final = 1.0  # and before optimism has cost anything, over half the reward range


# --- the guard, on ends of intervals ------------------------------------------------------------


@part
def oful_bound(t: float, d: int, books: Books) -> float:
    """beta(t) = 2 R_t sqrt(2 t d ln(1 + t/d)), R_t OFUL's largest radius: its regret bound."""
    growth = d * math.log1p(t / d)
    return 2.0 * hoeffding_radius(growth, books) * math.sqrt(2.0 * t * growth)


@part
def survivors(lower: FloatArray, upper: FloatArray, mask: BoolArray) -> BoolArray:
    """The arms that may be best: U >= max L, over the arms in mask (empty mask: all)."""
    left = arms_in(mask, lower.shape[0])
    level = lower[largest(lower, mask)]
    for i in range(left.shape[0]):
        left[i] = left[i] and upper[i] >= level
    return left


@part
def gap_of(i: int, lower: FloatArray, upper: FloatArray, mask: BoolArray, books: Books) -> float:
    """What playing arm i costs at most: the largest upper end of another arm, less L(i).

    Nothing where i is certified: either i is best, or a mean above its own is another arm's.
    """
    other = -math.inf
    for j in range(upper.shape[0]):
        if j != i and (mask.shape[0] == 0 or mask[j]):
            other = max(other, upper[j])
    gap = min(other, books.y_high) - max(lower[i], books.y_low)
    return float(min(max(gap, 0.0), books.y_high - books.y_low))


@part
def guarded_choice(
    lower: FloatArray,
    upper: FloatArray,
    scores: FloatArray,
    optimism: FloatArray,
    left: BoolArray,
    mask: BoolArray,
    books: Books,
    t: float,
    d: int,
) -> int:
    """The survivor with the largest min(score, optimism's), or optimism's arm if the net acts.

    Optimism goes by U, or less where rewards are still to come; costs are those of L and U.
    The net acts where the ledger would pass OFUL's bound, or where the heuristic's choices would
    have cost more than kappa times what optimism's have. Writes the round into the books.
    """
    capped = np.minimum(scores, optimism)
    choice, leader = largest(capped, left), largest(optimism, mask)
    gap = gap_of(choice, lower, upper, mask, books)
    if choice != leader:
        allowed = TRUST * books.optimism[0] + CREDIT * books.half
        if books.ledger[0] + gap > oful_bound(t, d, books) or books.trusted[0] + gap > allowed:
            choice, gap = leader, gap_of(leader, lower, upper, mask, books)
            books.net[0] += 1.0
    books.ledger[0] += gap
    if choice == leader:
        books.optimism[0] += gap
    else:
        books.trusted[0] += gap
    return choice


@part
def nothing_left(memory: FloatArray, crossing: float, books: Books) -> bool:
    """Whether the set is empty, be it that ends have crossed just now: then for ever."""
    clock = open_clock(memory)
    if crossing > CROSSED * books.half:
        clock.emptied[0] = 1.0
    return none_left(open_ellipsoids(memory), clock)


@kernel
def choose_by_scores(
    memory: FloatArray,
    history: FloatArray,
    blocks: FloatArray,
    notes: FloatArray,
    arms: FloatArray,
    mask: BoolArray,
    scores: FloatArray,
) -> int:
    """`guarded_choice` by given scores; ~i where the set is empty and scores alone decide."""
    books, d = open_books(notes), arms.shape[1]
    lower, upper, crossing = guarded_ends(memory, blocks, notes, arms)
    if nothing_left(memory, crossing, books):
        return ~largest(scores, mask)
    t = open_ridge(blocks[books.own], d).n[0] + 1.0
    left = survivors(lower, upper, mask)
    return guarded_choice(lower, upper, scores, upper, left, mask, books, t, d)


@kernel
def guard_observe(
    memory: FloatArray,
    history: FloatArray,
    blocks: FloatArray,
    notes: FloatArray,
    x: FloatArray,
    reward: float,
    variance: float,
) -> bool:
    """Both ellipsoids learn; whether a refresh is due."""
    books = open_books(notes)
    ridge = open_ridge(blocks[books.own], x.shape[0])
    ridge_update(ridge, x, reward, 1.0)
    settle_radius(ridge, books)
    return bet_observe(memory, history, x, reward, variance)


# --- policies under guard -----------------------------------------------------------------------


class GuardedPolicy(CompiledPolicy, OptimisticPolicy):
    """What policies under guard share: the set, the ledger, the certificate."""

    failure_prob: float = given.failure_prob(
        "Probability that theta* ever leaves the set, or that the regret ever passes the ledger."
    )
    reward_range: tuple[float, float] = given.reward_range()
    theta_norm: float | None = given.theta_norm_or_none(
        "S: |theta*| <= S; OFUL's bound, within which the net keeps the ledger, grows with it."
    )
    feature_norm: float = given.feature_norm()
    refresh: bool = parameter(
        boolean, "Whether the betting set uses old rounds again, see `BetOFUL`.", default=True
    )
    seed: Seed = given.seed()

    def _learn_in(self, state: type, **kept: Any) -> None:
        """Make the set; the rule's state has this type, and `kept` is what it keeps besides."""
        self._set = self._heed(
            GuardedSet(
                self._space,
                state,
                failure_prob=self.failure_prob,
                theta_norm=(
                    given.unknown_norm(self.reward_range, self.feature_norm)
                    if self.theta_norm is None
                    else self.theta_norm
                ),
                refresh=self.refresh,
                **kept,
            )
        )

    @property
    def confidence_set(self) -> GuardedSet:
        """Live view of the set: a betting ellipsoid cut with OFUL's."""
        return self._set

    @property
    def ledger(self) -> float:
        """Certified bound on the regret of all choices so far; inf once the set is empty.

        With probability at least 1 - failure_prob the regret never passes it, if the mean of every
        arm lies in the reward range. Every `select` adds to it, as if its choice were played. After
        an alarm and a restart: of the choices since then. With theta_norm=None OFUL's bound on it
        is so large that it says nothing: the net acts by the costs of optimism alone.
        """
        void = self._set.is_empty or self._set.is_refuted
        return math.inf if void else float(self._set.books.ledger[0])

    @property
    def overruled(self) -> int:
        """In how many rounds the net has handed the choice to optimism."""
        return int(self._set.books.net[0])

    def survivors(self, arms: npt.ArrayLike) -> BoolArray:
        """Which arms may be best, shape (n_arms,); all of them once the set is empty."""
        rows = self._space.arms(arms)
        if self._set.answers_nothing():
            return np.ones(len(rows), dtype=np.bool_)
        return survivors(*self._set._interval(rows), np.empty(0, dtype=np.bool_))

    def best_arm(self, arms: npt.ArrayLike) -> tuple[int, bool]:
        """The best predicted of the arms that may be best, and whether it is certified.

        Certified: all others are worse for every parameter in the set, so that it is the best arm
        with probability at least 1 - failure_prob, at all times and for all sets of arms at once.
        """
        left = self.survivors(arms)
        means = np.where(left, self.predict(arms), -np.inf)
        certified = int(left.sum()) == 1 and not self._set.answers_nothing()
        return int(np.argmax(means)), certified

    def _rivals(self, arms: FloatArray, mask: BoolArray) -> BoolArray:
        if self._set.answers_nothing():
            return super()._rivals(arms, mask)
        return survivors(*self._set._interval(arms), mask)

    def _peek(self, arms: FloatArray, mask: BoolArray) -> int:
        before = self._set.notes.copy()
        try:
            return self._choose(arms, mask)
        finally:
            self._set.notes[:] = before

    def _settle(self, arms: FloatArray, mask: BoolArray, planned: int, drawn: int) -> None:
        """The ledger has the arm that was planned: let it have what the drawn one costs more."""
        if drawn != planned and not self._set.answers_nothing():
            ends, books = self._set._interval(arms), self._set.books
            more = gap_of(drawn, *ends, mask, books) - gap_of(planned, *ends, mask, books)
            books.ledger[0] += max(more, 0.0)

    @property
    def _state(self) -> Any:
        return self._set.rule_state


@runtime_checkable
class Heuristic(Protocol):
    """What can be put under guard."""

    def scores(self, arms: FloatArray) -> npt.ArrayLike:
        """One finite number for each arm, the larger the better."""

    def update(self, x: FloatArray, reward: float) -> None:
        """Learn that playing x paid reward."""


class GuardState(NamedTuple):
    """What kernels are given."""

    memory: FloatArray  # of the betting set
    history: FloatArray
    blocks: FloatArray  # (1, size): OFUL's ridge
    notes: FloatArray  # `Books`


# `choose` is given the heuristic's scores besides: no loop in compiled code can play it.
rule(GuardState, choose_by_scores, guard_observe, guarded_holds, refresh=bet_refresh)


class Guarded(GuardedPolicy):
    """Your own heuristic under guard: its choices, with a bound on their regret.

    Each round the arms that are surely not best are crossed out; of the others the one with the
    largest min(score, upper end) is played, and the ledger adds what that may have cost. Where
    the ledger would pass OFUL's regret bound, or where the heuristic's choices would have cost
    more than 40 times what those of optimism have, optimism chooses instead.

    With probability at least 1 - failure_prob, whatever the heuristic: the best arm is never
    crossed out, the regret never passes `ledger`, and `ledger` never passes twice OFUL's bound.

    The heuristic is an object with ``scores(arms)`` and ``update(x, reward)``; None: optimism
    alone. `save` does not store it: give the loaded policy its ``heuristic`` again.
    """

    heuristic: Heuristic | None = parameter(
        lambda name, value: _heuristic(name, value),
        "Your own: ``scores(arms)`` and ``update(x, reward)``; None: optimism alone.",
        default=None,
    )
    seed: Seed = given.seed()

    def _build(self) -> None:
        super()._build()
        self._learn_in(GuardState)

    def config(self) -> dict[str, Any]:
        """The arguments that can be stored: all but the heuristic."""
        return {name: value for name, value in super().config().items() if name != "heuristic"}

    def _choose(self, arms: FloatArray, mask: BoolArray) -> int:
        if self.heuristic is None:
            scores = np.full(len(arms), np.inf)  # min(score, U) = U
        else:
            given_scores = self.heuristic.scores(arms.copy())
            scores = vector("heuristic.scores(arms)", given_scores, len(arms))
        memory, history, blocks, notes = self._state
        choice = choose_by_scores(memory, history, blocks, notes, arms, mask, scores)
        if choice < 0:
            self._set.warn_empty()
        return ~choice if choice < 0 else choice

    def _observe(self, x: FloatArray, reward: float, variance: float) -> None:
        if self.heuristic is not None:
            self.heuristic.update(x.copy(), reward)
        self._set._observe(x, reward)

    def _observe_many(self, X: FloatArray, rewards: FloatArray, variances: FloatArray) -> None:
        for x, reward in zip(X, rewards, strict=True):
            self._observe(x, float(reward), 0.0)


def _heuristic(name: str, value: object) -> Heuristic:
    if not isinstance(value, Heuristic):
        raise fail_type(name, value, "an object with scores(arms) and update(x, reward)")
    return value
