"""Everything a betting ellipsoid remembers: one block of memory, and named views into it.

A kernel that is called from Python pays for each array it is given. So a set keeps its constants
and its state in one flat array, to which `open_state` and its parts give the names.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np

from voful.compiled import part
from voful.confidence.betting.product import CELLS_SHAPE
from voful.typing import FloatArray
from voful.views import borrowed, view

BETS: Final = ("product", "ratio", "mixed")
PRODUCT: Final = 0
RATIO: Final = 1
MIXED: Final = 2

LAMBDAS: Final = (0.3, 1.0, 3.0, 10.0)  # Lambda, over max(rho, half / feature_norm)^2
RIDGES: Final = (0.01, 0.1, 1.0, 10.0)  # plug-in ridges, times feature_norm^2
PRIOR: Final = 1.0 / 3.0  # pi: weight of the product bet in the mixed wealth
SHARES: Final = (1.0 / 3.0, 0.05, 0.8)  # p: the product bet's share, one ellipsoid for each
N_RECENT: Final = 50  # plays that judge a set

# columns of the history after the arm, and of Latest.bet
REWARD, PREDICTION, LOW, HIGH, SLOPES = range(5)


class BetState(NamedTuple):
    """What kernels are given."""

    memory: FloatArray  # see `open_state`
    history: FloatArray  # rows x, y, a, lo, up, S_1..S_J; empty in the streaming form


class Rules(NamedTuple):
    """What is fixed at construction. E ellipsoids are fed by J bets."""

    bets: int  # PRODUCT, RATIO or MIXED
    log_inverse_delta: float  # L
    y_low: float
    y_high: float
    half: float  # (y_high - y_low) / 2
    rho: float  # |theta* - theta0| <= rho
    refresh_ratio: float  # 0: the streaming form
    width_scale: float
    misfit: float  # |E[y | past, x] - <x, theta*>| <= misfit
    lambdas: FloatArray
    theta0: FloatArray
    shares: FloatArray  # (E, J): weight of each bet in each ellipsoid
    price: FloatArray  # (E,): kappa starts here, <= 0


class Ellipsoids(NamedTuple):
    """{theta : Q(theta) + lambda (|theta - theta0|^2 - rho^2) <= L} for each of E quadratics Q.

    Q(theta) = u'A u - 2 b'u + kappa with u = theta - origin; A, b and kappa are kept in two parts,
    the second one collects the rounding errors of the first. The set is
    |theta - center|^2_{A + lambda I} <= rad.
    """

    A: FloatArray  # (E, 2, d, d)
    b: FloatArray  # (E, 2, d)
    kappa: FloatArray  # (E, 2)
    origin: FloatArray  # (E, d)
    center: FloatArray  # (E, d)
    whitener: FloatArray  # (E, d, d), of A + lambda I
    lam: FloatArray  # (E,): lambda
    rad: FloatArray  # (E,)
    log_det: FloatArray  # (E,): logdet(I + A/lambda)
    trace: FloatArray  # (E,): a bound on tr (A + lambda I)^-1


class Predictors(NamedTuple):
    """Ridge predictors raced by discounted squared error."""

    inverse: FloatArray  # (4, d, d)
    theta: FloatArray  # (4, d)
    error: FloatArray  # (4,)


class Clock(NamedTuple):
    """Whole numbers, each an array of one."""

    n: FloatArray  # rounds
    since_origin: FloatArray  # rounds since the origin moved
    next_refresh: FloatArray  # when to refresh
    emptied: FloatArray  # 1 once nothing is left


class Residuals(NamedTuple):
    """Discounted mean square and largest size, each an array of one."""

    variance: FloatArray
    largest: FloatArray


class Latest(NamedTuple):
    """What is remembered of the latest rounds."""

    residuals: Residuals
    recent: FloatArray  # (50, d): the latest plays
    bet: FloatArray  # y, a, lo, up, S_1..S_J of the latest round
    places: FloatArray  # (J,): of the latest slopes on their grids


class State(NamedTuple):
    """All of it. Kernels take the parts they need: each array handed over is compiled."""

    rules: Rules
    Theta: Ellipsoids
    predictors: Predictors
    latest: Latest
    clock: Clock


class Scratch(NamedTuple):
    """Written before it is read, in every round."""

    whitened: FloatArray  # (E, d): W x
    spread: FloatArray  # (E,): x'(A + lambda I)^-1 x, rounded outwards
    minorants: FloatArray  # (J, 4): see `minorant.bend`
    cells: FloatArray  # CELLS_SHAPE
    u: FloatArray  # (d,)
    v: FloatArray  # (d,)


@part
def n_ellipsoids(bets: int) -> int:
    """E."""
    return 3 if bets == MIXED else 1


@part
def n_bets(bets: int) -> int:
    """J."""
    return 2 if bets == MIXED else 1


@part
def open_rules(memory: FloatArray) -> Rules:
    """What the block begins with."""
    m, bets, d = memory, int(memory[0]), int(memory[1])
    E, J = n_ellipsoids(bets), n_bets(bets)
    theta0 = 10 + len(LAMBDAS)
    shares = theta0 + d
    price = shares + E * J
    return Rules(
        bets,
        m[2],
        m[3],
        m[4],
        m[5],
        m[6],
        m[7],
        m[8],
        m[9],
        borrowed(m, 10, (len(LAMBDAS),)),
        borrowed(m, theta0, (d,)),
        borrowed(m, shares, (E, J)),
        borrowed(m, price, (E,)),
    )


@part
def rules_size(bets: int, d: int) -> int:
    """Length of what `open_rules` reads."""
    E, J = n_ellipsoids(bets), n_bets(bets)
    return 10 + len(LAMBDAS) + d + E * J + E


@part
def open_ellipsoids(memory: FloatArray) -> Ellipsoids:
    """The ellipsoids, which follow the rules."""
    bets, d = int(memory[0]), int(memory[1])
    E, i = n_ellipsoids(bets), rules_size(bets, d)
    b = i + 2 * E * d * d
    kappa = b + 2 * E * d
    origin = kappa + 2 * E
    center = origin + E * d
    whitener = center + E * d
    lam = whitener + E * d * d
    return Ellipsoids(
        borrowed(memory, i, (E, 2, d, d)),
        borrowed(memory, b, (E, 2, d)),
        borrowed(memory, kappa, (E, 2)),
        borrowed(memory, origin, (E, d)),
        borrowed(memory, center, (E, d)),
        borrowed(memory, whitener, (E, d, d)),
        borrowed(memory, lam, (E,)),
        borrowed(memory, lam + E, (E,)),
        borrowed(memory, lam + 2 * E, (E,)),
        borrowed(memory, lam + 3 * E, (E,)),
    )


@part
def ellipsoids_size(bets: int, d: int) -> int:
    """Length of what `open_ellipsoids` reads."""
    return n_ellipsoids(bets) * (3 * d * d + 4 * d + 6)


@part
def open_predictors(memory: FloatArray) -> Predictors:
    """The predictors, which follow the ellipsoids."""
    bets, d = int(memory[0]), int(memory[1])
    return open_predictors_at(memory, rules_size(bets, d) + ellipsoids_size(bets, d), d)


@part
def open_predictors_at(block: FloatArray, i: int, d: int) -> Predictors:
    """Predictors that a block has from place i on."""
    R = len(RIDGES)
    theta = i + R * d * d
    return Predictors(
        borrowed(block, i, (R, d, d)),
        borrowed(block, theta, (R, d)),
        borrowed(block, theta + R * d, (R,)),
    )


@part
def open_clock(memory: FloatArray) -> Clock:
    """The block's end."""
    k = len(memory)
    return Clock(
        borrowed(memory, k - 4, (1,)),
        borrowed(memory, k - 3, (1,)),
        borrowed(memory, k - 2, (1,)),
        borrowed(memory, k - 1, (1,)),
    )


