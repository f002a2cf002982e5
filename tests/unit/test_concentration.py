from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

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


# --- vectors ----------------------------------------------------------------------------------


@given(seed=st.integers(0, 10_000), dim=st.integers(1, 6))
def test_recursion_of_the_self_normalised_square(seed: int, dim: int) -> None:
    """q_n - q_{n-1} = (2 eta m - m^2 + eta^2 w^2) / (1 + w^2), exactly."""
    rng = np.random.default_rng(seed)
    Z, S, q = 0.5 * np.eye(dim), np.zeros(dim), 0.0
    for _ in range(30):
        x, eta = rng.standard_normal(dim), rng.standard_normal()
        m, w2 = x @ np.linalg.solve(Z, S), x @ np.linalg.solve(Z, x)
        assert abs(m) <= math.sqrt(w2 * q) * (1 + 1e-9) + 1e-12
        Z, S = Z + np.outer(x, x), S + eta * x
        q += (2 * eta * m - m * m + eta * eta * w2) / (1 + w2)
        assert q == pytest.approx(S @ np.linalg.solve(Z, S), rel=1e-9, abs=1e-12)


def weighted_oful(d: int, K: float, delta: float) -> tuple[float, float]:
    """(printed, ours) for Weighted OFUL with R = S = A = 1."""
    root = math.sqrt(d)
    printed = C.zhou_gu_szepesvari_radius(
        K, d, variance=1.0, b=root, feature_norm=root, ridge=1.0, delta=delta
    )
    growth = C.log_det_growth(K, d, root, 1.0)
    ours = C.self_normalized_bernstein(
        variance=1.0, linear=root / 2, square=root, log_det_bound=growth, delta=delta
    )
    return printed, ours.largest


def weighted_by_leverage(
    d: int, n: float, alpha: float, delta: float, parts: int = 1
) -> tuple[float, float]:
    """(printed, ours) for gamma = d^(-1/4), lambda = d; ours shares delta among the parts."""
    root = math.sqrt(d)
    bound = min(root, 1 / alpha)
    printed = C.zhou_gu_radius(
        n, d, variance=1.0, b=1 / alpha, largest=bound, feature_norm=1 / alpha, ridge=d, delta=delta
    )
    ours = C.self_normalized_bernstein(
        variance=1.0,
        linear=min(root, 0.5 / alpha),
        square=bound,
        log_det_bound=C.log_det_growth(n, d, 1 / alpha, d),
        delta=delta / parts,
    )
    return printed, ours.largest


@pytest.mark.parametrize(
    ("radii", "printed", "ours"),
    [
        (weighted_oful(2, 1e4, 0.05), 293, 7.5),
        (weighted_oful(20, 1e5, 0.05), 1126, 23.9),
        (weighted_by_leverage(5, 1e3, 1e3**-0.5, 0.1), 1800, 11.75),
        # HF-UCRL-VTR+: K episodes of H steps, alpha = H^(-1/2), ceil(log2(3 K H)) moments
        (weighted_by_leverage(3, 1e5, 0.1, 0.05, 19), 2013, 13.1),
        (weighted_by_leverage(10, 5e5, 50**-0.5, 0.05, 21), 3931, 22.8),
    ],
)
def test_self_normalised_radii(radii: tuple[float, float], printed: float, ours: float) -> None:
    assert radii[0] == pytest.approx(printed, abs=0.5)
    assert 0.93 * ours < radii[1] <= ours + 0.05  # an earlier, coarser grid gave `ours`


@pytest.mark.parametrize("d", [1, 2, 5, 20, 50])
@pytest.mark.parametrize("K", [10, 1e3, 1e4, 1e6])
@pytest.mark.parametrize("delta", [0.001, 0.05, 0.2])
def test_ours_is_far_below_the_printed(d: int, K: float, delta: float) -> None:
    radii = [weighted_oful(d, K, delta), weighted_by_leverage(d, K, K**-0.5, delta)]
    for H in (10, 1000):
        moments = math.ceil(math.log2(3 * K * H))
        radii.append(weighted_by_leverage(d, K * H, H**-0.5, delta, moments))
    for printed, ours in radii:
        assert 10 * ours < printed


def test_self_normalised_constants_obey_the_proof() -> None:
    """slope >= variance; beta^2 is the line at the bound; a satisfies both of its conditions."""
    for linear, square in ((0.2, 0.3), (1.0, 1.5), (5.0, 9.0)):
        bound = C.self_normalized_bernstein(
            variance=0.7, linear=linear, square=square, log_det_bound=20.0, delta=0.05
        )
        assert bound.radius(20.0) == pytest.approx(bound.largest)
        assert bound.radius(0.0) < bound.radius(10.0) < bound.largest
        s = C._GROWTHS[np.argmin(abs(np.expm1(C._GROWTHS) / C._GROWTHS * 0.7 - bound.slope))]
        price = math.log(2 / 0.05)
        rest = bound.offset - square**2 * price / s  # l / a
        feasible = [
            u
            for u in C._EXPONENTS
            if rest >= 4 * C.freedman_curvature(u) * 0.7 * price * (1 - 1e-9)
            and rest >= 2 * linear * bound.largest * price / u * (1 - 1e-9)
        ]
        assert feasible


@pytest.mark.parametrize("dim", [1, 3, 40])
def test_faurys_theorem_is_a_special_case(dim: int) -> None:
    """c = r = 1 and the largest e, with d ln 2 for the shrinkage: never below ours."""
    for ridge in (0.1, 1.0, float(dim), 100.0 * dim):
        ours = C.best_variation_bernstein(dim, ridge=ridge, b=1.0, delta=0.1, log_det_ratio=4.0)
        assert ours.radius(4.0) <= C.faury_radius(4.0, dim, ridge=ridge, b=1.0, delta=0.1)
    printed = C.VariationBernstein(1.0, math.sqrt(2.0) / 2, math.log(10) + dim * math.log(2))
    gamma = printed.price + 3.0
    expected = printed.cap + gamma / printed.cap
    assert C.faury_radius(6.0, dim, ridge=2.0, b=1.0, delta=0.1) == pytest.approx(expected)
    assert printed.radius(6.0) == pytest.approx(expected)
    assert C.faury_radius(6.0, dim, ridge=18.0, b=3.0, delta=0.1) == pytest.approx(expected)


def test_variation_price_is_a_ratio_of_chi_squares() -> None:
    bound = C.variation_bernstein(3, ridge=2.0, b=0.5, delta=0.1, exponent=0.8)
    c, r = C.freedman_curvature(0.8), 1.6
    k = c * 2.0 * r * r
    ratio = chi2.cdf(2 * k, 3) / chi2.cdf(k / 2, 3)
    assert bound == pytest.approx((c, math.sqrt(2) * 0.8, math.log(10) + math.log(ratio)))
    empirical = C.variation_bernstein(
        3, ridge=2.0, b=0.5, delta=0.1, exponent=0.8, predictable=False
    )
    assert empirical.curvature == C.empirical_curvature(0.8)
    for tiny in (1e-200, 1e-3):  # the cdf underflows: d ln 2 takes over
        price = C.variation_bernstein(200, ridge=tiny, b=1.0, delta=0.1, exponent=0.1).price
        assert price == pytest.approx(math.log(10) + 200 * math.log(2), rel=1e-3)


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
