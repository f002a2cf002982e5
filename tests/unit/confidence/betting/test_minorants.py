"""Each quadratic stays below the log-wealth it stands for; each wealth is fair at the truth."""

from __future__ import annotations

import math

import numpy as np
import pytest

from helpers import count
from voful.confidence.betting import BettingEllipsoid, product, ratio
from voful.confidence.betting.minorant import bend, log_wealth, weigh
from voful.confidence.betting.product import CAP, CELLS_SHAPE, k, log1p
from voful.confidence.betting.ratio import l1
from voful.confidence.betting.state import BETS, MIXED, PRIOR, PRODUCT, RATIO, mixture
from voful.typing import FloatArray
from voful.validation import ObservationSpace


@pytest.mark.parametrize("u", [-0.9, 0.0, 3.0, -1.0, -1.2, -math.inf, math.nan])
def test_plain_python_has_the_logarithm_of_kernels(u: float) -> None:
    """Where rounding leaves the domain, a debugger sees what kernels see: no exception."""
    with np.errstate(all="ignore"):
        np.testing.assert_equal(log1p(u), np.log1p(u))


class Row:
    """A random interval, prediction, reward and slopes, as the algorithm could meet them.

    With a misfit e the interval may lie beyond the range by e, the prediction may not.
    """

    def __init__(self, rng: np.random.Generator, e: float = 0.0) -> None:
        middle, width = rng.uniform(-1 - e, 1 + e), 10 ** rng.uniform(-4, 0)
        self.lo, self.up = max(middle - width, -1.0 - e), min(middle + width, 1.0 + e)
        self.a = float(np.clip(rng.uniform(self.lo, self.up), -1.0, 1.0))
        near = float(np.clip(self.a + 0.01 * rng.standard_normal(), -1, 1))
        self.y = float(rng.choice([rng.uniform(-1, 1), -1.0, 1.0, near]))
        m_plus, m_minus = ratio.margins(self.a, -1.0, 1.0)
        tops = (
            product.largest_slope(self.a, self.lo, self.up, -1.0, 1.0, 1.0),
            ratio.largest_slope(self.a, self.lo, self.up, m_plus, m_minus, 1e-6),
        )
        self.slopes = np.array([top * 2 ** -rng.uniform(0, 6) for top in tops])
        if rng.random() < 0.5:  # a refreshed interval, which need not contain a
            self.lo, self.up = np.sort(rng.uniform(self.lo, self.up, 2)).tolist()

    def grid(self) -> FloatArray:
        near_a = [
            self.a + (end - self.a) * 10.0**-j for end in (self.lo, self.up) for j in range(9)
        ]
        z = np.concatenate([np.linspace(self.lo, self.up, 300), near_a])
        return z[(z >= self.lo) & (z <= self.up)]

    def log_f(self, kind: int, z: float) -> float:
        return log_wealth(kind, self.slopes[kind], self.a, self.y, z, -1.0, 1.0)


def rows(n: int, e: float = 0.0) -> list[Row]:
    rng = np.random.default_rng(3)
    return [Row(rng, e) for _ in range(n)]


@pytest.mark.parametrize("bets", range(3), ids=BETS)
def test_minorants_stay_below_on_a_dense_grid(bets: int) -> None:
    kinds = [PRODUCT, RATIO] if bets == MIXED else [bets]
    cells, out = np.empty(CELLS_SHAPE), np.empty((len(kinds), 4))
    space = ObservationSpace(2, 1.0, (-1.0, 1.0))
    rules = BettingEllipsoid(space, failure_prob=0.1, bet=BETS[bets]).views().rules
    gaps = []
    for row in rows(count(8000)):
        slopes = row.slopes[kinds]
        bend(rules, slopes, row.a, row.y, row.lo, row.up, cells, out)
        z = row.grid()
        t = row.a - z
        logs = np.array([[row.log_f(kind, point) for point in z] for kind in kinds])
        slack = 1e-12 * (1.0 + np.abs(logs).max())
        for j in range(len(kinds)):
            c0, c1, c2, lowest = out[j]
            assert (logs[j] - (c0 + c1 * t + c2 * t * t)).min() > -slack
            if c2 < 0.0:
                assert logs[j].min() - lowest > -slack
        gaps.append(float((logs[0] - (out[0, 0] + out[0, 1] * t + out[0, 2] * t * t)).min()))
        for share, price in zip(*mixture(bets), strict=True):
            wealth = logs[0]
            if bets == MIXED:
                wealth = np.logaddexp(math.log(PRIOR) + logs[0], math.log(1 - PRIOR) + logs[1])
            for spread in (0.0, 1e9):  # without and with the guard
                c0, c1, c2 = weigh(share, out, spread)
                assert (wealth - (price + c0 + c1 * t + c2 * t * t)).min() > -slack
                assert spread == 0.0 or c2 >= -1e-9
    # And not far below. The ratio's clipped part is loose (by up to 3 nats in 1 of 1,000 rows) at
    # slopes so steep that `choose_slopes` does not take them.
    assert np.quantile(gaps, 0.99) < 0.1
    assert np.median(gaps) < 1e-6


