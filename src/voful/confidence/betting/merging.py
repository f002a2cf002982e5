"""Betting sets of several shards put together.

Log-wealths of shards add, so the quadratics below them do: about one origin, in two parts, with the
mixture's price paid once and one ball term lambda. Every bet must be fixed before its reward in one
order of all rows. Two ways are here: shards that bet on the intervals of one set, which is put
together at barriers (`bet_apart`, `bend_apart`, `absorb`, `improve`), and sets that grew up apart
(`add_sets`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from voful.compiled import kernel
from voful.confidence.algebra import dot
from voful.confidence.betting.minorant import bend, weigh
from voful.confidence.betting.predictors import learn
from voful.confidence.betting.quadratic import (
    add_row,
    choose_lambda,
    factorise,
    move_origin,
    score,
    settle,
)
from voful.confidence.betting.refresh import add_rows, stream_again, tighten
from voful.confidence.betting.round import place_bet
from voful.confidence.betting.state import (
    HIGH,
    LOW,
    N_RECENT,
    PREDICTION,
    REWARD,
    SLOPES,
    Ellipsoids,
    new_scratch,
    open_clock,
    open_ellipsoids,
    open_latest,
    open_predictors,
    open_rules,
    open_state,
    rules_size,
)
from voful.confidence.compensated import add_outer, add_vector
from voful.typing import FloatArray

RIDGE_TRIES = 60  # tenfold lambdas beyond the grid: any is sound


# --- in a shard ---------------------------------------------------------------------------------


@kernel
def bet_apart(
    memory: FloatArray,
    free: FloatArray,
    safe: FloatArray,
    gram: FloatArray,
    response: FloatArray,
    X: FloatArray,
    rewards: FloatArray,
    rows: FloatArray,
) -> None:
    """Bet on a shard's rows with intervals of the merged set, which stays as it is.

    memory: the shard's copy of the merged block; its predictors and residuals learn, and its clock
    counts the shard's own rows. free and safe: blocks to whose quadratics the minorants are added;
    those of `safe` never bend down. gram (2, d, d), response (2, d): the sums of ridge regression.
    rows: what is to be kept, as in a history.
    """
    rules, Theta, predictors = open_rules(memory), open_ellipsoids(memory), open_predictors(memory)
    latest, clock, scratch = open_latest(memory), open_clock(memory), new_scratch(rules)
    Free, Safe = open_ellipsoids(free), open_ellipsoids(safe)
    bet, minorants, residuals = latest.bet, scratch.minorants, latest.residuals
    d = X.shape[1]
    for i in range(X.shape[0]):
        x, y, discount = X[i], rewards[i], 2.0 / (clock.n[0] + 3.0)
        place_bet(rules, Theta, predictors, latest, clock, scratch, x)
        bet[REWARD] = y
        if clock.emptied[0] == 0.0:
            a = bet[PREDICTION]
            bend(rules, bet[SLOPES:], a, y, bet[LOW], bet[HIGH], scratch.cells, minorants)
            for e in range(Theta.rad.shape[0]):
                c0, c1, c2 = weigh(rules.shares[e], minorants, 0.0)
                add_row(Free, e, x, a, c0, c1, c2)
                c0, c1, c2 = weigh(rules.shares[e], minorants, np.inf)
                add_row(Safe, e, x, a, c0, c1, c2)
            r, s2 = y - a, residuals.variance[0]
            residuals.variance[0] = max(s2 + discount * (r * r - s2), 1e-6 * rules.half**2)
            residuals.largest[0] = max(abs(r), residuals.largest[0] * (1.0 - 0.25 * discount))
        else:
            bet[LOW], bet[HIGH] = 1.0, 0.0  # no bet
        learn(predictors, x, y, discount, scratch.u)
        add_outer(gram, 1.0, x)
        add_vector(response, y - dot(x, rules.theta0), x)
        clock.n[0] += 1.0
        for j in range(d):
            rows[i, j] = x[j]
        for j in range(bet.shape[0]):
            rows[i, d + j] = bet[j]


@kernel
def bend_apart(memory: FloatArray, rows: FloatArray, sums: FloatArray) -> None:
    """Add the minorants of a shard's old rows, bent on intervals of the merged set, to `sums`.

    The intervals of `rows`, a copy, are narrowed on the way.
    """
    rules, Theta = open_rules(memory), open_ellipsoids(memory)
    scratch = new_scratch(rules)
    tighten(rules, Theta, rows)
    add_rows(rules, open_ellipsoids(sums), scratch, rows)


# --- where all meet -----------------------------------------------------------------------------


def empty_sums(memory: FloatArray) -> FloatArray:
    """A block about the same origins whose quadratics are 0."""
    sums = memory.copy()
    quadratics_of(sums)[:] = 0.0
    return sums


def quadratics_of(memory: FloatArray) -> FloatArray:
    """A, b and kappa of a block as one flat view: what shards hand over."""
    bets, d = int(memory[0]), int(memory[1])
    first, E = rules_size(bets, d), len(open_rules(memory).price)
    return memory[first : first + E * (2 * d * d + 2 * d + 2)]


def add_quadratics(memory: FloatArray, parts: Sequence[FloatArray]) -> None:
    """Add what `quadratics_of` gave, about the same origins, in this order."""
    Theta, room = open_ellipsoids(memory), memory.copy()
    part = open_ellipsoids(room)
    for numbers in parts:
        quadratics_of(room)[:] = numbers
        for total, value in zip(Theta[:3], part[:3], strict=True):
            add_two_parts(total, value)


def add_two_parts(total: FloatArray, value: FloatArray) -> None:
    """Two-sum of (E, 2, ...) arrays: total[:, 0] + total[:, 1] += value[:, 0] + value[:, 1]."""
    for k in range(2):
        old, more = total[:, 0].copy(), value[:, k]
        new = old + more
        seen = new - old
        total[:, 1] += (old - (new - seen)) + (more - seen)
        total[:, 0] = new


@kernel
def absorb(memory: FloatArray, free: FloatArray, safe: FloatArray) -> None:
    """Take the quadratics of `free`; where they bend down too far, those of `safe`.

    Origins move to the centres. Where no lambda of the grid is admissible, a larger one is: any is
    sound.
    """
    rules, Theta = open_rules(memory), open_ellipsoids(memory)
    latest, clock, scratch = open_latest(memory), open_clock(memory), new_scratch(rules)
    Free, Safe, u, v = open_ellipsoids(free), open_ellipsoids(safe), scratch.u, scratch.v
    plays = latest.recent[: min(int(clock.n[0]), N_RECENT)]
    for e in range(Theta.rad.shape[0]):
        stream_again(Theta, Free, e)
        if not choose_lambda(rules, Theta, e, plays, u, v):
            stream_again(Theta, Safe, e)
            if not choose_lambda(rules, Theta, e, plays, u, v):
                lam = rules.lambdas[-1]
                for _ in range(RIDGE_TRIES):
                    lam *= 10.0
                    if factorise(rules, Theta, e, lam, u, v):
                        break
        move_origin(Theta, e, u, v)
        settle(rules, Theta, e, u, v)


@kernel
def improve(memory: FloatArray, bent: FloatArray) -> float:
    """Take the quadratics of `bent` where that makes the set thinner along the latest plays.

    Returns the largest gain in width, as a share of it. Origins move to the centres.
    """
    rules, Theta = open_rules(memory), open_ellipsoids(memory)
    latest, clock, scratch = open_latest(memory), open_clock(memory), new_scratch(rules)
    Bent, u, v = open_ellipsoids(bent), scratch.u, scratch.v
    copied, gain = memory.copy(), 0.0
    plays = latest.recent[: min(int(clock.n[0]), N_RECENT)]
    for e in range(Theta.rad.shape[0]):
        streamed = open_ellipsoids(copied)  # in here: views do not keep it alive
        before = score(streamed, e, plays, v)
        stream_again(Theta, Bent, e)
        fits = choose_lambda(rules, Theta, e, plays, u, v)
        after = score(Theta, e, plays, v)
        if fits and after < before:
            gain = max(gain, 1.0 - np.sqrt(after / before))
        else:
            stream_again(Theta, streamed, e)
            settle(rules, Theta, e, u, v)
        move_origin(Theta, e, u, v)
        settle(rules, Theta, e, u, v)
    return gain


def put_predictors(memory: FloatArray, start: FloatArray, gram: FloatArray, g: FloatArray) -> None:
    """The four ridge estimates of these sums; `start` is the block before any row."""
    predictors, first = open_predictors(memory), open_predictors(start)
    theta0 = open_rules(memory).theta0
    values, vectors = np.linalg.eigh(gram)
    for q in range(len(first.inverse)):
        ridge = 1.0 / first.inverse[q, 0, 0]
        scales = 1.0 / (np.maximum(values, 0.0) + ridge)
        predictors.inverse[q] = (vectors * scales) @ vectors.T
        predictors.theta[q] = theta0 + vectors @ (scales * (vectors.T @ g))


def ridge_sums(memory: FloatArray, start: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The sums that `put_predictors` takes, from the estimates of a block."""
    predictors, first = open_predictors(memory), open_predictors(start)
    precision = np.linalg.inv(predictors.inverse[-1])
    ridge = 1.0 / first.inverse[-1, 0, 0]
    gram = 0.5 * (precision + precision.T) - ridge * np.eye(len(precision))
    return gram, precision @ (predictors.theta[-1] - open_rules(memory).theta0)


