"""A betting set under watch: alarms, and guarded restarts.

What a policy does when its data contradict its set. A fresh set after an alarm is right where the
world has changed and catastrophic where the model is wrong: there every set is refuted soon. So a
set that was refuted young is a strike, and after a few strikes in a row the policy plays
LinUCB by a ridge for a while, with no claim to certainty.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple, ParamSpec, TypeVar

import numpy as np

from voful.archive import Arrays
from voful.compiled import inlined, part
from voful.confidence.betting.predictors import learn
from voful.confidence.betting.questions import none_left
from voful.confidence.betting.sound import sound_predictors
from voful.confidence.betting.state import (
    HIGH,
    LOW,
    RIDGES,
    Predictors,
    ellipsoids_size,
    open_clock,
    open_ellipsoids,
    open_latest,
    open_predictors_at,
    open_rules,
    rules_size,
)
from voful.confidence.standing import EMPTY, OK, REFUTED, SINCE, STATUS, STATUSES, Standing
from voful.invariants import MOST, Invariants, between, whole
from voful.monitor.evidence import (
    BETS_AT,
    EVIDENCE_SIZE,
    LARGEST,
    ROUNDS,
    STATISTIC,
    WEIGHT,
    mean_of_bets,
    weigh_round,
)
from voful.typing import FloatArray
from voful.views import lent

P = ParamSpec("P")
R = TypeVar("R")

MODES: Final = (None, "warn", "restart", "raise")
NOTHING, WARN, RESTART, RAISE = range(len(MODES))
CAUSES: Final = ("check", "empty")

YOUTH: Final = 50  # times d: rounds after which a set counts as one that fitted
STRIKES_AT_FIRST: Final = 1  # refute the model where no set ever fitted,
STRIKES: Final = 3  # and where one has
AUDIT_AFTER: Final = 300  # rounds since the last restart, at least
MOST_DOUBLINGS: Final = 40
MOST_ALARMS: Final = 64  # that are remembered

# Where `Watch.facts` keeps what it knows, after the status and its round.
MODE, THRESHOLD, OLD, AUDIT = 2, 3, 4, 5  # never change
TOTAL, SEGMENT, STRUCK, REFUTATIONS, FITTED, KEPT, AUDITS, N_ALARMS, NEWS = range(6, 15)
EVIDENCE: Final = 15
ALARMS: Final = EVIDENCE + EVIDENCE_SIZE
RIDGES_AT: Final = ALARMS + 3 * MOST_ALARMS


class Alarm(NamedTuple):
    """One alarm."""

    round: int
    """Rewards learnt when it came."""
    statistic: float
    """Of the check, see `ModelCheck`."""
    cause: str
    """"check": the means left their intervals; "empty": nothing was left of the set."""


class ModelAlarm(RuntimeError):
    """The data contradict the model; raised where on_change="raise"."""


def written_into(kernel: Callable[P, R]) -> Callable[P, R]:
    """A kernel's code, to be written into another kernel: as a call it would be compiled twice."""
    return inlined(getattr(kernel, "py_func", kernel))


# --- the rule -----------------------------------------------------------------------------------


@part
def kept_ridges(facts: FloatArray, d: int) -> Predictors:
    """The estimates of a set that was refuted young, which go on learning."""
    return open_predictors_at(facts, RIDGES_AT, d)


@part
def copy_ridges(memory: FloatArray, facts: FloatArray, back: bool) -> None:
    """Keep the estimates of the set, or put them back."""
    bets, d = int(memory[0]), int(memory[1])
    i = rules_size(bets, d) + ellipsoids_size(bets, d)
    for j in range(len(RIDGES) * (d * d + d + 1)):
        if back:
            memory[i + j] = facts[RIDGES_AT + j]
        else:
            facts[RIDGES_AT + j] = memory[i + j]


@part
def start_at(memory: FloatArray) -> int:
    """Where the watch's block has the memory, and behind it what else learns, as they began."""
    d = int(memory[1])
    return RIDGES_AT + len(RIDGES) * (d * d + d + 1)


@part
def begin_anew(block: FloatArray, facts: FloatArray, i: int) -> None:
    """The block as it began, which is kept at i."""
    for j in range(block.shape[0]):
        block[j] = facts[i + j]


@part
def begin(memory: FloatArray, facts: FloatArray) -> None:
    """A fresh set and a fresh check; what was not told yet does not stand any more."""
    begin_anew(memory, facts, start_at(memory))
    for i in range(EVIDENCE, ALARMS):
        facts[i] = 0.0
    facts[EVIDENCE + STATISTIC] = 1.0
    facts[SEGMENT] = 0.0
    facts[STATUS], facts[SINCE], facts[NEWS] = OK, facts[TOTAL], 0.0


