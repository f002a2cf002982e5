"""Long runs with little noise, where rounding is the enemy; and how the regret grows."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest

from helpers import full, sphere
from voful import OFUL, BetOFUL
from voful.confidence.betting.minorant import bend, weigh
from voful.confidence.betting.quadratic import ORIGIN_EVERY, distance, slab
from voful.confidence.betting.refresh import bet_refresh
from voful.confidence.betting.state import (
    HIGH,
    LOW,
    PREDICTION,
    REWARD,
    SLOPES,
    new_scratch,
)
from voful.confidence.rule import addresses
from voful.envs import linear_bandit
from voful.experiments.play.compiled_loop import play_compiled
from voful.typing import FloatArray
from voful.validation import NO_MASK

ROUNDS = 1_000_000 if full() else 50_000


@numba.njit
def run_rounds(
    choose: Any,
    observe: Any,
    state: Any,
    views: Any,
    arms: Any,
    theta: Any,
    noise: Any,
    X: Any,
    a: Any,
    terms: Any,
    begin: int,
) -> float:
    """Plays the rounds from `begin` on, records each one's terms; worst distance / rad so far.

    The policy's rule is called by its addresses: it need not be compiled once more in here.
    """
    rules, Theta, latest = views.rules, views.Theta, views.latest
    worst, scratch = 0.0, new_scratch(rules)
    everything = np.empty(0, dtype=np.bool_)
    for t in range(noise.shape[0]):
        x = arms[choose(*state, arms, everything)]
        y = 0.0
        for i in range(x.shape[0]):
            y += x[i] * theta[i]
        y += noise[t]
        slab(rules, Theta, x, 0.0, rules.y_low, rules.y_high, scratch)  # the spreads of this round
        observe(*state, x, y, 0.0)
        bet = latest.bet
        X[begin + t], a[begin + t] = x, bet[PREDICTION]
        if bet[LOW] <= bet[HIGH]:
            bend(
                rules, bet[SLOPES:], bet[PREDICTION], y, bet[LOW], bet[HIGH],
                scratch.cells, scratch.minorants,
            )  # fmt: skip
            for e in range(rules.price.shape[0]):
                terms[e, begin + t] = weigh(rules.shares[e], scratch.minorants, scratch.spread[e])
        for e in range(rules.price.shape[0]):
            worst = max(worst, distance(Theta, e, theta) / Theta.rad[e])
    return worst


class Player:
    """A policy whose rounds are played by `run_rounds`."""

    def __init__(self, dim: int, arms: FloatArray, **params: Any) -> None:
        self.policy = BetOFUL(dim, on_change=None, **params)
        self.policy._reserve(ROUNDS, 0)
        self.arms, self.Theta = arms, self.policy.confidence_set
        self.state, self.views = self.policy._state, self.Theta.views()
        self.rule = addresses(self.state, self.policy._rng, arms, NO_MASK)

    def play(self, *recording: Any) -> float:
        rule, state = self.rule, tuple(self.state)
        worst: float = run_rounds(
            rule.choose, rule.observe, state, self.views, self.arms, *recording
        )
        return worst


@numba.njit
def terms_after_refresh(state: Any, history: Any, n: int, e: int, out: Any) -> None:
    rules, scratch = state.rules, new_scratch(state.rules)
    d = rules.theta0.shape[0]
    for i in range(n):
        row = history[i]
        out[i] = 0.0
        if row[d + LOW] <= row[d + HIGH]:
            bend(
                rules, row[d + SLOPES:], row[d + PREDICTION], row[d + REWARD],
                row[d + LOW], row[d + HIGH], scratch.cells, scratch.minorants,
            )  # fmt: skip
            out[i] = weigh(rules.shares[e], scratch.minorants, 0.0)


def in_long_double(
    state: Any, e: int, X: FloatArray, a: FloatArray, terms: FloatArray
) -> tuple[Any, float]:
    """(A, rad) of an ellipsoid, summed and solved (d = 2) in long double from every round."""
    wide = np.longdouble
    Z = X.astype(wide)
    z = a.astype(wide) - Z @ state.Theta.origin[e].astype(wide)
    c0, c1, c2 = terms.astype(wide).T
    A = np.array([[(c2 * Z[:, i] * Z[:, j]).sum() for j in (0, 1)] for i in (0, 1)])
    b = ((c2 * z + c1 / 2)[:, None] * Z).sum(axis=0)
    kappa = wide(state.rules.price[e]) + (c0 + (c2 * z + c1) * z).sum()
    lam = wide(state.Theta.lam[e])
    offset = state.rules.theta0.astype(wide) - state.Theta.origin[e].astype(wide)
    b = b + lam * offset
    (p, q), (_, s) = A + lam * np.eye(2, dtype=wide)
    inner = (b[0] * (s * b[0] - q * b[1]) + b[1] * (p * b[1] - q * b[0])) / (p * s - q * q)
    ball = lam * (offset @ offset - wide(state.rules.rho) ** 2)
    return A, float(wide(state.rules.log_inverse_delta) - kappa - ball + inner)


def origins_move(state: Any, n: int) -> int:
    """The round after which the origins move to their centres."""
    return n + ORIGIN_EVERY - int(state.clock.since_origin[0])


@pytest.mark.parametrize("amplitude", [0.0, 0.003])
@pytest.mark.parametrize("refresh", [True, False])
def test_theta_stays_and_rad_is_exact(amplitude: float, refresh: bool) -> None:
    rng = np.random.default_rng(3)
    theta = sphere(rng, 1, 2, 0.5)[0]
    arms = sphere(rng, 20, 2)
    noise = amplitude * rng.uniform(-1, 1, ROUNDS)
    player = Player(2, arms, refresh=refresh)
    Theta, state = player.Theta, player.views
    X, a, terms = np.zeros((ROUNDS, 2)), np.zeros(ROUNDS), np.zeros((3, ROUNDS, 3))
    n, worst, look = 0, 0.0, 0
    while n < ROUNDS:
        due = int(state.clock.next_refresh[0]) if refresh else ROUNDS + 1
        stop = min(ROUNDS, due, origins_move(state, n))
        worst = max(worst, player.play(theta, noise[n:stop], X, a, terms, n))
        n = stop
        if n == min(due, origins_move(state, n)):
            bet_refresh(Theta.memory, Theta.history)
        if n < min(due, look, ROUNDS):
            continue
        look = n + 20_000
        for e in range(3):
            if refresh and n == due:  # did the refresh keep the streamed set or the rebuilt one?
                bent = np.zeros((n, 3))
                terms_after_refresh(state, Theta.history, n, e, bent)
                A, _ = in_long_double(state, e, X[:n], a[:n], bent)
                kept = state.Theta.A[e].sum(axis=0)
                if np.abs(A.astype(float) - kept).max() <= 1e-9 * np.abs(kept).max():
                    terms[e, :n] = bent
            if n < 1000 or n > 0.5 * ROUNDS:
                _, rad = in_long_double(state, e, X[:n], a[:n], terms[e, :n])
                assert state.Theta.rad[e] == pytest.approx(rad, rel=1e-6)
    assert worst <= 1.0 + 1e-9
    assert Theta.contains(theta)


def test_theta_stays_in_dimension_20() -> None:
    rng = np.random.default_rng(5)
    theta, arms = sphere(rng, 1, 20, 0.5)[0], sphere(rng, 20, 20)
    player = Player(20, arms)
    Theta, state, chunk = player.Theta, player.views, ROUNDS // 100
    X, a, terms = np.zeros((chunk, 20)), np.zeros(chunk), np.zeros((3, chunk, 3))
    n = 0
    while n < ROUNDS:
        due = min(int(state.clock.next_refresh[0]), origins_move(state, n))
        noise = 0.003 * rng.uniform(-1, 1, min(ROUNDS - n, due - n, chunk))
        assert player.play(theta, noise, X, a, terms, 0) <= 1.0 + 1e-9
        n += len(noise)
        if n == due:
            bet_refresh(Theta.memory, Theta.history)
    assert np.isfinite(Theta.memory).all()
    assert np.isfinite(Theta.support(arms)).all()
    assert Theta.contains(theta)


def regret(policy: Any, rounds: list[int], seed: int, sigma: float) -> list[float]:
    env = linear_bandit(dim=5, sigma=sigma, seed=np.random.SeedSequence([31, seed]))
    columns = play_compiled(policy, env, rounds[-1], record_at=rounds, check_every=rounds[-1])
    regrets: list[float] = columns["regret"]
    return regrets


def test_without_noise_the_regret_is_a_burn_in() -> None:
    finals = np.mean([regret(BetOFUL(5), [2_000, 20_000], s, 0.0) for s in range(3)], axis=0)
    assert finals[1] <= 1.35 * finals[0]


def test_with_little_noise_it_beats_oful_by_far() -> None:
    mine = np.mean([regret(BetOFUL(5), [2_000], s, 0.1) for s in range(5)])
    theirs = np.mean([regret(OFUL(5), [2_000], s, 0.1) for s in range(5)])
    assert mine <= 0.25 * theirs


def test_the_tests_can_fail() -> None:
    """OFUL, which does not adapt, fails both: its regret goes on growing without noise."""
    finals = np.mean([regret(OFUL(5), [2_000, 20_000], s, 0.0) for s in range(3)], axis=0)
    assert finals[1] > 1.35 * finals[0]
