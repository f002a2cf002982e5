"""The ellipsoids of a betting set, each about a moving origin.

rad is a small difference of terms that grow like n^2. About an origin near the centre those terms
stay small: without it theta* is lost on long runs with little noise.
"""

from __future__ import annotations

import math

import numpy as np

from voful.compiled import inlined, part
from voful.confidence.algebra import (
    cholesky,
    dot,
    log_det,
    means_and_squares,
    quadratic_form,
    symmetric_times,
    unwhiten,
    update_whitener_within,
    whiten,
    whitener_from,
)
from voful.confidence.betting.state import Clock, Ellipsoids, Rules, Scratch
from voful.confidence.compensated import add_number, add_outer, add_vector
from voful.typing import FloatArray

EPS = 2.3e-16
ORIGIN_EVERY = 512


@part
def slab(
    rules: Rules,
    Theta: Ellipsoids,
    x: FloatArray,
    shift: float,
    low: float,
    high: float,
    scratch: Scratch,
) -> tuple[float, float]:
    """[lo, up] of shift + <x, theta> over all ellipsoids, the ball and [low, high].

    lo > up: no bet. Leaves W x and x'(A + lambda I)^-1 x, rounded outwards, for each ellipsoid.
    """
    squared, spread = dot(x, x), scratch.spread
    lo, up = ball_and_range(rules, x, squared, shift, low, high)
    for e in range(spread.shape[0]):
        if not Theta.rad[e] >= 0.0:
            return math.inf, -math.inf
        spread[e] = whiten(Theta.whitener[e], x, scratch.whitened[e])
        spread[e] += rounding(Theta.trace[e], x.shape[0], squared)
        middle = shift + dot(x, Theta.center[e])
        lo, up = narrowed(lo, up, middle, Theta.rad[e] * spread[e])
    return widened(lo, up, rules.half)


@part
def slabs(
    rules: Rules, Theta: Ellipsoids, X: FloatArray, low: float, high: float
) -> tuple[FloatArray, FloatArray]:
    """The ends of `slab` for the rows of X, the same bits."""
    n, d = X.shape
    squared, lo, up = np.empty(n), np.empty(n), np.empty(n)
    for i in range(n):
        squared[i] = dot(X[i], X[i])
        lo[i], up[i] = ball_and_range(rules, X[i], squared[i], 0.0, low, high)
    for e in range(Theta.rad.shape[0]):
        if not Theta.rad[e] >= 0.0:
            lo[:], up[:] = math.inf, -math.inf
            return lo, up
        middles, spread = means_and_squares(X, Theta.center[e], Theta.whitener[e])
        for i in range(n):
            spread[i] += rounding(Theta.trace[e], d, squared[i])
            lo[i], up[i] = narrowed(lo[i], up[i], middles[i], Theta.rad[e] * spread[i])
    for i in range(n):
        lo[i], up[i] = widened(lo[i], up[i], rules.half)
    return lo, up


@part
def narrowed(lo: float, up: float, middle: float, square: float) -> tuple[float, float]:
    """[lo, up] cut with an interval, given its half-width squared."""
    width = math.sqrt(square)
    return max(lo, middle - width), min(up, middle + width)


@part
def ball_and_range(
    rules: Rules, x: FloatArray, squared: float, shift: float, low: float, high: float
) -> tuple[float, float]:
    """[lo, up] of shift + <x, theta> over the ball and [low, high], |x|^2 = squared."""
    middle = shift + dot(x, rules.theta0)
    width = rules.rho * math.sqrt(squared) * (1.0 + 4.0 * EPS)
    return max(low, middle - width), min(high, middle + width)


@part
def rounding(trace: float, d: int, squared: float) -> float:
    """What x'(A + lambda I)^-1 x may have lost, |x|^2 = squared, given a bound on its trace."""
    return 4.0 * EPS * d * trace * squared


@part
def widened(lo: float, up: float, half: float) -> tuple[float, float]:
    """Narrower than 2e-9 half (crossed by rounding included): widened symmetrically."""
    if -2e-9 * half < up - lo < 2e-9 * half:
        middle = 0.5 * (lo + up)
        return middle - 1e-9 * half, middle + 1e-9 * half
    return lo, up


