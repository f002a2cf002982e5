from __future__ import annotations

import math

import numpy as np
import pytest

from helpers import sphere
from voful.confidence import RidgeEllipsoid
from voful.confidence.ellipsoid import (
    cholesky,
    cholesky_solve,
    due_for_refactorisation,
    multiply,
    quadratic_form,
    rank_one,
    refactorise,
)
from voful.typing import FloatArray
from voful.validation import ObservationSpace


def ridge_set(
    dim: int, *, ridge: float = 1.0, radius: float = 1.0, **params: float
) -> RidgeEllipsoid:
    space = ObservationSpace(dim, 1.0, (-1.0, 1.0))
    return RidgeEllipsoid(
        space, ridge=ridge, radius=lambda log_det_ratio: radius, **{"theta_norm": 1.0, **params}
    )


def positive_definite(dim: int, seed: int = 0) -> FloatArray:
    root = np.random.default_rng(seed).standard_normal((dim, dim + 3))
    matrix: FloatArray = root @ root.T
    return matrix


@pytest.mark.parametrize("dim", [1, 2, 7])
def test_algebra_against_numpy(dim: int) -> None:
    M = positive_definite(dim)
    x = np.random.default_rng(1).standard_normal(dim)
    out, lower = np.empty(dim), np.empty((dim, dim))
    multiply(M, x, out)
    np.testing.assert_allclose(out, M @ x)
    assert quadratic_form(M, x, out) == pytest.approx(x @ M @ x)
    assert cholesky(M, lower)
    np.testing.assert_allclose(lower, np.linalg.cholesky(M), atol=1e-12)
    solution = x.copy()
    cholesky_solve(lower, solution)
    np.testing.assert_allclose(solution, np.linalg.solve(M, x))
    inverse = np.empty((dim, dim))
    assert refactorise(M, inverse, lower) == pytest.approx(np.linalg.slogdet(M)[1])
    np.testing.assert_allclose(inverse, np.linalg.inv(M), rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(inverse, inverse.T)


@pytest.mark.parametrize("weight", [0.3, 2.0, -0.05])
def test_rank_one(weight: float) -> None:
    M = positive_definite(4)
    x = np.random.default_rng(1).standard_normal(4)
    precision, scratch = M.copy(), np.empty(4)
    inverse = np.asarray(np.linalg.inv(M), dtype=np.float64)
    growth = rank_one(precision, inverse, x, weight, scratch)
    assert growth == pytest.approx(weight * x @ np.linalg.solve(M, x))
    np.testing.assert_allclose(scratch, np.linalg.solve(M, x))
    np.testing.assert_allclose(precision, M + weight * np.outer(x, x))
    np.testing.assert_allclose(inverse, np.linalg.inv(precision), rtol=1e-9, atol=1e-12)


def test_indefinite_matrices_are_noticed() -> None:
    lower = np.empty((2, 2))
    assert not cholesky(np.array([[1.0, 2.0], [2.0, 1.0]]), lower)
    assert math.isnan(refactorise(-np.eye(2), np.empty((2, 2)), lower))


def test_refactorisation_is_amortised() -> None:
    due = [n for n in range(1, 3000) if due_for_refactorisation(float(n), 20)]
    assert due[:10] == [2**k for k in range(10)]
    assert due[10:] == [1024, 1536, 2048, 2560]
    wide = [n for n in range(1, 9000) if due_for_refactorisation(float(n), 2000)]
    assert [n for n in wide if n > 4096] == [6000, 8000, 8192]


def test_is_weighted_ridge_regression() -> None:
    rng = np.random.default_rng(0)
    X, y, weights = sphere(rng, 50, 4), rng.uniform(-1, 1, 50), rng.uniform(0.1, 2.0, 50)
    Theta = ridge_set(4, ridge=0.7)
    Theta._observe_many(X, y, weights)
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
    np.testing.assert_allclose(Theta.support(np.eye(2)), Theta.center)
    lower, upper = Theta.interval(np.eye(2))
    np.testing.assert_array_equal(lower, upper)


def test_a_million_updates_stay_accurate() -> None:
    """10^6 rounds at d = 20 against sums in long double and a fresh factorisation."""
    rng = np.random.default_rng(0)
    dim, chunk, chunks = 20, 20_000, 50
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
    assert Theta.n_observations == 10**6
    assert np.linalg.norm(Theta.precision - M) <= 1e-8 * np.linalg.norm(M)
    fresh = np.linalg.inv(M)
    assert np.linalg.norm(Theta.inverse - fresh) <= 1e-8 * np.linalg.norm(fresh)
    assert Theta.log_det_ratio == pytest.approx(np.linalg.slogdet(M)[1], rel=1e-8)
    solution = np.linalg.solve(M, exact_b.astype(np.float64))
    assert np.linalg.norm(Theta.center - solution) <= 1e-8 * np.linalg.norm(solution)
