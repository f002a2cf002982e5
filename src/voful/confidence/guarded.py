"""A betting ellipsoid cut with OFUL's: the set that guards a heuristic, and its books.

The first ellipsoid adapts to the noise; what optimism over the second one costs is known.
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import numpy as np

from voful.archive import Arrays
from voful.compiled import kernel, part
from voful.confidence.algebra import quadratic_form
from voful.confidence.base import BallSet
from voful.confidence.betting.ellipsoid import BettingEllipsoid
from voful.confidence.betting.questions import bet_holds, ends
from voful.confidence.ellipsoids.ridge import (
    Ridge,
    log_det_ratio,
    new_ridges,
    open_ridge,
    ridge_size,
    within,
)
from voful.confidence.ellipsoids.sets import cut, meet
from voful.confidence.ellipsoids.sound import FAR, scale_of, sound_ridges
from voful.confidence.rule import observe_by
from voful.invariants import Invariants, between, whole
from voful.typing import FloatArray
from voful.validation import ObservationSpace

BETTING_SHARE: Final = 0.9  # of failure_prob; the rest is OFUL's
CROSSED: Final = 2e-9  # ends that cross by more than this, over half the range, leave no parameter
OFUL_RIDGE: Final = 1.0  # lambda / feature_norm^2 of OFUL's ellipsoid


class Books(NamedTuple):
    """What a guard knows and remembers; see `open_books`."""

    own: int  # OFUL's row of the blocks
    y_low: float
    y_high: float
    half: float  # h = (y_high - y_low) / 2
    reach: float  # feature_norm theta_norm
    delta: float  # OFUL's share of failure_prob
    ledger: FloatArray  # (1,): the bound on the regret
    trusted: FloatArray  # (1,): the part of it that the heuristic's own choices have cost
    optimism: FloatArray  # (1,): and that of rounds that played the largest upper end
    net: FloatArray  # (1,): rounds in which the heuristic was overruled
    rest: FloatArray  # the policy's own


BOOKS_SIZE: Final = 10  # without the rest


@part
def open_books(notes: FloatArray) -> Books:
    """The named views of a guard's notes."""
    m = notes
    return Books(
        int(m[0]), m[1], m[2], m[3], m[4], m[5], m[6:7], m[7:8], m[8:9], m[9:10], m[BOOKS_SIZE:]
    )


@part
def hoeffding_radius(log_det: float, books: Books) -> float:
    """h sqrt(2 ln(1/delta) + ln det(I + X'X/F^2)) + F rho: OFUL's radius with lambda = F^2.

    A reward in a range of length 2h is h-sub-Gaussian about its mean (Hoeffding's lemma).
    """
    price = 2.0 * math.log(1.0 / books.delta)
    return books.half * math.sqrt(price + max(log_det, 0.0)) + books.reach


@part
def settle_radius(ridge: Ridge, books: Books) -> None:
    """Write OFUL's radius beside the estimate, after every observation."""
    ridge.radius[0] = hoeffding_radius(log_det_ratio(ridge), books)


@kernel
def guarded_ends(
    memory: FloatArray, blocks: FloatArray, notes: FloatArray, X: FloatArray
) -> tuple[FloatArray, FloatArray, float]:
    """Ends of <x, theta> over both ellipsoids for the rows of X, and the largest crossing.

    Ends that cross by no more than rounding meet; by more: no parameter is left.
    """
    lower, upper = ends(memory, X)
    ridge = open_ridge(blocks[int(notes[0])], X.shape[1])
    cut(X, ridge.center, ridge.whitener, ridge.radius[0], lower, upper)
    crossing = 0.0
    for i in range(X.shape[0]):
        crossing = max(crossing, lower[i] - upper[i])
    if crossing <= CROSSED * notes[3]:
        meet(lower, upper)
    return lower, upper, crossing


@kernel
def guarded_holds(
    memory: FloatArray,
    history: FloatArray,
    blocks: FloatArray,
    notes: FloatArray,
    theta: FloatArray,
) -> bool:
    """`Rule.holds`: whether theta is in both."""
    ridge = open_ridge(blocks[int(notes[0])], theta.shape[0])
    distance = quadratic_form(ridge.precision, theta - ridge.center)
    return within(distance, ridge.radius[0]) and bet_holds(memory, history, theta)


