"""Reward ranges that are a first guess: they grow when a reward falls outside.

Each side has levels of its own, fixed in advance: its distance from the middle of the guess is
doubled until the reward is inside. So the first levels that are true are not chosen by the data,
and from then on the set is the one that would have known them from the start.
"""

from __future__ import annotations

import math

from voful.invariants import SLACK
from voful.validation import fail

LARGEST = 1e50  # beyond, nothing grows


def grown(
    guess: tuple[float, float], now: tuple[float, float], reward: float
) -> tuple[float, float]:
    """The range, as it is now, with the side doubled on which the reward lies outside."""
    if not abs(reward) <= LARGEST:
        raise fail("reward", reward, "a number of size <= 1e50, also where the range grows")
    middle, (low, high) = 0.5 * (guess[0] + guess[1]), now
    while reward < low:
        low = middle - 2.0 * (middle - low)
    while reward > high:
        high = middle + 2.0 * (high - middle)
    return low, high


def has_grown(guess: tuple[float, float], now: tuple[float, float]) -> bool:
    """Whether a range can have come from this guess."""
    middle, half = 0.5 * (guess[0] + guess[1]), 0.5 * (guess[1] - guess[0])
    return half > 0.0 and all(_doubled(side / half) for side in (middle - now[0], now[1] - middle))


def _doubled(ratio: float) -> bool:
    doublings = math.log2(ratio) if ratio > 0.0 else -1.0
    return doublings > -SLACK and abs(doublings - round(doublings)) <= 1e-6
