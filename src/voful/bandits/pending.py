"""BetOFUL's choice while arms wait for their rewards."""

from __future__ import annotations

import math

from voful.bandits.customary import customary_choice
from voful.bandits.optimism import most_optimistic
from voful.compiled import kernel
from voful.confidence.algebra import means_and_squares
from voful.confidence.betting.pending import foreseen_ends, gathered
from voful.confidence.betting.questions import ends, none_left
from voful.confidence.betting.risk_state import RAD, nothing_left, open_ellipsoid
from voful.confidence.betting.state import open_clock, open_ellipsoids
from voful.typing import BoolArray, FloatArray


@kernel
def bet_choose_awaiting(
    memory: FloatArray,
    history: FloatArray,
    facts: FloatArray,
    arms: FloatArray,
    mask: BoolArray,
    pending: FloatArray,
) -> int:
    """argmax u_h of `betting.pending`; ~row where nothing is left: `customary_choice`."""
    if none_left(open_ellipsoids(memory), open_clock(memory)):
        return ~customary_choice(memory, arms, mask)
    lower, _ = ends(memory, arms)
    upper, width = foreseen_ends(memory, arms, gathered(pending))
    for i in range(arms.shape[0]):
        upper[i] = max(upper[i], lower[i])
    return most_optimistic(upper, width, mask)


@kernel
def cut_choose_awaiting(
    memory: FloatArray,
    history: FloatArray,
    risk: FloatArray,
    facts: FloatArray,
    arms: FloatArray,
    mask: BoolArray,
    pending: FloatArray,
) -> int:
    """The same where the constant-risk set's ends, as they are, count too."""
    _, center, whitener, numbers = open_ellipsoid(risk)
    if none_left(open_ellipsoids(memory), open_clock(memory)) or nothing_left(numbers):
        return ~customary_choice(memory, arms, mask)
    lower, _ = ends(memory, arms)
    upper, width = foreseen_ends(memory, arms, gathered(pending))
    means, squares = means_and_squares(arms, center, whitener)
    for i in range(arms.shape[0]):
        half = math.sqrt(numbers[RAD] * squares[i])
        upper[i] = max(min(upper[i], means[i] + half), max(lower[i], means[i] - half))
    return most_optimistic(upper, width, mask)
