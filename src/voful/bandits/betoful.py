"""BetOFUL: optimism over a betting ellipsoid."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from voful.bandits import arguments as given
from voful.bandits.adapting import AdaptingPolicy
from voful.bandits.customary import customary_choice
from voful.bandits.optimism import most_optimistic
from voful.bandits.pending import bet_choose_awaiting, cut_choose_awaiting
from voful.bandits.report import UNKNOWN
from voful.compiled import kernel
from voful.confidence.algebra import dot, whiten
from voful.confidence.betting import BettingEllipsoid
from voful.confidence.betting.cut import CutBettingEllipsoid, cut_holds, cut_observe
from voful.confidence.betting.questions import (
    bet_holds,
    none_left,
    optimistic_ends,
    radius_of,
)
from voful.confidence.betting.refresh import bet_refresh
from voful.confidence.betting.risk_state import RAD, nothing_left, open_ellipsoid
from voful.confidence.betting.round import bet_observe
from voful.confidence.betting.state import (
    BETS,
    open_clock,
    open_ellipsoids,
    open_rules,
)
from voful.confidence.rule import rule, what_is_due
from voful.confidence.standing import REFUTED, STATUS
from voful.monitor.watch import NEWS, begin_anew, respond, start_at, watch_round, written_into
from voful.parameters import parameter
from voful.typing import BoolArray, FloatArray, Seed
from voful.validation import boolean, choice, fail, nonnegative_float, positive_int


class WatchedState(NamedTuple):
    """What kernels are given."""

    memory: FloatArray  # of the betting set
    history: FloatArray
    facts: FloatArray  # of the watch; behind them the memory before the first round


bet_round = written_into(bet_observe)
is_in_bets = written_into(bet_holds)
cut_round = written_into(cut_observe)


@kernel
def bet_choose(
    memory: FloatArray,
    history: FloatArray,
    facts: FloatArray,
    arms: FloatArray,
    mask: BoolArray,
) -> int:
    """`most_optimistic` over the ellipsoids; where nothing is left, `customary_choice`.

    The index is not capped at the largest reward: ties there would hide the better arm.
    """
    Theta, width_scale = open_ellipsoids(memory), open_rules(memory).width_scale
    if none_left(Theta, open_clock(memory)):
        return ~customary_choice(memory, arms, mask)
    upper, width = optimistic_ends(Theta, width_scale, arms, mask)
    return most_optimistic(upper, width, mask)


@kernel
def watched_observe(
    memory: FloatArray,
    history: FloatArray,
    facts: FloatArray,
    x: FloatArray,
    reward: float,
    variance: float,
) -> int:
    """The set's round, then the watch's; what is due."""
    refresh = bet_round(memory, history, x, reward, variance)
    return what_is_due(refresh, watch_round(memory, facts, x, reward), facts[NEWS])


@kernel
def watched_respond(
    memory: FloatArray,
    history: FloatArray,
    facts: FloatArray,
) -> bool:
    """`respond`, for the set alone."""
    return respond(memory, facts)


@kernel
def watched_holds(
    memory: FloatArray,
    history: FloatArray,
    facts: FloatArray,
    theta: FloatArray,
) -> bool:
    """Nothing is in a set that is refuted."""
    return facts[STATUS] != REFUTED and is_in_bets(memory, history, theta)


CUT = "mixed+cr"


class WatchedCutState(NamedTuple):
    """What kernels are given with the constant-risk set."""

    memory: FloatArray
    history: FloatArray
    risk: FloatArray  # of the constant-risk set
    facts: FloatArray  # of the watch; behind them memory and risk before the first round


@kernel
def cut_choose(
    memory: FloatArray,
    history: FloatArray,
    risk: FloatArray,
    facts: FloatArray,
    arms: FloatArray,
    mask: BoolArray,
) -> int:
    """`bet_choose` where the constant-risk set's upper end counts too, if it is the lesser one.

    Upper ends only fall as they are looked at closely: the first arm that leads after all of its
    own were is the choice.
    """
    Theta, (_, center, whitener, numbers) = open_ellipsoids(memory), open_ellipsoid(risk)
    if none_left(Theta, open_clock(memory)) or nothing_left(numbers):
        return ~customary_choice(memory, arms, mask)
    width_scale, whitened = open_rules(memory).width_scale, np.empty(arms.shape[1])
    upper, width = optimistic_ends(Theta, width_scale, arms, mask)
    known, E = np.zeros(arms.shape[0], dtype=np.bool_), Theta.rad.shape[0]
    choice, first = most_optimistic(upper, width, mask), E  # all of its ellipsoids were asked
    while not known[choice]:
        known[choice] = True
        x = arms[choice]
        for e in range(first, E + 1):
            last = e == E
            W, c = (whitener, center) if last else (Theta.whitener[e], Theta.center[e])
            radius = math.sqrt(numbers[RAD]) if last else radius_of(Theta, e, width_scale)
            half = radius * math.sqrt(whiten(W, x, whitened))
            end = dot(x, c) + half
            if end < upper[choice]:
                upper[choice], width[choice] = end, half
        choice, first = most_optimistic(upper, width, mask), 1
    return choice


@kernel
def watched_cut_observe(
    memory: FloatArray,
    history: FloatArray,
    risk: FloatArray,
    facts: FloatArray,
    x: FloatArray,
    reward: float,
    variance: float,
) -> int:
    """Both sets' round, then the watch's; what is due."""
    refresh = cut_round(memory, history, risk, x, reward, variance)
    return what_is_due(refresh, watch_round(memory, facts, x, reward), facts[NEWS])


@kernel
def watched_cut_respond(
    memory: FloatArray,
    history: FloatArray,
    risk: FloatArray,
    facts: FloatArray,
) -> bool:
    """`respond`, for both sets."""
    anew = respond(memory, facts)
    if anew:
        begin_anew(risk, facts, start_at(memory) + memory.shape[0])
    return anew


@kernel
def watched_cut_holds(
    memory: FloatArray,
    history: FloatArray,
    risk: FloatArray,
    facts: FloatArray,
    theta: FloatArray,
) -> bool:
    """`watched_holds` of both sets."""
    return facts[STATUS] != REFUTED and cut_holds(memory, history, risk, theta)


rule(
    WatchedCutState,
    cut_choose,
    watched_cut_observe,
    watched_cut_holds,
    refresh=bet_refresh,
    respond=watched_cut_respond,
    choose_awaiting=cut_choose_awaiting,
)


class BetOFUL(AdaptingPolicy):
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

    Notes
    -----
    This library's own algorithm; the proof, step by step, is on its page in the documentation.
    """

    _rule = rule(
        WatchedState,
        bet_choose,
        watched_observe,
        watched_holds,
        refresh=bet_refresh,
        respond=watched_respond,
        choose_awaiting=bet_choose_awaiting,
    )

    failure_prob: float = given.failure_prob()
    reward_range: tuple[float, float] = given.reward_range()
    theta_norm: float | None = given.theta_norm_or_none(
        "|theta* - theta_center| <= theta_norm; theta_center None: 0."
    )
    theta_center: npt.ArrayLike | None = given.theta_center()
    feature_norm: float = given.feature_norm()
    bet: str = parameter(
        partial(choice, allowed=(*BETS, CUT)),
        '"mixed" (default; as good as the better of the two nearly everywhere), "ratio" (a little '
        'better under light-tailed noise, worse under rare large deviations), "product" '
        '(fastest) or "mixed+cr" ("mixed" at .95 failure_prob, cut with `CRBetOFUL`\'s set at the '
        "rest: with width_scale >= 1 its regret theorem holds here too).",
        default="mixed",
    )
    refresh: bool = parameter(
        boolean, "Whether old rounds are used again, see above.", default=True
    )
    width_scale: float = given.width_scale(
        "Multiplies the half-width of the set where it is used or asked (1 = the theory); the bets "
        "themselves keep the theory's intervals."
    )
    misfit: float | str = parameter(
        lambda name, value: UNKNOWN if value == UNKNOWN else nonnegative_float(name, value),
        "e: |E[y | past, x] - <x, theta*>| <= e. Choices are those of e = 0; `confidence_set`, "
        "`index` and `status` are those of a second set that allows for e: updates cost twice as "
        'much. "unknown": e is raised from 0 whenever the data contradict that set.',
        default=0.0,
    )
    grow_range: bool = parameter(
        boolean,
        "Whether `reward_range` is a first guess: it grows when a reward falls outside, and the "
        "rounds since the last restart are learnt again.",
        default=False,
    )
    on_change: str | None = given.on_change()
    audit: int | None = parameter(
        positive_int,
        "P: learn anew at rounds P, 4 P, 9 P, ... too, for changes of arms that are not played; "
        'with on_change="restart" only. None: no such restarts.',
        default=None,
    )
    seed: Seed = given.seed()

    _kept_state: WatchedState | WatchedCutState | None = None

    def _build(self) -> None:
        super()._build()
        center = given.checked_center(self)
        if self.audit is not None and self.on_change != "restart":
            raise fail("audit", self.audit, 'None unless on_change="restart"')
        plain = partial(
            BettingEllipsoid,
            self._space,
            failure_prob=self.failure_prob,
            theta_center=center,
            bet="mixed" if self.bet == CUT else self.bet,
            refresh=self.refresh,
            width_scale=self.width_scale,
        )
        if self.bet == CUT:
            cut = CutBettingEllipsoid(
                self._space,
                failure_prob=self.failure_prob,
                theta_norm=self._norm,
                theta_center=center,
                refresh=self.refresh,
                width_scale=self.width_scale,
            )
            Theta: BettingEllipsoid = self._watch_over(cut, cut, cut.constant_risk.memory)
        else:
            own = plain(theta_norm=self._norm)
            Theta = self._watch_over(own, own)
        self._adapt(Theta, plain, WatchedState)

    @property
    def _state(self) -> Any:
        if self._kept_state is None or self._kept_state.history is not self._set.history:
            self._kept_state = self._new_state()  # the history has grown, or the set is another
        return self._kept_state

    def _new_state(self) -> WatchedState | WatchedCutState:
        Theta, facts = self._set, self._watch.block
        if isinstance(Theta, CutBettingEllipsoid):
            risk = Theta.constant_risk.memory
            return WatchedCutState(Theta.memory, Theta.history, risk, facts)
        return WatchedState(Theta.memory, Theta.history, facts)
