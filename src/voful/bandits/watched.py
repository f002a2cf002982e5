"""Policies that look at their own betting set: what `BetOFUL` and `CertifiedUCB` share."""

from __future__ import annotations

from voful.bandits import arguments as given
from voful.bandits.base import CompiledPolicy, OptimisticPolicy, SomeSet
from voful.confidence.betting import BettingEllipsoid
from voful.monitor.watch import Alarm, Watch
from voful.typing import FloatArray


class WatchedPolicy(CompiledPolicy, OptimisticPolicy):
    """A policy over a betting set under watch (`voful.monitor.watch`).

    ``_state`` ends with the block of the watch that `_watch_over` makes.
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
            blocks=(betting.memory, *others),
            feature_norm=self._space.feature_norm,
        )
        self._standing = self._watch
        return self._heed(Theta)

    @property
    def n_observations(self) -> int:
        """How many rewards were learnt, restarts included."""
        return self._watch.rounds

    @property
    def alarms(self) -> list[Alarm]:
        """The latest 64 alarms, oldest first: round, statistic, cause."""
        return self._watch.alarms

    def _reserve(self, rounds: int, n_arms: int) -> None:
        self._betting.reserve(rounds)

    def _tell_news(self) -> None:
        self._watch.tell_news(self)
