"""Each inequality of `concentration` fails no more often than it says.

Power of each count: .90 against 3 failure_prob (200 runs); with --full (2,000) .99 against 2.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from helpers import assert_condemned, assert_exit_rate, count, coverage_runs
from voful import concentration as C
from voful.typing import FloatArray

STEPS, RUNS, DELTA = 1000, 2000, 0.05
LAWS = ["rademacher", "skewed", "gated"]


def paths(law: str, seed: int, runs: int) -> tuple[FloatArray, FloatArray]:
    """Martingale differences in [-1, 1], shape (runs, STEPS), and their conditional variances."""
    rng = np.random.default_rng([3, seed])
    signs = np.asarray(rng.choice([-1.0, 1.0], (runs, STEPS)), dtype=np.float64)
    if law == "rademacher":
        return signs, np.ones((runs, STEPS))
    if law == "skewed":  # 1 with probability p, else -p/(1-p)
        p = 0.01
        X = np.where(rng.random((runs, STEPS)) < p, 1.0, -p / (1 - p))
        return X, np.full((runs, STEPS), p / (1 - p))
    # predictable scale: large while the sum is negative, tiny otherwise
    X, variances = np.empty((runs, STEPS)), np.empty((runs, STEPS))
    total = np.zeros(runs)
    for t in range(STEPS):
        scale = np.where(total < 0.0, 1.0, 0.05)
        X[:, t], variances[:, t] = scale * signs[:, t], scale**2
        total += X[:, t]
    return X, variances


@pytest.mark.parametrize("law", LAWS)
def test_at_all_times(law: str) -> None:
    runs = count(RUNS)
    X, variances = paths(law, 1, runs)
    S, V, W = (np.cumsum(a, axis=1) for a in (X, X * X, variances))
    n = np.arange(1, STEPS + 1)
    xi = np.array([C.kt_log_price(int(k), DELTA) for k in n])
    assert_exit_rate(int((np.abs(S) > np.sqrt(2 * V * xi) + xi).any(axis=1).sum()), runs, DELTA)
    for moment, predictable in ((V, False), (W, True)):
        grid = np.linspace(0.0, moment.max() + 1.0, 4000)
        radius = [C.lines_radius(v, 1.0, DELTA, predictable=predictable) for v in grid]
        bound = np.interp(moment, grid, radius)  # concave in V: interpolation is below
        assert_exit_rate(int((np.abs(S) > bound).any(axis=1).sum()), runs, DELTA)


@pytest.mark.parametrize("law", LAWS)
def test_at_a_fixed_time(law: str) -> None:
    """The paper's: at n = STEPS, with delta such that the stated failure is 5 %."""
    runs = count(RUNS)
    X, variances = paths(law, 2, runs)
    S, V, W = np.abs(X.sum(axis=1)), (X * X).sum(axis=1), variances.sum(axis=1)
    delta = DELTA / (6 * math.log2(STEPS))
    assert C.paper_empirical_bernstein_failure(STEPS, delta) == pytest.approx(DELTA)
    radius = [C.paper_empirical_bernstein(v, 1.0, delta) for v in V]
    assert_exit_rate(int((radius < S).sum()), runs, DELTA)
    delta = DELTA / (2 * (math.log2(STEPS) + 1))
    radius = [C.paper_bernstein(w, 1.0, delta, 1.0) for w in W]
    assert C.paper_bernstein_failure(STEPS, 1.0, delta, 1.0) == pytest.approx(DELTA)
    assert_exit_rate(int((radius < S).sum()), runs, DELTA)
    delta = DELTA / (math.ceil(math.log2(STEPS)) + 1)
    assert C.variance_lemma_failure(STEPS, delta) == pytest.approx(DELTA)
    over = [w >= C.variances_from_squares(v, delta) for v, w in zip(V, W, strict=True)]
    assert_exit_rate(sum(over), runs, DELTA)
    over = [v >= C.squares_from_variances(w, delta) for v, w in zip(V, W, strict=True)]
    assert_exit_rate(sum(over), runs, DELTA)


def test_the_test_can_fail() -> None:
    """A quarter of the KT radius in 3 delta of the runs: the same count condemns it."""
    X, _ = paths("rademacher", 3, coverage_runs(DELTA))
    S, V = np.cumsum(X, axis=1), np.cumsum(X * X, axis=1)
    xi = C.kt_log_price(STEPS, DELTA)
    radius = 0.25 * (np.sqrt(2 * V * xi) + xi)
    assert_condemned(lambda run: bool((np.abs(S[run]) > radius[run]).any()), DELTA)
