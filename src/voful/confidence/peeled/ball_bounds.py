"""Upper bounds of x.theta over rows and the unit ball together, by descent on the dual.

    max {x.theta: A theta <= h, |theta| <= 1} = min over lam >= 0 of lam.h + |x - A' lam|:

every lam gives a bound. One multiplier at a time has a closed form: it turns the residual
r = x - A' lam until its direction, the ball's maximiser for r, just satisfies that row.
"""

from __future__ import annotations

import math

import numpy as np

from voful.compiled import part
from voful.confidence.peeled.dual_simplex import Basis, Polytope, add_multiple, bound, most_violated
from voful.typing import FloatArray

GAIN = 1e-3  # least gain of a step, relative to the distance from the prediction
SWEEPS = 3  # over the rows in use, after each new row
SHORT = 0.05  # of |x|: where less is left for the ball, the rows alone decide


@part
def bound_in_ball(
    P: Polytope, x: FloatArray, B: Basis, clock: float, predicted: float, floor: float
) -> float:
    """Upper bound of max x.theta, no closer than needed below `floor`; -inf if nothing is left."""
    d = x.shape[0]
    norm = math.sqrt(np.dot(x, x))
    if norm == 0.0:
        return 0.0
    most = 3 * d
    rows, lam = np.empty(most, dtype=np.int64), np.zeros(most)
    r = x.copy()
    n, length, best = 0, norm, norm
    for _ in range(most):
        entering = most_violated(P, r / length)
        if entering < 0:
            break
        known = False
        for i in range(n):
            known = known or rows[i] == entering
        if not known:
            rows[n] = entering
            n += 1
        P.used[entering] = clock
        for _ in range(SWEEPS):
            for i in range(n):
                turn(P.A[rows[i]], P.h[rows[i]], r, lam, i)
        for k in range(d):
            r[k] = x[k]  # anew: rounding must not pile up in a bound
        total, weight = 0.0, 0.0
        for i in range(n):
            total -= add_multiple(P, rows[i], -lam[i], r)
            weight += lam[i]
        length = math.sqrt(np.dot(r, r))
        total += length
        if total < -norm * (1.0 + 1e-9) - 1e-13 * weight:  # no theta of the ball is left
            return -np.inf
        gain = best - total
        best = min(best, total)
        if best < floor or length <= SHORT * norm or gain <= GAIN * max(best - predicted, 0.0):
            break
    if length <= SHORT * norm and best >= floor:
        return min(best, bound(P, x, B, clock, -np.inf))
    return best


@part
def turn(a: FloatArray, h: float, r: FloatArray, lam: FloatArray, i: int) -> None:
    """The best multiplier of the row a.theta <= h (|a| = 1), the others as they are."""
    along = lam[i] + np.dot(a, r)
    across = max(np.dot(r, r) - (along - lam[i]) ** 2, 0.0)
    multiplier = 0.0
    if abs(h) < 1.0:
        multiplier = max(along - h * math.sqrt(across / (1.0 - h * h)), 0.0)
    for k in range(r.shape[0]):
        r[k] -= (multiplier - lam[i]) * a[k]
    lam[i] = multiplier
