"""Agents that learn by counts of transitions, a plan's episodes at a time."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from voful.compiled import kernel
from voful.confidence.base import ParameterSet
from voful.confidence.mixture.base import MixtureSet
from voful.mdp.base import Agent
from voful.mdp.planning import OptimisticPlan, optimistic_plan, optimistic_plan_over_vertices
from voful.mdp.trajectories import successor_index
from voful.typing import IntArray


@kernel
def count_transitions(
    successors: IntArray,
    n_successors: IntArray,
    block: IntArray,
    horizon: int,
    states: IntArray,
    actions: IntArray,
    lengths: IntArray,
    counts: IntArray,
) -> None:
    """counts[g, s, a, b] += 1 for each step: to the b-th successor, under target g.

    The target of step h is that of the values with H - h - 1 steps to go, block[min(., last)].
    """
    last = block.shape[0] - 1
    for k in range(lengths.shape[0]):
        for h in range(lengths[k]):
            s, a = states[k, h], actions[k, h]
            b = successor_index(successors, n_successors, s, a, states[k, h + 1])
            counts[block[min(horizon - h - 1, last)], s, a, b] += 1


class CountingAgent(Agent):
    """Optimism over a set that learns from counts when the episodes of a plan are over.

    All targets are frozen with the plan, so what happened until the next one is a table of counts:
    an episode costs one increment a step, and the tests are paid once per plan. Episodes
    beyond those of a plan are learnt when the next plan is made.
    """

    _arrays: ClassVar[tuple[str, ...]] = (*Agent._arrays, "_block", "_counts")
    _growing: ClassVar[tuple[str, ...]] = ("_block", "_counts")
    _parts: ClassVar[tuple[str, ...]] = (*Agent._parts, "confidence_set")

    _block: IntArray  # (rows of the plan's values,) which target
    _counts: IntArray  # (targets, S, A, B) transitions since the set learnt

    @property
    @abstractmethod
    def confidence_set(self) -> ParameterSet:
        """Live view of the set; it learns when the episodes of a plan are over."""

    def _make_plan(self) -> OptimisticPlan:
        self._close()
        plan = self._plan_now()
        self._open(plan)
        return plan

    def _plan_now(self) -> OptimisticPlan:
        Theta = self.confidence_set
        vertices = Theta.vertices if isinstance(Theta, MixtureSet) else None
        if vertices is None:
            return optimistic_plan(self.model, Theta.support)
        return optimistic_plan_over_vertices(self.model, vertices)

    def _learn(self, states: IntArray, actions: IntArray, lengths: IntArray) -> None:
        learnt, planned = self._tally
        due = int(planned + self._plan.episodes - learnt)  # episodes until the plan is over
        if 0 < due <= len(lengths):
            self._count(states[:due], actions[:due], lengths[:due])
            self._close()
            states, actions, lengths = states[due:], actions[due:], lengths[due:]
        self._count(states, actions, lengths)

    def _count(self, states: IntArray, actions: IntArray, lengths: IntArray) -> None:
        count_transitions(
            self.model.successors,
            self.model.n_successors,
            self._block,
            self.model.horizon,
            states,
            actions,
            lengths,
            self._counts,
        )

    def _open(self, plan: OptimisticPlan) -> None:
        """Prepare to count what happens under a new plan: by default, under one target."""
        self._empty_counts(np.zeros(1, dtype=np.int64))

    def _empty_counts(self, block: IntArray) -> None:
        self._block = block
        shape = (int(block.max()) + 1, *self.model.successors.shape)
        self._counts = np.zeros(shape, dtype=np.int64)

    def _close(self) -> None:
        """Let the set learn what was counted."""
        if self._counts.any():
            self._construct_set()
            self._counts[:] = 0

    @abstractmethod
    def _construct_set(self) -> None:
        """Teach the set the counts, which are not all 0."""
