from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from voful.confidence import MomentSet
from voful.confidence.directions import mixture_directions
from voful.confidence.levels import ell
from voful.confidence.mixture.exponential_tests import CAPS, SCALES, ExponentialTests
from voful.confidence.mixture.layered_tests import (
    LayeredTests,
    layer,
    paper_iota,
    paper_levels,
    paper_moments,
)
from voful.confidence.mixture.observations import Observations, observe
from voful.typing import ConfidenceSet, FloatArray

THETA = np.array([0.2, 0.5, 0.3])


def draw(
    rng: np.random.Generator, n: int = 12, B: int = 4, visits: int = 200, dim: int = 3
) -> tuple[FloatArray, FloatArray, FloatArray]:
    theta = THETA if dim == 3 else np.full(dim, 1.0 / dim)
    p = np.ascontiguousarray(np.moveaxis(rng.dirichlet(np.ones(B), size=(n, dim)), 1, 2))
    g = rng.random((n, B))
    law = p @ theta
    counts = np.array([rng.multinomial(visits, row / row.sum()) for row in law], dtype=float)
    return p, g, counts


def make(**params: Any) -> MomentSet:
    return MomentSet(3, **{"horizon": 10, "n_episodes": 100, **params})


def test_directions() -> None:
    for dim in range(1, 9):
        for simplex in (True, False):
            U = mixture_directions(dim, simplex)
            np.testing.assert_allclose(np.linalg.norm(U, axis=1), 1.0)
            if simplex:
                np.testing.assert_allclose(U.sum(axis=1), 0.0, atol=1e-12)
            for u in U:  # both signs of each
                assert np.abs(U + u).sum(axis=1).min() < 1e-12
    assert [len(mixture_directions(d, True)) for d in (1, 2, 3, 4)] == [0, 2, 12, 52]


def test_layers_are_half_open() -> None:
    eta = np.array([2.0, 1.0, 0.75, 0.5, 0.5000001, 1e-9, 0.0])
    for value, i in zip(eta[:-1], layer(eta), strict=False):
        assert ell(int(i) + 1) < value <= ell(int(i))
    assert layer(eta)[-1] > 10**6


def test_constants_of_the_paper() -> None:
    assert paper_iota(3, 10, 100, 0.05) == pytest.approx(48 * math.log(3 * 1000 / 0.05))
    assert paper_moments(10, 100) == 11
    assert paper_levels(10, 100) == 53
    assert make(constants="paper").moments == 11
    assert make(constants="bernstein").moments == make(constants="mgf").moments == 3


def by_hand(kind: str, seen: Observations, eta: FloatArray, theta: FloatArray) -> FloatArray:
    """Left side minus right side without the price of each test at theta, one y at a time."""
    U = mixture_directions(3, True)
    excess = np.zeros((len(U), len(SCALES)))
    for u in range(len(U)):
        for r, scale in enumerate(SCALES):
            for k in range(len(seen.X)):
                x = seen.X[k]
                c = float(np.clip(x @ U[u] * scale / eta[k], -CAPS[kind], CAPS[kind]))
                z = np.exp(c * seen.targets[k]) @ seen.probabilities[k]
                for b, n in enumerate(seen.counts[k]):
                    y = seen.targets[k, b]
                    if kind == "bernstein":
                        size = abs(c)
                        cost = math.log1p(eta[k] * (math.exp(size) - 1 - size))
                        excess[u, r] += n * (c * (y - x @ theta) - cost)
                    else:
                        excess[u, r] += n * (c * y - math.log(theta @ z))
    return excess


