"""The direction of the regret proof: each theta is tested along theta_hat - theta.

The proof of Algorithm 1's regret uses one direction only, mu = theta* - theta. The estimate
theta_hat_{v-1} of the rounds before v takes the place of theta*: mu_v(theta) = theta_hat_{v-1} -
theta is known before the reward, so no union over directions is paid for, in any dimension. With
a = <x, theta_hat>, z = <x, theta> and an interval I that holds z* (the set of before on x),

    X_v(theta) = c eps,  c = a - z clipped to a - I,  eps = y - z,

is a martingale difference at theta*, and X_v >= -b_v for every reward in the range. A line of slope
s bets S_v = min(s, STAKE / b_v, 1 / h_v^2) on it, h_v the longest way from a to an end of I. With
u_v >= 0 such that S_v X_v >= -u_v on I,

    ln(1 + S X) >= S X - k(-u) S^2 X^2,   k(u) = (u - ln(1 + u)) / u^2, which decreases;

so by Ville, for all n at once and all lines together, with probability 1 - delta

    sum S c eps(theta*) <= sum k(-u) S^2 c^2 eps(theta*)^2 + ln(lines / delta):

the sum of line 9 of Algorithm 1 against its own squares. On I both sides are quadratic in theta,
once eps^2 is bounded by its largest value there: every line is an ellipsoid. (Where the bound of
the squares would bend a line down, it is constant instead: c^2 <= its largest value.)
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from voful.archive import Arrays
from voful.compiled import kernel, part
from voful.confidence.algebra import (
    add_outer,
    dot,
    log_det,
    means_and_widths,
    quadratic_form,
    symmetric_times,
    unwhiten,
    whiten,
    whitener_from,
)
from voful.confidence.betting.product import k
from voful.confidence.ellipsoids.ridge import open_ridge, within
from voful.confidence.peeled.cuts import best_predicted
from voful.confidence.peeled.own_sound import sound_checks, sound_ellipsoid, sound_lines
from voful.invariants import Invariants, whole
from voful.persistence import Stateful
from voful.typing import BoolArray, FloatArray

SLOPES = np.array([0.75, 4.0, 30.0, 1000.0])  # times 1 / half^2, half the rewards' range
STAKE = 0.5  # the most that a round may cost of a line's wealth
RIDGES = np.array([0.3, 3.0])  # weights of the unit ball in a line's ellipsoid
GROWTH = 0.1  # of ln det(I + sum xx') after which ellipsoids are taken anew
NARROW = 1e-9  # least half width of an interval, times half

TALLY = np.dtype([("checks", float), ("next_growth", float), ("empty", bool)])


class Ellipsoid(NamedTuple):
    """{theta: |theta - center|_A <= radius}, and the estimate when it was made."""

    precision: FloatArray  # (d, d): A
    whitener: FloatArray  # (d, d): of A
    center: FloatArray  # (d,)
    estimate: FloatArray  # (d,), in the unit ball
    radius: FloatArray  # (1,)


@part
def open_ellipsoid(flat: FloatArray, d: int) -> Ellipsoid:
    """The named views of a flat array."""
    w, c = d * d, 2 * d * d
    return Ellipsoid(
        flat[:w].reshape((d, d)),
        flat[w:c].reshape((d, d)),
        flat[c : c + d],
        flat[c + d : c + 2 * d],
        flat[c + 2 * d :],
    )


@part
def ends(E: Ellipsoid, x: FloatArray, low: float, high: float) -> tuple[float, float]:
    """<x, theta> over ellipsoid, ball and [low, high]; ends that cross: nothing is left."""
    mean = dot(x, E.center)
    width = E.radius[0] * math.sqrt(whiten(E.whitener, x, np.empty(x.shape[0])))
    norm = math.sqrt(dot(x, x))
    return max(max(mean - width, -norm), low), min(min(mean + width, norm), high)


@part
def worst_loss(a: float, lo: float, up: float, low: float, high: float) -> float:
    """b: the largest -(a - z)(y - z) over z in [lo, up] and y in [low, high].

    A theta that predicts z > a loses by rewards above z, which exceed z by at most high - z.
    """
    above, below = min(up, 0.5 * (a + high)), max(lo, 0.5 * (a + low))
    return max((above - a) * (high - above), (a - below) * (below - low))


@kernel
def own_round(
    block: FloatArray,
    lines: FloatArray,
    origin: FloatArray,
    now: FloatArray,
    limits: FloatArray,
    x: FloatArray,
    y: float,
) -> None:
    """One round (Algorithm 1, lines 7-9), O(d^2): every line takes its bet.

    Row j of `lines` is G, f, e of line j: sum of its bets >= t'G t - 2 f.t + e, t = theta - origin.
    `limits` are the rewards' range and how far their means may be from <x, theta*>.
    """
    d = x.shape[0]
    low, high, bias = limits[0], limits[1], limits[2]
    half = 0.5 * (high - low)
    lo, up = ends(open_ellipsoid(now, d), x, low, high)
    if lo > up:  # nothing is left: no bet
        return
    short = max(NARROW * half - 0.5 * (up - lo), 0.0)
    lo, up = lo - short, up + short
    a = min(max(dot(x, open_ridge(block, d).center), lo), up)
    b = max(worst_loss(a, lo, up, low, high), 1e-12 * half * half)
    between = min(max(0.5 * (a + y), lo), up)
    loss = max((between - a) * (y - between), 0.0)  # the largest -X on the interval
    squared = max((up - y) ** 2, (lo - y) ** 2)  # the largest eps^2
    longest = max(up - a, a - lo)
    a_o = a - dot(x, origin)
    for j in range(lines.shape[0]):
        S = min(min(SLOPES[j] / (half * half), STAKE / b), 1.0 / (longest * longest))
        # S X = S (z - a)^2 + S (a - y)(z - a); its square costs at most m (z - a)^2
        bend, tilt = S - k(-min(S * loss, STAKE)) * S * S * squared, S * (a - y)
        lost = S * bias * longest  # E S X may be so much where means are off
        if bend < 0.0:  # matrices only grow: an ellipsoid stays one
            lost -= bend * longest * longest
            bend = 0.0
        add_outer(lines[j, : d * d].reshape((d, d)), x, bend)
        for i in range(d):
            lines[j, d * d + i] += (bend * a_o - 0.5 * tilt) * x[i]
        lines[j, -1] += bend * a_o * a_o - tilt * a_o - lost


@kernel
def move_lines(lines: FloatArray, origin: FloatArray, new: FloatArray) -> None:
    """Exact change of origin by D: e += D'G D - 2 f.D, f -= G D."""
    d = origin.shape[0]
    D = new - origin
    GD = np.empty(d)
    for j in range(lines.shape[0]):
        f = lines[j, d * d : d * d + d]
        symmetric_times(lines[j, : d * d].reshape((d, d)), D, GD)
        lines[j, -1] += dot(D, GD) - 2.0 * dot(f, D)
        for i in range(d):
            f[i] -= GD[i]
    for i in range(d):
        origin[i] = new[i]


