"""The product bet: f(theta) = 1 + S t (r + t) with t = a - <x, theta>, r = y - a.

S, a and the interval [lo, up] of <x, theta> are fixed before y; f = 1 outside the interval.
"""

from __future__ import annotations

import math

from voful.compiled import kernel
from voful.confidence.betting.special import k
from voful.typing import FloatArray

CAP = 0.9  # c: a bet risks at most this share of the wealth
N_SLOPES = 14
GRID = 9  # points on which a slope is judged
CELLS = 8
BISECTIONS = 24
MAX_CELLS = CELLS + 1 + BISECTIONS  # length of the scratch that `alpha` wants


@kernel
def largest_slope(
    a: float, lo: float, up: float, y_low: float, y_high: float, half: float
) -> float:
    """The largest S with f >= 1 - c for every y in range and <x, theta> in [lo, up]."""
    m1 = (a - lo) * (lo - y_low) if lo > 0.5 * (a + y_low) else (0.5 * (a - y_low)) ** 2
    m2 = (up - a) * (y_high - up) if up < 0.5 * (a + y_high) else (0.5 * (y_high - a)) ** 2
    return CAP / max(m1, m2, 1e-10 * half * half)


@kernel
def curvature(t: float, S: float, r: float) -> float:
    """g(t) = (log f - S r t) / t^2 = S - S^2 (r+t)^2 k(S t (r+t))."""
    e = r + t
    return S - S * S * e * e * k(S * t * e)


@kernel
def curvature_on_grid(S: float, r: float, t0: float, t1: float) -> float:
    """min of g over a grid: good enough to choose S, never used for validity."""
    best = math.inf
    for i in range(GRID):
        best = min(best, curvature(t0 + (t1 - t0) * i / (GRID - 1), S, r))
    return best


@kernel
def slope_cost(s: float, t0: float, t1: float, s2: float, price: float, dimension: float) -> float:
    """[price + dimension s^2 s2 / (4 abar)] / abar; inf where abar <= 0.

    price = L + lambda rho^2 and dimension = logdet(I + A/lambda) + d; abar(s) is the curvature
    that s is expected to earn.
    """
    sigma = math.sqrt(s2)
    abar = 0.5 * (curvature_on_grid(s, sigma, t0, t1) + curvature_on_grid(s, -sigma, t0, t1))
    if not abar > 0.0:
        return math.inf
    return (price + dimension * s * s * s2 / (4.0 * abar)) / abar


@kernel
def alpha(S: float, r: float, t0: float, t1: float, cells: FloatArray) -> float:
    """A lower bound of min g over [t0, t1], by branch and bound.

    g = S - S^2 phi with phi = e^2 k(u), e = r + t, u = S t e. On a cell where u is monotone
    phi <= max(e^2) k(min u). The gap to the minimum is at most 1 % of max(|alpha|, S/10), or what
    24 bisections leave.
    """
    n = 0
    vertex = -0.5 * r  # of u: a node, so that u is monotone on every cell
    h = (t1 - t0) / CELLS
    best = _phi(S, r, t1)
    for i in range(CELLS):
        ta = t0 + h * i
        tb = t1 if i == CELLS - 1 else t0 + h * (i + 1)
        best = max(best, _phi(S, r, ta))
        if ta < vertex < tb:
            best = max(best, _phi(S, r, vertex))
            cells[0, n], cells[1, n], cells[2, n] = ta, vertex, _bound(S, r, ta, vertex)
            n += 1
            ta = vertex
        cells[0, n], cells[1, n], cells[2, n] = ta, tb, _bound(S, r, ta, tb)
        n += 1
    top = 0.0
    for bisection in range(BISECTIONS + 1):
        j = 0
        for i in range(1, n):
            if cells[2, i] > cells[2, j]:
                j = i
        top = cells[2, j]
        gap = S * S * (top - best)
        if bisection == BISECTIONS or gap <= 0.01 * max(abs(S - S * S * best), 0.1 * S):
            break
        ta, tb = cells[0, j], cells[1, j]
        middle = 0.5 * (ta + tb)
        best = max(best, _phi(S, r, middle))
        cells[1, j], cells[2, j] = middle, _bound(S, r, ta, middle)
        cells[0, n], cells[1, n], cells[2, n] = middle, tb, _bound(S, r, middle, tb)
        n += 1
    return S - S * S * top - 1e-12 * (S + S * S * top)  # the last term covers rounding


@kernel
def _phi(S: float, r: float, t: float) -> float:
    e = r + t
    return e * e * k(S * t * e)


@kernel
def _bound(S: float, r: float, ta: float, tb: float) -> float:
    ea, eb = r + ta, r + tb
    return max(ea * ea, eb * eb) * k(min(S * ta * ea, S * tb * eb))


@kernel
def constant(S: float, r: float, t0: float, t1: float) -> float:
    """min of log f over [t0, t1]; f is a convex parabola in t with vertex -r/2."""
    return log_wealth(S, r, min(max(-0.5 * r, t0), t1))


@kernel
def log_wealth(S: float, r: float, t: float) -> float:
    """log f at t."""
    return math.log1p(S * t * (r + t))
