"""Whether what a policy or an agent says of its certainty still stands, and since when."""

from __future__ import annotations

from typing import ClassVar, Final

import numpy as np

from voful import notice
from voful.archive import Arrays
from voful.invariants import Invariants, whole
from voful.persistence import Stateful
from voful.typing import FloatArray

STATUSES: Final = ("ok", "empty", "refuted", "edge")
OK, EMPTY, REFUTED, EDGE = range(len(STATUSES))

# Where `Standing.facts` keeps them.
STATUS, SINCE = 0, 1

NEAR_EDGE: Final = 0.99
"""A centre beyond this part of the ball's radius: theta_norm may be too small."""

MEANINGS: Final = {
    EMPTY: "no parameter fits the data: the failure_prob event happened, or the model is wrong "
    "(reward range, linearity, norm bound); intervals are the reward range from now on",
    REFUTED: "the data refute the model: it changed, or it is wrong (reward range, linearity, norm "
    "bound); intervals are the reward range from now on",
    EDGE: "the estimate lies at the edge of the parameter ball: theta_norm may be too small",
}


class Standing(Stateful):
    """One of `STATUSES`, and the round in which it was noticed.

    "empty" and "refuted" stay; "edge" comes and goes. Leaving "ok" is told once.
    """

    _arrays: ClassVar[tuple[str, ...]] = ("facts",)

    def __init__(self) -> None:
        self.facts: FloatArray = np.zeros(2)

    def _invariants(self, state: Arrays) -> Invariants:
        status, since = state["facts"][[STATUS, SINCE]]
        yield "one of the statuses", whole(status, 0, len(STATUSES) - 1)
        yield "a round in which it began", whole(since)

    @property
    def code(self) -> int:
        """OK, EMPTY, REFUTED or EDGE."""
        return int(self.facts[STATUS])

    @property
    def since(self) -> int:
        """Rounds (or episodes) learnt when the status was noticed."""
        return int(self.facts[SINCE])

    @property
    def answers_nothing(self) -> bool:
        """Whether intervals must be those of the reward range."""
        return self.facts[STATUS] in (EMPTY, REFUTED)

    def note(self, code: int, learnt: int) -> bool:
        """What is seen after so many rounds; returns whether that is bad news."""
        if code == self.code or self.answers_nothing:
            return False
        self.facts[STATUS], self.facts[SINCE] = code, learnt
        return code != OK

    def tell(self, owner: object) -> None:
        """One RuntimeWarning."""
        notice.warn(f"{type(owner).__name__} is {STATUSES[self.code]}: {MEANINGS[self.code]}")
