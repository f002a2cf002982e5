"""The product bet: f(theta) = 1 + S t (r + t) with t = a - <x, theta>, r = y - a.

S, a and the interval [lo, up] of <x, theta> are fixed before y; f = 1 outside the interval.
"""

from __future__ import annotations

import math

from voful.compiled import part
from voful.typing import FloatArray

CAP = 0.9  # c: a bet risks at most this share of the wealth
N_SLOPES = 14
GRID = 9  # points on which a slope is judged
CELLS = 8
BISECTIONS = 24
LEFT, RIGHT, BOUND, K_LEFT, K_RIGHT = range(5)  # what `alpha` keeps of a cell
CELLS_SHAPE = (5, CELLS + 1 + BISECTIONS)  # of the scratch that it wants


@part
def log1p(u: float) -> float:
    """ln(1 + u); below -1, which rounding reaches, NaN as in kernels, where Python raises."""
    if u > -1.0:
        return math.log1p(u)
    return -math.inf if u == -1.0 else math.nan


@part
def k(u: float) -> float:
    """k(u) = (u - log(1+u)) / u^2 for u > -1: positive, decreasing, k(0) = 1/2."""
    if abs(u) < 0.02:  # the quotient cancels near 0: its series
        return 0.5 - u * (
            1 / 3 - u * (0.25 - u * (0.2 - u * (1 / 6 - u * (1 / 7 - u * (0.125 - u / 9)))))
        )
    return (u - log1p(u)) / (u * u)


@part
def largest_slope(
    a: float, lo: float, up: float, y_low: float, y_high: float, half: float
) -> float:
    """The largest S with f >= 1 - c for every y in range and <x, theta> in [lo, up]."""
    m1 = (a - lo) * (lo - y_low) if lo > 0.5 * (a + y_low) else (0.5 * (a - y_low)) ** 2
    m2 = (up - a) * (y_high - up) if up < 0.5 * (a + y_high) else (0.5 * (y_high - a)) ** 2
    return CAP / max(m1, m2, 1e-10 * half * half)


@part
def curvature(t: float, S: float, r: float) -> float:
    """g(t) = (log f - S r t) / t^2 = S - S^2 (r+t)^2 k(S t (r+t))."""
    e = r + t
    return S - S * S * e * e * k(S * t * e)


@part
def curvature_on_grid(S: float, r: float, t0: float, t1: float) -> float:
    """min of g over a grid: good enough to choose S, never used for validity.

    A typical residual may be larger than the range allows at t: where f would be negative, t does
    not count.
    """
    best = math.inf
    for i in range(GRID):
        t = t0 + (t1 - t0) * i / (GRID - 1)
        if S * t * (r + t) > -1.0:
            best = min(best, curvature(t, S, r))
    return best


@part
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


@part
def alpha(S: float, r: float, t0: float, t1: float, cells: FloatArray) -> float:
    """A lower bound of min g over [t0, t1], by branch and bound.

    g = S - S^2 phi with phi = e^2 k(u), e = r + t, u = S t e. On a cell where u is monotone
    phi <= max(e^2) k(min u). The gap to the minimum is at most 1 % of max(|alpha|, S/10), or what
    24 bisections leave. A cell remembers k at its ends: logarithms are what all this costs.
    """
    n = 0
    vertex = -0.5 * r  # of u: a node, so that u is monotone on every cell
    h = (t1 - t0) / CELLS
    ta, ka = t0, _k(S, r, t0)
    best = _phi(r, t0, ka)
    for i in range(CELLS):
        tb = t1 if i == CELLS - 1 else t0 + h * (i + 1)
        kb = _k(S, r, tb)
        best = max(best, _phi(r, tb, kb))
        if ta < vertex < tb:
            middle = _k(S, r, vertex)
            best = max(best, _phi(r, vertex, middle))
            _set_cell(cells, n, S, r, ta, ka, vertex, middle)
            n += 1
            ta, ka = vertex, middle
        _set_cell(cells, n, S, r, ta, ka, tb, kb)
        n += 1
        ta, ka = tb, kb
    top = 0.0
    for bisection in range(BISECTIONS + 1):
        j = 0
        for i in range(1, n):
            if cells[BOUND, i] > cells[BOUND, j]:
                j = i
        top = cells[BOUND, j]
        gap = S * S * (top - best)
        if bisection == BISECTIONS or gap <= 0.01 * max(abs(S - S * S * best), 0.1 * S):
            break
        ta, tb, kb = cells[LEFT, j], cells[RIGHT, j], cells[K_RIGHT, j]
        t = 0.5 * (ta + tb)
        middle = _k(S, r, t)
        best = max(best, _phi(r, t, middle))
        _set_cell(cells, j, S, r, ta, cells[K_LEFT, j], t, middle)
        _set_cell(cells, n, S, r, t, middle, tb, kb)
        n += 1
    return S - S * S * top - 1e-12 * (S + S * S * top)  # the last term covers rounding


@part
def _k(S: float, r: float, t: float) -> float:
    return k(S * t * (r + t))


@part
def _phi(r: float, t: float, k_at_t: float) -> float:
    e = r + t
    return e * e * k_at_t


@part
def _set_cell(
    cells: FloatArray, i: int, S: float, r: float, ta: float, ka: float, tb: float, kb: float
) -> None:
    ea, eb = r + ta, r + tb
    largest_k = ka if S * ta * ea < S * tb * eb else kb  # k decreases
    cells[LEFT, i], cells[RIGHT, i] = ta, tb
    cells[K_LEFT, i], cells[K_RIGHT, i] = ka, kb
    cells[BOUND, i] = max(ea * ea, eb * eb) * largest_k


@part
def constant(S: float, r: float, t0: float, t1: float) -> float:
    """min of log f over [t0, t1]; f is a convex parabola in t with vertex -r/2."""
    return log_wealth(S, r, min(max(-0.5 * r, t0), t1))


@part
def log_wealth(S: float, r: float, t: float) -> float:
    """log f at t."""
    return log1p(S * t * (r + t))
