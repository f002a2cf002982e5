"""A betting ellipsoid for the weights of a mixture, learning from counts of outcomes.

Bets are placed once for many steps: against each law of the next state with its target, with what
was learnt before the first of these steps. The log-wealth of a bet then depends on how often each
outcome happened only, and so does the sum of the quadratics below it.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from voful.compiled import kernel
from voful.confidence.algebra import dot, whiten
from voful.confidence.betting.extent import current_center, ellipsoids, holds
from voful.confidence.betting.minorant import bend, weigh
from voful.confidence.betting.plugin import leader, learn
from voful.confidence.betting.quadratic import (
    EPS,
    add_row,
    choose_lambda,
    grow,
    move_origin,
    settle,
    widened,
)
from voful.confidence.betting.slopes import choose_slopes
from voful.confidence.betting.state import (
    BETS,
    EMPTIED,
    HIGH,
    LARGEST,
    LOW,
    N_RECENT,
    PREDICTION,
    RAD,
    SLOPES,
    TRACE,
    VARIANCE,
    N,
    State,
    begin,
    fixed_numbers,
    memory_size,
    n_bets,
    open_state,
)
from voful.confidence.mixture.domain import Domain
from voful.confidence.mixture.ends import EllipsoidalMixtureSet, MixtureEllipsoids
from voful.confidence.mixture.observations import Observations
from voful.typing import FloatArray, IntArray
from voful.validation import choice

LEAST_VARIANCE = 1e-7  # that slopes are chosen for


@kernel
def mixture_slab(
    state: State, u: FloatArray, shift: float, low: float, high: float
) -> tuple[float, float]:
    """Ends of <x, theta> = shift + <u, theta> over the ellipsoids, the ball and [low, high].

    Leaves W u and its squared length, rounded outwards, for each ellipsoid.
    """
    rules, Theta, scratch = state.rules, state.Theta, state.scratch
    squared = dot(u, u)
    middle = dot(u, rules.theta0)
    width = rules.rho * math.sqrt(squared) * (1.0 + 4.0 * EPS)
    lo, up = max(low, shift + middle - width), min(high, shift + middle + width)
    for e in range(scratch.spread.shape[0]):
        rad = Theta.scalars[e, RAD]
        if not rad >= 0.0:
            return math.inf, -math.inf
        outwards = 4.0 * EPS * u.shape[0] * Theta.scalars[e, TRACE] * squared
        scratch.spread[e] = whiten(Theta.whitener[e], u, scratch.whitened[e]) + outwards
        middle = shift + dot(u, Theta.center[e])
        width = math.sqrt(rad * scratch.spread[e])
        lo, up = max(lo, middle - width), min(up, middle + width)
    return widened(lo, up, rules.half)


@kernel
def place_bets(
    state: State,
    probabilities: FloatArray,
    targets: FloatArray,
    U: FloatArray,
    shifts: FloatArray,
    ends: FloatArray,
    bets: FloatArray,
) -> None:
    """Interval, prediction and slopes against each law, all from the present state.

    No bet may depend on which other laws are met: each search for slopes starts anew. The variance
    that a slope is chosen for is that of the target under the predicted mixture.
    """
    theta = state.plugin.theta[leader(state.plugin)].copy()
    for k in range(U.shape[0]):
        lo, up = mixture_slab(state, U[k], shifts[k], ends[k, 0], ends[k, 1])
        bets[k, :] = 0.0
        bets[k, LOW], bets[k, HIGH] = lo, up
        if not lo <= up:
            state.rounds[EMPTIED] = 1
            return
        a = min(max(shifts[k] + dot(U[k], theta), lo), up)
        spread, largest = 0.0, 0.0
        for b in range(targets.shape[1]):
            p = dot(probabilities[k, b], theta)
            if p > 0.0:
                spread += p * (targets[k, b] - a) ** 2
                largest = max(largest, abs(targets[k, b] - a))
        state.residuals[VARIANCE] = min(max(spread, LEAST_VARIANCE), 0.25)
        state.residuals[LARGEST] = largest
        state.places[:] = 0.0
        bets[k, PREDICTION] = a
        choose_slopes(
            state.rules,
            state.Theta.scalars,
            state.scratch.spread,
            state.residuals,
            U.shape[1],
            a,
            lo,
            up,
            state.places,
            bets[k, SLOPES:],
        )


@kernel
def settle_outcome(
    state: State, u: FloatArray, shift: float, bet: FloatArray, y: float, n: float
) -> None:
    """Add the minorants of n equal outcomes y to every ellipsoid."""
    rules, Theta, scratch = state.rules, state.Theta, state.scratch
    a, lo, up = bet[PREDICTION], bet[LOW], bet[HIGH]
    bend(
        rules.bets,
        bet[SLOPES:],
        a,
        y,
        lo,
        up,
        rules.y_low,
        rules.y_high,
        scratch.cells,
        scratch.minorants,
    )
    for e in range(Theta.scalars.shape[0]):
        spread = whiten(Theta.whitener[e], u, scratch.whitened[e])
        c0, c1, c2 = weigh(rules.shares[e], scratch.minorants, n * spread)
        c0, c1, c2 = n * c0, n * c1, n * c2
        add_row(Theta.A[e], Theta.b[e], Theta.kappa[e], Theta.origin[e], u, a - shift, c0, c1, c2)
        if c2 != 0.0:
            grow(Theta.whitener[e], Theta.scalars[e], scratch.whitened[e], c2)


@kernel
def take_counts(
    bets: int,
    constants: FloatArray,
    memory: FloatArray,
    count: IntArray,
    history: FloatArray,
    probabilities: FloatArray,
    targets: FloatArray,
    counts: FloatArray,
    U: FloatArray,
    shifts: FloatArray,
    ends: FloatArray,
) -> None:
    """Place the bets, then settle what happened; nothing once the set is empty."""
    state = open_state(bets, constants, memory, count, history)
    rules, Theta, scratch = state.rules, state.Theta, state.scratch
    placed = np.empty((U.shape[0], SLOPES + state.places.shape[0]))
    if not count[EMPTIED]:
        place_bets(state, probabilities, targets, U, shifts, ends, placed)
    for k in range(U.shape[0]):
        n = total = 0.0
        for b in range(targets.shape[1]):
            if counts[k, b] > 0.0:
                n += counts[k, b]
                total += counts[k, b] * targets[k, b]
                if not count[EMPTIED]:
                    settle_outcome(state, U[k], shifts[k], placed[k], targets[k, b], counts[k, b])
        if n > 0.0:
            root = math.sqrt(n)
            for i in range(U.shape[1]):
                scratch.v[i] = root * U[k, i]
            y = root * (total / n - shifts[k])
            learn(state.plugin, scratch.v, y, 2.0 / (count[N] + 3.0), scratch.u)
            state.recent[count[N] % N_RECENT] = U[k]
            count[N] += 1
    if not count[EMPTIED]:
        plays = state.recent[: min(count[N], N_RECENT)]
        for e in range(Theta.scalars.shape[0]):
            settle(rules, Theta, e, scratch.u, scratch.v)
            move_origin(Theta, e, scratch.u, scratch.v)
            choose_lambda(rules, Theta, e, plays, scratch.u, scratch.v)


class CountedBettingSet(EllipsoidalMixtureSet):
    """Betting ellipsoids for the weights theta* of a mixture.

    Outcome b of law k has probability sum_i theta*_i p[k, b, i] and pays targets[k, b] in [0, 1]:
    the mean is <x, theta*>. A bet against theta pays f(theta) for each step, as in
    `BettingEllipsoid`; here its interval, prediction and slopes are fixed before the first of the
    steps that `learn` is given, so the wealth at theta* is a nonnegative martingale still, and
    theta* stays with probability at least 1 - failure_prob.

    On the simplex sum theta = 1: only the part of x that is orthogonal to 1 is uncertain, so that
    the ellipsoids live in that plane, and intervals are also cut at [min_i x_i, max_i x_i].

    Parameters
    ----------
    domain
        The simplex or the L1 ball.
    failure_prob
        Probability that theta* ever leaves the set.
    bet
        As for `BettingEllipsoid`.
    width_scale
        Multiplies the half-widths where they are asked (1 = the theory); bets keep the theory's.
    """

    _arrays: ClassVar[tuple[str, ...]] = ("memory", "count", "steps")

    def __init__(
        self, domain: Domain, *, failure_prob: float, bet: str, width_scale: float
    ) -> None:
        super().__init__(domain.dim)
        self.domain = domain
        self.bet = choice("bet", bet, BETS)
        self.width_scale = width_scale
        self._bets = BETS.index(bet)
        d = domain.dim
        rho = math.sqrt(1.0 - 1.0 / d) if domain.simplex else 1.0
        self._constants = fixed_numbers(
            self._bets,
            delta=failure_prob,
            reward_range=(0.0, 1.0),
            rho=rho,
            theta0=domain.middle,
            feature_norm=math.sqrt(d),
            refresh=False,
        )
        self._history = np.zeros((0, d + SLOPES + n_bets(self._bets)))
        self.memory: FloatArray = np.zeros(memory_size(self._bets, d))
        self.count: IntArray = np.zeros(4, dtype=np.int64)
        self.steps: IntArray = np.zeros(1, dtype=np.int64)
        begin(open_state(*self._everything()), math.sqrt(d))

    @property
    def n_observations(self) -> int:
        """How many steps were learnt."""
        return int(self.steps[0])

    @property
    def is_empty(self) -> bool:
        """Whether the ellipsoids have been seen without a common point."""
        return bool(current_center(*self._everything())[0])

    @property
    def center(self) -> FloatArray:
        """Centre of the first ellipsoid; of an empty set, the ridge estimate that predicts best."""
        center = current_center(*self._everything())[1]
        if self.domain.simplex:  # rounding may have left the plane
            center += (1.0 - center.sum()) / self.dim
        return center

    def learn(self, seen: Observations) -> None:
        """Learn checked observations whose targets and bets were fixed before the first of them."""
        U, shifts = self._tangent(seen.X)
        bounds = np.stack([-self.domain.support(-seen.X), self.domain.support(seen.X)], axis=1)
        take_counts(
            *self._everything(), seen.probabilities, seen.targets, seen.counts, U, shifts, bounds
        )
        self.steps[0] += int(seen.counts.sum())

    def _tangent(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(U, shifts) with <x, theta> = shift + <u, theta> on the domain."""
        shifts = X.mean(axis=1) if self.domain.simplex else np.zeros(len(X))
        return np.ascontiguousarray(X - shifts[:, None]), shifts

    def _contains(self, theta: FloatArray) -> bool:
        return self.domain.contains(theta) and bool(
            holds(*self._everything(), self.width_scale, theta, 1e-9)
        )

    def _ellipsoids(self) -> MixtureEllipsoids:
        centers, whiteners, radii = ellipsoids(*self._everything(), self.width_scale)
        return MixtureEllipsoids(
            centers,
            whiteners,
            radii,
            np.zeros(centers.shape),
            np.zeros(len(radii)),
            tangent=self.domain.simplex,
            cut=True,
            simplex=self.domain.simplex,
        )

    def _everything(self) -> tuple[int, FloatArray, FloatArray, IntArray, FloatArray]:
        return self._bets, self._constants, self.memory, self.count, self._history

    def __repr__(self) -> str:
        return f"<{type(self).__name__} in R^{self.dim} after {self.n_observations} transitions>"
