from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from voful import envs
from voful.envs.bandit.arms import GivenArms, RandomArms, TinyThenUnitArms, projections
from voful.envs.bandit.streams import BLOCK_ROUNDS

loose: Any = envs  # for calls that the types forbid
SEED = np.random.SeedSequence(7)


@pytest.mark.parametrize("shape", ["sphere", "ball", "corners"])
@pytest.mark.parametrize("dim", [1, 2, 5, 40])
def test_random_arms_lie_in_the_unit_ball(shape: str, dim: int) -> None:
    for redraw in (False, True):
        source = RandomArms(dim, 6, shape, redraw)
        X = source.block(SEED, 0)
        assert X.shape == (BLOCK_ROUNDS if redraw else 1, 6, dim)
        assert X.flags.c_contiguous
        assert X.dtype == np.float64
        norms = np.linalg.norm(X, axis=-1)
        assert norms.max() <= 1.0 + 1e-12
        if shape != "ball":
            np.testing.assert_allclose(norms, 1.0, rtol=1e-12)
        if shape == "corners":
            np.testing.assert_allclose(np.abs(X), 1.0 / math.sqrt(dim), rtol=1e-15)


def test_the_ball_is_filled_uniformly() -> None:
    X = RandomArms(3, 20, "ball", True).block(SEED, 0).reshape(-1, 3)
    assert stats.kstest(np.linalg.norm(X, axis=1) ** 3, "uniform").pvalue > 1e-4
    assert np.abs(X.mean(axis=0)).max() < 0.05


def test_the_sphere_is_covered_uniformly() -> None:
    X = RandomArms(3, 20, "sphere", True).block(SEED, 0).reshape(-1, 3)
    for j in range(3):  # Archimedes: each coordinate is uniform on [-1, 1]
        assert stats.kstest(X[:, j], stats.uniform(-1, 2).cdf).pvalue > 1e-4


def test_blocks_depend_on_the_seed_and_the_index_only() -> None:
    source = RandomArms(4, 3, "sphere", True)
    third = source.block(SEED, 3)
    for index in (0, 1, 5):
        assert not np.array_equal(source.block(SEED, index), third)
    np.testing.assert_array_equal(source.block(SEED, 3), third)
    assert not np.array_equal(source.block(np.random.SeedSequence(8), 3), third)
    assert SEED.n_children_spawned == 0


def test_arms_drawn_once_are_the_same_in_every_block() -> None:
    source = RandomArms(4, 3, "ball")
    assert not source.changes
    np.testing.assert_array_equal(source.block(SEED, 0), source.block(SEED, 9))


@pytest.mark.parametrize("redraw", [False, True])
def test_tiny_then_unit(redraw: bool) -> None:
    source = TinyThenUnitArms(3, 4, BLOCK_ROUNDS + 10, redraw=redraw)
    assert source.tiny_norm == 1.0 / math.sqrt(BLOCK_ROUNDS + 10)
    first, second = source.block(SEED, 0), source.block(SEED, 1)
    norms = np.linalg.norm(np.concatenate([first, second]), axis=-1)
    np.testing.assert_allclose(norms[: BLOCK_ROUNDS + 10], source.tiny_norm, rtol=1e-12)
    np.testing.assert_allclose(norms[BLOCK_ROUNDS + 10 :], 1.0, rtol=1e-12)
    directions = second / np.linalg.norm(second, axis=-1, keepdims=True)
    same = np.allclose(directions[0], directions[-1])
    assert same != redraw
    assert repr(source).startswith("TinyThenUnitArms(dim=3, n_arms=4, n_tiny=")
    assert source == TinyThenUnitArms(3, 4, BLOCK_ROUNDS + 10, source.tiny_norm, redraw)


def test_given_arms_are_copied_both_ways() -> None:
    X = np.array([[1.0, 0.0], [0.0, -0.5], [0.6, 0.8]])
    source = GivenArms(X)
    X[:] = 9.0
    block = source.block(SEED, 4)
    np.testing.assert_array_equal(block, [[[1.0, 0.0], [0.0, -0.5], [0.6, 0.8]]])
    block[:] = 9.0
    assert source.block(SEED, 0).max() == 1.0
    with pytest.raises(ValueError, match="read-only"):
        source.array[0, 0] = 2.0
    assert (source.n_arms, source.dim, source.changes) == (3, 2, False)
    assert source.mean_range(np.array([0.5, 1.0])) == pytest.approx((-0.5, 1.1))


def test_projections() -> None:
    X = np.random.default_rng(0).standard_normal((3, 4, 5))
    v = np.arange(5.0)
    np.testing.assert_allclose(projections(X, v), X @ v, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("build", "name"),
    [
        (lambda: loose.RandomArms(0, 3), "dim"),
        (lambda: loose.RandomArms(2.0, 3), "dim"),
        (lambda: loose.RandomArms(2, -1), "n_arms"),
        (lambda: loose.RandomArms(2, True), "n_arms"),
        (lambda: loose.RandomArms(2, 3, "cube"), "shape"),
        (lambda: loose.RandomArms(2, 3, "ball", 1), "redraw"),
        (lambda: loose.TinyThenUnitArms(2, 3, 0), "n_tiny"),
        (lambda: loose.TinyThenUnitArms(2, 3, 5, 0.0), "tiny_norm"),
        (lambda: loose.TinyThenUnitArms(2, 3, 5, 1.5), "tiny_norm"),
        (lambda: loose.TinyThenUnitArms(2, 3, 5, math.nan), "tiny_norm"),
        (lambda: loose.GivenArms([1.0, 0.0]), "array"),
        (lambda: loose.GivenArms(np.zeros((0, 2))), "array"),
        (lambda: loose.GivenArms(np.zeros((2, 0))), "array"),
        (lambda: loose.GivenArms(np.zeros((1, 2, 2))), "array"),
        (lambda: loose.GivenArms([[1.0, 0.0], [1.0]]), "array"),
        (lambda: loose.GivenArms([[math.nan, 0.0]]), "array"),
        (lambda: loose.GivenArms([[math.inf, 0.0]]), "array"),
        (lambda: loose.GivenArms([[1.0, 1e-3]]), "array"),
        (lambda: loose.GivenArms([["a", "b"]]), "array"),
    ],
)
def test_bad_input_names_the_argument(build: Callable[[], object], name: str) -> None:
    with pytest.raises((ValueError, TypeError), match=f"^{name}"):
        build()