@part
def add_row(
    Theta: Ellipsoids, e: int, x: FloatArray, a: float, c0: float, c1: float, c2: float
) -> None:
    """Q += c0 + c1 t + c2 t^2 with t = a - <x, theta> = z - <x, theta - origin>."""
    z = a - dot(x, Theta.origin[e])
    if c2 != 0.0:
        add_outer(Theta.A[e], c2, x)
    add_vector(Theta.b[e], c2 * z + 0.5 * c1, x)
    add_number(Theta.kappa[e], c0 + (c2 * z + c1) * z)


@part
def grow(Theta: Ellipsoids, e: int, whitened: FloatArray, c2: float, u: FloatArray) -> None:
    """The whitener and logdet after A += c2 x x', given W x; 1 + c2 |W x|^2 > 0 by the guard.

    The trace stays an upper bound: a positive c2 shrinks it, a negative one stretches it at most by
    1 / (1 + c2 |W x|^2).
    """
    growth = c2 * dot(whitened, whitened)
    Theta.log_det[e] += math.log1p(growth)
    if growth < 0.0:
        Theta.trace[e] /= 1.0 + growth
    update_whitener_within(Theta.whitener[e], whitened, c2, u)


@part
def settle(rules: Rules, Theta: Ellipsoids, e: int, u: FloatArray, v: FloatArray) -> None:
    """Centre and rad from whitener, b and kappa."""
    d = u.shape[0]
    b, origin, whitener = Theta.b[e], Theta.origin[e], Theta.whitener[e]
    lam = Theta.lam[e]
    squared = 0.0
    for i in range(d):
        offset = rules.theta0[i] - origin[i]
        squared += offset * offset
        u[i] = (b[0, i] + b[1, i]) + lam * offset
    length = whiten(whitener, u, v)
    unwhiten(whitener, v, u)
    for i in range(d):
        Theta.center[e, i] = origin[i] + u[i]
    left = (rules.log_inverse_delta - Theta.kappa[e, 0]) - Theta.kappa[e, 1]
    Theta.rad[e] = left - lam * (squared - rules.rho * rules.rho) + length


@part
def move_origin(Theta: Ellipsoids, e: int, u: FloatArray, v: FloatArray) -> None:
    """origin <- center: kappa <- kappa - 2 b'u + u'A u, b <- b - A u with u the step."""
    A, b, kappa = Theta.A[e], Theta.b[e], Theta.kappa[e]
    for i in range(u.shape[0]):
        u[i] = Theta.center[e, i] - Theta.origin[e, i]
    symmetric_times(A[0], u, v)
    for i in range(u.shape[0]):
        add_number(kappa, (v[i] - 2.0 * b[0, i]) * u[i])
        add_number(kappa, -2.0 * b[1, i] * u[i])
    add_vector(b, -1.0, v)
    symmetric_times(A[1], u, v)
    add_number(kappa, dot(u, v))
    add_vector(b, -1.0, v)
    for i in range(u.shape[0]):
        Theta.origin[e, i] = Theta.center[e, i]


@part
def score(Theta: Ellipsoids, e: int, plays: FloatArray, work: FloatArray) -> float:
    """rad times the sum of x'(A + lambda I)^-1 x over the latest plays."""
    rad = float(Theta.rad[e])
    if not rad > 0.0:
        return math.inf
    total = 0.0
    for i in range(plays.shape[0]):
        total += whiten(Theta.whitener[e], plays[i], work)
    return rad * total


