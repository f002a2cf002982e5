from __future__ import annotations

import math

import numpy as np
import pytest

from helpers import full, sphere
from voful.bandits.weighted import Weighted
from voful.bandits.weighted_oful import WeightedState
from voful.confidence import RidgeEllipsoid
from voful.confidence.algebra import whiten
from voful.confidence.ellipsoids.ridge import new_ridges
from voful.confidence.rule import observe_many
from voful.validation import ObservationSpace


def ridge_set(
    dim: int,
    *,
    ridge: float = 1.0,
    radius: float = 1.0,
    width_scale: float = 1.0,
    n_rounds: int | None = None,
) -> RidgeEllipsoid:
    """A set with weights 1 / variance, whose radius does not change."""
    constants = Weighted(
        as_printed=0.0,
        slope=0.0,
        offset=0.0,
        feature_norm=1.0,
        ridge=ridge,
        bias=radius,
        delta=0.05,
        width_scale=width_scale,
    )
    blocks = new_ridges(dim, np.array([ridge]), np.array([width_scale * radius]))
    return RidgeEllipsoid(
        ObservationSpace(dim, 1.0, (-1.0, 1.0), n_rounds),
        WeightedState(blocks, np.array([*constants, 0.0])),
        theta_norm=1.0,
        unknown_variance=1.0,
    )


def test_is_weighted_ridge_regression() -> None:
    rng = np.random.default_rng(0)
    X, y, weights = sphere(rng, 50, 4), rng.uniform(-1, 1, 50), rng.uniform(0.1, 2.0, 50)
    Theta = ridge_set(4, ridge=0.7)
    observe_many(Theta.rule_state, X, y, 1.0 / weights)
    M = 0.7 * np.eye(4) + (X.T * weights) @ X
    np.testing.assert_allclose(Theta.precision, M)
    np.testing.assert_allclose(Theta.center, np.linalg.solve(M, X.T @ (weights * y)))
    assert Theta.log_det_ratio == pytest.approx(np.linalg.slogdet(M / 0.7)[1])
    assert Theta.n_observations == 50


def test_support_is_the_sup_and_is_attained() -> None:
    rng = np.random.default_rng(0)
    Theta = ridge_set(3, radius=0.4)
    Theta.partial_fit(sphere(rng, 30, 3), rng.uniform(-0.3, 0.3, 30))
    X = sphere(rng, 10, 3)
    inverse = np.linalg.inv(Theta.precision)
    lower, upper = Theta.interval(X)
    np.testing.assert_array_equal(upper, Theta.support(X))
    np.testing.assert_array_equal(lower, -Theta.support(-X))
    for x, low, high in zip(X, lower, upper, strict=True):
        step = 0.4 * inverse @ x / math.sqrt(x @ inverse @ x)
        assert x @ (Theta.center + step) == pytest.approx(high)
        assert x @ (Theta.center - step) == pytest.approx(low)
        assert Theta.contains(Theta.center + step)
        assert not Theta.contains(Theta.center + step * (1 + 1e-6))


def test_outside_the_parameter_ball_is_out() -> None:
    Theta = ridge_set(2, ridge=1e-3, radius=10.0)
    assert Theta.contains([1.0, 0.0])
    assert Theta.contains([1.0 + 1e-10, 0.0])
    assert not Theta.contains([1.0 + 1e-6, 0.0])


def test_width_scale_scales_the_radius() -> None:
    wide, narrow = ridge_set(2), ridge_set(2, width_scale=0.25)
    np.testing.assert_allclose(narrow.support(np.eye(2)), 0.25 * wide.support(np.eye(2)))


def test_center_is_a_copy() -> None:
    Theta = ridge_set(2)
    Theta.center[:] = 9.0
    np.testing.assert_array_equal(Theta.center, [0.0, 0.0])


