"""The slopes of one round, fixed before the reward is seen.

S is sought on the grid top * 2^(-i/2), downhill from the place of the round before: the cost has
one valley, and any S up to the cap is valid.
"""

from __future__ import annotations

import math

from voful.compiled import kernel
from voful.confidence.betting import product, ratio
from voful.confidence.betting.minorant import kind_of
from voful.confidence.betting.state import LAMBDA, LARGEST, LOG_DET, PRODUCT, RAD, VARIANCE, Rules
from voful.typing import FloatArray

_product_top, _product_cost, _product_n = (
    product.largest_slope,
    product.slope_cost,
    product.N_SLOPES,
)
_ratio_top, _ratio_cost, _ratio_n = ratio.largest_slope, ratio.slope_cost, ratio.N_SLOPES
_margins = ratio.margins


@kernel
def choose_slopes(
    rules: Rules,
    scalars: FloatArray,
    spread: FloatArray,
    residuals: FloatArray,
    d: int,
    a: float,
    lo: float,
    up: float,
    places: FloatArray,
    out: FloatArray,
) -> None:
    """Write S_j; the ellipsoid that is thinnest along x speaks for the set."""
    e = 0
    for i in range(1, spread.shape[0]):
        if scalars[i, RAD] * spread[i] < scalars[e, RAD] * spread[e]:
            e = i
    s2 = residuals[VARIANCE]
    m_plus, m_minus = _margins(a, rules.y_low, rules.y_high)
    for j in range(out.shape[0]):
        kind = kind_of(rules.bets, j)
        if kind == PRODUCT:
            n, top = _product_n, _product_top(a, lo, up, rules.y_low, rules.y_high, rules.half)
            first = rules.log_inverse_delta + scalars[e, LAMBDA] * rules.rho**2
            second = scalars[e, LOG_DET] + d
        else:
            n, top = _ratio_n, _ratio_top(a, lo, up, m_plus, m_minus, s2)
            first, second = residuals[LARGEST], 3.0 * d / scalars[e, RAD]
        place = downhill(
            int(places[j]), n, kind, top, a - up, a - lo, m_plus, m_minus, s2, first, second
        )
        places[j] = place
        out[j] = top * 2.0 ** (-0.5 * place)


@kernel
def downhill(
    start: int,
    n: int,
    kind: int,
    top: float,
    t0: float,
    t1: float,
    m_plus: float,
    m_minus: float,
    s2: float,
    first: float,
    second: float,
) -> int:
    """The bottom of the valley around `start` on the places 0..n-1."""
    place = start
    best = _cost(place, kind, top, t0, t1, m_plus, m_minus, s2, first, second)
    while place + 1 < n:
        value = _cost(place + 1, kind, top, t0, t1, m_plus, m_minus, s2, first, second)
        if not (value < best or best == math.inf):  # inf: nothing is earned here
            break
        place, best = place + 1, value
    while 0 < place <= start:
        value = _cost(place - 1, kind, top, t0, t1, m_plus, m_minus, s2, first, second)
        if not value < best:
            break
        place, best = place - 1, value
    return place


@kernel
def _cost(
    place: int,
    kind: int,
    top: float,
    t0: float,
    t1: float,
    m_plus: float,
    m_minus: float,
    s2: float,
    first: float,
    second: float,
) -> float:
    s = top * 2.0 ** (-0.5 * place)
    if kind == PRODUCT:
        return _product_cost(s, t0, t1, s2, first, second)
    return _ratio_cost(s, t0, t1, m_plus, m_minus, s2, first, second)