@kernel
def best_ellipsoid(lines: FloatArray, origin: FloatArray, price: float, now: FloatArray) -> bool:
    """Write the smallest of the ellipsoids that the lines allow; False where one is empty.

    line <= price and ridge (|theta|^2 - 1) <= 0 add up to an ellipsoid, for every ridge.
    """
    d = origin.shape[0]
    E = open_ellipsoid(now, d)
    A, W, p, c = np.empty((d, d)), np.empty((d, d)), np.empty(d), np.empty(d)
    smallest = np.inf
    for j in range(lines.shape[0]):
        for r in range(RIDGES.shape[0]):
            ridge = RIDGES[r]
            for i in range(d):
                for m in range(d):
                    A[i, m] = lines[j, i * d + m]
                A[i, i] += ridge
                p[i] = lines[j, d * d + i] - ridge * origin[i]
            if not whitener_from(A, W):  # drowned in rounding
                continue
            whitened = np.empty(d)
            rest = whiten(W, p, whitened) - lines[j, -1] - ridge * (dot(origin, origin) - 1.0)
            squared = price + rest
            if not squared >= 0.0:
                return False
            volume = d * math.log(squared + 1e-300) - log_det(W)
            if volume < smallest:
                smallest = volume
                unwhiten(W, whitened, c)
                for i in range(d):
                    E.center[i] = origin[i] + c[i]
                    for m in range(d):
                        E.precision[i, m] = A[i, m]
                        E.whitener[i, m] = W[i, m]
                E.radius[0] = math.sqrt(squared)
    return True