@inlined
def factorise(
    rules: Rules, Theta: Ellipsoids, e: int, lam: float, u: FloatArray, v: FloatArray
) -> bool:
    """Whitener, logdet, centre and rad for this lambda if eigmin(A) > -lambda/2, else False.

    eigmin(A) > -lambda/2 where A + lambda/2 I has a Cholesky factor.
    """
    d = u.shape[0]
    M, lower = np.empty((d, d)), np.empty((d, d))
    for i in range(d):
        for j in range(d):
            M[i, j] = Theta.A[e, 0, i, j] + Theta.A[e, 1, i, j]
        M[i, i] = (Theta.A[e, 0, i, i] + 0.5 * lam) + Theta.A[e, 1, i, i]
    if not cholesky(M, lower):
        return False
    for i in range(d):
        M[i, i] = (Theta.A[e, 0, i, i] + lam) + Theta.A[e, 1, i, i]
    if not whitener_from(M, Theta.whitener[e]):
        return False
    Theta.lam[e] = lam
    Theta.log_det[e] = log_det(Theta.whitener[e]) - d * math.log(lam)
    trace = 0.0
    for i in range(d):
        for j in range(d):
            trace += Theta.whitener[e, i, j] * Theta.whitener[e, i, j]
    Theta.trace[e] = trace
    settle(rules, Theta, e, u, v)
    return True


@part
def choose_lambda(
    rules: Rules, Theta: Ellipsoids, e: int, plays: FloatArray, u: FloatArray, v: FloatArray
) -> bool:
    """Factorise anew with the lambda of the best score: any choice is sound.

    False, and whitener and lambda as they were, where none is admissible (rounding has eaten the
    small eigenvalues of A + lambda I: the updated whitener still knows them).
    """
    best, lam, d = math.inf, 0.0, u.shape[0]
    whitener, old_lam, log_det, trace = (
        np.empty((d, d)),
        Theta.lam[e],
        Theta.log_det[e],
        Theta.trace[e],
    )
    for i in range(d):
        for j in range(d):
            whitener[i, j] = Theta.whitener[e, i, j]
    for i in range(rules.lambdas.shape[0] + 1):  # each of them, then the best one again
        tried = rules.lambdas[i] if i < rules.lambdas.shape[0] else lam
        if tried > 0.0 and factorise(rules, Theta, e, tried, u, v):
            value = score(Theta, e, plays, v)
            if lam == 0.0 or value < best:
                best, lam = value, tried
    if lam == 0.0:
        put_back(Theta, e, whitener, old_lam, log_det, trace)
        settle(rules, Theta, e, u, v)
    return lam > 0.0


@inlined
def put_back(
    Theta: Ellipsoids, e: int, whitener: FloatArray, lam: float, log_det: float, trace: float
) -> None:
    """A factorisation of before; centre and rad follow from `settle`."""
    for i in range(whitener.shape[0]):
        for j in range(whitener.shape[0]):
            Theta.whitener[e, i, j] = whitener[i, j]
    Theta.lam[e], Theta.log_det[e], Theta.trace[e] = lam, log_det, trace


@inlined
def move_origins(
    rules: Rules, Theta: Ellipsoids, clock: Clock, plays: FloatArray, u: FloatArray, v: FloatArray
) -> None:
    """Every origin to its centre, with the best lambda."""
    clock.since_origin[0] = 0.0
    for e in range(Theta.rad.shape[0]):
        move_origin(Theta, e, u, v)
        choose_lambda(rules, Theta, e, plays, u, v)


@inlined
def is_refresh_due(rules: Rules, clock: Clock) -> bool:
    """Whether there are so many more rounds that all are to be bent again."""
    return bool(rules.refresh_ratio > 0.0 and clock.n[0] >= clock.next_refresh[0])


@part
def distance(Theta: Ellipsoids, e: int, theta: FloatArray) -> float:
    """|theta - center|^2_{A + lambda I}: theta is in the ellipsoid where it is at most rad."""
    u, lam = np.empty(theta.shape[0]), float(Theta.lam[e])
    for i in range(theta.shape[0]):
        u[i] = theta[i] - Theta.center[e, i]
    low = quadratic_form(Theta.A[e, 1], u)
    return quadratic_form(Theta.A[e, 0], u) + (low + lam * dot(u, u))


@part
def minorant_value(Theta: Ellipsoids, e: int, theta: FloatArray) -> float:
    """Q(theta): what the minorants of all rounds add up to, the price included."""
    u = theta - Theta.origin[e]
    value = quadratic_form(Theta.A[e, 0], u) + quadratic_form(Theta.A[e, 1], u)
    value -= 2.0 * (dot(Theta.b[e, 0], u) + dot(Theta.b[e, 1], u))
    kappa: FloatArray = Theta.kappa[e]
    return value + float(kappa[0] + kappa[1])
