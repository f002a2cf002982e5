"""BetVTR: optimism over a betting ellipsoid on values."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from voful import validation
from voful.confidence.mixture.betting import CountedBettingSet
from voful.confidence.mixture.domain import Domain
from voful.confidence.mixture.observations import observe
from voful.mdp.agents.varlin import to_unit_span
from voful.mdp.counting import CountingAgent
from voful.mdp.model import LinearMixtureModel
from voful.mdp.planning import OptimisticPlan, optimistic_plan_over_ellipsoids, time_blocks
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

    Parameters
    ----------
    model
        What is known of the MDP.
    n_episodes
        How many episodes will be played; no formula knows it.
    failure_prob
        delta.
    bet
        "mixed", "ratio" or "product", as for `BetOFUL`.
    width_scale
        Multiplies the half-width of the set where it is used or asked (1 = the theory).
    seed
        Unused by the algorithm itself, which is deterministic.

    Notes
    -----
    This library's own algorithm.
    """

    _arrays: ClassVar[tuple[str, ...]] = (*CountingAgent._arrays, "_targets")
    _growing: ClassVar[tuple[str, ...]] = (*CountingAgent._growing, "_targets")

    def __init__(
        self,
        model: LinearMixtureModel,
        *,
        n_episodes: int,
        failure_prob: float = 0.05,
        bet: str = "mixed",
        width_scale: float = 1.0,
        seed: Seed = 0,
    ) -> None:
        super().__init__(model, n_episodes=n_episodes, failure_prob=failure_prob, seed=seed)
        self.width_scale = validation.positive_float("width_scale", width_scale)
        self._Theta = CountedBettingSet(
            Domain(model.dim, model.stochastic),
            failure_prob=self.failure_prob,
            bet=bet,
            width_scale=self.width_scale,
        )
        self.bet = self._Theta.bet
        self._targets = np.zeros((1, model.n_states))
        self._empty_counts(np.zeros(1, dtype=np.int64))

    @property
    def confidence_set(self) -> CountedBettingSet:
        """Live view of the set; it learns when the episodes of a plan are over."""
        return self._Theta

    def _plan_now(self) -> OptimisticPlan:
        return optimistic_plan_over_ellipsoids(self.model, self._Theta.ellipsoids())

    def _epoch_length(self) -> int:
        learnt = self.episodes_learnt
        return max(1, min(math.isqrt(learnt) // 4, self.n_episodes - learnt))

    def _open(self, plan: OptimisticPlan) -> None:
        rows, block = np.unique(time_blocks(plan.values), return_inverse=True)
        self._empty_counts(block.astype(np.int64))
        self._targets = to_unit_span(plan.values[rows])

    def _construct_set(self) -> None:
        seen = self._counts.any(axis=3) & (np.ptp(self._targets, axis=1) > 0.0)[:, None, None]
        block, s, a = np.nonzero(seen)
        targets = self._targets[block[:, None], self.model.successors[s, a]]
        counts = self._counts[block, s, a].astype(np.float64)
        self._Theta.learn(observe(self.model.probabilities[s, a], targets, counts))