def with_misfit(row: Row, e: float, y: float, z: float) -> float:
    """log f_e of the product bet."""
    S = row.slopes[PRODUCT]
    return log_wealth(PRODUCT, S, row.a, y, z, -1.0, 1.0) - math.log1p(S * abs(row.a - z) * e)


@pytest.mark.parametrize("e", [0.01, 0.05, 0.1, 0.4])
def test_minorants_with_misfit_stay_below_on_a_dense_grid(e: float) -> None:
    cells, out = np.empty(CELLS_SHAPE), np.empty((1, 4))
    space = ObservationSpace(2, 1.0, (-1.0, 1.0))
    rules = BettingEllipsoid(space, failure_prob=0.1, bet="product", misfit=e).views().rules
    for row in rows(count(4000), e):
        bend(rules, row.slopes[:1], row.a, row.y, row.lo, row.up, cells, out)
        z = row.grid()
        t = row.a - z
        logs = np.array([with_misfit(row, e, row.y, point) for point in z])
        slack = 1e-12 * (1.0 + np.abs(logs).max())
        c0, c1, c2, lowest = out[0]
        assert (logs - (c0 + c1 * t + c2 * t * t)).min() > -slack
        if c2 < 0.0:
            assert logs.min() - lowest > -slack


def test_with_misfit_the_wealth_is_no_better_than_fair() -> None:
    """E f_e(theta*) <= 1 wherever the mean is within e of <x, theta*>; not if told a tenth of e."""
    rng, e, unfair = np.random.default_rng(4), 0.2, 0
    for row in rows(500, e):
        z = rng.uniform(row.lo, row.up)
        p = 0.5 * (1.0 + float(np.clip(z + e * rng.choice([-1.0, 1.0]), -1, 1)))
        for told in (e, 0.1 * e):
            f = [math.exp(with_misfit(row, told, y, z)) for y in (-1.0, 1.0)]
            assert min(f) > 0.0
            fair = (1 - p) * f[0] + p * f[1] <= 1.0 + 1e-9
            assert fair or told < e
            unfair += not fair
    assert unfair > 50


@pytest.mark.parametrize("kind", [PRODUCT, RATIO])
def test_the_wealth_is_fair_at_the_truth_and_never_lost(kind: int) -> None:
    """E f(theta*) = 1 for two-point rewards, hence (f is affine in y) for every law."""
    rng = np.random.default_rng(4)
    for row in rows(500):
        z = rng.uniform(row.lo, row.up)
        low, high = rng.uniform(-1, z), rng.uniform(z, 1)
        p = (z - low) / (high - low)
        f = [math.exp(log_wealth(kind, row.slopes[kind], row.a, y, z, -1.0, 1.0))
             for y in (low, high)]  # fmt: skip
        assert (1 - p) * f[0] + p * f[1] == pytest.approx(1.0, rel=1e-9)
        worst = [log_wealth(kind, row.slopes[kind], row.a, y, z, -1.0, 1.0) for y in (-1.0, 1.0)]
        assert min(worst) >= math.log(1 - CAP) - 1e-9


def test_special_functions_are_smooth_across_their_series() -> None:
    for u in (-0.02, 0.02):
        assert k(u * (1 - 1e-9)) == pytest.approx(k(u * (1 + 1e-9)), rel=1e-9)
    assert k(0.0) == 0.5
    assert k(1.0) == pytest.approx(1 - math.log(2))
    assert l1(0.0) == 1.0
    assert l1(0.5) == pytest.approx(2 * math.log(2))
    assert l1(1.001e-9) == pytest.approx(l1(0.999e-9), rel=1e-6)


def test_the_price_of_the_mixture() -> None:
    shares, price = mixture(MIXED)
    assert price[0] == pytest.approx(0.0, abs=1e-15)  # p = pi costs nothing
    assert (price <= 0.0).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    rng = np.random.default_rng(0)
    for q1, q2 in rng.normal(0, 5, (200, 2)):
        exact = np.logaddexp(math.log(PRIOR) + q1, math.log(1 - PRIOR) + q2)
        assert (shares @ [q1, q2] + price <= exact + 1e-12).all()