@part
def note_alarm(facts: FloatArray, empty: bool) -> None:
    """One more row of alarms, in the place of the oldest."""
    row = ALARMS + 3 * (int(facts[N_ALARMS]) % MOST_ALARMS)
    facts[row], facts[row + 1] = facts[TOTAL], facts[EVIDENCE + STATISTIC]
    facts[row + 2] = 1.0 if empty else 0.0
    facts[N_ALARMS] += 1.0


@part
def refute(facts: FloatArray) -> None:
    """Nothing that was said of certainty stands."""
    facts[STATUS], facts[SINCE], facts[NEWS] = REFUTED, facts[TOTAL], 1.0


@part
def watch_round(memory: FloatArray, facts: FloatArray, x: FloatArray, y: float) -> bool:
    """After a round of the betting set: check it; whether there is something to `respond` to.

    The interval is the one that the bets have used, from before the reward.
    """
    facts = lent(facts)
    facts[TOTAL] += 1.0
    facts[SEGMENT] += 1.0
    empty = none_left(open_ellipsoids(memory), open_clock(memory))
    if facts[STATUS] == REFUTED:
        return bool(facts[MODE] == RESTART and facts[SEGMENT] >= rest_of(facts))
    if facts[MODE] == NOTHING:
        return bool(empty and facts[STATUS] != EMPTY)
    bet, rules = open_latest(memory).bet, open_rules(memory)
    evidence = facts[EVIDENCE:ALARMS]
    if bet[LOW] <= bet[HIGH]:
        lower, upper = bet[LOW] - rules.misfit, bet[HIGH] + rules.misfit
        weigh_round(evidence, rules.y_low, rules.y_high, lower, upper, y, True)
        evidence[STATISTIC] = 1.0 - evidence[WEIGHT] + mean_of_bets(evidence)
    if facts[KEPT] > 0.0:
        ridges = kept_ridges(facts, x.shape[0])
        learn(ridges, x, y, 2.0 / (facts[KEPT] + 3.0), np.empty(x.shape[0]))
        facts[KEPT] += 1.0
    if facts[SEGMENT] >= facts[OLD]:
        facts[FITTED] = 1.0
        facts[STRUCK] = facts[REFUTATIONS] = facts[KEPT] = 0.0
    return bool(empty or evidence[STATISTIC] >= facts[THRESHOLD] or audit_due(facts))


@part
def rest_of(facts: FloatArray) -> float:
    """Rounds for which a refuted set rests before one more try."""
    return float(facts[OLD] * 2.0 ** (facts[REFUTATIONS] - 1.0))


@part
def audit_due(facts: FloatArray) -> bool:
    """Whether round P k^2 has come."""
    return bool(facts[AUDIT] > 0.0 and facts[TOTAL] >= facts[AUDIT] * (facts[AUDITS] + 1.0) ** 2)


@inlined
def respond(memory: FloatArray, facts: FloatArray) -> bool:
    """What `watch_round` found, in the same round: note it, and restart the set where that is due.

    Returns whether the set was begun anew: then whatever else learns should be too.
    """
    if facts[STATUS] == REFUTED:  # its estimates have learnt on; now one more try
        copy_ridges(memory, facts, False)
        facts[KEPT] = facts[SEGMENT]
        begin(memory, facts)
        return True
    empty = none_left(open_ellipsoids(memory), open_clock(memory))
    if facts[MODE] == NOTHING:
        facts[STATUS], facts[SINCE], facts[NEWS] = EMPTY, facts[TOTAL], 1.0
        return False
    if empty or facts[EVIDENCE + STATISTIC] >= facts[THRESHOLD]:
        note_alarm(facts, empty)
        if facts[MODE] != RESTART:
            refute(facts)
            return False
        young = facts[SEGMENT] < facts[OLD]
        if young:
            facts[STRUCK] += 1.0
            if facts[KEPT] == 0.0:
                copy_ridges(memory, facts, False)
                facts[KEPT] = facts[SEGMENT]
        begin(memory, facts)
        if young and facts[STRUCK] >= (STRIKES if facts[FITTED] > 0.0 else STRIKES_AT_FIRST):
            copy_ridges(memory, facts, True)
            open_clock(memory).emptied[0] = 1.0  # bets rest, estimates learn
            facts[REFUTATIONS] = min(facts[REFUTATIONS] + 1.0, MOST_DOUBLINGS)
            refute(facts)
        return True
    if audit_due(facts):
        facts[AUDITS] += 1.0
        if facts[SEGMENT] > AUDIT_AFTER:
            begin(memory, facts)
            return True
    return False


