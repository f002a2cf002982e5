"""BetVTR: optimism over a betting ellipsoid on values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from voful.confidence.mixture.betting import CountedBettingSet
from voful.confidence.mixture.domain import Domain
from voful.confidence.mixture.observations import observe
from voful.mdp import arguments as given
from voful.mdp.counting import CountingAgent, block_targets
from voful.mdp.planning import OptimisticPlan, optimistic_plan_over_ellipsoids
from voful.typing import Seed


class BetVTR(CountingAgent):
    """Value-targeted bets: BetOFUL's ellipsoid for linear mixture MDPs.

    Each step is an observation x = (P_i g)_i, y = g(s') in [0, 1] with E[y | past] = <x, theta*>,
    where g is the plan's next value row, or the one that stands for its block of steps, shifted
    and scaled to [0, 1]. Bets against theta are placed for a whole plan at once, see
    `CountedBettingSet`: with probability at least 1 - failure_prob theta* stays in the set,
    without variances, moments or horizon in any formula. Regret is measured, not proved.

    Steps from (s, a) under a row g that is flat tell nothing and are left out; which ones is known
    when the plan is made. The cost of learning grows with the number of distinct (row, s, a) of a
    plan, not with the number of steps.

    Notes
    -----
    This library's own algorithm.
    """

    n_episodes: int = given.n_episodes("How many episodes will be played; no formula knows it.")
    failure_prob: float = given.failure_prob("delta.")
    bet: str = given.of_the_set('"mixed", "ratio" or "product", as for `BetOFUL`.', "mixed")
    width_scale: float = given.width_scale(
        "Multiplies the half-width of the set where it is used or asked (1 = the theory)."
    )
    seed: Seed = given.seed()

    def _build(self) -> None:
        super()._build()
        self._Theta = CountedBettingSet(
            Domain(self.dim, self.model.stochastic),
            failure_prob=self.failure_prob,
            bet=self.bet,
            width_scale=self.width_scale,
        )

    @classmethod
    def _least_numbers(cls, config: Mapping[str, Any]) -> int:
        return int(config["model"].dim) ** 2

    @property
    def confidence_set(self) -> CountedBettingSet:
        """Live view of the set; it learns when a plan is over."""
        return self._Theta

    def _make_plan(self) -> OptimisticPlan:
        self._end_epoch()
        plan = optimistic_plan_over_ellipsoids(self.model, self._Theta.ellipsoids())
        self._counter.count_under(*block_targets(plan.values))
        return plan

    def _end_epoch(self) -> None:
        self._counter.hand_over(lambda *seen: self._Theta.learn(observe(*seen)))
