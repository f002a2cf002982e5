"""Old rounds bent again on today's narrower intervals."""

from __future__ import annotations

import numpy as np

from voful.compiled import kernel
from voful.confidence.algebra import BLOCK
from voful.confidence.betting.minorant import bend, weigh
from voful.confidence.betting.quadratic import (
    add_row,
    choose_lambda,
    move_origin,
    score,
    settle,
    slabs,
    widened,
)
from voful.confidence.betting.state import (
    HIGH,
    LOW,
    N_RECENT,
    NEXT_REFRESH,
    PREDICTION,
    REWARD,
    SINCE_ORIGIN,
    SLOPES,
    N,
    State,
)


@kernel
def refresh(state: State) -> None:
    """Tighten every interval, rebuild every ellipsoid about its centre, keep what is thinner."""
    n = state.rounds[N]
    rules, Theta, scratch = state.rules, state.Theta, state.scratch
    u, v = scratch.u, scratch.v
    plays = state.recent[: min(n, N_RECENT)]
    E = Theta.scalars.shape[0]
    tighten(state)
    streamed_score = np.empty(E)
    for e in range(E):
        move_origin(Theta, e, u, v)
        choose_lambda(rules, Theta, e, plays, u, v)
        streamed_score[e] = score(Theta, e, plays, v)
    A, b, kappa = Theta.A.copy(), Theta.b.copy(), Theta.kappa.copy()
    whitener, scalars = Theta.whitener.copy(), Theta.scalars.copy()
    rebuild(state)
    for e in range(E):
        rebuilt = choose_lambda(rules, Theta, e, plays, u, v)
        if not (rebuilt and score(Theta, e, plays, v) < streamed_score[e]):
            Theta.A[e], Theta.b[e], Theta.kappa[e] = A[e], b[e], kappa[e]
            Theta.whitener[e], Theta.scalars[e] = whitener[e], scalars[e]
            settle(rules, Theta, e, u, v)
        move_origin(Theta, e, u, v)
        settle(rules, Theta, e, u, v)
    state.rounds[SINCE_ORIGIN] = 0
    state.rounds[NEXT_REFRESH] = max(n + 1, int(rules.refresh_ratio * n))


@kernel
def tighten(state: State) -> None:
    """Intersect every stored interval with the current one: on the event both hold <x, theta*>."""
    n, d, half = state.rounds[N], state.scratch.u.shape[0], state.rules.half
    for start in range(0, n, BLOCK):
        rows = state.history[start : min(start + BLOCK, n)]
        lows, highs = slabs(state.rules, state.Theta, rows[:, :d].copy())
        for i in range(rows.shape[0]):
            old_lo, old_up = rows[i, d + LOW], rows[i, d + HIGH]
            if old_lo <= old_up:
                lo, up = widened(max(lows[i], old_lo), min(highs[i], old_up), half)
                # Crossed by more than rounding: theta* has left (or the set is empty): the old
                # one stays.
                if lo <= up:
                    rows[i, d + LOW], rows[i, d + HIGH] = lo, up


@kernel
def rebuild(state: State) -> None:
    """A, b and kappa from every row, with today's minorants and the slopes of then."""
    rules, Theta, scratch = state.rules, state.Theta, state.scratch
    d = scratch.u.shape[0]
    Theta.A[:] = 0.0
    Theta.b[:] = 0.0
    Theta.kappa[:, 1] = 0.0
    for e in range(Theta.scalars.shape[0]):
        Theta.kappa[e, 0] = rules.price[e]
    minorants, cells = scratch.minorants, scratch.cells
    for i in range(state.rounds[N]):
        row = state.history[i]
        a, lo, up = row[d + PREDICTION], row[d + LOW], row[d + HIGH]
        if not lo <= up:
            continue
        x, y, slopes = row[:d], row[d + REWARD], row[d + SLOPES :]
        bend(rules.bets, slopes, a, y, lo, up, rules.y_low, rules.y_high, cells, minorants)
        for e in range(Theta.scalars.shape[0]):
            c0, c1, c2 = weigh(rules.shares[e], minorants, 0.0)  # choose_lambda is the guard
            add_row(Theta.A[e], Theta.b[e], Theta.kappa[e], Theta.origin[e], x, a, c0, c1, c2)
