"""A set that answers beside the set that chooses, for means that are only nearly linear.

To play with a set that allows for misfit costs regret; to report with one that does not is wrong.
So choices go by the plain set, and intervals by this one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final

import numpy as np

from voful.archive import Arrays
from voful.confidence.betting import BettingEllipsoid
from voful.confidence.betting.base import LARGEST_NORM
from voful.confidence.rule import observe_by
from voful.invariants import Invariants, whole
from voful.monitor.watch import N_ALARMS, NEWS, Watch
from voful.persistence import Stateful
from voful.typing import FloatArray

UNKNOWN: Final = "unknown"
FIRST_MISFIT: Final = 0.02  # e of the first step, over half the reward range; then doubled
STEPS: Final = 6  # the last one is .64 of half the range: beyond, the range itself is the answer
WIDER: Final = 10.0  # times theta_norm from the first step on: the ball may be what does not fit


class Report(Stateful):
    """A betting set with misfit under watch of its own, which learns what the policy learns.

    A known misfit: an alarm is the policy's, with all that follows. An unknown one: every alarm,
    which the policy need not hear of, is a step to a larger misfit, with the rounds played again.

    Parameters
    ----------
    make
        (theta_norm, misfit) -> a new set; with misfit also bet.
    state
        The type of the rule's state: memory, history, and the watch's block.
    misfit
        e, or "unknown".
    theta_norm
        Of the ball before the first step.
    on_change
        As of the policy.
    failure_prob, feature_norm
        Of the watch.
    """

    _arrays: ClassVar[tuple[str, ...]] = ("step",)
    _parts: ClassVar[tuple[str, ...]] = ("betting", "watch")

    def __init__(
        self,
        make: Callable[..., BettingEllipsoid],
        state: Callable[..., Any],
        *,
        misfit: float | str,
        half: float,
        theta_norm: float,
        on_change: str | None,
        failure_prob: float,
        feature_norm: float,
    ) -> None:
        self._make, self._state, self.misfit, self._half = make, state, misfit, half
        self._theta_norm, self._feature_norm = theta_norm, feature_norm
        self._on_change = "warn" if misfit == UNKNOWN else on_change
        self._failure_prob = failure_prob
        self.step: FloatArray = np.zeros(1)
        self.betting, self.watch = self._new(0)

    def _new(self, step: int) -> tuple[BettingEllipsoid, Watch]:
        """A set of this step, and its watch."""
        e, norm = 0.0 if self.misfit == UNKNOWN else float(self.misfit), self._theta_norm
        if step > 0:
            e, norm = FIRST_MISFIT * self._half * 2.0 ** (step - 1), WIDER * norm
        largest = LARGEST_NORM * self._half / self._feature_norm
        bet = {"bet": "product"} if e > 0.0 else {}  # no other one allows for it
        betting = self._make(theta_norm=min(norm, largest), misfit=e, **bet)
        watch = Watch(
            self._on_change,
            failure_prob=self._failure_prob,
            audit=None,
            blocks=(betting.memory,),
            feature_norm=self._feature_norm,
        )
        betting.standing = watch
        return betting, watch

    def _enter(self, step: int) -> None:
        """Begin anew at this step; who holds set or watch sees the new ones."""
        self.step[0] = step
        betting, watch = self._new(step)
        self.watch.__dict__.update(watch.__dict__)
        self.betting.__dict__.update(betting.__dict__)
        self.betting.standing = self.watch

    def learn(self, x: FloatArray, reward: float) -> None:
        """One round."""
        self._play(x, reward)
        if self.misfit == UNKNOWN and self.watch.answers_nothing and self.step[0] < STEPS:
            self._step_up(self._rows())

    def follow(self, other: Report) -> None:
        """Learn what another one has kept."""
        rows, d = other._rows(), self.betting.dim
        self.watch.follow(other.watch, len(rows))
        for row in rows:
            self.learn(row[:d], float(row[d]))

    def _rows(self) -> FloatArray:
        return self.betting.state()["history"].copy()

    def _play(self, x: FloatArray, reward: float) -> None:
        self.betting.reserve(1)
        observe_by(self._state(*self.betting.rule_state, self.watch.block), x, reward, 0.0)

    def _step_up(self, rows: FloatArray) -> None:
        """Larger misfits until the history fits one, or none is left."""
        d = self.betting.dim
        while self.watch.answers_nothing and self.step[0] < STEPS:
            self._enter(int(self.step[0]) + 1)
            for row in rows:
                self._play(row[:d], float(row[d]))
        if not self.watch.answers_nothing:
            self.watch.facts[[NEWS, N_ALARMS]] = 0.0

    def _check(self, arrays: Mapping[str, np.ndarray[Any, Any]]) -> None:
        step = arrays["step"]
        last = STEPS if self.misfit == UNKNOWN else 0
        if step.shape == (1,) and whole(step, 0, last) and step[0] != self.step[0]:
            self._at(int(step[0]))._check(arrays)
        else:
            super()._check(arrays)

    def _at(self, step: int) -> Report:
        """A report of the same arguments, at this step."""
        other = Report(
            self._make,
            self._state,
            misfit=self.misfit,
            half=self._half,
            theta_norm=self._theta_norm,
            on_change=self._on_change,
            failure_prob=self._failure_prob,
            feature_norm=self._feature_norm,
        )
        other._enter(step)
        return other

    def _invariants(self, state: Arrays) -> Invariants:
        yield "a step of the ladder", bool(state["step"][0] == self.step[0])

    def _assign(self, arrays: Mapping[str, np.ndarray[Any, Any]]) -> None:
        if arrays["step"][0] != self.step[0]:
            self._enter(int(arrays["step"][0]))
        super()._assign(arrays)
