"""Counts of transitions: what a set learns from when a plan is over."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import ClassVar, TypeAlias

import numpy as np

from voful.archive import Arrays
from voful.compiled import kernel
from voful.confidence.algebra import add_outer, cholesky
from voful.invariants import Invariants, whole
from voful.mdp.base import Agent
from voful.mdp.model import LinearMixtureModel
from voful.mdp.planning import time_blocks
from voful.mdp.trajectories import Transitions, Walks, successor_index
from voful.persistence import Stateful
from voful.typing import FloatArray, IntArray

Learn: TypeAlias = Callable[[FloatArray, FloatArray, FloatArray], None]

FLAT = 1e-12
"""A row of values that spans less tells nothing about the next state."""


@kernel
def count_transitions(
    transitions: Transitions, block: IntArray, horizon: int, walks: Walks, counts: IntArray
) -> None:
    """counts[g, s, a, b] += 1 for each step: to the b-th successor, under target g.

    The target of step h is that of the values with H - h - 1 steps to go, block[min(., last)].
    """
    successors, n_successors, _ = transitions
    states, actions, lengths = walks
    last = block.shape[0] - 1
    for k in range(lengths.shape[0]):
        for h in range(lengths[k]):
            s, a = states[k, h], actions[k, h]
            b = successor_index(successors, n_successors, s, a, states[k, h + 1])
            counts[block[min(horizon - h - 1, last)], s, a, b] += 1


@kernel
def information_in(cleared: IntArray, counts: IntArray, scores: FloatArray) -> float:
    """ln det(I + sum of n z z') over the transitions, z their scores, n how often they happened.

    cleared (S, A, B) and counts (G, S, A, B) add up to n.
    """
    S, A, B, d = scores.shape
    matrix, lower = np.eye(d), np.empty((d, d))
    for s in range(S):
        for a in range(A):
            for b in range(B):
                n = cleared[s, a, b]
                for g in range(counts.shape[0]):
                    n += counts[g, s, a, b]
                if n > 0:
                    add_outer(matrix, scores[s, a, b], float(n))
    # No pivot is below 1, so it fails from 10^12 steps on; then Hadamard's bound grows as well.
    exact = cholesky(matrix, lower)
    total = 0.0
    for i in range(d):
        total += 2.0 * math.log(lower[i, i]) if exact else math.log(matrix[i, i])
    return total


class TransitionCounter(Stateful):
    """How often each transition happened under each target, since the counts were last cleared.

    And how often in all before.

    All targets are frozen with a plan, so what happens until the next one is a table of counts:
    an episode costs one increment a step, and what a set makes of them is paid once per plan.

    Parameters
    ----------
    model
        Whose transitions.
    """

    _arrays: ClassVar[tuple[str, ...]] = ("targets", "block", "counts", "cleared")
    _growing: ClassVar[tuple[str, ...]] = ("targets", "block", "counts")

    def __init__(self, model: LinearMixtureModel) -> None:
        self.model = model
        self.cleared: IntArray = np.zeros(model.successors.shape, dtype=np.int64)
        self.count_under(np.zeros((1, model.n_states)), np.zeros(1, dtype=np.int64))

    def _invariants(self, state: Arrays) -> Invariants:
        targets, block, counts = state["targets"], state["block"], state["counts"]
        n, longest = len(targets), self.model.horizon + 1
        yield "a target for each state", targets.shape == (n, self.model.n_states)
        yield "targets in [0, 1]", bool(((targets >= 0.0) & (targets <= 1.0)).all())
        yield "a target for each block", 1 <= len(block) <= longest and whole(block, 0, n - 1)
        yield "counts of transitions", counts.shape == (n, *self.model.successors.shape)
        cleared = state["cleared"]
        yield "whole counts", whole(counts) and whole(cleared)
        padding = np.arange(counts.shape[3]) >= self.model.n_successors[:, :, None]
        possible = not counts[:, padding].any() and not cleared[padding].any()
        yield "transitions that can happen", possible

    def count_under(self, targets: FloatArray, block: IntArray) -> None:
        """Count anew; with n steps to go after it, a step is one under targets[block[n]].

        The last block stands for all larger n as well.
        """
        self.targets: FloatArray = targets  # (targets, S)
        self.block: IntArray = block
        self.counts: IntArray = np.zeros((len(targets), *self.model.successors.shape), np.int64)

    def add(self, states: IntArray, actions: IntArray, lengths: IntArray) -> None:
        """Count the steps of trajectories."""
        walks = Walks(states, actions, lengths)
        model = self.model
        count_transitions(model.transitions, self.block, model.horizon, walks, self.counts)

    def hand_over(self, learn: Learn) -> None:
        """Teach what was counted, and begin again under the same targets.

        `learn` takes (probabilities, targets, counts) of each law of the next state that was met,
        one for each target that is not flat, state and action, as `Observations` has them.
        """
        if not self.counts.any():
            return
        told = np.ptp(self.targets, axis=1) > 0.0
        g, s, a = np.nonzero(self.counts.any(axis=3) & told[:, None, None])
        targets = self.targets[g[:, None], self.model.successors[s, a]]
        learn(self.model.probabilities[s, a], targets, self.counts[g, s, a].astype(np.float64))
        self.clear()

    def clear(self) -> None:
        """Begin again under the same targets."""
        self.cleared += self.counts.sum(axis=0)
        self.counts[:] = 0

    def information(self, scores: FloatArray) -> float:
        """ln det(I + sum of z z') over all transitions so far, cleared or not, z their scores."""
        return information_in(self.cleared, self.counts, scores)


class CountingAgent(Agent):
    """An agent whose set `_Theta` learns from counts, when a plan is over.

    A transition with probabilities p_i under the base models tells of theta as much as its score
    at the uniform mixture, p / mean(p), freed of its mean: the sum of their squares z z' is
    Fisher's information there.
    """

    _parts: ClassVar[tuple[str, ...]] = (*Agent._parts, "_counter", "_Theta")

    def _build(self) -> None:
        super()._build()
        self._counter = TransitionCounter(self.model)
        p = self.model.probabilities
        size = np.abs(p).mean(axis=3, keepdims=True)
        scores = np.divide(p, size, out=np.zeros_like(p), where=size > 0.0)
        self._scores = scores - scores.mean(axis=3, keepdims=True)

    def _information(self) -> float:
        return self._counter.information(self._scores) / self.dim

    def _learn(self, states: IntArray, actions: IntArray, lengths: IntArray) -> None:
        self._counter.add(states, actions, lengths)


def block_targets(values: FloatArray) -> tuple[FloatArray, IntArray]:
    """(targets, block) for `count_under`: one row of values for each block of neighbours.

    Shifted and scaled to [0, 1], so that a test of its mean says the most.
    """
    rows, block = np.unique(time_blocks(values), return_inverse=True)
    return to_unit_span(values[rows]), block.astype(np.int64)


def to_unit_span(V: FloatArray) -> FloatArray:
    """(V - min V) / span(V) for each row; 0 where it is flat."""
    low = V.min(axis=1, keepdims=True)
    span = V.max(axis=1, keepdims=True) - low
    return np.where(span > FLAT, (V - low) / np.where(span > FLAT, span, 1.0), 0.0)
