"""Lemma 1 of docs/theory.md for the library's bets; what turning and batching do."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from helpers import sphere
from reference.literal_cr_betoful import Bet
from voful import CRBetOFUL
from voful.confidence import ConstantRiskSet
from voful.confidence.betting.risk_round import curvature, lowest, slope
from voful.confidence.betting.risk_state import N_NUMBERS
from voful.validation import ObservationSpace

unit = st.floats(0, 1)
seeds = st.integers(0, 10_000)


def plain(compiled: Callable[..., Any]) -> Callable[..., Any]:
    function: Callable[..., Any] = getattr(compiled, "py_func", compiled)
    return function


@given(
    a=st.floats(-1.6, 1.6), ends=st.tuples(unit, unit), mean=unit, y=unit,
    squares=st.floats(0, 500), bets=st.integers(0, 10_000), lever=st.floats(1e-6, 3),
)  # fmt: skip
def test_lemma_1(
    a: float, ends: tuple[float, float], mean: float, y: float, squares: float, bets: int,
    lever: float,
) -> None:  # fmt: skip
    """alpha's band, the minorant on the interval, and E f = 1, for rewards in [-1, 1]."""
    space = ObservationSpace(2, 1.0, (-1.0, 1.0))
    Theta = ConstantRiskSet(space, failure_prob=0.05)
    (rules, _, risk, _), numbers = Theta.views(), Theta.memory[-N_NUMBERS:]
    lo, up = sorted(2 * end - 1 for end in ends)
    assume(up - lo > 1e-6)
    nu = max(lever, max(abs(a - lo), abs(a - up)) ** 2 / 10)  # w <= sqrt(rad nu)
    risk.squares[0], risk.bets[0] = squares, bets
    S = plain(slope)(rules, numbers, a, lo, up, nu)
    w = max(abs(a - lo), abs(a - up))
    made: Any = (np.array(number) for number in (-1 < a < 1, a, lo, up, w, 0, 0, nu, 0, 0, 0, 0))
    bet = Bet(*made)
    t = np.linspace(a - up, a - lo, 201)
    r = 2 * y - 1 - a
    alpha = plain(curvature)(rules, numbers, S, a, r, lo, up)
    logs = bet.log_wealth(S, r, t)
    c, margin = risk.cap, risk.margin
    mu, kappa, varpi = 1 - 0.75 * c - margin, max(risk.k_cap, 1.5), -math.log(1 - c) / c
    assert logs.min() >= math.log(1 - c) - 1e-9
    assert S * (t * t).max() <= c * (1 + 1e-9)
    assert plain(lowest)(rules, S, a, r, lo, up) <= logs.min() + 1e-9
    assert (S * r * t + (alpha + margin * S) * t * t <= logs + 1e-8).all()
    assert mu * S - kappa * S * S * r * r <= alpha + 1e-9 * S
    assert alpha <= varpi * S
    # a law on {-1, 1} with mean z: any law in the range is a mixture of such and of points
    z = lo + mean * (up - lo)
    f = [math.exp(float(bet.log_wealth(S, v - a, np.array(a - z)))) for v in (-1.0, 1.0)]
    assert math.isclose(0.5 * (1 - z) * f[0] + 0.5 * (1 + z) * f[1], 1.0, rel_tol=1e-9)


def taught(seed: int, n: int, turn: bool = False) -> CRBetOFUL:
    rng = np.random.default_rng(seed)
    X = sphere(rng, n, 3) * rng.uniform(0.01, 1.0, (n, 1))
    y = X @ sphere(rng, 1, 3, 0.6)[0] + 0.3 * rng.uniform(-1, 1, n)
    policy = CRBetOFUL(3)
    policy.partial_fit(X @ turned(seed) if turn else X, np.clip(y, -1, 1))
    return policy


def turned(seed: int) -> Any:
    return np.linalg.qr(np.random.default_rng(seed + 1).standard_normal((3, 3)))[0]


@given(seed=seeds, n=st.integers(0, 150))
def test_rotations_turn_the_support(seed: int, n: int) -> None:
    probes = sphere(np.random.default_rng(seed + 2), 20, 3)
    plain_ends = taught(seed, n).confidence_set.support(probes)
    ends = taught(seed, n, turn=True).confidence_set.support(probes @ turned(seed))
    np.testing.assert_allclose(ends, plain_ends, rtol=1e-7, atol=1e-8)


@given(seed=seeds, n=st.integers(0, 150))
def test_batches_are_one_by_one(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = sphere(rng, n, 3), rng.uniform(-0.5, 0.5, n)
    one, many = CRBetOFUL(3), CRBetOFUL(3)
    for x, reward in zip(X, y, strict=True):
        one.update(x, float(reward))
    many.partial_fit(X, y)
    np.testing.assert_array_equal(one.confidence_set.memory, many.confidence_set.memory)
