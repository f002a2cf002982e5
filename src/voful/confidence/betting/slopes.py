"""The slopes of one round, fixed before the reward is seen.

S is sought on the grid top * 2^(-i/2), downhill from the place of the round before: the cost has
one valley, and any S up to the cap is valid.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from voful.compiled import part
from voful.confidence.betting import product, ratio
from voful.confidence.betting.minorant import kind_of
from voful.confidence.betting.state import PRODUCT, Ellipsoids, Residuals, Rules
from voful.typing import FloatArray

_product_top, _product_cost, _product_n = (
    product.largest_slope,
    product.slope_cost,
    product.N_SLOPES,
)
_ratio_top, _ratio_cost, _ratio_n = ratio.largest_slope, ratio.slope_cost, ratio.N_SLOPES
_margins = ratio.margins


@part
def choose_slopes(
    rules: Rules,
    Theta: Ellipsoids,
    spread: FloatArray,
    residuals: Residuals,
    a: float,
    lo: float,
    up: float,
    places: FloatArray,
    out: FloatArray,
) -> None:
    """Write S_j; the ellipsoid that is thinnest along x speaks for the set."""
    e, d = 0, rules.theta0.shape[0]
    for i in range(1, spread.shape[0]):
        if Theta.rad[i] * spread[i] < Theta.rad[e] * spread[e]:
            e = i
    s2 = residuals.variance[0]
    m_plus, m_minus = _margins(a, rules.y_low, rules.y_high)
    for j in range(out.shape[0]):
        kind = kind_of(rules.bets, j)
        if kind == PRODUCT:
            n, top = _product_n, _product_top(a, lo, up, rules.y_low, rules.y_high, rules.half)
            first = rules.log_inverse_delta + Theta.lam[e] * rules.rho**2
            second = Theta.log_det[e] + d
        else:
            n, top = _ratio_n, _ratio_top(a, lo, up, m_plus, m_minus, s2)
            first, second = residuals.largest[0], 3.0 * d / Theta.rad[e]
        valley = Valley(kind, top, a - up, a - lo, m_plus, m_minus, s2, first, second)
        places[j] = downhill(int(places[j]), n, valley)
        out[j] = top * 2.0 ** (-0.5 * places[j])


class Valley(NamedTuple):
    """What the cost of a slope depends on."""

    kind: int
    top: float
    t0: float
    t1: float
    m_plus: float
    m_minus: float
    s2: float
    first: float  # of the two numbers that only the kind's cost knows
    second: float


@part
def downhill(start: int, n: int, valley: Valley) -> int:
    """The bottom of the valley around `start` on the places 0..n-1."""
    place = start
    best = _cost(place, valley)
    while place + 1 < n:
        value = _cost(place + 1, valley)
        if not (value < best or best == math.inf):  # inf: nothing is earned here
            break
        place, best = place + 1, value
    while 0 < place <= start:
        value = _cost(place - 1, valley)
        if not value < best:
            break
        place, best = place - 1, value
    return place


@part
def _cost(place: int, v: Valley) -> float:
    s = v.top * 2.0 ** (-0.5 * place)
    if v.kind == PRODUCT:
        return _product_cost(s, v.t0, v.t1, v.s2, v.first, v.second)
    return _ratio_cost(s, v.t0, v.t1, v.m_plus, v.m_minus, v.s2, v.first, v.second)
