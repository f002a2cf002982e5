"""Ridge predictors raced by discounted squared error.

The bet is valid at any prediction, so these inverses may lose digits without harm to the set.
"""

from __future__ import annotations

from voful.compiled import part
from voful.confidence.algebra import dot, rank_one_inverse, symmetric_times
from voful.confidence.betting.state import Predictors
from voful.typing import FloatArray


@part
def leader(predictors: Predictors) -> int:
    """The ridge with the smallest error."""
    best = 0
    for q in range(1, predictors.error.shape[0]):
        if predictors.error[q] < predictors.error[best]:
            best = q
    return best


@part
def learn(
    predictors: Predictors, x: FloatArray, y: float, discount: float, work: FloatArray
) -> None:
    """Error before the update, then recursive least squares, for every ridge."""
    for q in range(predictors.error.shape[0]):
        theta = predictors.theta[q]
        residual = y - dot(x, theta)
        predictors.error[q] += discount * (residual * residual - predictors.error[q])
        symmetric_times(predictors.inverse[q], x, work)
        growth = rank_one_inverse(predictors.inverse[q], x, work)
        step = residual / (1.0 + growth)
        for i in range(x.shape[0]):
            theta[i] += step * work[i]
