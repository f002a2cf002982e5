"""What a policy over bets does where means are not quite linear, or scales not known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from voful.archive import Arrays
from voful.bandits import arguments as given
from voful.bandits.growth import LARGEST, grown, has_grown
from voful.bandits.report import UNKNOWN, Report
from voful.bandits.watched import WatchedPolicy
from voful.confidence.betting import BettingEllipsoid
from voful.confidence.rule import observe_by, observe_many
from voful.invariants import Invariants
from voful.monitor.watch import NEWS, Alarm, ModelAlarm
from voful.typing import FloatArray
from voful.validation import ObservationSpace, fail, finite_float


class AdaptingPolicy(WatchedPolicy):
    """A policy over a betting set with `theta_norm`, `misfit` and `grow_range`.

    ``_set`` chooses. With `misfit` another set answers, ``_report``.
    """

    reward_range: tuple[float, float]
    theta_norm: float | None
    feature_norm: float
    refresh: bool
    misfit: float | str
    grow_range: bool

    @property
    def _norm(self) -> float:
        """The radius of the ball, also where nobody knows it."""
        if self.theta_norm is None:
            return given.unknown_norm(self.reward_range, self.feature_norm)
        return self.theta_norm

    def _adapt(
        self,
        Theta: BettingEllipsoid,
        make: Callable[..., BettingEllipsoid],
        state: Callable[..., Any],
    ) -> None:
        """Last in ``_build``: choose by Theta, which is watched over.

        make(theta_norm, misfit, bet) is a set, and `state` the type of the rule's state with one.
        """
        self._set = Theta
        for name, asks in (("misfit", self.misfit == UNKNOWN), ("grow_range", self.grow_range)):
            if asks and not self.refresh:
                raise fail(name, getattr(self, name), "refresh=True: rounds are learnt again")
        self._report: Report | None = None
        self._guess: FloatArray = np.array(self.reward_range)
        if self.misfit != 0.0:
            self._report = Report(
                make,
                state,
                misfit=self.misfit,
                half=given.half_range(self.reward_range),
                theta_norm=self._norm,
                on_change=self.on_change,
                failure_prob=self.failure_prob,
                feature_norm=self.feature_norm,
            )
            self._set.standing, self._standing = None, self._report.watch
            self._parts = ("_set", "_watch", "_report")  # type: ignore[misc]
        if self.grow_range:
            self._arrays = ("_guess",)  # type: ignore[misc]
        self._learns_in_python = self._report is not None or self.grow_range

    def _invariants(self, state: Arrays) -> Invariants:
        if self.grow_range:
            low, high = state["_guess"].tolist()
            yield "a range that grew from its guess", has_grown((low, high), self.reward_range)

    @property
    def confidence_set(self) -> BettingEllipsoid:
        """Live view of the set; with `misfit`, of the one that allows for it."""
        return self._set if self._report is None else self._report.betting

    @property
    def alarms(self) -> list[Alarm]:
        """The latest 64 alarms, oldest first: round, statistic, cause.

        With a known `misfit` those of the set that allows for it; where it is unknown, those of the
        set that chooses, since the other one gives way.
        """
        if self._report is None or self.misfit == UNKNOWN:
            return self._watch.alarms
        return self._report.watch.alarms

    # --- learning -------------------------------------------------------------------------------

    def update(self, x: npt.ArrayLike, reward: float, *, variance: float | None = None) -> None:
        """See `Policy.update`; with `grow_range` a reward outside the range widens it."""
        if self.grow_range:
            self._space.arm(x)
            if variance is not None:
                self._refuse("variance", variance)
            self._make_room(finite_float("reward", reward))
        super().update(x, reward, variance=variance)

    def partial_fit(
        self, X: npt.ArrayLike, rewards: npt.ArrayLike, *, variances: npt.ArrayLike | None = None
    ) -> None:
        """See `Policy.partial_fit`; with `grow_range` rewards outside the range widen it."""
        if not self.grow_range:
            super().partial_fit(X, rewards, variances=variances)
            return
        everything = ObservationSpace(self.dim, self.feature_norm, (-LARGEST, LARGEST))
        rows, y = everything.batch(X, rewards)
        if variances is not None:
            self._refuse("variances", variances)
        begin, told = 0, []
        while begin < len(y):
            self._make_room(float(y[begin]))
            end = begin + 1
            while end < len(y) and self._space.accepts_range(y[end], y[end]):
                end += 1
            try:
                super().partial_fit(rows[begin:end], y[begin:end])
            except ModelAlarm as alarm:  # raised when all rows are learnt, as elsewhere
                told.append(alarm)
            begin = end
        if told:
            raise told[0]

    def _make_room(self, reward: float) -> None:
        """Let the range grow until it holds this reward, and learn the kept rounds again."""
        if self._space.accepts_range(reward, reward):
            return
        low, high = self._guess.tolist()
        wider = grown((low, high), self.reward_range, reward)
        fresh = type(self)(**{**self.config(), "reward_range": wider})  # or it says what is wrong
        rows, d = self._set.state()["history"], self.dim
        fresh._watch.follow(self._watch, len(rows))
        fresh._betting.reserve(len(rows))
        X, y = np.ascontiguousarray(rows[:, :d]), rows[:, d].copy()
        observe_many(fresh._state, X, y, np.zeros(len(rows)))
        if self._report is not None and fresh._report is not None:
            fresh._report.follow(self._report)
        if self._standing.answers_nothing:  # which has been told, or waits for it
            fresh._standing.facts[NEWS] = self._standing.facts[NEWS]
        self._turn += 1
        try:
            shown, now = self.confidence_set, fresh.confidence_set
            shown.__dict__.update(now.__dict__)  # who holds the set sees what it has become
            fresh._show(shown)
            for name in ("reward_range", "_space", "_set", "_betting", "_watch"):
                setattr(self, name, getattr(fresh, name))
            self._report, self._standing = fresh._report, fresh._standing
        finally:
            self._turn += 1

    def _show(self, Theta: BettingEllipsoid) -> None:
        """Let this object, which has become equal to it, be `confidence_set`."""
        if self._report is None:
            self._set = self._betting = Theta
        else:
            self._report.betting = Theta

    def _observe(self, x: FloatArray, reward: float, variance: float) -> None:
        self._betting.reserve(1)
        news = observe_by(self._state, x, reward, variance)
        if self._report is not None:
            self._report.learn(x, reward)
        if news or self._report is not None:
            self._tell_news()

    def _observe_many(self, X: FloatArray, rewards: FloatArray, variances: FloatArray) -> None:
        if self._report is None:
            super()._observe_many(X, rewards, variances)
        else:  # side by side: Ctrl-C leaves both sets with the same rows, or with one between them
            self._betting.reserve(len(X))
            for x, reward in zip(X, rewards, strict=True):
                observe_by(self._state, x, float(reward), 0.0)
                self._report.learn(x, float(reward))
            self._tell_news()

    def _tell_news(self) -> None:
        (self._watch if self._report is None else self._report.watch).tell_news(self)

    # --- choices and answers --------------------------------------------------------------------

    def _tell_empty(self) -> None:
        if self._report is None:  # else what is left of the set that chooses is not reported
            super()._tell_empty()

    def _index(self, arms: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        mean, lower, upper = super()._index(arms)
        if self._report is not None:  # of a mean, which lies in the range
            low, high = self.reward_range
            mean, lower, upper = (np.clip(ends, low, high) for ends in (mean, lower, upper))
        return mean, lower, upper
