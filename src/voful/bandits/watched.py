"""Policies that look at their own betting set: what `BetOFUL` and `CertifiedUCB` share."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from voful.bandits import arguments as given
from voful.bandits.base import CompiledPolicy, OptimisticPolicy, SomeSet
from voful.confidence.betting import BettingEllipsoid
from voful.monitor.watch import Alarm, Watch
from voful.typing import BoolArray, FloatArray


class WatchedPolicy(CompiledPolicy, OptimisticPolicy):
    """A policy over a betting set under watch (`voful.monitor.watch`).

    ``_state`` ends with what `_watch_over` makes: the watch's facts, and the state's own blocks as
    they were before the first round.
    """

    _takes_pending = True

    failure_prob: float = given.failure_prob()
    on_change: str | None = given.on_change()

    def _watch_over(
        self, Theta: SomeSet, betting: BettingEllipsoid, *others: FloatArray
    ) -> SomeSet:
        """Watch this set; its bets' memory and `others` are what a restart begins anew."""
        self._betting = betting
        self._watch = Watch(
            self.on_change,
            failure_prob=self.failure_prob,
            audit=getattr(self, "audit", None),
            memory=betting.memory,
            feature_norm=self._space.feature_norm,
        )
        self._standing = self._watch
        self._start = np.concatenate([block.ravel() for block in (betting.memory, *others)])
        return self._heed(Theta)

    @property
    def n_observations(self) -> int:
        """How many rewards were learnt, restarts included."""
        return self._watch.rounds

    @property
    def alarms(self) -> list[Alarm]:
        """The latest 64 alarms, oldest first: round, statistic, cause."""
        return self._watch.alarms

    def _choose(self, arms: FloatArray, mask: BoolArray) -> int:
        if self._pending is None:
            return super()._choose(arms, mask)
        arm = self._choose_awaiting(arms, mask, self._pending)
        if arm < 0:
            self.confidence_set.warn_empty()
        return arm if arm >= 0 else ~arm

    @abstractmethod
    def _choose_awaiting(self, arms: FloatArray, mask: BoolArray, pending: FloatArray) -> int:
        """`Rule.choose` while these arms wait for their rewards."""

    def _observe(self, x: FloatArray, reward: float, variance: float) -> None:
        self._betting.reserve(1)
        super()._observe(x, reward, variance)
        self._watch.tell_news(self)

    def _observe_many(self, X: FloatArray, rewards: FloatArray, variances: FloatArray) -> None:
        self._betting.reserve(len(rewards))
        super()._observe_many(X, rewards, variances)
        self._watch.tell_news(self)

    def _reserve(self, rounds: int, n_arms: int) -> None:
        self._betting.reserve(rounds)

    def _played(self) -> None:
        self._watch.tell_news(self)
