"""Which trajectories a linear mixture model allows, and where a step stands in its lists."""

from __future__ import annotations

from typing import Final

from voful.compiled import kernel
from voful.typing import BoolArray, IntArray

FINE: Final = 0
WRONG_START: Final = 1
WRONG_STATE: Final = 2
WRONG_ACTION: Final = 3
IMPOSSIBLE: Final = 4
WRONG_END: Final = 5


@kernel
def successor_index(successors: IntArray, n_successors: IntArray, s: int, a: int, t: int) -> int:
    """b with successors[s, a, b] = t; -1 where no base model reaches t from s by a."""
    for b in range(n_successors[s, a]):
        if successors[s, a, b] == t:
            return b
    return -1


@kernel
def first_fault(
    successors: IntArray,
    n_successors: IntArray,
    absorbing: BoolArray,
    initial_state: int,
    horizon: int,
    states: IntArray,
    actions: IntArray,
    lengths: IntArray,
) -> tuple[int, int, int]:
    """(what is wrong, trajectory, step) of the first fault; (FINE, 0, 0) where there is none."""
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
