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
    whiten,
    whitener_from,
)
from voful.confidence.betting import product, ratio
from voful.confidence.betting.product import CAP
from voful.confidence.betting.quadratic import grow, slab
from voful.confidence.betting.risk_state import Risk, RiskViews, open_risk
from voful.confidence.betting.state import Ellipsoids, Rules, new_scratch
from voful.typing import FloatArray

GOOD = 0.5  # a round that would leave less of M along x gives a constant instead
TOP_UP = 0.75  # what a top-up adds, times lambda

_largest_slope, _product_constant = product.largest_slope, product.constant
_ratio_alpha, _ratio_constant, _margins = ratio.alpha, ratio.constant, ratio.margins


@inlined
def slope(rules: Rules, risk: Risk, a: float, lo: float, up: float, nu: float) -> float:
    """S = min(g / sqrt(nu), tau v / (B + b), c / m); counts the bet."""
    w = max(abs(a - lo), abs(a - up))
    if rules.y_low < a < rules.y_high:
        m = max((a - lo) * (a - rules.y_low), (up - a) * (rules.y_high - a))
    else:  # `largest_slope` has a cap of its own
        m = max(CAP / _largest_slope(a, lo, up, rules.y_low, rules.y_high, rules.half), w * w)
    risk.bets[0] += 1.0
    risk.largest[0] = max(risk.largest[0], (risk.scale + w) ** 2)
    squares = float(risk.squares[0] + risk.largest[0])
    S = min(math.sqrt(risk.G / (squares * nu)), risk.tau * float(risk.bets[0]) / squares)
    return min(S, risk.cap / m) if m > 0.0 else S


@inlined
def curvature(
    rules: Rules, risk: Risk, S: float, a: float, r: float, lo: float, up: float
) -> tuple[float, float]:
    """alpha, and a number below log f on the interval.

    The ratio bet where the centre predicts a reward in the range, else the product bet, whose alpha
    is the closed form: that is rare.
    """
    t0, t1 = a - up, a - lo
    if rules.y_low < a < rules.y_high:
        m_plus, m_minus = _margins(a, rules.y_low, rules.y_high)
        alpha = max(_ratio_alpha(S, r, t0, t1, m_plus, m_minus), S - risk.k_cap * S * S * r * r)
        lowest = _ratio_constant(S, r, t0, t1, m_plus, m_minus)
    else:
        reach = abs(r) + max(abs(t0), abs(t1))
        alpha = S - S * S * max(risk.k_cap * r * r, 0.5 * reach * reach)
        lowest = _product_constant(S, r, t0, t1)
    return alpha - risk.margin * S, lowest


@inlined
def whitener_of_sum(Theta: Ellipsoids) -> None:
    """Whitener and trace of A + lambda I.

    As they were where rounding has eaten the small eigenvalues: the updated ones still know them.
    """
    d = Theta.A.shape[2]
    M = Theta.A[0, 0].copy()
    for i in range(d):
        M[i, i] += Theta.lam[0]
    if whitener_from(M, Theta.whitener[0]):
        trace = 0.0
        for i in range(d):
            for j in range(d):
                trace += Theta.whitener[0, i, j] * Theta.whitener[0, i, j]
        Theta.trace[0] = trace


@inlined
def top_up(rules: Rules, Theta: Ellipsoids, risk: Risk, u: FloatArray, v: FloatArray) -> None:
    """Add .75 lambda (|theta - theta0|^2 - rho^2) to the quadratic: <= 0 at theta*.

    With e = center - theta0 the centre moves by -.75 lambda M'^-1 e, and the minimum of the sum is
    .75 lambda <e, center' - theta0>.
    """
    weight, d = TOP_UP * risk.ridge, u.shape[0]
    Theta.lam[0] += weight
    for j in range(d):  # M + weight I is M + the sum of weight e_j e_j'
        for i in range(d):
            u[i] = 1.0 if i == j else 0.0
        whiten(Theta.whitener[0], u, v)
        grow(Theta, 0, v, weight)
    for i in range(d):
        u[i] = Theta.center[0, i] - rules.theta0[i]
    whiten(Theta.whitener[0], u, v)
    step = np.empty(d)
    unwhiten(Theta.whitener[0], v, step)
    lowest = 0.0
    for i in range(d):
        Theta.center[0, i] -= weight * step[i]
        lowest += weight * u[i] * (Theta.center[0, i] - rules.theta0[i])
    Theta.rad[0] += weight * rules.rho**2 - lowest
    risk.shrunk[0] = 0.0


@inlined
def refactorise(views: RiskViews, u: FloatArray, v: FloatArray) -> None:
    """The top-up where it is due, and the whitener anew from M now and then."""
    rules, Theta, risk, _ = views
    if risk.shrunk[0] > 0.5:
        top_up(rules, Theta, risk, u, v)
    elif due_for_refactorisation(risk.bets[0], u.shape[0]):
        whitener_of_sum(Theta)


@kernel
def risk_observe(memory: FloatArray, x: FloatArray, reward: float, variance: float) -> None:
    """`Rule.observe`."""
    views = open_risk(memory)
    rules, Theta, risk, clock = views
    clock.n[0] += 1.0
    if clock.emptied[0] != 0.0 or dot(x, x) == 0.0:
        return
    scratch = new_scratch(rules)
    lo, up = slab(rules, Theta, x, 0.0, rules.y_low, rules.y_high, scratch)
    if not lo <= up:  # no parameter is left
        clock.emptied[0] = 1.0
        return
    a, nu = dot(x, Theta.center[0]), scratch.spread[0]
    S = slope(rules, risk, a, lo, up, nu)
    risk.bound[0] += 2.0 * math.sqrt(Theta.rad[0] * nu)
    r = reward - a
    risk.squares[0] += r * r
    alpha, lowest = curvature(rules, risk, S, a, r, lo, up)
    D = 1.0 + alpha * nu
    if D < GOOD:
        Theta.rad[0] -= lowest
    else:
        Theta.rad[0] += S * S * r * r * nu / (4.0 * D)
        unwhiten(Theta.whitener[0], scratch.whitened[0], scratch.u)
        step = S * r / (2.0 * D)
        for i in range(x.shape[0]):
            Theta.center[0, i] += step * scratch.u[i]
        add_outer(Theta.A[0, 0], x, alpha)
        grow(Theta, 0, scratch.whitened[0], alpha)
        if alpha < 0.0:
            risk.shrunk[0] -= alpha * nu
    refactorise(views, scratch.u, scratch.v)
