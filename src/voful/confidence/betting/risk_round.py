"""One round of the constant-risk set: every bet carries the same risk g (docs/theory.md).

The prediction is the centre, the slope S = g / |x|_{M^-1} with AdaGrad's g^2 = G / (B + b): the
squared radius then grows by about g^2 r^2 / 4 whatever x is.
"""

from __future__ import annotations

import math

import numpy as np

from voful.compiled import inlined, kernel
from voful.confidence.algebra import (
    add_outer,
    dot,
    due_for_refactorisation,
    unwhiten,
    update_whitener_within,
    whiten,
    whitener_from,
)
from voful.confidence.betting import product, ratio
from voful.confidence.betting.product import CAP
from voful.confidence.betting.quadratic import ball_and_range, rounding, widened
from voful.confidence.betting.risk_state import (
    BETS,
    BOUND,
    CAPPED,
    EMPTIED,
    K_CAP,
    LAM,
    LARGEST,
    MARGIN,
    RAD,
    RIDGE,
    SCALE,
    SHRUNK,
    SQUARES,
    TAU,
    TRACE,
    G,
    N,
    nothing_left,
    open_ellipsoid,
)
from voful.confidence.betting.state import Rules, open_rules
from voful.typing import FloatArray

GOOD = 0.5  # a round that would leave less of M along x gives a constant instead
TOP_UP = 0.75  # what a top-up adds, times lambda

_largest_slope, _product_constant = product.largest_slope, product.constant
_ratio_alpha, _ratio_constant, _margins = ratio.alpha, ratio.constant, ratio.margins


@inlined
def slope(rules: Rules, numbers: FloatArray, a: float, lo: float, up: float, nu: float) -> float:
    """S = min(g / sqrt(nu), tau v / (B + b), c / m); counts the bet."""
    w = max(abs(a - lo), abs(a - up))
    if rules.y_low < a < rules.y_high:
        m = max((a - lo) * (a - rules.y_low), (up - a) * (rules.y_high - a))
    else:  # `largest_slope` has a cap of its own
        m = max(CAP / _largest_slope(a, lo, up, rules.y_low, rules.y_high, rules.half), w * w)
    numbers[BETS] += 1.0
    numbers[LARGEST] = max(numbers[LARGEST], (numbers[SCALE] + w) ** 2)
    squares = numbers[SQUARES] + numbers[LARGEST]
    S = min(math.sqrt(numbers[G] / (squares * nu)), numbers[TAU] * numbers[BETS] / squares)
    return float(min(S, numbers[CAPPED] / m) if m > 0.0 else S)


@inlined
def curvature(
    rules: Rules, numbers: FloatArray, S: float, a: float, r: float, lo: float, up: float
) -> float:
    """alpha.

    Of the ratio bet where the centre predicts a reward in the range, else of the product bet, in
    its closed form: that is rare.
    """
    t0, t1, k_cap = a - up, a - lo, numbers[K_CAP]
    if rules.y_low < a < rules.y_high:
        m_plus, m_minus = _margins(a, rules.y_low, rules.y_high)
        alpha = max(_ratio_alpha(S, r, t0, t1, m_plus, m_minus), S - k_cap * S * S * r * r)
    else:
        reach = abs(r) + max(abs(t0), abs(t1))
        alpha = S - S * S * max(k_cap * r * r, 0.5 * reach * reach)
    return float(alpha - numbers[MARGIN] * S)


@inlined
def lowest(rules: Rules, S: float, a: float, r: float, lo: float, up: float) -> float:
    """A number below log f on the interval."""
    if rules.y_low < a < rules.y_high:
        m_plus, m_minus = _margins(a, rules.y_low, rules.y_high)
        return _ratio_constant(S, r, a - up, a - lo, m_plus, m_minus)
    return _product_constant(S, r, a - up, a - lo)


