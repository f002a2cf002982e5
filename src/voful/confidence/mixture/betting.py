"""A betting ellipsoid for the weights of a mixture, learning from counts of outcomes.

Bets are placed once for many steps: against each law of the next state with its target, with what
was learnt before the first of these steps. The log-wealth of a bet then depends on how often each
outcome happened only, and so does the sum of the quadratics below it.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from voful.archive import Arrays
from voful.compiled import inlined, kernel
from voful.confidence.algebra import dot, whiten
from voful.confidence.betting.minorant import bend, weigh
from voful.confidence.betting.predictors import leader, learn
from voful.confidence.betting.quadratic import (
    add_row,
    choose_lambda,
    grow,
    move_origin,
    settle,
    slab,
)
from voful.confidence.betting.questions import bet_holds, center_of, is_empty, radius_of
from voful.confidence.betting.slopes import choose_slopes
from voful.confidence.betting.sound import sound_memory
from voful.confidence.betting.state import (
    BETS,
    HIGH,
    LOW,
    N_RECENT,
    PREDICTION,
    SLOPES,
    Clock,
    Ellipsoids,
    Latest,
    Predictors,
    Rules,
    Scratch,
    new_memory,
    new_scratch,
    open_clock,
    open_ellipsoids,
    open_latest,
    open_predictors,
    open_rules,
)
from voful.confidence.mixture.domain import Domain
from voful.confidence.mixture.ends import (
    EllipsoidalMixtureSet,
    MixtureEllipsoids,
    corners_within,
    ellipsoids_of,
)
from voful.confidence.mixture.observations import Observations
from voful.invariants import Invariants, whole
from voful.typing import FloatArray, IntArray
from voful.validation import choice

LEAST_VARIANCE = 1e-7  # that slopes are chosen for
NO_HISTORY = np.empty((0, 0))


@inlined
def place_bets(
    rules: Rules,
    Theta: Ellipsoids,
    predictors: Predictors,
    latest: Latest,
    clock: Clock,
    scratch: Scratch,
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
    residuals, places = latest.residuals, latest.places
    theta = predictors.theta[leader(predictors)].copy()
    for k in range(U.shape[0]):
        lo, up = slab(rules, Theta, U[k], shifts[k], ends[k, 0], ends[k, 1], scratch)
        bets[k, LOW], bets[k, HIGH] = lo, up
        if not lo <= up:
            clock.emptied[0] = 1.0
            return
        a = min(max(shifts[k] + dot(U[k], theta), lo), up)
        spread, largest = 0.0, 0.0
        for b in range(targets.shape[1]):
            p = dot(probabilities[k, b], theta)
            if p > 0.0:
                spread += p * (targets[k, b] - a) ** 2
                largest = max(largest, abs(targets[k, b] - a))
        residuals.variance[0] = min(max(spread, LEAST_VARIANCE), 0.25)
        residuals.largest[0] = largest
        for j in range(places.shape[0]):
            places[j] = 0.0
        bets[k, PREDICTION] = a
        choose_slopes(rules, Theta, scratch.spread, residuals, a, lo, up, places, bets[k, SLOPES:])


@inlined
def settle_outcome(
    rules: Rules,
    Theta: Ellipsoids,
    scratch: Scratch,
    u: FloatArray,
    shift: float,
    bet: FloatArray,
    y: float,
    n: float,
) -> None:
    """Add the minorants of n equal outcomes y to every ellipsoid."""
    a = bet[PREDICTION]
    bend(rules, bet[SLOPES:], a, y, bet[LOW], bet[HIGH], scratch.cells, scratch.minorants)
    for e in range(Theta.rad.shape[0]):
        spread = whiten(Theta.whitener[e], u, scratch.whitened[e])
        c0, c1, c2 = weigh(rules.shares[e], scratch.minorants, n * spread)
        c0, c1, c2 = n * c0, n * c1, n * c2
        add_row(Theta, e, u, a - shift, c0, c1, c2)
        if c2 != 0.0:
            grow(Theta, e, scratch.whitened[e], c2, scratch.u)


@kernel
def take_counts(
    memory: FloatArray,
    probabilities: FloatArray,
    targets: FloatArray,
    counts: FloatArray,
    U: FloatArray,
    shifts: FloatArray,
    ends: FloatArray,
) -> None:
    """Place the bets, then settle what happened; nothing once the set is empty."""
    rules, Theta, predictors = open_rules(memory), open_ellipsoids(memory), open_predictors(memory)
    latest, clock, scratch = open_latest(memory), open_clock(memory), new_scratch(rules)
    recent, placed = latest.recent, np.zeros((U.shape[0], latest.bet.shape[0]))
    if clock.emptied[0] == 0.0:
        place_bets(
            rules,
            Theta,
            predictors,
            latest,
            clock,
            scratch,
            probabilities,
            targets,
            U,
            shifts,
            ends,
            placed,
        )
    for k in range(U.shape[0]):
        n = total = 0.0
        for b in range(targets.shape[1]):
            if counts[k, b] > 0.0:
                n += counts[k, b]
                total += counts[k, b] * targets[k, b]
                if clock.emptied[0] == 0.0:
                    y, times = targets[k, b], counts[k, b]
                    settle_outcome(rules, Theta, scratch, U[k], shifts[k], placed[k], y, times)
        if n > 0.0:
            root = math.sqrt(n)
            for i in range(U.shape[1]):
                scratch.v[i] = root * U[k, i]
                recent[int(clock.n[0]) % N_RECENT, i] = U[k, i]
            y = root * (total / n - shifts[k])
            learn(predictors, scratch.v, y, 2.0 / (clock.n[0] + 3.0), scratch.u)
            clock.n[0] += 1.0
    if clock.emptied[0] == 0.0:
        plays = recent[: min(int(clock.n[0]), N_RECENT)]
        for e in range(Theta.rad.shape[0]):
            settle(rules, Theta, e, scratch.u, scratch.v)
            move_origin(Theta, e, scratch.u, scratch.v)
            choose_lambda(rules, Theta, e, plays, scratch.u, scratch.v)


@kernel
def betting_ellipsoids(memory: FloatArray, width_scale: float, simplex: bool) -> MixtureEllipsoids:
    """The ellipsoids of a betting set, with ends that know the domain."""
    Theta = open_ellipsoids(memory)
    E, d = Theta.center.shape
    radii, factors, precisions = np.empty(E), np.empty((E, d, d)), np.empty((E, d, d))
    for e in range(E):
        radii[e] = radius_of(Theta, e, width_scale)
        factors[e] = radii[e] * Theta.whitener[e]
        precisions[e] = Theta.A[e, 0] + Theta.A[e, 1]
        for i in range(d):
            precisions[e, i, i] += Theta.lam[e]
    corners = corners_within(Theta.center, precisions, radii)
    return ellipsoids_of(Theta.center.copy(), factors, corners, True, simplex)


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

    _arrays: ClassVar[tuple[str, ...]] = ("memory", "steps")

    def __init__(
        self, domain: Domain, *, failure_prob: float, bet: str, width_scale: float
    ) -> None:
        super().__init__(domain.dim)
        self.domain = domain
        self.bet = choice("bet", bet, BETS)
        self.width_scale = width_scale
        d = domain.dim
        self.memory = new_memory(
            bet,
            delta=failure_prob,
            reward_range=(0.0, 1.0),
            rho=math.sqrt(1.0 - 1.0 / d) if domain.simplex else 1.0,
            theta0=domain.middle,
            feature_norm=math.sqrt(d),
            refresh=False,
            width_scale=width_scale,
        )
        self.steps: IntArray = np.zeros(1, dtype=np.int64)

    def _invariants(self, state: Arrays) -> Invariants:
        yield from sound_memory(state["memory"], self.memory, math.sqrt(self.dim))
        yield "a number of steps", whole(state["steps"])

    @property
    def n_observations(self) -> int:
        """How many steps were learnt."""
        return int(self.steps[0])

    @property
    def is_empty(self) -> bool:
        """Whether the ellipsoids have been seen without a common point."""
        return is_empty(self.memory)

    @property
    def center(self) -> FloatArray:
        """Centre of the first ellipsoid; of an empty set, the ridge estimate that predicts best."""
        center = center_of(self.memory)
        if self.domain.simplex:  # rounding may have left the plane
            center += (1.0 - center.sum()) / self.dim
        return center

    def learn(self, seen: Observations) -> None:
        """Learn checked observations whose targets and bets were fixed before the first of them."""
        U, shifts = self._tangent(seen.X)
        bounds = np.stack(self.domain.ends(seen.X), axis=1)
        take_counts(self.memory, seen.probabilities, seen.targets, seen.counts, U, shifts, bounds)
        self.steps[0] += int(seen.counts.sum())

    def _tangent(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(U, shifts) with <x, theta> = shift + <u, theta> on the domain."""
        shifts = X.mean(axis=1) if self.domain.simplex else np.zeros(len(X))
        return np.ascontiguousarray(X - shifts[:, None]), shifts

    def _contains(self, theta: FloatArray) -> bool:
        return self.domain.contains(theta) and bool(bet_holds(self.memory, NO_HISTORY, theta))

    def _ellipsoids(self) -> MixtureEllipsoids:
        return betting_ellipsoids(self.memory, self.width_scale, self.domain.simplex)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} in R^{self.dim} after {self.n_observations} transitions>"
