"""Quadratics below the log-wealth of one round, for each bet and for each ellipsoid.

log f(theta) >= c0 + c1 t + c2 t^2 with t = a - <x, theta>, for <x, theta> in [lo, up].

Where means are linear up to e = misfit only, the product bet is divided by what its mean can be at
theta*, 1 + S |t| e: that costs log f at most S e |t|.
"""

from __future__ import annotations

from voful.compiled import part
from voful.confidence.betting import product, ratio
from voful.confidence.betting.state import PRODUCT, RATIO, Rules
from voful.typing import FloatArray

GUARD = 0.3  # a round may shrink no direction's precision below this share

_product_alpha, _ratio_alpha = product.alpha, ratio.alpha
_product_constant, _ratio_constant = product.constant, ratio.constant
_product_log_wealth, _ratio_log_wealth = product.log_wealth, ratio.log_wealth
_margins = ratio.margins


@part
def kind_of(bets: int, j: int) -> int:
    """Which bet is the j-th of a set."""
    return RATIO if bets == RATIO or j == 1 else PRODUCT


@part
def log_wealth(
    kind: int, S: float, a: float, y: float, z: float, y_low: float, y_high: float
) -> float:
    """log f at <x, theta> = z inside the interval (outside, f = 1)."""
    if kind == PRODUCT:
        return _product_log_wealth(S, y - a, a - z)
    m_plus, m_minus = _margins(a, y_low, y_high)
    return _ratio_log_wealth(S, y - a, a - z, m_plus, m_minus)


@part
def bend(
    rules: Rules,
    slopes: FloatArray,
    a: float,
    y: float,
    lo: float,
    up: float,
    cells: FloatArray,
    out: FloatArray,
) -> None:
    """out[j] = (c0, c1, c2, lowest); log f_j is above the quadratic and `lowest`.

    `lowest` is filled in only where c2 < 0, which is where `weigh` may want it.
    """
    r = y - a
    m, w = a - 0.5 * (up + lo), 0.5 * (up - lo)
    m_plus, m_minus = _margins(a, rules.y_low, rules.y_high)
    for j in range(slopes.shape[0]):
        S = slopes[j]
        c0, c1, lowest = 0.0, S * r, 0.0
        if kind_of(rules.bets, j) == PRODUCT:
            c2 = _product_alpha(S, r, a - up, a - lo, cells)
            if c2 < 0.0:
                lowest = _product_constant(S, r, a - up, a - lo)
        else:
            c2 = _ratio_alpha(S, r, a - up, a - lo, m_plus, m_minus)
            if c2 < 0.0:
                lowest = _ratio_constant(S, r, a - up, a - lo, m_plus, m_minus)
                # The constant is better over the interval
                if c1 * m + c2 * (m * m + 0.3 * w * w) < lowest:
                    c0, c1, c2 = lowest, 0.0, 0.0
        if rules.misfit > 0.0:  # of product bets only
            s, farthest = S * rules.misfit, max(up - a, a - lo)
            if s <= c2 * farthest:  # s |t| <= c2 t^2 / 2 + s^2 / (2 c2)
                c0, c2 = -0.5 * s * s / c2, 0.5 * c2
            else:
                c0, lowest = c0 - s * farthest, lowest - s * farthest
        out[j, 0], out[j, 1], out[j, 2], out[j, 3] = c0, c1, c2, lowest


@part
def weigh(shares: FloatArray, minorants: FloatArray, spread: float) -> tuple[float, float, float]:
    """The quadratic of an ellipsoid that weighs the bets by `shares`.

    Where 1 + c2 x'(A + lambda I)^-1 x < .3 every bet with c2 < 0 gives its constant instead: what
    is left has c2 >= 0. spread = 0 leaves the guard out.
    """
    c0 = c1 = c2 = 0.0
    for j in range(shares.shape[0]):
        c0 += shares[j] * minorants[j, 0]
        c1 += shares[j] * minorants[j, 1]
        c2 += shares[j] * minorants[j, 2]
    if 1.0 + c2 * spread < GUARD:
        c0 = c1 = c2 = 0.0
        for j in range(shares.shape[0]):
            if minorants[j, 2] < 0.0:
                c0 += shares[j] * minorants[j, 3]
            else:
                c0 += shares[j] * minorants[j, 0]
                c1 += shares[j] * minorants[j, 1]
                c2 += shares[j] * minorants[j, 2]
    return c0, c1, c2
