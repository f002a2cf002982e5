"""Old rounds bent again on today's narrower intervals."""

from __future__ import annotations

from voful.compiled import inlined, kernel, part
from voful.confidence.algebra import BLOCK
from voful.confidence.betting.minorant import bend, weigh
from voful.confidence.betting.quadratic import (
    add_row,
    choose_lambda,
    is_refresh_due,
    move_origin,
    move_origins,
    put_back,
    score,
    settle,
    slabs,
    widened,
)
from voful.confidence.betting.state import (
    HIGH,
    LOW,
    N_RECENT,
    PREDICTION,
    REWARD,
    SLOPES,
    Ellipsoids,
    Rules,
    Scratch,
    new_scratch,
    open_clock,
    open_ellipsoids,
    open_latest,
    open_rules,
)
from voful.typing import FloatArray
from voful.views import lent


@inlined
def stream_again(Theta: Ellipsoids, streamed: Ellipsoids, e: int) -> None:
    """Take an ellipsoid as it was."""
    d = Theta.b.shape[2]
    for k in range(2):
        for i in range(d):
            for j in range(d):
                Theta.A[e, k, i, j] = streamed.A[e, k, i, j]
            Theta.b[e, k, i] = streamed.b[e, k, i]
        Theta.kappa[e, k] = streamed.kappa[e, k]
    lam, log_det, trace = streamed.lam[e], streamed.log_det[e], streamed.trace[e]
    put_back(Theta, e, streamed.whitener[e], lam, log_det, trace)


@part
def tighten(rules: Rules, Theta: Ellipsoids, rows: FloatArray) -> None:
    """Intersect every stored interval with the current one: on the event both hold <x, theta*>."""
    d = rules.theta0.shape[0]
    low, high = rules.y_low - rules.misfit, rules.y_high + rules.misfit
    for first in range(0, rows.shape[0], BLOCK):
        block = rows[first : first + BLOCK]
        ends = slabs(rules, Theta, block[:, :d].copy(), low, high)
        for i in range(block.shape[0]):
            old_lo, old_up = block[i, d + LOW], block[i, d + HIGH]
            lo, up = widened(max(ends[0][i], old_lo), min(ends[1][i], old_up), rules.half)
            # Crossed by more than rounding: theta* has left (or the set is empty, or there was no
            # bet): the old one stays.
            if old_lo <= old_up and lo <= up:
                block[i, d + LOW], block[i, d + HIGH] = lo, up


@inlined
def rebuild(rules: Rules, Theta: Ellipsoids, scratch: Scratch, rows: FloatArray) -> None:
    """A, b and kappa from every row, with today's minorants and the slopes of then."""
    d = rules.theta0.shape[0]
    for e in range(Theta.rad.shape[0]):
        Theta.kappa[e, 0], Theta.kappa[e, 1] = rules.price[e], 0.0
        for k in range(2):
            for i in range(d):
                Theta.b[e, k, i] = 0.0
                for j in range(d):
                    Theta.A[e, k, i, j] = 0.0
    add_rows(rules, Theta, scratch, rows)


@inlined
def add_rows(rules: Rules, Theta: Ellipsoids, scratch: Scratch, rows: FloatArray) -> None:
    """A, b and kappa with the minorants of these rows too; whiteners and centres stay."""
    d = rules.theta0.shape[0]
    for i in range(rows.shape[0]):
        row = rows[i]
        a, lo, up = row[d + PREDICTION], row[d + LOW], row[d + HIGH]
        if lo <= up:
            x, y, slopes = row[:d], row[d + REWARD], row[d + SLOPES :]
            bend(rules, slopes, a, y, lo, up, scratch.cells, scratch.minorants)
            for e in range(Theta.rad.shape[0]):
                # choose_lambda is the guard
                c0, c1, c2 = weigh(rules.shares[e], scratch.minorants, 0.0)
                add_row(Theta, e, x, a, c0, c1, c2)


@kernel
def bet_refresh(memory: FloatArray, history: FloatArray) -> None:
    """`Rule.refresh`: every origin to its centre; where due, all rounds bent again on the way.

    Streamed or rebuilt, what is thinner along the latest plays is kept.
    """
    rules, Theta, history = open_rules(memory), open_ellipsoids(memory), lent(history)
    latest, clock, scratch = open_latest(memory), open_clock(memory), new_scratch(rules)
    u, v = scratch.u, scratch.v
    n = int(clock.n[0])
    plays, rows = latest.recent[: min(n, N_RECENT)], history[:n]  # none in the streaming form
    bend_again = is_refresh_due(rules, clock)
    if bend_again:
        tighten(rules, Theta, rows)
    move_origins(rules, Theta, clock, plays, u, v)
    if not bend_again:
        return
    before = memory.copy()
    rebuild(rules, Theta, scratch, rows)
    for e in range(Theta.rad.shape[0]):
        streamed = open_ellipsoids(before)  # in here: views do not keep it alive
        streamed_score = score(streamed, e, plays, v)
        rebuilt = choose_lambda(rules, Theta, e, plays, u, v)
        if not (rebuilt and score(Theta, e, plays, v) < streamed_score):
            stream_again(Theta, streamed, e)
            settle(rules, Theta, e, u, v)
        move_origin(Theta, e, u, v)
        settle(rules, Theta, e, u, v)
    clock.next_refresh[0] = max(n + 1, int(rules.refresh_ratio * n))