@pytest.mark.parametrize("kind", ["bernstein", "mgf"])
def test_exponential_tests_are_their_formula(kind: str) -> None:
    rng = np.random.default_rng(0)
    seen = observe(*draw(rng, n=4, visits=30))
    eta = rng.uniform(0.02, 0.2, 4)
    theta_0 = np.array([0.3, 0.4, 0.3])
    tests = ExponentialTests(kind, 1, np.array(mixture_directions(3, True)), 0.05, 1.0, True)
    tests.add(0, seen, eta, theta_0)
    A, b, groups = tests.halfspaces()
    assert tests.price == pytest.approx(math.log(12 * 8 / 0.05))
    assert len(A) == len(b) == len(groups) == 96
    for theta in rng.dirichlet(np.ones(3), size=5):
        linear = (A @ theta - b).reshape(12, 8) + tests.price
        exact = by_hand(kind, seen, eta, theta)
        if kind == "bernstein":
            np.testing.assert_allclose(linear, exact, atol=1e-9)
        else:  # a tangent: below, and equal at theta_0
            assert (linear <= exact + 1e-9).all()
    if kind == "mgf":
        linear = (A @ theta_0 - b).reshape(12, 8) + tests.price
        np.testing.assert_allclose(linear, by_hand(kind, seen, eta, theta_0), atol=1e-9)


@pytest.mark.parametrize("constants", ["bernstein", "mgf", "paper"])
def test_learning_shrinks_the_set_around_theta_star(constants: str) -> None:
    rng = np.random.default_rng(1)
    Theta = make(constants=constants, iota_scale=3e-3 if constants == "paper" else 1.0)
    assert isinstance(Theta, ConfidenceSet)
    X = np.concatenate([np.eye(3), -np.eye(3)])
    widths = [Theta.support(X)]
    for _ in range(6):
        Theta.learn(*draw(rng))
        widths.append(Theta.support(X))
        assert Theta.contains(THETA)
        assert (widths[-1] <= widths[-2] + 1e-12).all()
    assert (widths[-1] < widths[0] - 0.3).sum() >= 4
    assert Theta.n_observations == 6 * 12 * 200
    assert np.abs(Theta.center - THETA).max() < 0.25
    assert repr(Theta) == "<MomentSet in R^3 after 14400 transitions>"


@pytest.mark.parametrize("constants", ["bernstein", "mgf"])
def test_narrower_scales_give_smaller_sets(constants: str) -> None:
    data = draw(np.random.default_rng(2))
    half, whole = make(constants=constants, width_scale=0.5), make(constants=constants)
    half.learn(*data)
    whole.learn(*data)
    X = np.eye(3)
    assert (half.support(X) <= whole.support(X)).all()
    assert half.support(X).sum() < whole.support(X).sum()


def test_printed_constants_say_nothing_for_long() -> None:
    Theta = make(constants="paper")
    Theta.learn(*draw(np.random.default_rng(3)))
    np.testing.assert_allclose(Theta.support(np.eye(3)), 1.0)


def test_variance_bound_is_clamped_but_not_literally() -> None:
    X, X2 = np.zeros((1, 3)), np.zeros((1, 3))
    assert make().variance_bound(X, X2)[0] == 1e-12
    literal = make(constants="paper", directions=[[1.0, -1.0, 0.0]])
    assert literal.variance_bound(X, X2)[0] == 0.0
    assert make().variance_bound(np.array([[0.0, 1.0, 0.5]]), np.array([[0.0, 1.0, 0.5]])) <= 0.25


def test_a_literal_set_can_be_empty_and_says_so_once() -> None:
    Theta = make(constants="paper", directions=[[1.0, -1.0, 0.0]], iota_scale=1e-9)
    p, g, counts = draw(np.random.default_rng(4), visits=10)
    counts[:] = 0.0
    counts[:, 0] = 40.0  # nothing explains this
    Theta.learn(p, g, counts)
    assert Theta.is_empty
    assert Theta.vertices is None
    with pytest.warns(RuntimeWarning, match="MomentSet is empty"):
        assert not Theta.contains(THETA)
    X = np.eye(3)
    np.testing.assert_array_equal(Theta.support(X), np.ones(3))
    np.testing.assert_array_equal(Theta.interval([[0.2, 0.1, 0.4]]), [[0.1], [0.4]])
    np.testing.assert_allclose(Theta.planning_support(X), X @ Theta.center)  # plans go on


