"""The one rule of a model check: what a round adds to the evidence against the intervals.

Sixteen bets say that the mean lies above (or below) its interval, each with another stake, and each
begun anew in every round with a small weight: so one of them fits whatever begins whenever.
"""

from __future__ import annotations

import math
from typing import Final

from voful.compiled import part
from voful.typing import FloatArray

STAKES: Final = 8  # c_k = 0.9 2^-k
BETS: Final = 2 * STAKES  # up and down
LARGEST: Final = 1e250  # of an accumulator: the alarm was long ago

# Columns of what a check remembers; challengers' follow: (A, s^2) each.
ROUNDS, WEIGHT, STATISTIC, BETS_AT = 0, 1, 2, 3
EVIDENCE_SIZE: Final = BETS_AT + BETS


@part
def start_weight(t: float) -> float:
    """w_t = [t = 1] / 2 + .47 / (2 (t + 1) ln^2(t + 1)), whose sum is below 1."""
    log = math.log(t + 1.0)
    first = 0.5 if t == 1.0 else 0.0
    return first + 0.235 / ((t + 1.0) * log * log)


@part
def weigh_round(
    evidence: FloatArray, low: float, high: float, lower: float, upper: float, y: float, level: bool
) -> float:
    """A <- (A + w_t)(1 + c (y - u)/(u - lo)) for each stake, and down likewise.

    Before the mean leaves [l, u] each factor is at least 1 - c and has mean at most 1. Returns the
    weight w_t of bets that begin now: w_t of `start_weight` for a level, 1 for a run length. Ends
    are in [low, high].
    """
    evidence[ROUNDS] += 1.0
    weight = start_weight(evidence[ROUNDS]) if level else 1.0
    evidence[WEIGHT] += weight
    least = 1e-12 * (high - low)
    up = (y - upper) / max(upper - low, least)
    down = (lower - y) / max(high - lower, least)
    stake = 0.9
    for k in range(STAKES):
        i, j = BETS_AT + k, BETS_AT + STAKES + k
        evidence[i] = min((evidence[i] + weight) * (1.0 + stake * up), LARGEST)
        evidence[j] = min((evidence[j] + weight) * (1.0 + stake * down), LARGEST)
        stake *= 0.5
    return weight


@part
def mean_of_bets(evidence: FloatArray) -> float:
    """mean A."""
    total = 0.0
    for i in range(BETS_AT, BETS_AT + BETS):
        total += evidence[i] / BETS
    return total
