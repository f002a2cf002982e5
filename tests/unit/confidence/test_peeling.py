from __future__ import annotations

import itertools

import numpy as np
import pytest

from helpers import full, sphere
from voful.confidence.peeled import tests as peeling
from voful.confidence.peeled.tests import (
    add_observation,
    excess,
    exit_step,
    flat_size,
    move_origin,
    passes,
    sides,
    unpack,
    worst,
)
from voful.typing import FloatArray


def filled(
    seed: int, d: int = 3, N: int = 5, n: int = 60
) -> tuple[FloatArray, peeling.Tests, FloatArray, FloatArray]:
    rng = np.random.default_rng(seed)
    flat = np.zeros(flat_size(N, d))
    T = unpack(flat, d)
    T.nu[:] = 3.0 * rng.standard_normal((N, d))
    T.kappa[:], T.beta0[:], T.beta1[:] = 4.0, 1.5, 0.5
    X, y = sphere(rng, n, d), rng.uniform(-1, 1, n)
    for x, reward in zip(X, y, strict=True):
        add_observation(flat, x, reward)
    return flat, T, X, y


def test_the_views_cover_the_flat_array_exactly() -> None:
    flat = np.zeros(flat_size(4, 3))
    for view in unpack(flat, 3):
        view += 1.0
    np.testing.assert_array_equal(flat, np.ones_like(flat))


def test_sides_are_the_definition() -> None:
    _, T, X, y = filled(0)
    theta = np.array([0.3, -0.2, 0.5])
    residual = y - X @ theta
    for i in range(5):
        c = np.clip(X @ T.nu[i], -1, 1)
        left, right = sides(T, i, theta)
        assert left == pytest.approx((c * residual).sum())
        spread = np.sqrt(4.0 * (c**2 * residual**2).sum())
        assert right == pytest.approx(1.5 + 0.5 * np.linalg.norm(theta) + spread)


def test_the_origin_does_not_matter() -> None:
    flat, T, X, _ = filled(1)
    moved = flat.copy()
    move_origin(moved, np.array([0.4, 0.1, -0.3]))
    add_observation(flat, X[0], 0.7)
    add_observation(moved, X[0], 0.7)
    U = unpack(moved, 3)
    for theta in sphere(np.random.default_rng(0), 20, 3):
        for i in range(5):
            np.testing.assert_allclose(sides(U, i, theta), sides(T, i, theta), rtol=1e-10)


def test_a_moving_origin_keeps_small_sums_accurate() -> None:
    """Nearly noiseless rounds: V at theta* is tiny against its terms about the origin 0."""
    rng = np.random.default_rng(0)
    theta_star = np.array([0.6, -0.3])
    flat = np.zeros(flat_size(1, 2))
    T = unpack(flat, 2)
    T.nu[:] = [[2.0, 1.0]]
    T.kappa[:] = 1.0
    n = 200_000 if full() else 40_000
    X = sphere(rng, n, 2)
    noise = 1e-7 * rng.choice([-1.0, 1.0], n)
    move_origin(flat, theta_star + 1e-6)
    exact = 0.0
    for x, e in zip(X, noise, strict=True):
        add_observation(flat, x, float(x @ theta_star + e))
        exact += min(abs(2 * x[0] + x[1]), 1.0) ** 2 * 1e-14
    _, right = sides(T, 0, theta_star)
    assert right**2 == pytest.approx(exact, rel=1e-3)


def test_worst_and_passes_agree() -> None:
    flat, T, _, _ = filled(2)
    for theta in sphere(np.random.default_rng(0), 30, 3, 0.8):
        excesses = [excess(T, i, theta)[0] for i in range(5)]
        g, i, _ = worst(T, theta)
        assert g == pytest.approx(max(excesses))
        assert i == int(np.argmax(excesses))
        assert passes(flat, theta, 0.0) == (g <= 0.0)


def test_regions_are_convex_and_exits_stay_inside() -> None:
    """The two facts behind the cuts."""
    rng = np.random.default_rng(3)
    flat = np.zeros(flat_size(1, 3))
    T = unpack(flat, 3)
    T.nu[:] = [[1.0, 0.5, 0.0]]
    T.kappa[:], T.beta0[:], T.beta1[:] = 6.0, 2.0, 1.0
    X = sphere(rng, 200, 3)
    for x in X:
        add_observation(flat, x, float(0.5 * x[0]) + 0.1 * rng.choice([-1.0, 1.0]))
    gone = [p for p in sphere(rng, 400, 3, 1.5) if excess(T, 0, p)[0] > 0]
    assert len(gone) > 20
    for p, q in itertools.pairwise(gone):
        if excess(T, 0, p)[1] == excess(T, 0, q)[1]:
            assert excess(T, 0, 0.5 * (p + q))[0] > 0
    for p in gone:
        sign = excess(T, 0, p)[1]
        ray = sphere(rng, 1, 3)[0]
        step = exit_step(T, 0, sign, p, ray, 100.0)
        for fraction in (0.25, 0.999, 1.0 - 1e-6):
            g, side = excess(T, 0, p + fraction * step * ray)
            assert g > -1e-12
            assert side == sign
        if step < 100.0:
            assert excess(T, 0, p + (1.001 * step + 1e-9) * ray)[0] <= 0


def test_outside_the_region_there_is_no_step() -> None:
    _, T, _, _ = filled(4)
    inside = np.zeros(3)
    assert excess(T, 0, inside)[0] <= 0
    assert exit_step(T, 0, 1.0, inside, np.ones(3), 10.0) == 0.0
