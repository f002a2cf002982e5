"""What a constant-risk set remembers: one block of memory, and its names.

The block begins as that of one betting ellipsoid (`state.open_rules`, `state.open_ellipsoids`) and
ends with its clock, so that the questions to such an ellipsoid serve here too. The quadratic is
written about its centre in every round, so b, kappa, origin and log_det stay unused; A + lambda I
is the theorem's M.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from voful.compiled import part
from voful.confidence.betting.product import CAP, k
from voful.confidence.betting.state import (
    LAMBDAS,
    PRODUCT,
    Clock,
    Ellipsoids,
    Rules,
    ellipsoids_size,
    open_clock,
    open_ellipsoids,
    open_rules,
    rules_size,
)
from voful.typing import FloatArray
from voful.views import borrowed


class RiskParameters(NamedTuple):
    """What the theorem leaves free; the values chosen by hand on seeds that no table uses."""

    G: float = 12.0  # scale of the risk: g^2 = G / (B + b)
    tau: float = 0.3  # slopes are at most tau over the mean squared residual
    cap: float = CAP  # c: a bet risks at most this share of the wealth; at most CAP
    margin: float = 0.02  # epsilon: the share of the curvature that is given away
    ridge: float = 1.2  # lambda, over max(R / feature_norm, rho)^-2


PRACTICAL = RiskParameters()


class RiskState(NamedTuple):
    """What kernels are given."""

    memory: FloatArray  # see `open_risk`


class Risk(NamedTuple):
    """Constants of the slopes, and what adds up."""

    G: float
    tau: float
    cap: float
    k_cap: float  # k(-c)
    margin: float
    scale: float  # R: the reward range's length, at least rho feature_norm
    ridge: float  # lambda before any top-up
    squares: FloatArray  # (1,): B, the sum of squared residuals
    largest: FloatArray  # (1,): b >= every squared residual to come
    shrunk: FloatArray  # (1,): s, what negative curvatures took since the last top-up
    bets: FloatArray  # (1,): v, rounds with x != 0
    bound: FloatArray  # (1,): 2 sum sqrt(rad nu)


CONSTANTS = 7  # of the fields of `Risk`; then come sums

# The numbers at the block's end: the last ones of `Ellipsoids`, those of `Risk`, and the `Clock`.
LAM, RAD, LOG_DET, TRACE = range(4)
G, TAU, CAPPED, K_CAP, MARGIN, SCALE, RIDGE, SQUARES, LARGEST, SHRUNK, BETS, BOUND = range(4, 16)
N, SINCE_ORIGIN, NEXT_REFRESH, EMPTIED = range(16, 20)
N_NUMBERS = 20


class RiskViews(NamedTuple):
    """All of it."""

    rules: Rules
    Theta: Ellipsoids  # one
    risk: Risk
    clock: Clock  # since_origin and next_refresh stay 0


def open_risk(memory: FloatArray) -> RiskViews:
    """The named views."""
    numbers: Any = memory[-N_NUMBERS:]
    risk = Risk(*numbers[G:SQUARES], *(numbers[i : i + 1] for i in range(SQUARES, N)))
    return RiskViews(open_rules(memory), open_ellipsoids(memory), risk, open_clock(memory))


@part
def open_ellipsoid(memory: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """A, center, whitener and the numbers: all that changes.

    Kernels are given these four: every view that is made and handed over takes time in each round,
    those of `open_risk` together more than the round itself.
    """
    d, n = int(memory[1]), memory.shape[0] - N_NUMBERS
    first, w = rules_size(PRODUCT, d), n - d * d
    A, whitener = borrowed(memory, first, (d, d)), borrowed(memory, w, (d, d))
    return A, borrowed(memory, w - d, (d,)), whitener, memory[n:]


@part
def nothing_left(numbers: FloatArray) -> bool:
    """Whether the ellipsoid has lost all its points, or an arm has shown that nothing is left."""
    return bool(numbers[EMPTIED] != 0.0 or not numbers[RAD] >= 0.0)


def new_risk_memory(
    parameters: RiskParameters,
    *,
    delta: float,
    reward_range: tuple[float, float],
    rho: float,
    theta0: FloatArray,
    feature_norm: float,
) -> FloatArray:
    """The block before the first round."""
    d, (low, high) = len(theta0), reward_range
    half = 0.5 * (high - low)
    R = max(high - low, rho * feature_norm)
    lam = parameters.ridge * (feature_norm / R) ** 2
    head = [PRODUCT, d, -math.log(delta), low, high, half, rho, 0.0, 1.0, 0.0]
    lambdas, share, price = [lam] * len(LAMBDAS), [1.0], [0.0]
    rules = np.concatenate([head, lambdas, theta0, share, price])
    p = parameters
    constants = [p.G, p.tau, p.cap, k(-p.cap), p.margin, R, lam]
    rest = np.zeros(ellipsoids_size(PRODUCT, d) + N_NUMBERS - TRACE - 1)
    memory = np.concatenate([rules, rest])
    memory[-N_NUMBERS:][G:SQUARES] = constants
    _, Theta, risk, _ = open_risk(memory)
    Theta.origin[...] = Theta.center[...] = theta0
    Theta.whitener[...] = np.eye(d) / math.sqrt(lam)
    Theta.lam[...] = lam
    Theta.rad[...] = -math.log(delta) + lam * rho**2
    Theta.trace[...] = d / lam
    risk.largest[0] = R * R
    return memory
