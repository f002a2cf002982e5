"""One round of the betting ellipsoid: what is fixed before the reward, and what follows it."""

from __future__ import annotations

from voful.compiled import kernel
from voful.confidence.algebra import dot
from voful.confidence.betting.minorant import bend, weigh
from voful.confidence.betting.plugin import leader, learn
from voful.confidence.betting.quadratic import (
    ORIGIN_EVERY,
    add_row,
    choose_lambda,
    grow,
    move_origin,
    settle,
    slab,
)
from voful.confidence.betting.refresh import refresh
from voful.confidence.betting.slopes import choose_slopes
from voful.confidence.betting.state import (
    EMPTIED,
    HIGH,
    LARGEST,
    LOW,
    N_RECENT,
    NEXT_REFRESH,
    PREDICTION,
    REWARD,
    SINCE_ORIGIN,
    SLOPES,
    VARIANCE,
    N,
    State,
    open_state,
)
from voful.typing import FloatArray, IntArray


@kernel
def place_bet(state: State, x: FloatArray) -> None:
    """Before the reward: the interval, the prediction, the slopes.

    Where the interval has no point (by more than rounding), no parameter is left: the set is empty
    from now on, and no bet is placed.
    """
    rules, Theta, scratch, bet = state.rules, state.Theta, state.scratch, state.bet
    lo, up = slab(rules, Theta, x, scratch.whitened, scratch.spread)
    bet[:] = 0.0
    bet[LOW], bet[HIGH] = lo, up
    if not lo <= up:
        state.rounds[EMPTIED] = 1
    else:
        a = min(max(dot(x, state.plugin.theta[leader(state.plugin)]), lo), up)
        bet[PREDICTION] = a
        choose_slopes(
            rules,
            Theta.scalars,
            scratch.spread,
            state.residuals,
            x.shape[0],
            a,
            lo,
            up,
            state.places,
            bet[SLOPES:],
        )


@kernel
def settle_bet(state: State, x: FloatArray, y: float) -> None:
    """After the reward: the minorants of this round, added to every ellipsoid."""
    rules, Theta, scratch, bet = state.rules, state.Theta, state.scratch, state.bet
    a, lo, up = bet[PREDICTION], bet[LOW], bet[HIGH]
    minorants = scratch.minorants
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
        minorants,
    )
    for e in range(Theta.scalars.shape[0]):
        c0, c1, c2 = weigh(rules.shares[e], minorants, scratch.spread[e])
        add_row(Theta.A[e], Theta.b[e], Theta.kappa[e], Theta.origin[e], x, a, c0, c1, c2)
        if c2 != 0.0:
            grow(Theta.whitener[e], Theta.scalars[e], scratch.whitened[e], c2)
        settle(rules, Theta, e, scratch.u, scratch.v)


@kernel
def take_reward(state: State, x: FloatArray, y: float) -> None:
    """All that follows the reward, for the bet that `place_bet` has placed."""
    rules, scratch, bet, count = state.rules, state.scratch, state.bet, state.rounds
    d, n = x.shape[0], count[N]
    discount = 2.0 / (n + 3.0)
    bet[REWARD] = y
    if not count[EMPTIED]:
        settle_bet(state, x, y)
        r = y - bet[PREDICTION]
        s2 = state.residuals[VARIANCE]
        state.residuals[VARIANCE] = max(s2 + discount * (r * r - s2), 1e-6 * rules.half**2)
        state.residuals[LARGEST] = max(abs(r), state.residuals[LARGEST] * (1.0 - 0.25 * discount))
    learn(state.plugin, x, y, discount, scratch.u)
    state.recent[n % N_RECENT] = x
    if rules.refresh_ratio > 0.0:
        state.history[n, :d] = x
        state.history[n, d:] = bet
    count[N] = n + 1
    count[SINCE_ORIGIN] += 1
    if count[EMPTIED]:
        return
    if rules.refresh_ratio > 0.0 and n + 1 >= count[NEXT_REFRESH]:
        refresh(state)
    elif count[SINCE_ORIGIN] >= ORIGIN_EVERY:
        count[SINCE_ORIGIN] = 0
        plays = state.recent[: min(n + 1, N_RECENT)]
        for e in range(state.Theta.scalars.shape[0]):
            move_origin(state.Theta, e, scratch.u, scratch.v)
            choose_lambda(rules, state.Theta, e, plays, scratch.u, scratch.v)


@kernel
def play_round(
    bets: int,
    constants: FloatArray,
    memory: FloatArray,
    count: IntArray,
    history: FloatArray,
    x: FloatArray,
    y: float,
) -> bool:
    """One observed pair (x, y); False, and nothing done, where the history is full."""
    state = open_state(bets, constants, memory, count, history)
    if state.rules.refresh_ratio > 0.0 and count[N] >= history.shape[0]:
        return False
    place_bet(state, x)
    take_reward(state, x, y)
    return True