@kernel
def own_leader(now: FloatArray, scale: float, X: FloatArray, allowed: BoolArray) -> int:
    """Algorithm 1, line 5, over one ellipsoid and the ball; equals as in `cuts.leader`."""
    m, d = X.shape
    E = open_ellipsoid(now, d)
    means, widths = means_and_widths(X, E.center, E.whitener, scale * E.radius[0])
    upper, predicted = np.full(m, -np.inf), np.empty(m)
    for i in range(m):
        predicted[i] = dot(X[i], E.estimate)
        if allowed.shape[0] == 0 or allowed[i]:
            upper[i] = min(means[i] + widths[i], math.sqrt(dot(X[i], X[i])))
    return best_predicted(upper, predicted, np.max(upper))


@kernel
def own_ends(
    flat: FloatArray, scale: float, X: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(lower ends, upper ends, largest values of members that were tried) over ellipsoid and ball.

    Tried: the ball's maximiser and the ellipsoid's, drawn towards the ellipsoid's centre until it
    lies in the ball; -inf where none is a member.
    """
    m, d = X.shape
    E = open_ellipsoid(flat, d)
    radius = scale * E.radius[0]
    lower, upper, tried = np.empty(m), np.empty(m), np.full(m, -np.inf)
    p, way = np.empty(d), np.empty(d)
    beyond = dot(E.center, E.center) - 1.0
    for i in range(m):
        norm = math.sqrt(dot(X[i], X[i]))
        mean = dot(X[i], E.center)
        length = math.sqrt(whiten(E.whitener, X[i], p))
        upper[i] = min(mean + radius * length, norm)
        lower[i] = max(mean - radius * length, -norm)
        if norm == 0.0:
            tried[i] = 0.0
            continue
        if beyond <= 0.0:
            unwhiten(E.whitener, p, way)
            for n in range(d):
                way[n] *= radius / length
            ahead, along = dot(way, way), dot(E.center, way)
            step = (math.sqrt(along * along - ahead * beyond) - along) / max(ahead, 1e-300)
            tried[i] = mean + min(step, 1.0) * radius * length
        if within(quadratic_form(E.precision, X[i] / norm - E.center), radius):
            tried[i] = norm
    return lower, upper, tried


@kernel
def in_all(checks: FloatArray, n_checks: int, scale: float, theta: FloatArray) -> bool:
    """Whether theta is in the ellipsoids of all checks: rows A, centre, radius."""
    d = theta.shape[0]
    for n in range(n_checks):
        row = checks[n]
        t = theta - row[d * d : d * d + d]
        if not within(quadratic_form(row[: d * d].reshape((d, d)), t), scale * row[d * d + d]):
            return False
    return True


class OwnDirection(Stateful):
    """The lines of a set, the ellipsoid of now, and those of the checks.

    Parameters
    ----------
    dim
        Dimension d.
    limits
        (low, high, bias): the rewards' range, and how far their means may be from <x, theta*>.
    price
        ln(lines / delta).
    width_scale
        Multiplies radii in answers; intervals of bets keep the theory's.
    """

    _arrays = ("_lines", "_origin", "_now", "_last", "_checks", "_tally")
    _growing = ("_checks",)

    def __init__(
        self, dim: int, limits: tuple[float, float, float], price: float, width_scale: float
    ) -> None:
        self._dim, self._price, self._scale = dim, price, width_scale
        self._limits = np.array(limits)
        self._half = 0.5 * (limits[1] - limits[0])
        self._lines = np.zeros((len(SLOPES), dim * dim + dim + 1))
        self._origin = np.zeros(dim)
        self._now = np.zeros(2 * dim * dim + 2 * dim + 1)
        best_ellipsoid(self._lines, self._origin, price, self._now)
        self._last = self._now.copy()
        self._checks = np.zeros((0, dim * dim + dim + 1))
        self._tally = np.array((0.0, 0.0, False), dtype=TALLY)

    def _invariants(self, state: Arrays) -> Invariants:
        tally, checks = state["_tally"], state["_checks"]
        yield "rows of as many numbers", checks.shape[1] == self._checks.shape[1]
        yield "checks that are there", whole(tally["checks"], 0, len(checks))
        yield "a growth to come", bool(0.0 <= tally["next_growth"] <= 1000.0 * self._dim)
        yield from sound_lines(state["_lines"], state["_origin"], 1.0 + self._half**-2)
        for name in ("_now", "_last"):
            yield from sound_ellipsoid(*open_ellipsoid(state[name], self._dim), RIDGES[0])
        yield from sound_checks(checks[: int(tally["checks"])], self._dim, RIDGES[0])

    @property
    def is_empty(self) -> bool:
        """Whether some ellipsoid had no point left."""
        return bool(self._tally["empty"])

    @property
    def n_checks(self) -> int:
        """How many checks are remembered."""
        return int(self._tally["checks"])

    def bet(self, block: FloatArray, x: FloatArray, y: float) -> None:
        """One reward, while the estimate in `block` does not know it yet."""
        own_round(block, self._lines, self._origin, self._now, self._limits, x, y)

    def grow(self, block: FloatArray) -> None:
        """Take the ellipsoid anew where the data have grown notably."""
        grown = float(open_ridge(block, self._dim).log_det[0])
        if grown >= self._tally["next_growth"]:
            self._renew(block)
            self._tally["next_growth"] = grown + GROWTH

    def move_origin(self, origin: FloatArray) -> None:
        """Keep sums about this point from now on."""
        move_lines(self._lines, self._origin, origin)

    def _renew(self, block: FloatArray) -> None:
        if not best_ellipsoid(self._lines, self._origin, self._price, self._now):
            self._tally["empty"] = True
        estimate = open_ridge(block, self._dim).center
        now = open_ellipsoid(self._now, self._dim)
        now.estimate[:] = estimate / max(1.0, math.hypot(*estimate))

    def check(self, block: FloatArray) -> None:
        """The ellipsoid of now counts for ever."""
        self._renew(block)
        self._last[:] = self._now
        now, n = open_ellipsoid(self._now, self._dim), self.n_checks
        if n == len(self._checks):
            room = np.zeros((max(8, 2 * n), self._checks.shape[1]))
            room[:n] = self._checks
            self._checks = room
        self._checks[n] = np.concatenate([now.precision.ravel(), now.center, now.radius])
        self._tally["checks"] = n + 1.0

    def holds(self, theta: FloatArray) -> bool:
        """Whether theta is in the ellipsoid of every check."""
        return not self.is_empty and in_all(self._checks, self.n_checks, self._scale, theta)

    def ends(self, X: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """(lower, upper, best member tried) of <x, theta> at the last check, in the ball."""
        return own_ends(self._last, self._scale, X)

    def leader(self, X: FloatArray, mask: BoolArray) -> int:
        """The optimistic arm over the ellipsoid of now; -1 where nothing is left."""
        return -1 if self.is_empty else own_leader(self._now, self._scale, X, mask)
