"""What is played where nothing is left of a betting set: LinUCB in units of the residuals.

No parameter fits the data, so nothing is proved of any choice. The estimate alone would be greedy,
perhaps after a few rounds, with actions that it hardly knows. How well it predicts is still known,
and gives a width without a parameter to tune.
"""

from __future__ import annotations

import math

import numpy as np

from voful.bandits.optimism import most_optimistic
from voful.compiled import part
from voful.confidence.algebra import dot, symmetric_times
from voful.confidence.betting.predictors import leader
from voful.confidence.betting.state import open_predictors, open_rules
from voful.typing import BoolArray, FloatArray


@part
def customary_choice(memory: FloatArray, arms: FloatArray, mask: BoolArray) -> int:
    """argmax <x, theta> + s |x|_P, P = (lambda I + X'X)^-1: LinUCB with alpha = s.

    Of the set's own ridges, which learn on, the one that predicts best; s is the root of its mean
    squared error since the set was left, recent rounds counting most (times `width_scale`).
    Neither the scale of features nor of rewards matters.
    """
    predictors = open_predictors(memory)
    best = leader(predictors)
    theta, inverse = predictors.theta[best], predictors.inverse[best]
    s = open_rules(memory).width_scale * math.sqrt(max(predictors.error[best], 0.0))
    n_arms, d = arms.shape
    upper, width, spread = np.empty(n_arms), np.empty(n_arms), np.empty(d)
    for i in range(n_arms):
        symmetric_times(inverse, arms[i], spread)
        width[i] = s * math.sqrt(max(dot(arms[i], spread), 0.0))
        upper[i] = dot(arms[i], theta) + width[i]
    return most_optimistic(upper, width, mask)