@part
def open_latest(memory: FloatArray) -> Latest:
    """The latest rounds, which follow the predictors."""
    bets, d, R = int(memory[0]), int(memory[1]), len(RIDGES)
    J = n_bets(bets)
    i = rules_size(bets, d) + ellipsoids_size(bets, d) + R * (d * d + d + 1)
    bet = i + 2 + N_RECENT * d
    return Latest(
        Residuals(borrowed(memory, i, (1,)), borrowed(memory, i + 1, (1,))),
        borrowed(memory, i + 2, (N_RECENT, d)),
        borrowed(memory, bet, (SLOPES + J,)),
        borrowed(memory, bet + SLOPES + J, (J,)),
    )


def open_state(memory: FloatArray) -> State:
    """All named views."""
    return State(
        open_rules(memory),
        open_ellipsoids(memory),
        open_predictors(memory),
        open_latest(memory),
        open_clock(memory),
    )


def memory_size(bets: int, d: int) -> int:
    """Length of the block for dimension d."""
    predictors = len(RIDGES) * (d * d + d + 1)
    rest = 2 + N_RECENT * d + SLOPES + 2 * n_bets(bets) + len(Clock._fields)
    return rules_size(bets, d) + ellipsoids_size(bets, d) + predictors + rest


@part
def new_room(rules: Rules) -> FloatArray:
    """For a round's scratch."""
    (E, J), d = rules.shares.shape, rules.theta0.shape[0]
    return np.empty(E * d + E + 4 * J + CELLS_SHAPE[0] * CELLS_SHAPE[1] + 2 * d)


