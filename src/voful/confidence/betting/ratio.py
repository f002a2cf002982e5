"""The ratio bet: f(theta) = (1 + b r) / (1 - b t), b = clip(S t, -c/m_minus, c/m_plus).

t = a - <x, theta>, r = y - a, m_plus = a - y_low, m_minus = y_high - a. The mean of 1 + b r is
1 - b t* at theta*, so f has mean 1 there; the clip keeps 1 + b r >= 1 - c and b t <= c.
"""

from __future__ import annotations

import math

from voful.compiled import part
from voful.confidence.betting.product import CAP, k, log1p

N_SLOPES = 24
CELLS = 4


@part
def l1(v: float) -> float:
    """l1(v) = -log(1-v) / v for v < 1: increasing, l1(0) = 1."""
    if abs(v) < 1e-9:
        return 1.0 + 0.5 * v
    return -log1p(-v) / v


@part
def margins(a: float, y_low: float, y_high: float) -> tuple[float, float]:
    """m_plus = a - y_low and m_minus = y_high - a, kept off zero."""
    tiny = 1e-12 * (y_high - y_low)
    return max(a - y_low, tiny), max(y_high - a, tiny)


@part
def largest_slope(
    a: float, lo: float, up: float, m_plus: float, m_minus: float, s2: float
) -> float:
    """Where the search begins; the clip, not S, keeps the bet valid."""
    reach = max((a - lo) * m_plus, (up - a) * m_minus)
    return min(4.0 * CAP / reach, 4.0 / s2) if reach > 0.0 else 4.0 / s2


@part
def slope_cost(
    s: float,
    t0: float,
    t1: float,
    m_plus: float,
    m_minus: float,
    s2: float,
    largest_r: float,
    growth: float,
) -> float:
    """growth s2 s^2 / 4 - E_r[mean alpha over the interval and its half].

    r takes three values, 0 and ones as far out as the largest residual seen lately (or as the range
    allows), with mean 0 and variance s2 (or as much as the range allows); growth = 3 d / rad.
    """
    sigma = math.sqrt(s2)
    far = max(2.0 * sigma, largest_r)
    r_up, r_down = min(far, 0.999 * m_minus), -min(far, 0.999 * m_plus)
    up, down = s2 / (r_up * (r_up - r_down)), -s2 / (r_down * (r_up - r_down))
    if up + down > 1.0:
        up, down = up / (up + down), down / (up + down)
    value = 0.25 * growth * s2 * s * s
    value -= up * _mean_alpha(s, r_up, t0, t1, m_plus, m_minus)
    value -= down * _mean_alpha(s, r_down, t0, t1, m_plus, m_minus)
    middle = 1.0 - up - down
    if middle > 0.0:
        value -= middle * _mean_alpha(s, 0.0, t0, t1, m_plus, m_minus)
    return value


@part
def _mean_alpha(s: float, r: float, t0: float, t1: float, m_plus: float, m_minus: float) -> float:
    whole = alpha(s, r, t0, t1, m_plus, m_minus)
    return 0.5 * whole + 0.5 * alpha(s, r, 0.5 * t0, 0.5 * t1, m_plus, m_minus)


@part
def alpha(S: float, r: float, t0: float, t1: float, m_plus: float, m_minus: float) -> float:
    """A lower bound of (log f - S r t) / t^2 over [t0, t1], which need not contain 0."""
    value = math.inf
    if t1 >= 0.0:
        value = _one_side(S, r, max(t0, 0.0), t1, CAP / m_plus)
    if t0 <= 0.0:
        value = min(value, _one_side(S, -r, max(-t1, 0.0), -t0, CAP / m_minus))
    return value - 1e-9 * S  # covers rounding


@part
def _one_side(S: float, r: float, t0: float, t1: float, b_max: float) -> float:
    """The side t >= 0; the other one is its mirror t -> -t, r -> -r."""
    value = math.inf
    clipped = b_max / S  # from here on b = b_max
    if t0 <= clipped:
        end = min(t1, clipped)
        if r >= 0.0:  # both terms increase in t
            value = S * l1(S * t0 * t0) - S * S * r * r * k(S * r * t0)
        else:
            h = (end - t0) / CELLS
            ta = t0
            for i in range(CELLS):
                tb = end if i == CELLS - 1 else t0 + h * (i + 1)
                value = min(value, S * l1(S * ta * ta) - S * S * r * r * k(S * r * tb))
                ta = tb
    if t1 > clipped:
        # log f = log(1 + b r) - log(1 - b t) is convex: above its tangent P t + Q + S r t in the
        # middle of each of four geometric cells (the quotient is steepest at `clipped`)
        begin = max(t0, clipped)
        factor = math.sqrt(math.sqrt(t1 / begin))
        head = log1p(b_max * r)
        tb = begin
        for i in range(CELLS):
            ta = tb
            tb = t1 if i == CELLS - 1 else ta * factor
            middle = 0.5 * (ta + tb)
            tangent = b_max / (1.0 - b_max * middle)
            P = tangent - S * r
            Q = head - log1p(-b_max * middle) - tangent * middle
            value = min(value, (P * ta + Q) / (ta * ta), (P * tb + Q) / (tb * tb))
            if P != 0.0:
                t = -2.0 * Q / P  # where (P t + Q) / t^2 is stationary
                if ta < t < tb:
                    value = min(value, (P * t + Q) / (t * t))
    return value


@part
def constant(S: float, r: float, t0: float, t1: float, m_plus: float, m_minus: float) -> float:
    """A lower bound of log f over [t0, t1] (b t >= 0, so f >= 1 + b r)."""
    if r > 0.0 and t0 < 0.0:
        return log1p(-min(-S * t0, CAP / m_minus) * r)
    if r < 0.0 and t1 > 0.0:
        return log1p(min(S * t1, CAP / m_plus) * r)
    return 0.0


@part
def log_wealth(S: float, r: float, t: float, m_plus: float, m_minus: float) -> float:
    """log f at t."""
    b = min(max(S * t, -CAP / m_minus), CAP / m_plus)
    return log1p(b * r) - log1p(-b * t)
