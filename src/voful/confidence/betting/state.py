"""Everything a betting ellipsoid remembers: one block of memory, and named views into it.

A kernel that is called from Python pays for each array it is given. So a set keeps its fixed-size
state in one flat array, and `open_state` (compiled, a few dozen nanoseconds) gives the names.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np

from voful.compiled import kernel
from voful.confidence.betting.product import CELLS_SHAPE
from voful.confidence.betting.views import view
from voful.typing import FloatArray, IntArray

BETS: Final = ("product", "ratio", "mixed")
PRODUCT: Final = 0
RATIO: Final = 1
MIXED: Final = 2

LAMBDAS: Final = (0.3, 1.0, 3.0, 10.0)  # Lambda, over max(rho, half / feature_norm)^2
RIDGES: Final = (0.01, 0.1, 1.0, 10.0)  # plug-in ridges, times feature_norm^2
PRIOR: Final = 1.0 / 3.0  # pi: weight of the product bet in the mixed wealth
SHARES: Final = (1.0 / 3.0, 0.05, 0.8)  # p: the product bet's share, one ellipsoid for each
N_RECENT: Final = 50  # plays that judge a set

# Ellipsoids.scalars
LAMBDA, RAD, LOG_DET, TRACE = range(4)
# State.residuals
VARIANCE, LARGEST = range(2)
# State.rounds
N, SINCE_ORIGIN, NEXT_REFRESH, EMPTIED = range(4)
# columns of State.history after the arm, and of State.bet from LOW on
REWARD, PREDICTION, LOW, HIGH, SLOPES = range(5)


class Rules(NamedTuple):
    """What is fixed at construction. E ellipsoids are fed by J bets."""

    bets: int  # PRODUCT, RATIO or MIXED
    log_inverse_delta: float  # L
    y_low: float
    y_high: float
    half: float  # (y_high - y_low) / 2
    rho: float  # |theta* - theta0| <= rho
    refresh_ratio: float  # 0: the streaming form
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
    scalars: FloatArray  # (E, 4): lambda, rad, logdet(I + A/lambda), bound on tr (A+lambda I)^-1


class Plugin(NamedTuple):
    """Ridge predictors raced by discounted squared error."""

    inverse: FloatArray  # (4, d, d)
    theta: FloatArray  # (4, d)
    error: FloatArray  # (4,)


class Scratch(NamedTuple):
    """Written before it is read, in every round."""

    whitened: FloatArray  # (E, d): W x
    spread: FloatArray  # (E,): x'(A + lambda I)^-1 x, rounded outwards
    minorants: FloatArray  # (J, 4): see `minorant.bend`
    cells: FloatArray  # CELLS_SHAPE
    u: FloatArray  # (d,)
    v: FloatArray  # (d,)


class State(NamedTuple):
    """All of it."""

    rules: Rules
    Theta: Ellipsoids
    plugin: Plugin
    residuals: FloatArray  # discounted mean square and largest size
    recent: FloatArray  # (50, d): the latest plays
    bet: FloatArray  # unused, a, lo, up, S_1..S_J of the latest round
    places: FloatArray  # (J,): of the latest slopes on their grids
    rounds: IntArray  # how many, since the origin moved, when to refresh, whether emptied
    history: FloatArray  # rows x, y, a, lo, up, S_1..S_J; empty in the streaming form
    scratch: Scratch


@kernel
def n_ellipsoids(bets: int) -> int:
    """E."""
    return 3 if bets == MIXED else 1


@kernel
def n_bets(bets: int) -> int:
    """J."""
    return 2 if bets == MIXED else 1


@kernel
def memory_size(bets: int, d: int) -> int:
    """Length of the block for dimension d."""
    J, R = n_bets(bets), len(RIDGES)
    ellipsoids = n_ellipsoids(bets) * per_ellipsoid(d)
    return ellipsoids + R * (d * d + d + 1) + 2 + N_RECENT * d + SLOPES + 2 * J


@kernel
def per_ellipsoid(d: int) -> int:
    """How much of the block an ellipsoid takes."""
    return 3 * d * d + 4 * d + 2 + 4


@kernel
def dimension(bets: int, constants: FloatArray) -> int:
    """d, from the length of what `fixed_numbers` made."""
    E, J = n_ellipsoids(bets), n_bets(bets)
    return len(constants) - 6 - len(LAMBDAS) - E * J - E


@kernel
def open_ellipsoids(bets: int, constants: FloatArray, memory: FloatArray) -> Ellipsoids:
    """The named views of the ellipsoids, with which `memory` begins."""
    E, d = n_ellipsoids(bets), dimension(bets, constants)
    i1 = E * 2 * d * d
    i2 = i1 + E * 2 * d
    i3 = i2 + E * 2
    i4 = i3 + E * d
    i5 = i4 + E * d
    i6 = i5 + E * d * d
    return Ellipsoids(
        view(memory, 0, (E, 2, d, d)),
        view(memory, i1, (E, 2, d)),
        view(memory, i2, (E, 2)),
        view(memory, i3, (E, d)),
        view(memory, i4, (E, d)),
        view(memory, i5, (E, d, d)),
        view(memory, i6, (E, 4)),
    )


@kernel
def open_state(
    bets: int, constants: FloatArray, memory: FloatArray, count: IntArray, history: FloatArray
) -> State:
    """The named views."""
    E, J, R, d = n_ellipsoids(bets), n_bets(bets), len(RIDGES), dimension(bets, constants)
    at = 6 + len(LAMBDAS)
    rules = Rules(
        bets,
        constants[0],
        constants[1],
        constants[2],
        constants[3],
        constants[4],
        constants[5],
        view(constants, 6, (len(LAMBDAS),)),
        view(constants, at, (d,)),
        view(constants, at + d, (E, J)),
        view(constants, at + d + E * J, (E,)),
    )
    j0 = E * per_ellipsoid(d)
    j1 = j0 + R * d * d
    j2 = j1 + R * d
    j3 = j2 + R
    plugin = Plugin(view(memory, j0, (R, d, d)), view(memory, j1, (R, d)), view(memory, j2, (R,)))
    j4 = j3 + 2
    j5 = j4 + N_RECENT * d
    w1 = E * d
    w2 = w1 + E
    w3 = w2 + J * 4
    w4 = w3 + CELLS_SHAPE[0] * CELLS_SHAPE[1]
    block = np.empty(w4 + 2 * d)
    scratch = Scratch(
        view(block, 0, (E, d)),
        view(block, w1, (E,)),
        view(block, w2, (J, 4)),
        view(block, w3, CELLS_SHAPE),
        view(block, w4, (d,)),
        view(block, w4 + d, (d,)),
    )
    return State(
        rules,
        open_ellipsoids(bets, constants, memory),
        plugin,
        view(memory, j3, (2,)),
        view(memory, j4, (N_RECENT, d)),
        view(memory, j5, (SLOPES + J,)),
        view(memory, j5 + SLOPES + J, (J,)),
        count,
        history,
        scratch,
    )


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


def fixed_numbers(
    bets: int,
    *,
    delta: float,
    reward_range: tuple[float, float],
    rho: float,
    theta0: FloatArray,
    feature_norm: float,
    refresh: bool,
) -> FloatArray:
    """`Rules` as one array, for `open_state`."""
    low, high = reward_range
    half = 0.5 * (high - low)
    ratio = 0.0 if not refresh else 2.0 if bets == PRODUCT else 1.5  # growth between refreshes
    shares, price = mixture(bets)
    # lambda |theta|^2 has no unit; where the ball says less than the range, it costs no more.
    lambdas = np.array(LAMBDAS) / max(rho, half / feature_norm) ** 2
    head = [-math.log(delta), low, high, half, rho, ratio]
    return np.concatenate([head, lambdas, theta0, shares.ravel(), price])


@kernel
def begin(state: State, feature_norm: float) -> None:
    """Write the state before the first round into zeroed memory."""
    rules, Theta, plugin = state.rules, state.Theta, state.plugin
    d = rules.theta0.shape[0]
    lam = rules.lambdas[0]
    for e in range(Theta.scalars.shape[0]):
        Theta.kappa[e, 0] = rules.price[e]
        Theta.origin[e] = rules.theta0
        Theta.center[e] = rules.theta0
        for i in range(d):
            Theta.whitener[e, i, i] = 1.0 / math.sqrt(lam)
        Theta.scalars[e, LAMBDA] = lam
        Theta.scalars[e, RAD] = rules.log_inverse_delta - rules.price[e] + lam * rules.rho**2
        Theta.scalars[e, TRACE] = d / lam
    for q in range(len(RIDGES)):
        plugin.theta[q] = rules.theta0
        for i in range(d):
            plugin.inverse[q, i, i] = 1.0 / (RIDGES[q] * feature_norm**2)
    state.residuals[VARIANCE] = 0.01 * rules.half**2
    state.rounds[NEXT_REFRESH] = 2
