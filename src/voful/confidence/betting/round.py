"""One round of the betting ellipsoid: what is fixed before the reward, and what follows it."""

from __future__ import annotations

from voful.compiled import inlined, kernel, part
from voful.confidence.algebra import dot
from voful.confidence.betting.minorant import bend, weigh
from voful.confidence.betting.predictors import leader, learn
from voful.confidence.betting.quadratic import (
    ORIGIN_EVERY,
    add_row,
    grow,
    is_refresh_due,
    settle,
    slab,
)
from voful.confidence.betting.slopes import choose_slopes
from voful.confidence.betting.state import (
    HIGH,
    LOW,
    N_RECENT,
    PREDICTION,
    REWARD,
    SLOPES,
    Clock,
    Ellipsoids,
    Latest,
    Predictors,
    Rules,
    Scratch,
    new_room,
    open_clock,
    open_ellipsoids,
    open_latest,
    open_predictors,
    open_rules,
    scratch_in,
)
from voful.typing import FloatArray
from voful.views import lent


@inlined
def place_bet(
    rules: Rules,
    Theta: Ellipsoids,
    predictors: Predictors,
    latest: Latest,
    clock: Clock,
    scratch: Scratch,
    x: FloatArray,
) -> None:
    """Before the reward: the interval, the prediction, the slopes.

    Where the interval has no point (by more than rounding), no parameter is left: the set is empty
    from now on, and no bet is placed.
    """
    bet, residuals, places = latest.bet, latest.residuals, latest.places
    low, high = rules.y_low - rules.misfit, rules.y_high + rules.misfit
    lo, up = slab(rules, Theta, x, 0.0, low, high, scratch)
    for i in range(bet.shape[0]):
        bet[i] = 0.0
    bet[LOW], bet[HIGH] = lo, up
    if not lo <= up:
        clock.emptied[0] = 1.0
    else:
        a = min(max(dot(x, predictors.theta[leader(predictors)]), lo), up)
        a = min(max(a, rules.y_low), rules.y_high)  # <x, theta*> may lie beyond by the misfit
        bet[PREDICTION] = a
        choose_slopes(rules, Theta, scratch.spread, residuals, a, lo, up, places, bet[SLOPES:])


@inlined
def settle_bet(
    rules: Rules, Theta: Ellipsoids, bet: FloatArray, scratch: Scratch, x: FloatArray, y: float
) -> None:
    """After the reward: the minorants of this round, added to every ellipsoid."""
    minorants, a = scratch.minorants, bet[PREDICTION]
    bend(rules, bet[SLOPES:], a, y, bet[LOW], bet[HIGH], scratch.cells, minorants)
    for e in range(Theta.rad.shape[0]):
        c0, c1, c2 = weigh(rules.shares[e], minorants, scratch.spread[e])
        add_row(Theta, e, x, a, c0, c1, c2)
        if c2 != 0.0:
            grow(Theta, e, scratch.whitened[e], c2, scratch.u)
        settle(rules, Theta, e, scratch.u, scratch.v)


@inlined
def take_reward(
    rules: Rules,
    Theta: Ellipsoids,
    predictors: Predictors,
    latest: Latest,
    clock: Clock,
    scratch: Scratch,
    history: FloatArray,
    x: FloatArray,
    y: float,
) -> bool:
    """All that follows the reward, for the bet that `place_bet` has placed; see `bet_observe`."""
    bet, residuals = latest.bet, latest.residuals
    d, n = x.shape[0], int(clock.n[0])
    discount = 2.0 / (n + 3.0)
    bet[REWARD] = y
    if clock.emptied[0] == 0.0:
        settle_bet(rules, Theta, bet, scratch, x, y)
        r = y - bet[PREDICTION]
        s2 = residuals.variance[0]
        residuals.variance[0] = max(s2 + discount * (r * r - s2), 1e-6 * rules.half**2)
        residuals.largest[0] = max(abs(r), residuals.largest[0] * (1.0 - 0.25 * discount))
    learn(predictors, x, y, discount, scratch.u)
    for i in range(d):
        latest.recent[n % N_RECENT, i] = x[i]
    if rules.refresh_ratio > 0.0:
        for i in range(d):
            history[n, i] = x[i]
        for i in range(bet.shape[0]):
            history[n, d + i] = bet[i]
    clock.n[0] += 1.0
    clock.since_origin[0] += 1.0
    if clock.emptied[0] != 0.0:
        return False
    return bool(clock.since_origin[0] >= ORIGIN_EVERY or is_refresh_due(rules, clock))


@part
def observe_in(
    memory: FloatArray, history: FloatArray, x: FloatArray, reward: float, room: FloatArray
) -> bool:
    """`bet_observe`, with room to work in."""
    rules, Theta, predictors = open_rules(memory), open_ellipsoids(memory), open_predictors(memory)
    latest, clock, scratch = open_latest(memory), open_clock(memory), scratch_in(lent(room), rules)
    x, history = lent(x), lent(history)
    place_bet(rules, Theta, predictors, latest, clock, scratch, x)
    return take_reward(rules, Theta, predictors, latest, clock, scratch, history, x, reward)


@kernel
def bet_observe(
    memory: FloatArray, history: FloatArray, x: FloatArray, reward: float, variance: float
) -> bool:
    """`Rule.observe`, where the history has room; whether `bet_refresh` is due."""
    return observe_in(memory, history, x, reward, new_room(open_rules(memory)))