class GuardedSet(BallSet):
    """The betting ellipsoid at 0.9 failure_prob, cut with OFUL's ellipsoid at 0.1 failure_prob.

    OFUL's is {|theta - theta_hat|_V <= h sqrt(2 ln(10 / failure_prob) + ln det(V / F^2)) + F rho}
    with V = F^2 I + sum x x', h half the reward range, F feature_norm and rho theta_norm. By the
    union bound theta* is in both at all times with probability at least 1 - failure_prob.

    Parameters
    ----------
    space
        What is accepted as an arm and a reward; its `reward_range` is needed.
    state
        The type of the policy's state: memory, history, blocks, notes.
    failure_prob, theta_norm, refresh
        As of `BettingEllipsoid`.
    ridges
        lambda / feature_norm^2 of every ridge that the policy keeps, OFUL's 1 among them.
    extra, rest
        How many numbers the policy keeps beside each ridge, and in its notes.
    """

    _arrays = ("blocks", "notes")
    _parts = ("betting",)

    def __init__(
        self,
        space: ObservationSpace,
        state: type,
        *,
        failure_prob: float,
        theta_norm: float,
        refresh: bool,
        ridges: tuple[float, ...] = (OFUL_RIDGE,),
        extra: int = 0,
        rest: int = 0,
    ) -> None:
        super().__init__(space)
        self.theta_norm = theta_norm
        self.theta_center = np.zeros(space.dim)
        delta = BETTING_SHARE * failure_prob
        self.betting = BettingEllipsoid(
            space, failure_prob=delta, theta_norm=theta_norm, refresh=refresh
        )
        scaled = space.feature_norm**2 * np.array(ridges)
        self.blocks = new_ridges(space.dim, scaled, np.zeros(len(ridges)), extra)
        low, high = space.reward_limits
        own, reach = ridges.index(OFUL_RIDGE), space.feature_norm * theta_norm
        known = [own, low, high, 0.5 * (high - low), reach, failure_prob - delta]
        self.notes = np.concatenate([known, np.zeros(BOOKS_SIZE - len(known) + rest)])
        settle_radius(open_ridge(self.blocks[own], space.dim), self.books)
        self._state_type = state
        self.beyond: tuple[FloatArray, ...] = ()

    def _invariants(self, state: Arrays) -> Invariants:
        blocks, notes, size = state["blocks"], state["notes"], scale_of(self._space)
        yield from sound_ridges(blocks, self.blocks, self.dim, size)
        rounds = [open_ridge(block, self.dim).n[0] for block in blocks]
        yield "as many rounds for each ridge", len(set(rounds)) == 1
        extra = blocks[:, ridge_size(self.dim) :]
        yield "numbers beside the ridges", between(extra, 0.0, FAR * size**2)
        known = len(Books._fields) - len(("ledger", "trusted", "optimism", "net", "rest"))
        yield "the books of its arguments", bool((notes[:known] == self.notes[:known]).all())
        books = open_books(notes)
        sums = np.concatenate([books.ledger, books.trusted, books.optimism])
        yield "costs in the books", between(sums, 0.0, FAR * size)
        yield "rounds of the net", whole(books.net)
        yield "the policy's own notes", bool((np.abs(books.rest) <= FAR * size**2).all())

    @property
    def rule_state(self) -> Any:
        """What the kernels are given; last, `beyond`: what the policy adds."""
        return self._state_type(*self.betting.rule_state, self.blocks, self.notes, *self.beyond)

    @property
    def books(self) -> Books:
        """Live views of the notes."""
        return open_books(self.notes)

    @property
    def n_observations(self) -> int:
        """How many rewards were learnt."""
        return self.betting.n_observations

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left of the betting set; ends that cross in play empty it too."""
        return self.betting.is_empty

    @property
    def center(self) -> FloatArray:
        """The betting set's."""
        return self.betting.center

    def _contains(self, theta: FloatArray) -> bool:
        memory, history = self.betting.rule_state
        return self.in_ball(theta) and guarded_holds(
            memory, history, self.blocks, self.notes, theta
        )

    def _interval(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        lower, upper, _ = guarded_ends(self.betting.memory, self.blocks, self.notes, X)
        return lower, upper

    def _support(self, X: FloatArray) -> FloatArray:
        return self._upper_ends(X)

    def _observe(self, x: FloatArray, reward: float) -> None:
        self.betting.reserve(1)
        observe_by(self.rule_state, x, reward, 0.0)
