"""CertifiedUCB: a plug-in index under guard of a valid set."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy.typing as npt

from voful.archive import Arrays
from voful.bandits import arguments as given
from voful.bandits.customary import customary_choice
from voful.bandits.guard import GuardedPolicy, guarded_choice, nothing_left, survivors
from voful.bandits.optimism import arms_in, largest
from voful.bandits.plugin import (
    RIDGE_EXTRA,
    RIDGES,
    best_ridge,
    open_plugin,
    plugin_awaiting,
    plugin_learn,
    plugin_scores,
    plugin_size,
    start_plugin,
)
from voful.bandits.watched import WatchedPolicy
from voful.compiled import kernel
from voful.confidence.algebra import dots, means_and_squares
from voful.confidence.betting.pending import foreseen, foreseen_ends, gathered
from voful.confidence.betting.refresh import bet_refresh
from voful.confidence.betting.round import bet_observe
from voful.confidence.ellipsoids.ridge import open_ridge, ridge_size
from voful.confidence.guarded import (
    guarded_ends,
    guarded_holds,
    open_books,
    settle_radius,
)
from voful.confidence.rule import rule, what_is_due
from voful.confidence.standing import REFUTED, STATUS
from voful.invariants import Invariants
from voful.monitor.watch import (
    MODE,
    NEWS,
    RESTART,
    begin_anew,
    respond,
    start_at,
    watch_round,
    written_into,
)
from voful.typing import BoolArray, FloatArray, Seed
from voful.validation import NO_MASK


class CertifiedState(NamedTuple):
    """What kernels are given."""

    memory: FloatArray  # of the betting set
    history: FloatArray
    blocks: FloatArray  # (5, size): the plug-in's ridges, the guard's among them
    notes: FloatArray  # `Books`; their rest is the plug-in's
    facts: FloatArray  # of the watch; behind them memory, blocks and notes before the first round


bet_round = written_into(bet_observe)


@kernel
def certified_choose(
    memory: FloatArray,
    history: FloatArray,
    blocks: FloatArray,
    notes: FloatArray,
    facts: FloatArray,
    arms: FloatArray,
    mask: BoolArray,
) -> int:
    """The plug-in index under guard; where the set is empty, the index alone.

    Where the model is refuted, `customary_choice`, by what the betting set's ridges have learnt.
    """
    books, (n_arms, d) = open_books(notes), arms.shape
    if facts[MODE] == RESTART and facts[STATUS] == REFUTED:
        return ~customary_choice(memory, arms, mask)
    lower, upper, crossing = guarded_ends(memory, blocks, notes, arms)
    if nothing_left(memory, crossing, books):
        allowed = arms_in(mask, n_arms)
        return ~largest(plugin_scores(blocks, books.rest, books.half, arms, allowed), allowed)
    left = survivors(lower, upper, mask)
    scores = plugin_scores(blocks, books.rest, books.half, arms, left)
    t = open_ridge(blocks[books.own], d).n[0] + 1.0
    return guarded_choice(lower, upper, scores, upper, left, mask, books, t, d)


@kernel
def certified_choose_awaiting(
    memory: FloatArray,
    history: FloatArray,
    blocks: FloatArray,
    notes: FloatArray,
    facts: FloatArray,
    arms: FloatArray,
    mask: BoolArray,
    pending: FloatArray,
) -> int:
    """`certified_choose` while arms wait for rewards: index and optimism as if they had come.

    ~row where nothing is left, or the model is refuted. Survivors, certificate and costs are those
    of what is known.
    """
    books, (n_arms, d) = open_books(notes), arms.shape
    if facts[MODE] == RESTART and facts[STATUS] == REFUTED:
        return ~customary_choice(memory, arms, mask)
    lower, upper, crossing = guarded_ends(memory, blocks, notes, arms)
    empty = nothing_left(memory, crossing, books)
    left = arms_in(mask, n_arms) if empty else survivors(lower, upper, mask)
    rows = gathered(pending)
    foreseen_block, foreseen_rest = plugin_awaiting(
        blocks, books.rest, books.half, rows, pending.shape[0], d
    )
    scores = plugin_scores(foreseen_block, foreseen_rest, books.half, arms, left)
    if empty:
        return ~largest(scores, left)
    ridge = open_ridge(blocks[books.own], d)
    optimism, _ = foreseen_ends(memory, arms, rows)
    narrower = foreseen(ridge.whitener, rows, 1.0)
    means, squares = means_and_squares(arms, ridge.center, narrower)
    for i in range(n_arms):
        end = means[i] + ridge.radius[0] * math.sqrt(squares[i])
        optimism[i] = max(min(optimism[i], end), lower[i])
    t = ridge.n[0] + pending.shape[0] + 1.0
    return guarded_choice(lower, upper, scores, optimism, left, mask, books, t, d)


@kernel
def certified_observe(
    memory: FloatArray,
    history: FloatArray,
    blocks: FloatArray,
    notes: FloatArray,
    facts: FloatArray,
    x: FloatArray,
    reward: float,
    variance: float,
) -> int:
    """The plug-in's ridges learn, OFUL's among them; then the betting set; then the watch."""
    books = open_books(notes)
    plugin_learn(blocks, books.rest, books.half, x, reward)
    settle_radius(open_ridge(blocks[books.own], x.shape[0]), books)
    refresh = bet_round(memory, history, x, reward, variance)
    return what_is_due(refresh, watch_round(memory, facts, x, reward), facts[NEWS])


@kernel
def certified_respond(
    memory: FloatArray,
    history: FloatArray,
    blocks: FloatArray,
    notes: FloatArray,
    facts: FloatArray,
) -> bool:
    """`respond`, for the set, the plug-in and the books."""
    anew, i = respond(memory, facts), start_at(memory) + memory.shape[0]
    if anew:
        for block in blocks:
            begin_anew(block, facts, i)
            i += block.shape[0]
        begin_anew(notes, facts, i)
    return anew


@kernel
def certified_holds(
    memory: FloatArray,
    history: FloatArray,
    blocks: FloatArray,
    notes: FloatArray,
    facts: FloatArray,
    theta: FloatArray,
) -> bool:
    """Nothing is in a set that is refuted."""
    return facts[STATUS] != REFUTED and guarded_holds(memory, history, blocks, notes, theta)


@kernel
def index_of(blocks: FloatArray, notes: FloatArray, arms: FloatArray) -> FloatArray:
    """The plug-in index of all arms."""
    books = open_books(notes)
    return plugin_scores(blocks, books.rest, books.half, arms, arms_in(NO_MASK, arms.shape[0]))


class CertifiedUCB(GuardedPolicy, WatchedPolicy):
    """The regret of tuned heuristics, untuned, with a bound that one can read off.

    An empirical-Bayes index chooses among the arms that a valid set has not eliminated; `ledger`
    adds up a bound on the regret; and a net hands the choice to optimism where the ledger would
    pass OFUL's bound, or where the index would have cost more than 40 times what optimism has.

    Under BetOFUL's assumptions (rewards in a known range, E[y | past, x] = <x, theta*>,
    |theta*| <= theta_norm; no variance, no horizon, no tuning), with probability at least
    1 - failure_prob at all times: theta* is in `confidence_set`, the best arm is never eliminated,
    the regret is at most `ledger` (if the mean of every arm lies in the reward range), and, if
    rewards come at once, `ledger` is at most twice OFUL's regret bound and at most 41 times what
    the optimistic rounds have added to it, and half the range.

    Delayed and batched rewards keep what they keep for `BetOFUL`. Cost: O(d^2) an update and an
    arm, up to twice BetOFUL's time; 5 matrices more than it, and the same history.

    Notes
    -----
    This library's own algorithm. Index, theorem, proof and figures, also where it loses, are on its
    page in the documentation; `Guarded` puts your own index in its place.
    """

    _rule = rule(
        CertifiedState,
        certified_choose,
        certified_observe,
        certified_holds,
        refresh=bet_refresh,
        respond=certified_respond,
        choose_awaiting=certified_choose_awaiting,
    )

    on_change: str | None = given.on_change()
    seed: Seed = given.seed()

    def _build(self) -> None:
        super()._build()
        self._learn_in(
            CertifiedState,
            ridges=RIDGES,
            extra=RIDGE_EXTRA,
            rest=plugin_size(self.dim),
        )
        Theta = self._set
        start_plugin(Theta.blocks, self.feature_norm, self.dim)
        self._set = self._watch_over(Theta, Theta.betting, Theta.blocks, Theta.notes)
        Theta.beyond = (self._watch.block,)

    def _invariants(self, state: Arrays) -> Invariants:
        blocks, notes = state["confidence_set/blocks"], state["confidence_set/notes"]
        column = ridge_size(self.dim)
        own = self._set.blocks[:, column]
        yield "lambda behind each ridge", bool((blocks[:, column] == own).all())
        plugin = open_plugin(open_books(notes).rest, self.dim)
        yield "sums over leverages", bool(plugin.leverage[0] >= 0.0 and plugin.weighted[0] >= 0.0)

    def scores(self, arms: npt.ArrayLike) -> FloatArray:
        """The plug-in index of each arm, shape (n_arms,): for rules of your own."""
        return index_of(self._set.blocks, self._set.notes, self._space.arms(arms))

    def _predict(self, X: FloatArray) -> FloatArray:
        books, blocks = self._set.books, self._set.blocks
        chosen = best_ridge(blocks, self.dim, books.half)
        return dots(X, open_ridge(blocks[chosen], self.dim).center.copy())
