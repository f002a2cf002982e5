"""LikelihoodUCRL: optimism over the likelihood-ratio set of a linear mixture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from voful.archive import Arrays
from voful.confidence.mixture.likelihood import LikelihoodSet
from voful.invariants import Invariants
from voful.mdp import arguments as given
from voful.mdp.counting import CountingAgent
from voful.mdp.model import LinearMixtureModel
from voful.mdp.planning import OptimisticPlan, plan_over_mixtures
from voful.parameters import parameter
from voful.typing import Seed


class LikelihoodUCRL(CountingAgent):
    """Optimistic planning over the likelihood-ratio set of the mixture's weights.

    Where the base models are known probability kernels, transitions have a likelihood, and
    `LikelihoodSet` is a confidence set that needs no targets, moments or variances. It is the
    yardstick for VARLin, whose tests see the values of next states only. Coverage is proved,
    regret is measured.
    """

    model: LinearMixtureModel = parameter(
        given.mixture_of_kernels,
        "What is known of the MDP; its base models must be probability kernels.",
        kw_only=False,
    )
    n_episodes: int = given.n_episodes("K.")
    failure_prob: float = given.failure_prob("delta.")
    width_scale: float = given.width_scale("Multiplies the price (1 = the theory).")
    seed: Seed = given.seed()

    def _build(self) -> None:
        super()._build()
        self._Theta = LikelihoodSet(
            self.model.probabilities.reshape(-1, self.dim),
            failure_prob=self.failure_prob,
            width_scale=self.width_scale,
        )

    @classmethod
    def _least_numbers(cls, config: Mapping[str, Any]) -> int:
        return int(config["model"].dim - 1) ** 2

    def _invariants(self, state: Arrays) -> Invariants:
        yield from super()._invariants(state)
        yield "counts under one target", len(state["_counter/counts"]) == 1

    @property
    def confidence_set(self) -> LikelihoodSet:
        """Live view of the set; it learns when a plan is over."""
        return self._Theta

    def _make_plan(self) -> OptimisticPlan:
        self._end_epoch()
        return plan_over_mixtures(self.model, self._Theta)

    def _end_epoch(self) -> None:
        if self._counter.counts.any():
            self._Theta.learn(self._counter.counts.reshape(-1))
            self._counter.clear()
