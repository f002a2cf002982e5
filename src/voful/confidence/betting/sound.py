"""What the memory of a betting ellipsoid from a file must satisfy."""

from __future__ import annotations

import numpy as np

from voful.confidence.betting.product import N_SLOPES as PRODUCT_SLOPES
from voful.confidence.betting.ratio import N_SLOPES as RATIO_SLOPES
from voful.confidence.betting.risk_state import CONSTANTS, open_risk
from voful.confidence.betting.state import (
    HIGH,
    LOW,
    PREDICTION,
    PRODUCT,
    RATIO,
    REWARD,
    RIDGES,
    SLOPES,
    Clock,
    Ellipsoids,
    Predictors,
    Rules,
    open_rules,
    open_state,
    rules_size,
)
from voful.invariants import MOST, SLACK, Invariants, between, whole
from voful.typing import FloatArray

FAR = 1e40
"""In units of the reward range and of the longest arm, no sum and no slope is so large."""


def sound_memory(memory: FloatArray, own: FloatArray, feature_norm: float) -> Invariants:
    """Of a block, `own` being the object's, of which the rules count: they never change."""
    rules = open_rules(own)
    head = rules_size(rules.bets, len(rules.theta0))
    yield "the rules of its arguments", bool((memory[:head] == own[:head]).all())
    state = open_state(memory)
    clock, latest = state.clock, state.latest
    yield from sound_clock(clock)
    kinds = [rules.bets] if rules.bets in (PRODUCT, RATIO) else [PRODUCT, RATIO]
    ends = [{PRODUCT: PRODUCT_SLOPES, RATIO: RATIO_SLOPES}[kind] - 1 for kind in kinds]
    yield "slopes on their grids", whole(latest.places) and bool((latest.places <= ends).all())
    # Beyond the grid where sums of shards need more.
    least, most = rules.lambdas.min(), FAR * rules.lambdas.max()
    yield (
        "a lambda of the grid or above",
        bool(((state.Theta.lam >= least) & (state.Theta.lam <= most)).all()),
    )
    yield from sound_ellipsoids(state.Theta, rules, rules.half / feature_norm)
    yield from sound_predictors(state.predictors, rules, feature_norm)
    yield "residuals", 0.0 <= latest.residuals.largest[0] <= FAR * (rules.half + _size(rules))
    spread = latest.residuals.variance[0] / rules.half**2
    yield "a positive variance", bool(1e-40 <= spread <= FAR)
    longest = feature_norm * (1.0 + SLACK)
    yield "recent arms", bool((np.linalg.norm(latest.recent, axis=1) <= longest).all())
    yield (
        "the latest bet",
        _within(latest.bet[SLOPES:] * rules.half, FAR)
        and _within(latest.bet[:SLOPES], FAR * (rules.half + _size(rules))),
    )


def sound_predictors(parts: Predictors, rules: Rules, feature_norm: float) -> Invariants:
    """Inverses of ridges, and estimates within reach."""
    unit = rules.half / feature_norm
    widest = 1.0 / (RIDGES[0] * feature_norm**2)
    yield "inverses of ridges", bool((np.abs(parts.inverse) <= 10.0 * widest).all())
    diagonals = np.diagonal(parts.inverse, axis1=1, axis2=2)
    yield "inverses that are positive", bool((diagonals >= 0.0).all())
    yield "estimates within reach", _within(parts.theta, FAR * _reach(rules, unit))
    yield "squared errors", between(parts.error, 0.0, FAR * (rules.half + _size(rules)) ** 2)


def sound_clock(clock: Clock) -> Invariants:
    """Counts, and a flag."""
    yield "whole numbers of rounds", whole(np.concatenate(clock), 0, MOST)
    yield "a set that is empty or not", bool(clock.emptied[0] in (0.0, 1.0))


