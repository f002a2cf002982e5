"""Which trajectories a linear mixture model allows, and where a step stands in its lists."""

from __future__ import annotations

from typing import NamedTuple

from voful.compiled import kernel, part
from voful.typing import BoolArray, FloatArray, IntArray

FINE, WRONG_START, WRONG_STATE, WRONG_ACTION, IMPOSSIBLE, WRONG_END = 0, 1, 2, 3, 4, 5


class Transitions(NamedTuple):
    """A model's lists of successors, see `LinearMixtureModel`."""

    successors: IntArray  # (S, A, B)
    n_successors: IntArray  # (S, A)
    probabilities: FloatArray  # (S, A, B, d)


class Walks(NamedTuple):
    """Trajectories states[i, :lengths[i]+1], actions[i, :lengths[i]]."""

    states: IntArray  # (n, W+1)
    actions: IntArray  # (n, W)
    lengths: IntArray  # (n,)


@part
def successor_index(successors: IntArray, n_successors: IntArray, s: int, a: int, t: int) -> int:
    """b with successors[s, a, b] = t; -1 where no base model reaches t from s by a."""
    for b in range(n_successors[s, a]):
        if successors[s, a, b] == t:
            return b
    return -1


@kernel
def first_fault(
    transitions: Transitions, absorbing: BoolArray, initial_state: int, horizon: int, walks: Walks
) -> tuple[int, int, int]:
    """(what is wrong, trajectory, step) of the first fault; (FINE, 0, 0) where there is none."""
    successors, n_successors, _ = transitions
    states, actions, lengths = walks
    S, A, _ = successors.shape
    for i in range(lengths.shape[0]):
        length = lengths[i]
        for h in range(length + 1):
            if states[i, h] < 0 or states[i, h] >= S:
                return WRONG_STATE, i, h
        if states[i, 0] != initial_state:
            return WRONG_START, i, 0
        for h in range(length):
            a = actions[i, h]
            if a < 0 or a >= A:
                return WRONG_ACTION, i, h
            if successor_index(successors, n_successors, states[i, h], a, states[i, h + 1]) < 0:
                return IMPOSSIBLE, i, h
        if length < horizon and not absorbing[states[i, length]]:
            return WRONG_END, i, length
    return FINE, 0, 0
