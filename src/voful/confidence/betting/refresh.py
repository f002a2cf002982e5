"""Old rounds bent again on today's narrower intervals."""

from __future__ import annotations

import numpy as np

from voful.compiled import inlined
from voful.confidence.algebra import BLOCK
from voful.confidence.betting.minorant import bend, weigh
from voful.confidence.betting.quadratic import (
    add_row,
    choose_lambda,
    keep,
    move_origin,
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
    Scratch,
    State,
)
from voful.typing import FloatArray


@inlined
def refresh(state: State, scratch: Scratch, history: FloatArray) -> None:
    """Tighten every interval, rebuild every ellipsoid about its centre, keep what is thinner."""
    rules, Theta, clock = state.rules, state.Theta, state.clock
    u, v, n = scratch.u, scratch.v, int(clock.n[0])
    plays = state.recent[: min(n, N_RECENT)]
    E = Theta.rad.shape[0]
    tighten(state, history[:n])
    streamed_score = np.empty(E)
    for e in range(E):
        move_origin(Theta, e, u, v)
        choose_lambda(rules, Theta, e, plays, u, v)
        streamed_score[e] = score(Theta, e, plays, v)
    A, b, kappa = Theta.A.copy(), Theta.b.copy(), Theta.kappa.copy()
    rebuild(state, scratch, history[:n])
    for e in range(E):
        kept = keep(Theta, e)
        rebuilt = choose_lambda(rules, Theta, e, plays, u, v)
        if not (rebuilt and score(Theta, e, plays, v) < streamed_score[e]):
            copy_into(Theta.A[e], A[e])
            copy_into(Theta.b[e], b[e])
            copy_into(Theta.kappa[e], kappa[e])
            put_back(Theta, e, kept)
            settle(rules, Theta, e, u, v)
        move_origin(Theta, e, u, v)
        settle(rules, Theta, e, u, v)
    clock.since_origin[0] = 0.0
    clock.next_refresh[0] = max(n + 1, int(rules.refresh_ratio * n))


@inlined
def copy_into(target: FloatArray, source: FloatArray) -> None:
    """target[...] = source, which would be compiled with all that can go wrong."""
    flat = source.flat
    for i in range(target.size):
        target.flat[i] = flat[i]


@inlined
def tighten(state: State, rows: FloatArray) -> None:
    """Intersect every stored interval with the current one: on the event both hold <x, theta*>."""
    d, half = state.rules.theta0.shape[0], state.rules.half
    for start in range(0, rows.shape[0], BLOCK):
        block = rows[start : min(start + BLOCK, rows.shape[0])]
        lows, highs = slabs(state.rules, state.Theta, block[:, :d].copy())
        for i in range(block.shape[0]):
            old_lo, old_up = block[i, d + LOW], block[i, d + HIGH]
            if old_lo <= old_up:
                lo, up = widened(max(lows[i], old_lo), min(highs[i], old_up), half)
                # Crossed by more than rounding: theta* has left (or the set is empty): the old
                # one stays.
                if lo <= up:
                    block[i, d + LOW], block[i, d + HIGH] = lo, up


@inlined
def rebuild(state: State, scratch: Scratch, rows: FloatArray) -> None:
    """A, b and kappa from every row, with today's minorants and the slopes of then."""
    rules, Theta, d = state.rules, state.Theta, state.rules.theta0.shape[0]
    Theta.A[:] = 0.0
    Theta.b[:] = 0.0
    for e in range(Theta.rad.shape[0]):
        Theta.kappa[e, 0], Theta.kappa[e, 1] = rules.price[e], 0.0
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