def put_residuals(
    memory: FloatArray, parts: Sequence[FloatArray], weights: Sequence[float]
) -> None:
    """Errors of the estimates and sizes of residuals: means over blocks, weighed by rows."""
    shares = np.array(weights) / sum(weights)
    states = [open_state(part) for part in parts]
    predictors, residuals = open_predictors(memory), open_latest(memory).residuals
    predictors.error[:] = sum(w * s.predictors.error for w, s in zip(shares, states, strict=True))
    variances = [s.latest.residuals.variance[0] for s in states]
    residuals.variance[0] = float(shares @ np.array(variances))
    residuals.largest[0] = max(float(s.latest.residuals.largest[0]) for s in states)


def put_plays(memory: FloatArray, plays: Sequence[FloatArray]) -> None:
    """The latest plays of all, one of each in turn, the latest ones first; the clock is right."""
    longest = max(map(len, plays))
    turns = [part[-1 - i] for i in range(longest) for part in plays if i < len(part)]
    chosen = np.array(turns[:N_RECENT])
    open_latest(memory).recent[: len(chosen)] = chosen


def recent_plays(memory: FloatArray) -> FloatArray:
    """The latest plays of a block, oldest first."""
    n, recent = int(open_clock(memory).n[0]), open_latest(memory).recent
    return recent[:n] if n < N_RECENT else np.roll(recent, -(n % N_RECENT), axis=0)