# --- as an object -------------------------------------------------------------------------------


class Watch(Standing):
    """The standing of a policy that looks at its own set; see `watch_round`.

    Parameters
    ----------
    on_change
        One of `MODES`.
    failure_prob
        Level of the check.
    audit
        P: a restart at rounds P, 4 P, 9 P, ...; None: no such restarts.
    blocks
        What a restart begins anew, before the first round: first the betting set's memory.
    feature_norm
        Of the betting set.
    """

    def __init__(
        self,
        on_change: str | None,
        *,
        failure_prob: float,
        audit: float | None,
        blocks: tuple[FloatArray, ...],
        feature_norm: float,
    ) -> None:
        super().__init__()
        self._rules, self._feature_norm = open_rules(blocks[0]), feature_norm
        self._dim = len(self._rules.theta0)
        facts = np.zeros(start_at(blocks[0]))
        self.block = np.concatenate([facts, *(block.ravel() for block in blocks)])
        self.facts = self.block[: len(facts)]
        self.facts[[MODE, THRESHOLD, OLD, AUDIT]] = (
            MODES.index(on_change),
            1.0 / failure_prob,
            YOUTH * self._dim,
            audit or 0.0,
        )
        self.facts[EVIDENCE + STATISTIC] = 1.0

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.facts = self.block[: len(self.facts)]  # a copy's own

    def _invariants(self, state: Arrays) -> Invariants:
        yield from super()._invariants(state)
        facts, known = state["facts"], slice(MODE, AUDIT + 1)
        yield "the watch of its arguments", bool((facts[known] == self.facts[known]).all())
        yield "whole counts", whole(facts[TOTAL : NEWS + 1])
        yield "flags", whole(facts[[FITTED, NEWS]], 0, 1)
        yield "bad news, if any", bool(facts[NEWS] == 0.0 or facts[STATUS] != OK)
        yield "refutations", whole(facts[REFUTATIONS], 0, MOST_DOUBLINGS)
        rests = facts[STATUS] == REFUTED and facts[MODE] == RESTART
        yield "a refutation where one is felt", bool(not rests or facts[REFUTATIONS] >= 1.0)
        evidence = facts[EVIDENCE:ALARMS]
        yield "rounds of the check", whole(evidence[ROUNDS], 0, facts[TOTAL])
        yield "weights of the check", between(evidence[WEIGHT], 0.0, 1.0)
        yield (
            "evidence",
            bool(((evidence[BETS_AT:] >= 0.0) & (evidence[BETS_AT:] <= LARGEST)).all()),
        )
        yield "a statistic", bool(0.0 <= evidence[STATISTIC] <= LARGEST)
        rows = facts[ALARMS:RIDGES_AT].reshape(-1, 3)
        yield "rounds of alarms", whole(rows[:, 0], 0, MOST)
        yield "evidence at alarms", bool((rows[:, 1] >= 0.0).all())
        yield "causes of alarms", whole(rows[:, 2], 0, len(CAUSES) - 1)
        ridges = kept_ridges(facts, self._dim)
        yield from sound_predictors(ridges, self._rules, self._feature_norm)

    def follow(self, other: Watch, again: int) -> None:
        """Go on with another's counts and alarms; its last `again` rounds are to come again."""
        for kept in (TOTAL, FITTED, AUDITS, N_ALARMS, slice(ALARMS, RIDGES_AT)):
            self.facts[kept] = other.facts[kept]
        self.facts[TOTAL] -= again

    @property
    def rounds(self) -> int:
        """Rewards learnt, by whatever set."""
        return int(self.facts[TOTAL])

    @property
    def alarms(self) -> list[Alarm]:
        """The latest 64 alarms, oldest first."""
        n = int(self.facts[N_ALARMS])
        rows = self.facts[ALARMS:RIDGES_AT].reshape(-1, 3)
        found = [rows[i % MOST_ALARMS] for i in range(max(0, n - MOST_ALARMS), n)]
        return [Alarm(int(t), float(level), CAUSES[int(cause)]) for t, level, cause in found]

    def tell_news(self, owner: object) -> None:
        """Warn, or raise `ModelAlarm`, if the status has become worse since the last call."""
        if self.facts[NEWS] == 0.0:
            return
        self.facts[NEWS] = 0.0
        if self.facts[MODE] == RAISE:
            raise ModelAlarm(
                f"{type(owner).__name__} is {STATUSES[self.code]} since round {self.since}: the "
                "data contradict the model; it can still be asked, saved and taught"
            )
        self.tell(owner)
