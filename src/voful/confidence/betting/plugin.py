"""Ridge predictors raced by discounted squared error.

The bet is valid at any prediction, so these inverses may lose digits without harm to the set.
"""

from __future__ import annotations

from voful.compiled import kernel
from voful.confidence.algebra import dot, rank_one_inverse, symmetric_times
from voful.confidence.betting.state import Plugin
from voful.typing import FloatArray


@kernel
def leader(plugin: Plugin) -> int:
    """The ridge with the smallest error."""
    best = 0
    for q in range(1, plugin.error.shape[0]):
        if plugin.error[q] < plugin.error[best]:
            best = q
    return best


@kernel
def learn(plugin: Plugin, x: FloatArray, y: float, discount: float, work: FloatArray) -> None:
    """Error before the update, then recursive least squares, for every ridge."""
    for q in range(plugin.error.shape[0]):
        theta = plugin.theta[q]
        residual = y - dot(x, theta)
        plugin.error[q] += discount * (residual * residual - plugin.error[q])
        symmetric_times(plugin.inverse[q], x, work)
        growth = rank_one_inverse(plugin.inverse[q], x, work)
        step = residual / (1.0 + growth)
        for i in range(x.shape[0]):
            theta[i] += step * work[i]
