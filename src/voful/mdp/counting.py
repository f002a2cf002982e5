"""Counts of transitions: all that the sets of linear mixture models need of a trajectory."""

from __future__ import annotations

from voful.compiled import kernel
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