def sound_risk(memory: FloatArray, own: FloatArray, feature_norm: float) -> Invariants:
    """Of a constant-risk set's block, `own` being the object's."""
    (rules, Theta, risk, clock), mine = open_risk(memory), open_risk(own)
    head = rules_size(rules.bets, len(mine.rules.theta0))
    yield "the rules of its arguments", bool((memory[:head] == own[:head]).all())
    yield "the constants of its arguments", risk[:CONSTANTS] == mine.risk[:CONSTANTS]
    yield from sound_clock(clock)
    yield "lambda and what top-ups added", bool(risk.ridge <= Theta.lam[0] <= FAR * risk.ridge)
    yield from sound_ellipsoids(Theta, rules, rules.half / feature_norm)
    most = FAR * risk.scale**2
    yield "squares of residuals", bool(0.0 <= risk.squares[0] <= most)
    yield "a bound on the next one", bool(risk.scale**2 * (1.0 - SLACK) <= risk.largest[0] <= most)
    yield "curvature that was taken", bool(0.0 <= risk.shrunk[0] <= FAR)
    yield "no more bets than rounds", whole(risk.bets, 0, clock.n[0])
    yield "a bound on the regret", bool(0.0 <= risk.bound[0] <= FAR * risk.scale)


def sound_history(history: FloatArray, own: FloatArray, feature_norm: float) -> Invariants:
    """Of the rounds that are kept."""
    rules = open_rules(own)
    d = len(rules.theta0)
    arms, bets = history[:, :d], history[:, d:]
    longest = feature_norm * (1.0 + SLACK)
    yield "arms of the history", bool((np.linalg.norm(arms, axis=1) <= longest).all())
    yield "rewards in the range", between(bets[:, REWARD], rules.y_low, rules.y_high)
    size = rules.half + _size(rules)
    yield "intervals", _within(bets[:, [PREDICTION, LOW, HIGH]], FAR * size)
    placed = bets[bets[:, LOW] <= bets[:, HIGH]]
    low, high = rules.y_low - rules.misfit, rules.y_high + rules.misfit
    yield "intervals in the range", between(placed[:, [LOW, HIGH]], low, high)
    yield "predictions in the range", between(placed[:, PREDICTION], rules.y_low, rules.y_high)
    yield "slopes of bets", between(placed[:, SLOPES:] * rules.half, 0.0, FAR)


def sound_ellipsoids(Theta: Ellipsoids, rules: Rules, unit: float) -> Invariants:
    """Quadratics that do not fall, whiteners of A + lambda I, centres within reach."""
    d = len(rules.theta0)
    curved = np.diagonal(Theta.A.sum(axis=1), axis1=1, axis2=2)
    # Minorants may bend down: what is kept is only known to be positive with lambda.
    yield "positive with lambda", bool((curved + Theta.lam[:, None] >= 0.0).all())
    yield "quadratics of bounded bets", _within(Theta.A * unit**2, FAR)
    yield "slopes of bounded bets", _within(Theta.b * unit, FAR) and _within(Theta.kappa, FAR)
    reach = _reach(rules, unit)
    yield "origins within reach", _within(Theta.origin, FAR * reach)
    yield "centres within reach", _within(Theta.center, FAR * reach)
    lower = np.tril(Theta.whitener, -1)
    diagonals = np.diagonal(Theta.whitener, axis1=1, axis2=2)
    yield "triangular whiteners", bool((lower == 0.0).all() and (diagonals > 0.0).all())
    widest = 1e10 / np.sqrt(Theta.lam)[:, None, None]
    yield "whiteners of A + lambda I", bool((np.abs(Theta.whitener) <= widest).all())
    yield "radii", _within(Theta.rad, FAR)
    yield "log determinants", between(Theta.log_det, -1.0, 1000.0 * d)
    traces = Theta.trace * Theta.lam
    yield "traces of inverses", bool(((traces > 0.0) & (traces <= FAR)).all())


def _within(values: FloatArray, largest: float) -> bool:
    return bool((np.abs(values) <= largest).all())


def _size(rules: Rules) -> float:
    return max(abs(rules.y_low), abs(rules.y_high))


def _reach(rules: Rules, unit: float) -> float:
    return unit + rules.rho + float(np.linalg.norm(rules.theta0))
