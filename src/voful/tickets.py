"""Tickets: a number for each decision, and late rewards matched by it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from voful import persistence, registry
from voful.archive import Arrays
from voful.bandits.base import Policy
from voful.invariants import Invariants, whole
from voful.lineage import Lineage
from voful.typing import FloatArray, IntArray, Path
from voful.validation import fail, fail_type, nonnegative_int, positive_int

FIRST_CAPACITY = 64


class Ticket(NamedTuple):
    """One decision whose reward is still to come.

    Attributes
    ----------
    id
        Its number, for `Tickets.update`: 0, 1, 2, ... in the order of decisions, never used again.
    index
        Row of the arms to play.
    probability
        With which this arm was chosen.
    """

    id: int
    index: int  # type: ignore[assignment]  # tuples have a method of this name
    probability: float


class Tickets(persistence.Persistent):
    """Decisions now, rewards later, in any order: for servers.

    Each decision is a ticket; its reward is learnt under the ticket's number, hours and restarts
    later. The arms of open tickets are kept and shown to the policy as `pending`, where it takes
    that (`BetOFUL`, `CertifiedUCB`): it then does not play one arm again and again until the first
    reward comes. Policy and open tickets are saved together.

    Parameters
    ----------
    policy
        Any policy of this library; it may have learnt already.
    most
        Open tickets that are kept, one more drops the oldest: rewards that never come shall not
        fill the memory.

    Examples
    --------
    >>> desk = voful.Tickets(voful.BetOFUL(dim=5))
    >>> ticket = desk.select(arms)  # play arms[ticket.index], send ticket.id along
    >>> desk.update(ticket.id, 1.0)
    """

    _arrays = ("ids", "arms", "given")
    _growing = ("ids", "arms")
    _parts = ("policy",)

    def __init__(self, policy: Policy, *, most: int = 10_000) -> None:
        if not isinstance(policy, Policy):
            raise fail_type("policy", policy, "a policy")
        self.policy = policy
        self.most = positive_int("most", most)
        self.given: IntArray = np.zeros(1, dtype=np.int64)
        self._rows = np.empty((FIRST_CAPACITY, policy.dim))  # the first len(_places) are in use
        self._numbers = np.empty(FIRST_CAPACITY, dtype=np.int64)
        self._places: dict[int, int] = {}  # id -> row, the oldest first
        self._own_turn = 0

    # --- decisions ------------------------------------------------------------------------------

    def select(self, arms: npt.ArrayLike, mask: npt.ArrayLike | None = None) -> Ticket:
        """`Policy.select`, as a ticket."""
        return self._open(arms, self.policy.select(arms, mask, pending=self._awaited()), 1.0)

    def choose(
        self,
        arms: npt.ArrayLike,
        mask: npt.ArrayLike | None = None,
        *,
        floor: float = 0.0,
        draws: int = 64,
    ) -> Ticket:
        """`Policy.choose`, as a ticket: with the probability of its arm, to be logged."""
        chosen = self.policy.choose(arms, mask, floor=floor, draws=draws, pending=self._awaited())
        return self._open(arms, chosen.index, chosen.probability)

    def update(self, id: int, reward: float, *, variance: float | None = None) -> None:
        """Learn the reward of a ticket, and close it.

        A ticket that is not open (its reward was learnt, it was dropped, or never given) is refused
        with a ValueError, and so is a bad reward: then the ticket stays open.
        """
        place, learnt = self._place(id), self.policy.n_observations
        try:
            self.policy.update(self._rows[place].copy(), reward, variance=variance)
        finally:  # an alarm may be raised after the reward was learnt
            if self.policy.n_observations > learnt:
                self._close(place)

    def drop(self, id: int) -> None:
        """Close a ticket whose reward will never come; nothing is learnt."""
        self._close(self._place(id))

    # --- questions ------------------------------------------------------------------------------

    @property
    def ids(self) -> IntArray:
        """Numbers of the open tickets."""
        return self._numbers[: len(self._places)].copy()

    @property
    def arms(self) -> FloatArray:
        """Arms of the open tickets, (m, dim), in the order of `ids`."""
        return self._rows[: len(self._places)].copy()

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, id: object) -> bool:
        return id in self._places

    def __repr__(self) -> str:
        return f"<Tickets of {self.policy!r}: {len(self)} open, {self.given[0]} given>"

    # --- files ----------------------------------------------------------------------------------

    def save(self, path: Path) -> None:
        """Write policy and open tickets to one file; `voful.load` continues them exactly."""
        persistence.save(self, path)

    def config(self) -> dict[str, Any]:
        """The policy, with the name of its class, and `most`."""
        return {"algorithm": type(self.policy).__name__, "policy": self.policy, "most": self.most}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Tickets:
        """A new desk from what `config` returned."""
        return cls(config["policy"], most=config["most"])

    @classmethod
    def _nested(cls, config: Mapping[str, Any]) -> Mapping[str, type[persistence.Persistent]]:
        return {"policy": registry.class_named(config["algorithm"])}

    @property
    def _lineage(self) -> Lineage:
        return self.policy._lineage

    @_lineage.setter
    def _lineage(self, lineage: Lineage) -> None:
        self.policy._lineage = lineage

    def _rows_learnt(self) -> int:
        return self.policy._rows_learnt()

    @property
    def _rng(self) -> np.random.Generator:
        return self.policy._rng

    @property
    def _turn(self) -> int:  # type: ignore[override]
        """Odd while the desk or its policy is at work."""
        turns = self._own_turn + self.policy._turn
        return 2 * turns + int(self._own_turn % 2 == 1 or self.policy._turn % 2 == 1)

    def _invariants(self, state: Arrays) -> Invariants:
        ids, arms, given = state["ids"], state["arms"], state["given"]
        yield "tickets given", whole(given.astype(np.float64))
        yield "no more open than may be kept", len(ids) <= self.most
        yield "numbers that were given", bool(((ids >= 0) & (ids < given[0])).all())
        yield "each number once", len(np.unique(ids)) == len(ids)
        yield "an arm for each ticket", arms.shape == (len(ids), self.policy.dim)
        yield "arms", _all_arms(self.policy, arms)

    def _assign(self, arrays: Mapping[str, np.ndarray[Any, Any]]) -> None:
        ids, arms = arrays["ids"], arrays["arms"]
        self.given[...] = arrays["given"]
        self._reserve(len(ids))
        self._numbers[: len(ids)], self._rows[: len(ids)] = ids, arms
        self._places = {int(ids[place]): int(place) for place in np.argsort(ids)}
        below = {k.removeprefix("policy/"): v for k, v in arrays.items() if k.startswith("policy/")}
        self.policy._assign(below)

    # --- inside ---------------------------------------------------------------------------------

    def _awaited(self) -> FloatArray | None:
        m = len(self._places)
        return self._rows[:m] if m > 0 and self.policy._takes_pending else None

    def _open(self, arms: npt.ArrayLike, index: int, probability: float) -> Ticket:
        id, place = int(self.given[0]), len(self._places)
        self._own_turn += 1
        try:
            self._reserve(place + 1)
            self._rows[place] = np.asarray(arms)[index]
            self._numbers[place] = id
            self._places[id] = place
            self.given[0] += 1
        finally:
            self._own_turn += 1
        if len(self._places) > self.most:
            self.drop(next(iter(self._places)))
        return Ticket(id, index, probability)

    def _place(self, id: int) -> int:
        number = nonnegative_int("id", id)
        if number not in self._places:
            raise fail("id", id, f"the number of one of the {len(self)} open tickets")
        return self._places[number]

    def _close(self, place: int) -> None:
        """The last row takes the place of the one that is closed."""
        last = len(self._places) - 1
        self._own_turn += 1
        try:
            del self._places[int(self._numbers[place])]
            if place != last:
                self._rows[place], self._numbers[place] = self._rows[last], self._numbers[last]
                self._places[int(self._numbers[place])] = place
        finally:
            self._own_turn += 1

    def _reserve(self, rows: int) -> None:
        if rows > len(self._rows):
            more = max(rows, 2 * len(self._rows)) - len(self._rows)
            self._rows = np.concatenate([self._rows, np.empty((more, self._rows.shape[1]))])
            self._numbers = np.concatenate([self._numbers, np.empty(more, dtype=np.int64)])


def _all_arms(policy: Policy, arms: FloatArray) -> bool:
    try:
        policy._space.pending(arms)
    except ValueError:
        return False
    return True