@inlined
def top_up(
    rules: Rules,
    numbers: FloatArray,
    center: FloatArray,
    whitener: FloatArray,
    u: FloatArray,
    v: FloatArray,
    step: FloatArray,
) -> None:
    """Add .75 lambda (|theta - theta0|^2 - rho^2) to the quadratic: <= 0 at theta*.

    With e = center - theta0 the centre moves by -.75 lambda M'^-1 e, and the minimum of the sum is
    .75 lambda <e, center' - theta0>.
    """
    weight, d = TOP_UP * numbers[RIDGE], u.shape[0]
    numbers[LAM] += weight
    for j in range(d + 1):  # M' = M + weight I is M + the sum of weight e_j e_j'; then e
        for i in range(d):
            u[i] = center[i] - rules.theta0[i] if j == d else 1.0 if i == j else 0.0
        whiten(whitener, u, v)
        if j < d:
            update_whitener_within(whitener, v, weight, step)
    unwhiten(whitener, v, step)
    least = 0.0
    for i in range(d):
        center[i] -= weight * step[i]
        least += weight * u[i] * (center[i] - rules.theta0[i])
    numbers[RAD] += weight * rules.rho**2 - least
    numbers[SHRUNK] = 0.0


@inlined
def refactorise(A: FloatArray, whitener: FloatArray, numbers: FloatArray) -> None:
    """Whitener and trace of A + lambda I.

    As they were where rounding has eaten the small eigenvalues: the updated ones still know them.
    """
    d = A.shape[0]
    M = A.copy()
    for i in range(d):
        M[i, i] += numbers[LAM]
    if whitener_from(M, whitener):
        trace = 0.0
        for i in range(d):
            for j in range(d):
                trace += whitener[i, j] * whitener[i, j]
        numbers[TRACE] = trace


@kernel
def risk_observe(memory: FloatArray, x: FloatArray, reward: float, variance: float) -> None:
    """`Rule.observe`."""
    A, center, whitener, numbers = open_ellipsoid(memory)
    numbers[N] += 1.0
    squared, d = dot(x, x), x.shape[0]
    if numbers[EMPTIED] != 0.0 or squared == 0.0:
        return
    rules, scratch = open_rules(memory), np.empty((3, d))
    whitened, u, v = scratch[0], scratch[1], scratch[2]
    # `quadratic.slab` for one ellipsoid, whose centre is the prediction
    nu = whiten(whitener, x, whitened) + rounding(numbers[TRACE], d, squared)
    a, width = dot(x, center), math.sqrt(max(numbers[RAD], 0.0) * nu)
    lo, up = ball_and_range(rules, x, squared, 0.0, rules.y_low, rules.y_high)
    lo, up = widened(max(lo, a - width), min(up, a + width), rules.half)
    if nothing_left(numbers) or not lo <= up:
        numbers[EMPTIED] = 1.0
        return
    S = slope(rules, numbers, a, lo, up, nu)
    numbers[BOUND] += 2.0 * width
    r = reward - a
    numbers[SQUARES] += r * r
    alpha = curvature(rules, numbers, S, a, r, lo, up)
    D = 1.0 + alpha * nu
    if D < GOOD:
        numbers[RAD] -= lowest(rules, S, a, r, lo, up)
    else:
        numbers[RAD] += S * S * r * r * nu / (4.0 * D)
        unwhiten(whitener, whitened, u)
        step = S * r / (2.0 * D)
        for i in range(d):
            center[i] += step * u[i]
        add_outer(A, x, alpha)
        update_whitener_within(whitener, whitened, alpha, u)
        if alpha < 0.0:
            numbers[SHRUNK] -= alpha * nu
            numbers[TRACE] /= 1.0 + alpha * dot(whitened, whitened)  # it stays an upper bound
    if numbers[SHRUNK] > 0.5:
        top_up(rules, numbers, center, whitener, u, v, whitened)
    elif due_for_refactorisation(numbers[BETS], d):
        refactorise(A, whitener, numbers)
