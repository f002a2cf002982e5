"""What base models and rewards must satisfy: probability rows, distinct successors, total <= 1."""

from __future__ import annotations

import numpy as np

from voful import validation
from voful.compiled import kernel
from voful.mdp.trajectories import Transitions
from voful.typing import BoolArray, FloatArray, IntArray
from voful.validation import TOLERANCE

MOST_BACKUPS = 10**8
"""Of one state and action, until a sum of rewards counts as too large: half a second."""


@kernel
def largest_total(
    transitions: Transitions, rewards: FloatArray, start: int, horizon: int, limit: float
) -> float:
    """Largest sum of rewards along a trajectory from `start`, as far as needed to know the side.

    Above `limit`: some trajectory pays at least so much; else none pays more.

    R_n(s) = max_a r(s, a) + max over successors of R_{n-1}, n steps to go. The map is monotone
    and commutes with constants, so the largest gain of a step, max(R_n - R_{n-1}), never grows,
    and the least gain never falls: R_H - R_n lies between H - n times the least and H - n times
    the largest gain. Most models are decided after few steps whatever the horizon.
    """
    successors, n_successors = transitions.successors, transitions.n_successors
    S, A, _ = successors.shape
    reachable = np.zeros(S, dtype=np.bool_)
    reachable[start] = True
    queue = np.empty(S, dtype=np.int64)
    queue[0] = start
    found, done = 1, 0
    while done < found:
        s = queue[done]
        done += 1
        for a in range(A):
            for b in range(n_successors[s, a]):
                t = successors[s, a, b]
                if not reachable[t]:
                    reachable[t] = True
                    queue[found] = t
                    found += 1
    old = np.zeros(S)
    new = np.zeros(S)
    for n in range(1, horizon + 1):
        least, largest = np.inf, 0.0
        for k in range(found):
            s = queue[k]
            best = 0.0
            for a in range(A):
                after = 0.0
                for b in range(n_successors[s, a]):
                    after = max(after, old[successors[s, a, b]])
                best = max(best, rewards[s, a] + after)
            new[s] = best
            least, largest = min(least, best - old[s]), max(largest, best - old[s])
        lower = float(new[start]) + (horizon - n) * least
        upper = float(new[start]) + (horizon - n) * largest
        if upper <= limit:
            return upper
        if lower > limit:
            return lower
        if n * found * A >= MOST_BACKUPS:  # gains that take turns for ever: say that it may be so
            return upper
        old, new = new, old
    return float(old[start])


def refuse(
    name: str, bad: BoolArray, got: FloatArray | IntArray, allowed: str, what: str = ""
) -> None:
    """ValueError at the first place where it is bad; `got` may have more axes."""
    if bad.any():
        place = np.argwhere(bad)[0].tolist()
        raise validation.fail(f"{name}{place}{what}", got[tuple(place)].tolist(), allowed)


def check_distinct(successors: IntArray, possible: BoolArray) -> None:
    """ValueError where a list of successors names a state twice."""
    S, _, B = successors.shape
    # Padding entry b stands for the fictitious state S + b, so that only true repeats are equal.
    marked = np.sort(np.where(possible, successors, S + np.arange(B)), axis=2)
    repeated = (marked[:, :, 1:] == marked[:, :, :-1]).any(axis=2)
    refuse("successors", repeated, successors, "distinct states (or padding)")


def check_rows(name: str, P: FloatArray, signed: bool) -> bool:
    """Whether all rows are probabilities; tiny negative numbers are set to 0 in place."""
    refuse(name, np.abs(P) > 1.0 + TOLERANCE, P, "a number of size at most 1")
    sums = P.sum(axis=3)
    if P.min() >= -TOLERANCE and np.abs(sums - 1.0).max() <= TOLERANCE:
        np.maximum(P, 0.0, out=P)
        return True
    if signed:
        mass = np.maximum(np.maximum(P, 0.0).sum(axis=3), np.maximum(-P, 0.0).sum(axis=3))
        allowed = "a row whose positive and negative part each sum up to at most 1"
        refuse(name, mass > 1.0 + TOLERANCE, P, allowed)
    else:
        refuse(name, P < -TOLERANCE, P, "a number >= 0")
        wrong = np.abs(sums - 1.0) > TOLERANCE
        refuse(name, wrong, sums, "a row of probabilities with sum 1", " (sum)")
    return False