@pytest.mark.parametrize("radius", [-1.0, math.nan])
def test_an_empty_set_warns_once_and_never_says_nan(radius: float) -> None:
    Theta = ridge_set(2, radius=radius)
    Theta.update([1.0, 0.0], 0.5)
    assert Theta.is_empty
    with pytest.warns(RuntimeWarning, match="RidgeEllipsoid is empty"):
        assert not Theta.contains([0.0, 0.0])
    np.testing.assert_array_equal(Theta.support(0.5 * np.eye(2)), [0.5, 0.5])  # of the ball
    np.testing.assert_array_equal(Theta.interval(0.5 * np.eye(2)), [[-1.0, -1.0], [1.0, 1.0]])


def test_a_million_updates_stay_accurate() -> None:
    """10^6 rounds (--full) at d = 20 against sums in long double and a fresh factorisation."""
    rng = np.random.default_rng(0)
    dim, chunk, chunks = 20, 20_000, 50 if full() else 10
    Theta = ridge_set(dim)
    exact_M = np.eye(dim, dtype=np.longdouble)
    exact_b = np.zeros(dim, dtype=np.longdouble)
    stretch = np.geomspace(1.0, 0.01, dim)  # condition number 10^4
    for _ in range(chunks):
        X = sphere(rng, chunk, dim) * stretch
        y = np.clip(X @ stretch + rng.uniform(-0.3, 0.3, chunk), -1, 1)
        Theta.partial_fit(X, y)
        wide = X.astype(np.longdouble)
        exact_M += wide.T @ wide
        exact_b += wide.T @ y.astype(np.longdouble)
    M = exact_M.astype(np.float64)
    assert Theta.n_observations == chunk * chunks
    assert np.linalg.norm(Theta.precision - M) <= 1e-8 * np.linalg.norm(M)
    fresh, inverse = np.linalg.inv(M), Theta.whitener @ Theta.whitener.T
    assert np.linalg.norm(inverse - fresh) <= 1e-8 * np.linalg.norm(fresh)
    assert Theta.log_det_ratio == pytest.approx(np.linalg.slogdet(M)[1], rel=1e-8)
    solution = np.linalg.solve(M, exact_b.astype(np.float64))
    assert np.linalg.norm(Theta.center - solution) <= 1e-8 * np.linalg.norm(solution)


def test_a_drowned_ridge_does_not_fool_the_set() -> None:
    """Refactorisation is refused where the sum has lost the ridge; widths stay right."""
    Theta = ridge_set(3, ridge=1e-12)
    u = np.array([0.6, 0.8, 0.0])
    Theta.partial_fit(np.tile(u, (5000, 1)), np.full(5000, 0.5))
    scratch = np.empty(3)
    assert whiten(Theta.whitener, np.array([0.0, 0.0, 1.0]), scratch) == pytest.approx(
        1e12, rel=1e-3
    )
    assert whiten(Theta.whitener, np.array([0.8, -0.6, 0.0]), scratch) == pytest.approx(
        1e12, rel=0.01
    )
    np.testing.assert_allclose(Theta.center @ u, 0.5, rtol=1e-6)
    assert Theta.log_det_ratio == pytest.approx(math.log(5000e12), rel=1e-6)


def test_repr_says_what_it_is() -> None:
    assert repr(ridge_set(3)) == "<RidgeEllipsoid in R^3 after 0 observations>"


def test_far_away_is_outside_without_a_warning() -> None:
    assert not ridge_set(2).contains([1e200, -1e200])


def test_more_than_n_rounds_is_refused() -> None:
    Theta = ridge_set(2, n_rounds=3)
    Theta.partial_fit(np.eye(2), [0.1, 0.2])
    with pytest.raises(RuntimeError, match="n_rounds = 3, 2 rewards learnt: cannot learn 2 more"):
        Theta.partial_fit(np.eye(2), [0.1, 0.2])
    assert Theta.n_observations == 2
    Theta.update([1.0, 0.0], 0.0)
    with pytest.raises(RuntimeError, match="n_rounds = 3"):
        Theta.update([1.0, 0.0], 0.0)
