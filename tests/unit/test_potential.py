from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import sphere
from voful.potential import (
    EpisodePotential,
    clip,
    elliptical_bound,
    outgrowth,
    potential_terms,
    relaxed_clip,
)
from voful.typing import FloatArray


@given(x=st.floats(-4, 4), ell=st.floats(1e-6, 2))
def test_the_papers_chain(x: float, ell: float) -> None:
    """clip(x, l) x <= f_l(x) <= 2 clip(x, l) x <= 2 x^2, f convex, f/x^2 falling in |x|."""
    product, f = float(clip(x, ell)) * x, float(relaxed_clip(x, ell))
    slack = 1e-12 * (1 + x * x)
    assert product <= f + slack
    assert f <= 2 * product + slack
    assert 2 * product <= 2 * x * x + slack


@given(x=st.floats(-4, 4), y=st.floats(-4, 4), w=st.floats(0, 1), ell=st.floats(1e-3, 2))
def test_the_relaxation_is_convex_and_flattens(x: float, y: float, w: float, ell: float) -> None:
    middle = float(relaxed_clip(w * x + (1 - w) * y, ell))
    chord = w * float(relaxed_clip(x, ell)) + (1 - w) * float(relaxed_clip(y, ell))
    assert middle <= chord + 1e-10
    if x * x >= y * y > 1e-12:
        assert float(relaxed_clip(x, ell)) / x**2 <= float(relaxed_clip(y, ell)) / y**2 + 1e-10
        assert float(relaxed_clip(x, ell)) >= float(relaxed_clip(y, ell)) - 1e-12


def literal(X: FloatArray, M: FloatArray, ell: float, hindsight: bool) -> list[float]:
    terms = []
    for i in range(len(X)):
        past = range(len(X)) if hindsight else range(i)
        below = sum(float(relaxed_clip(X[j] @ M[i], ell)) / 2 for j in past) + ell**2
        terms.append(min(float(relaxed_clip(X[i] @ M[i], ell)) / 2 / below, 1.0))
    return terms


@pytest.mark.parametrize("hindsight", [False, True])
def test_against_the_double_loop(hindsight: bool) -> None:
    rng = np.random.default_rng(0)
    X, M = sphere(rng, 300, 3), sphere(rng, 300, 3, 0.7)
    np.testing.assert_allclose(
        potential_terms(X, M, 0.2, hindsight=hindsight), literal(X, M, 0.2, hindsight)
    )


def test_the_square_gives_the_elliptical_potential() -> None:
    """f = x^2 and mu_i = U_{i-1}^-1 x_i / |.|: the classical sum, below its bound."""
    rng = np.random.default_rng(1)
    X, ell = sphere(rng, 400, 3), 0.1
    U, M, widths = ell**2 * np.eye(3), np.empty_like(X), []
    for i, x in enumerate(X):
        direction = np.linalg.solve(U, x)
        M[i] = direction / np.linalg.norm(direction)
        widths.append(min(float(x @ direction), 1.0))
        U += np.outer(x, x)
    terms = potential_terms(X, M, ell, f=np.square)
    np.testing.assert_allclose(terms, widths, rtol=1e-8)
    assert terms.sum() <= elliptical_bound(3, 400, ell)


def test_bad_input() -> None:
    X = np.eye(2)
    with pytest.raises(ValueError, match="directions"):
        potential_terms(X, np.zeros((3, 2)), 0.1)
    with pytest.raises(ValueError, match="ell"):
        potential_terms(X, X, 0.0)
    with pytest.raises(ValueError, match="X"):
        potential_terms([[math.nan, 0.0]], X[:1], 0.1)
    with pytest.raises(ValueError, match="X"):
        potential_terms([1.0, 2.0], X, 0.1)


def literal_outgrown(episodes: list[FloatArray], mu: FloatArray, levels: list[float]) -> int:
    """By the definition: some step h, mu and level with Phi_{k,h} > 4 (d+2)^2 Phi_k."""
    bad, past = 0, np.empty((0, mu.shape[1]))
    for X in episodes:
        outgrew = False
        for ell in levels:
            for direction in mu:
                before = ell**2
                for x in past:
                    before += float(clip(x @ direction, ell)) * float(x @ direction)
                within = before
                for x in X:
                    within += float(clip(x @ direction, ell)) * float(x @ direction)
                    outgrew |= bool(within > 4 * (mu.shape[1] + 2) ** 2 * before)
        bad += outgrew
        past = np.concatenate([past, X])
    return bad


def test_episodes_that_outgrow_the_potential() -> None:
    rng = np.random.default_rng(0)
    levels = [2.0, 0.1, 0.01]
    mu = rng.uniform(-0.3, 0.3, size=(3, 2))
    episodes = [
        rng.uniform(-1, 1, size=(int(rng.integers(1, 30)), 2)) * 10.0 ** rng.uniform(-4, 0)
        for _ in range(25)
    ]
    watch = EpisodePotential(mu, levels)
    outgrown = [watch.add(X) for X in episodes]
    assert sum(outgrown) == watch.outgrown == literal_outgrown(episodes, mu, levels)
    assert 1 <= watch.outgrown < 25
    assert watch.episodes == 25
    assert outgrowth(2) == 64.0


def test_layers_are_watched_apart() -> None:
    mu = np.array([[1.0, 0.0]])
    small, large = np.full((1, 2), 0.01), np.full((40, 2), 0.5)
    one, two = EpisodePotential(mu, [0.1]), EpisodePotential(mu, [0.1])
    one.add(large)
    two.add(large, layers=np.zeros(40, dtype=int))
    assert not one.add(large[:4])
    assert not two.add(large[:4], layers=[0, 0, 0, 0])
    assert two.add(large, layers=np.ones(40, dtype=int))
    assert not one.add(small)


def test_bad_input_of_episode_potential() -> None:
    with pytest.raises(ValueError, match="directions"):
        EpisodePotential([1.0, 2.0])
    with pytest.raises(ValueError, match="levels"):
        EpisodePotential(np.eye(2), [0.0])
    watch = EpisodePotential(np.eye(2))
    with pytest.raises(ValueError, match="X"):
        watch.add(np.ones((3, 4)))
    with pytest.raises(ValueError, match="layers"):
        watch.add(np.ones((3, 2)), layers=[1])
    assert watch.episodes == 0
