"""Old rounds bent again on today's narrower intervals."""

from __future__ import annotations

import numpy as np

from voful.compiled import inlined
from voful.confidence.betting.minorant import bend, weigh
from voful.confidence.betting.quadratic import (
    add_row,
    choose_lambda,
    keep,
    move_origin,
    put_back,
    score,
    settle,
    slab,
    widened,
)
from voful.confidence.betting.state import (
    HIGH,
    LOW,
    PREDICTION,
    REWARD,
    SLOPES,
    Ellipsoids,
    Rules,
    Scratch,
)
from voful.typing import FloatArray


@inlined
def renew(
    rules: Rules, Theta: Ellipsoids, scratch: Scratch, plays: FloatArray, rows: FloatArray
) -> None:
    """Rebuild every ellipsoid about its centre from tightened rows; keep what is thinner."""
    u, v, E = scratch.u, scratch.v, Theta.rad.shape[0]
    streamed_score = np.empty(E)
    for e in range(E):
        streamed_score[e] = score(Theta, e, plays, v)
    A, b, kappa = Theta.A.copy(), Theta.b.copy(), Theta.kappa.copy()
    rebuild(rules, Theta, scratch, rows)
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


@inlined
def copy_into(target: FloatArray, source: FloatArray) -> None:
    """target[...] = source, which would be compiled with all that can go wrong."""
    flat = source.flat
    for i in range(target.size):
        target.flat[i] = flat[i]


@inlined
def tighten(rules: Rules, Theta: Ellipsoids, scratch: Scratch, rows: FloatArray) -> None:
    """Intersect every stored interval with the current one: on the event both hold <x, theta*>."""
    d = rules.theta0.shape[0]
    for i in range(rows.shape[0]):
        row = rows[i]
        old_lo, old_up = row[d + LOW], row[d + HIGH]
        if old_lo <= old_up:
            lo, up = slab(rules, Theta, row[:d], 0.0, rules.y_low, rules.y_high, scratch)
            lo, up = widened(max(lo, old_lo), min(up, old_up), rules.half)
            # Crossed by more than rounding: theta* has left (or the set is empty): the old one
            # stays.
            if lo <= up:
                row[d + LOW], row[d + HIGH] = lo, up


@inlined
def rebuild(rules: Rules, Theta: Ellipsoids, scratch: Scratch, rows: FloatArray) -> None:
    """A, b and kappa from every row, with today's minorants and the slopes of then."""
    d = rules.theta0.shape[0]
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
