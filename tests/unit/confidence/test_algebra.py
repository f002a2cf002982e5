from __future__ import annotations

import numpy as np
import pytest

from helpers import sphere
from voful.confidence.algebra import (
    cholesky,
    dots,
    due_for_refactorisation,
    log_det,
    quadratic_form,
    rank_one,
    symmetric_times,
    unwhiten,
    whiten,
    whitener_from,
)
from voful.typing import FloatArray


def positive_definite(dim: int, seed: int = 0) -> FloatArray:
    root = np.random.default_rng(seed).standard_normal((dim, dim + 3))
    matrix: FloatArray = root @ root.T
    return matrix


@pytest.mark.parametrize("dim", [1, 2, 7])
def test_against_numpy(dim: int) -> None:
    M = positive_definite(dim)
    x = np.random.default_rng(1).standard_normal(dim)
    out, lower, whitener = np.empty(dim), np.empty((dim, dim)), np.empty((dim, dim))
    assert quadratic_form(M, x) == pytest.approx(x @ M @ x)
    np.testing.assert_allclose(dots(M, x), M @ x)
    assert cholesky(M, lower)
    np.testing.assert_allclose(lower, np.linalg.cholesky(M), atol=1e-12)
    assert whitener_from(M, whitener)
    W = np.linalg.inv(np.linalg.cholesky(M))
    np.testing.assert_allclose(whitener.T, W, rtol=1e-9, atol=1e-12)
    assert log_det(whitener) == pytest.approx(np.linalg.slogdet(M)[1])
    assert whiten(whitener, x, out) == pytest.approx(x @ np.linalg.solve(M, x))
    np.testing.assert_allclose(out, W @ x, rtol=1e-9, atol=1e-12)
    back = np.empty(dim)
    unwhiten(whitener, out, back)
    np.testing.assert_allclose(back, np.linalg.solve(M, x), rtol=1e-8)


@pytest.mark.parametrize("weight", [0.3, 2.0, -0.05])
@pytest.mark.parametrize("dim", [1, 4])
def test_rank_one(dim: int, weight: float) -> None:
    M = positive_definite(dim)
    x = np.random.default_rng(1).standard_normal(dim)
    precision, whitener, whitened = M.copy(), np.empty((dim, dim)), np.empty(dim)
    whitener_from(M, whitener)
    growth = rank_one(precision, whitener, x, weight, whitened)
    assert growth == pytest.approx(weight * x @ np.linalg.solve(M, x))
    np.testing.assert_allclose(precision, M + weight * np.outer(x, x))
    fresh = np.empty((dim, dim))
    whitener_from(precision, fresh)
    np.testing.assert_allclose(whitener, fresh, rtol=1e-9, atol=1e-12)


def test_matrices_that_are_not_positive_definite_are_noticed_and_change_nothing() -> None:
    whitener = np.full((2, 2), 7.0)
    for bad in (
        np.array([[1.0, 2.0], [2.0, 1.0]]),
        -np.eye(2),
        np.full((2, 2), np.nan),
        np.array([[1.0, 1.0], [1.0, 1.0 + 1e-15]]),
    ):
        assert not whitener_from(bad, whitener)
        assert (whitener == 7.0).all()


def test_refactorisation_is_amortised() -> None:
    due = [n for n in range(1, 3000) if due_for_refactorisation(float(n), 20)]
    assert due == [64, 128, 256, 512, 1024, 1536, 2048, 2560]
    wide = [n for n in range(1, 9000) if due_for_refactorisation(float(n), 2000)]
    assert wide == [2000, 2048, 4000, 4096, 6000, 8000, 8192]


@pytest.mark.parametrize("ridge", [1.0, 1e-6, 1e-12])
def test_the_whitener_remembers_what_the_sum_forgets(ridge: float) -> None:
    """Collinear arms for 20,000 rounds: the other directions keep width exactly 1/sqrt(ridge).

    With a ridge of 1e-12 the condition number is 2e16: M itself no longer holds the ridge.
    """
    u = sphere(np.random.default_rng(0), 1, 4)[0]
    M, whitener, whitened = ridge * np.eye(4), np.eye(4) / np.sqrt(ridge), np.empty(4)
    for _ in range(20_000):
        rank_one(M, whitener, u, 1.0, whitened)
    across = np.linalg.svd(u[None])[2][1:]  # a basis of what is orthogonal to u
    for v in across:
        assert whiten(whitener, np.ascontiguousarray(v), whitened) == pytest.approx(1 / ridge, 1e-3)
    assert whiten(whitener, u, whitened) == pytest.approx(1 / (20_000 + ridge), rel=1e-3)


@pytest.mark.parametrize("dim", [1, 3, 15, 16, 17, 40])
def test_short_and_long_rows_are_whitened_in_one_order(dim: int) -> None:
    whitener, x = np.empty((dim, dim)), np.random.default_rng(1).standard_normal(dim)
    assert whitener_from(positive_definite(dim), whitener)
    by_rows, out = np.empty(dim), np.empty(dim)
    symmetric_times(whitener, x, by_rows)  # sum_j x_j whitener[j]; symmetry is not used
    squared = whiten(whitener, x, out)
    np.testing.assert_array_equal(out, by_rows)
    assert squared == sum(entry * entry for entry in out)
