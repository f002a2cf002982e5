"""The exact binomial interval."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import betaincinv

from voful.report.statistics.bootstrap import LEVEL
from voful.typing import FloatArray


def clopper_pearson(
    successes: npt.ArrayLike, trials: npt.ArrayLike, level: float = LEVEL
) -> tuple[FloatArray, FloatArray]:
    """(low, high) of the probability, at least `level` likely to hold it whatever it is.

    low solves P(X >= k | low) = (1 - level) / 2 and high P(X <= k | high) = (1 - level) / 2
    (Clopper, Pearson 1934); NaN without trials.
    """
    k, n = np.broadcast_arrays(
        np.asarray(successes, dtype=np.float64), np.asarray(trials, dtype=np.float64)
    )
    tail = (1.0 - level) / 2.0
    # betaincinv wants both parameters above 0; where they are not, the end is 0 or 1.
    low = np.where(k > 0, betaincinv(np.maximum(k, 1.0), n - k + 1.0, tail), 0.0)
    high = np.where(k < n, betaincinv(k + 1.0, np.maximum(n - k, 1.0), 1.0 - tail), 1.0)
    return np.where(n > 0, low, np.nan), np.where(n > 0, high, np.nan)