# --- sets that grew up apart --------------------------------------------------------------------


def add_sets(parts: Sequence[FloatArray], start: FloatArray) -> FloatArray:
    """One block for the rows of several, none of which is empty; `start` has learnt none.

    Q_e = sum_s Q_{e,s} - (m - 1) price_e: pi prod W_1 + (1 - pi) prod W_2 is a martingale, so that
    its price is paid once. The threshold is that of `start`.
    """
    memory, states = start.copy(), [open_state(part) for part in parts]
    rows = [float(state.clock.n[0]) for state in states]
    most = states[int(np.argmax(rows))].Theta.center
    merged = open_state(memory)
    merged.Theta.origin[:] = merged.Theta.center[:] = most
    open_clock(memory).n[0] = sum(rows)
    moved = [_about(part, most) for part in parts]
    sums = empty_sums(memory)
    price = open_ellipsoids(sums).kappa
    price[:, 0] = -(len(parts) - 1) * open_rules(memory).price
    add_quadratics(sums, [quadratics_of(part) for part in moved])
    put_plays(memory, [recent_plays(part) for part in parts])
    absorb(memory, sums, sums)
    grams, responses = zip(*(ridge_sums(part, start) for part in parts), strict=True)
    put_predictors(memory, start, sum(grams), sum(responses))
    put_residuals(memory, parts, rows)
    merged.latest.places[:] = states[int(np.argmax(rows))].latest.places
    return memory


def _about(part: FloatArray, origins: FloatArray) -> FloatArray:
    """The same quadratics about other origins."""
    moved = part.copy()
    Theta: Ellipsoids = open_ellipsoids(moved)
    Theta.center[:] = origins
    u, v = np.empty(origins.shape[1]), np.empty(origins.shape[1])
    for e in range(len(origins)):
        move_origin(Theta, e, u, v)
    return moved