@part
def scratch_in(room: FloatArray, rules: Rules) -> Scratch:
    """The room's parts; where it is `lent`, so are they."""
    (E, J), d = rules.shares.shape, rules.theta0.shape[0]
    spread = E * d
    minorants = spread + E
    cells = minorants + 4 * J
    u = cells + CELLS_SHAPE[0] * CELLS_SHAPE[1]
    return Scratch(
        view(room, 0, (E, d)),
        view(room, spread, (E,)),
        view(room, minorants, (J, 4)),
        view(room, cells, CELLS_SHAPE),
        view(room, u, (d,)),
        view(room, u + d, (d,)),
    )


@part
def new_scratch(rules: Rules) -> Scratch:
    """Room for a round."""
    return scratch_in(new_room(rules), rules)


def mixture(bets: int) -> tuple[FloatArray, FloatArray]:
    """Shares (E, J) and price (E,).

    log(pi W_1 + (1-pi) W_2) >= p log W_1 + (1-p) log W_2 + h(p) + p log pi + (1-p) log(1-pi) for
    every p (Jensen), h the entropy: the price of p is what stands after log W_2.
    """
    if bets != MIXED:
        return np.ones((1, 1)), np.zeros(1)
    p = np.array(SHARES)
    q = 1.0 - p
    price = -p * np.log(p / PRIOR) - q * np.log(q / (1.0 - PRIOR))
    return np.stack([p, q], axis=1), np.minimum(price, 0.0)


def new_memory(
    bet: str,
    *,
    delta: float,
    reward_range: tuple[float, float],
    rho: float,
    theta0: FloatArray,
    feature_norm: float,
    refresh: bool,
    width_scale: float,
    misfit: float = 0.0,
) -> FloatArray:
    """The block before the first round."""
    bets, d = BETS.index(bet), len(theta0)
    low, high = reward_range
    half = 0.5 * (high - low)
    ratio = 0.0 if not refresh else 2.0 if bets == PRODUCT else 1.5  # growth between refreshes
    shares, price = mixture(bets)
    # lambda |theta|^2 has no unit; where the ball says less than the range, it costs no more.
    lambdas = np.array(LAMBDAS) / max(rho, half / feature_norm) ** 2
    memory = np.zeros(memory_size(bets, d))
    head = [bets, d, -math.log(delta), low, high, half, rho, ratio, width_scale, misfit]
    memory[: rules_size(bets, d)] = np.concatenate([head, lambdas, theta0, shares.ravel(), price])
    state = open_state(memory)
    Theta, lam = state.Theta, lambdas[0]
    Theta.kappa[:, 0] = price
    Theta.origin[...] = Theta.center[...] = theta0
    Theta.whitener[...] = np.eye(d) / math.sqrt(lam)
    Theta.lam[...] = lam
    Theta.rad[...] = -math.log(delta) - price + lam * rho**2
    Theta.trace[...] = d / lam
    state.predictors.theta[...] = theta0
    for inverse, ridge in zip(state.predictors.inverse, RIDGES, strict=True):
        inverse[...] = np.eye(d) / (ridge * feature_norm**2)
    state.latest.residuals.variance[0] = 0.01 * half**2
    state.clock.next_refresh[0] = max(2, d // 8)  # one costs d^3
    return memory
