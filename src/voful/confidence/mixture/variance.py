"""Upper bound of the variance of a target over a set of mixtures (Algorithm 2, line 13)."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from voful.typing import FloatArray

_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


def variance_bound(
    support: Callable[[FloatArray], FloatArray], X: FloatArray, X2: FloatArray, steps: int = 14
) -> FloatArray:
    """eta = max over theta of <theta, x2> - <theta, x>^2, from above, for the rows of X and X2.

    -u^2 = min over w of w^2 - 2wu, and the minimum may be exchanged with the maximum over the
    convex set:

        eta = min over w of sup over theta of <theta, x2 - 2wx> + w^2,

    a convex function of w, whose minimum lies in the interval of <theta, x>. Every w gives an
    upper bound, so a golden section search may stop anywhere; 14 steps leave a thousandth of the
    interval.

    Parameters
    ----------
    support
        The set's support function.
    X, X2
        (n, d) expectations of a target and of its square under each base model.
    steps
        How many times the interval is shortened.
    """
    if len(X) == 0:
        return np.empty(0)

    def upper(w: FloatArray) -> FloatArray:
        return support(X2 - 2.0 * w[:, None] * X) + w * w

    low, high = -support(-X), support(X)
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = upper(left), upper(right)
    best = np.minimum(at_left, at_right)
    for _ in range(steps):
        falls = at_left > at_right  # the minimum is right of `left`
        low, high = np.where(falls, left, low), np.where(falls, high, right)
        probe = np.where(falls, low + _GOLDEN * (high - low), high - _GOLDEN * (high - low))
        value = upper(probe)
        left, right = np.where(falls, right, probe), np.where(falls, probe, left)
        at_left, at_right = np.where(falls, at_right, value), np.where(falls, value, at_left)
        best = np.minimum(best, value)
    return best
