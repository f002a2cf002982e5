from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voful import concentration as C


def test_formulas_at_hand_computed_points() -> None:
    log = math.log(10.0)
    assert C.paper_empirical_bernstein(4.0, 0.5, 0.1) == pytest.approx(
        16 * math.sqrt(log) + 8 * log
    )
    assert C.paper_empirical_bernstein_failure(8, 0.01) == pytest.approx(0.18)
    expected = 2 * math.sqrt(2 * 3.0 * log) + 2 * math.sqrt(0.25 * log) + 2 * log
    assert C.paper_bernstein(3.0, 1.0, 0.1, 0.25) == pytest.approx(expected)
    assert C.paper_bernstein_failure(16, 1.0, 0.01, 0.25) == pytest.approx(0.14)
    assert C.variances_from_squares(2.0, 0.4) == pytest.approx(16 + 4 * log)
    assert C.squares_from_variances(2.0, 0.4) == pytest.approx(16 + 4 * log)
    assert C.variance_lemma_failure(9, 0.01) == pytest.approx(0.05)
    xi = 0.5 * math.log(100 * math.pi + 1) + log
    assert C.kt_log_price(100, 0.1) == pytest.approx(xi)
    assert C.kt_radius(7.0, 100, 2.0, 0.1) == pytest.approx(math.sqrt(14.0 * xi) + 2.0 * xi)


@given(u=st.floats(1e-9, 0.95), v=st.floats(-1.0, 1.0))
def test_curvatures_bound_what_they_claim(u: float, v: float) -> None:
    scaled = u * v
    assert math.log1p(scaled) >= scaled - C.empirical_curvature(u) * scaled**2 - 1e-15
    assert math.expm1(scaled) - scaled <= C.freedman_curvature(u) * scaled**2 + 1e-15


def test_curvatures_are_continuous_where_the_series_ends() -> None:
    for curvature in (C.empirical_curvature, C.freedman_curvature):
        assert curvature(0.99e-4) == pytest.approx(curvature(1.01e-4), rel=1e-5)
        assert curvature(1e-12) == pytest.approx(0.5)


@given(coins=st.lists(st.floats(-1, 1), min_size=1, max_size=60))
def test_kt_wealth_is_large_wherever_the_radius_is_crossed(coins: list[float]) -> None:
    """ln W >= x - ln(pi n + 1)/2 whenever |S| >= sqrt(2 V x) + x: the step behind `kt_radius`."""
    c = np.array(coins)
    S, V, n = abs(c.sum()), float((c * c).sum()), len(c)
    # the largest x with sqrt(2 V x) + x <= S
    root = (-math.sqrt(2 * V) + math.sqrt(2 * V + 4 * S)) / 2
    x = root * root
    betas = np.cos(math.pi * (np.arange(4000) + 0.5) / 4000)  # equal weights: the arcsine law
    logs = np.log1p(np.outer(betas, c).clip(-1 + 1e-15)).sum(axis=1)
    log_wealth = float(np.logaddexp.reduce(logs)) - math.log(4000)
    assert log_wealth >= x - 0.5 * math.log(math.pi * n + 1) - 1e-3


def test_kt_is_several_times_smaller_than_the_papers() -> None:
    """+-1 noise, n = 5000, failure .05: 1645 with the paper's constants (fixed n), 288 here."""
    paper = C.paper_empirical_bernstein(5000.0, 1.0, 0.05 / (6 * math.log2(5000)))
    assert paper == pytest.approx(1645, abs=1)
    assert C.kt_radius(5000.0, 5000, 1.0, 0.05) == pytest.approx(288, abs=1)


def test_lines_are_tangents_of_a_root() -> None:
    for V in (10.0, 1e3, 1e5):
        price = math.log(2 * 41 / 0.05)
        radius = C.lines_radius(V, 1.0, 0.05, predictable=True)
        assert math.sqrt(2 * V * price) < radius < 1.02 * math.sqrt(2 * V * price) + price
        assert radius <= C.lines_radius(V, 1.0, 0.05, predictable=False)


@given(
    slope=st.floats(0.01, 0.99), offset=st.floats(1e-3, 1e3), residual=st.floats(0.0, 1e3)
)  # fmt: skip
def test_the_self_bounded_radius_solves_its_equation(
    slope: float, offset: float, residual: float
) -> None:
    beta = C.self_bounded_radius(slope, offset, residual)
    assert beta == pytest.approx(slope * math.hypot(residual, beta) + offset, rel=1e-9)
    assert beta <= (slope * residual + offset) / (1 - slope) * (1 + 1e-12)  # the triangle's answer


def test_layer_deviation_at_a_hand_computed_point() -> None:
    assert C.layer_ranges(0.125, 10_000, 0.01) == 8  # 2^7 >= 100 / (0.25 ln 100) = 86.9 > 2^6
    assert C.layer_ranges(0.5, 1, 0.01) == 1
    expected = 0.125 * ((1 + math.sqrt(40.0)) * 3.0 + 4 * 2.0 * 5.0)
    assert C.layer_deviation(9.0, 0.125, 2.0, 5.0) == pytest.approx(expected)


@given(seed=st.integers(0, 1000))
def test_the_recursion_behind_the_layer_bound(seed: int) -> None:
    """q_t = q_{t-1} + w^2 (2 eta m - m^2 + eta^2 g) / (1 + g) for q = |S|^2_{Z^-1}, exactly."""
    rng = np.random.default_rng(seed)
    Z, S, q = 0.1 * np.eye(3), np.zeros(3), 0.0
    for _ in range(30):
        x, eta, w = rng.uniform(-1, 1, 3), rng.uniform(-1, 1), rng.uniform(0.1, 1)
        g = w * w * x @ np.linalg.solve(Z, x)
        m = x @ np.linalg.solve(Z, S)
        q += w * w * (2 * eta * m - m * m + eta * eta * g) / (1 + g)
        Z, S = Z + w * w * np.outer(x, x), S + w * w * eta * x
        assert q == pytest.approx(S @ np.linalg.solve(Z, S), abs=1e-10)