def test_data_that_fit_no_mixture_leave_a_set_but_no_certainty() -> None:
    Theta = make()
    p, g, counts = draw(np.random.default_rng(5))
    counts[:] = 0.0
    counts[:, 0] = 300.0
    with pytest.warns(RuntimeWarning, match="would have left nothing"):
        Theta.learn(p, g, counts)
    Theta.learn(p, g, counts)
    assert not Theta.is_empty
    assert Theta.is_refuted
    assert Theta.polytope.n_skipped > 0
    assert not Theta.contains(Theta.center)
    np.testing.assert_array_equal(Theta.interval([[0.2, 0.1, 0.4]]), [[0.1], [0.4]])
    assert (Theta.planning_support(np.eye(3)) <= 1.0).all()
    assert np.isfinite(Theta.support(np.eye(3))).all()


def test_signed_mixtures() -> None:
    """y = g(s') with P = P_1 + theta_2 (P_1 - P_2): theta* = (1, 0) in the L1 ball."""
    rng = np.random.default_rng(6)
    for constants in ("bernstein", "paper"):
        Theta = MomentSet(
            2,
            horizon=10,
            n_episodes=100,
            constants=constants,
            simplex=False,
            iota_scale=3e-3 if constants == "paper" else 1.0,
        )
        for _ in range(5):
            base, other = rng.dirichlet(np.ones(4), size=(2, 10))
            counts = np.array([rng.multinomial(300, row) for row in base])
            p = np.stack([base, base - other], axis=2)
            Theta.learn(p, rng.random((10, 4)), counts)
            assert Theta.contains([1.0, 0.0])
        assert Theta.support([[0.0, 1.0]])[0] < 0.9


def test_given_directions() -> None:
    mu = np.array([[1.0, -1.0, 0.0], [0.0, 1.0, -1.0]])
    data = draw(np.random.default_rng(7))
    Theta = make(directions=mu)
    Theta.learn(*data)
    assert isinstance(Theta.tests, ExponentialTests)
    assert len(Theta.tests.directions) == 4
    assert Theta.contains(THETA)
    literal = make(constants="paper", directions=mu)
    literal.learn(*data)
    assert isinstance(literal.tests, LayeredTests)
    assert literal.tests.totals.shape[1:] == (2, 53, 5)
    assert literal.contains(THETA)


@pytest.mark.parametrize(
    "bad",
    [
        {"constants": "printed"},
        {"moments": 0},
        {"moments": 1.5},
        {"moments": 12, "constants": "paper"},
        {"iota_scale": 2.0},
        {"iota_scale": -1.0, "constants": "paper"},
        {"width_scale": 0.0},
        {"failure_prob": 1.0},
        {"horizon": 0},
        {"n_episodes": 0},
        {"directions": np.empty((0, 3))},
        {"directions": [[1.0, 2.0]]},
        {"directions": [[2.0, -2.0, 0.0]], "constants": "paper"},
        {"constants": "mgf", "simplex": False},
        {"layering": "varlin3"},
    ],
)
def test_bad_arguments(bad: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError), match=": got .*; expected"):
        make(**bad)


def test_bad_observations_change_nothing() -> None:
    Theta = make()
    p, g, counts = draw(np.random.default_rng(8))
    Theta.learn(p, g, counts)
    before = {name: array.tobytes() for name, array in Theta.state().items()}
    for args in (
        (p[:, :, :2], g, counts),
        (p, g[:-1], counts),
        (p, g, counts[:, :-1]),
        (p, g + 0.5, counts),
        (p, -g, counts),
        (p, g, -counts),
        (p, g, counts + 0.5),
        (p, np.where(g > 0.5, np.nan, g), counts),
    ):
        with pytest.raises(ValueError, match=": got .*; expected"):
            Theta.learn(*args)
    assert {name: array.tobytes() for name, array in Theta.state().items()} == before
