"""What replaces vertices' cones in many dimensions: slabs, bounds with the ball, idle tests."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize

from helpers import sphere
from voful import VOFUL
from voful.confidence import PeeledSet
from voful.confidence.directions import spread_lines
from voful.confidence.peeled.ball_bounds import bound_in_ball
from voful.confidence.peeled.cuts import LARGEST_CONES
from voful.confidence.peeled.dual_simplex import add_row, new_basis
from voful.confidence.peeled.outer_polytope import new_polytope
from voful.confidence.peeled.slabs import add_slabs, slab
from voful.confidence.peeled.tests import able, excess, passes, select_tests, unpack
from voful.typing import FloatArray


def taught(dim: int, n: int, spread: float = 1.0) -> tuple[PeeledSet, FloatArray]:
    rng = np.random.default_rng(dim)
    theta_star = sphere(rng, 1, dim, 0.5)[0]
    X = sphere(rng, n, dim) * spread ** np.arange(dim)
    given = 2.0 * spread_lines(dim, 2 * dim) if dim > LARGEST_CONES else None
    Theta = PeeledSet(dim, n_rounds=n, directions=given)
    Theta.partial_fit(X, X @ theta_star + rng.uniform(-0.1, 0.1, n))
    Theta._set_prices()
    return Theta, theta_star


@pytest.mark.parametrize(("dim", "n", "spread"), [(2, 300, 1.0), (5, 800, 0.7), (12, 2500, 0.9)])
def test_all_that_a_slab_takes_is_eliminated(dim: int, n: int, spread: float) -> None:
    Theta, theta_star = taught(dim, n, spread)
    tests = Theta._unpacked()
    rng = np.random.default_rng(1)
    cuts = 0
    for i in range(0, len(tests.a), 3):
        for side in (1.0, -1.0):
            u = side * tests.b[i] / np.linalg.norm(tests.b[i])
            tau = slab(tests, i, u, Theta.center)
            cuts += tau < 1.0
            for _ in range(40):
                s = rng.uniform(tau, 1.0)
                w = rng.standard_normal(dim)
                w -= (w @ u) * u
                w *= math.sqrt(1.0 - s * s) / np.linalg.norm(w)  # on the sphere: the worst case
                if s > tau:
                    assert excess(tests, i, s * u + w)[0] > 0.0
    assert cuts > 5
    P = new_polytope(dim)
    add_slabs(Theta._flat, P, 1.0, Theta.center)
    size = int(P.size[0])
    assert size > 2 * dim
    assert (P.A[:size] @ theta_star <= P.h[:size]).all()


@pytest.mark.parametrize("dim", [3, 12])
def test_bounds_over_rows_and_ball(dim: int) -> None:
    rng = np.random.default_rng(dim)
    excesses = []
    for _ in range(25):
        P, B = new_polytope(dim), new_basis(dim)
        for a in sphere(rng, 3 * dim, dim):
            add_row(P, a, float(rng.uniform(0.1, 0.6)), 0.0)
        size = int(P.size[0])
        A, h, x = P.A[:size], P.h[:size], sphere(rng, 1, dim)[0]
        found = minimize(
            lambda t, x=x: -x @ t,
            np.zeros(dim),
            jac=lambda _, x=x: -x,
            constraints=[
                {"type": "ineq", "fun": lambda t, A=A, h=h: h - A @ t},
                {"type": "ineq", "fun": lambda t: 1.0 - t @ t},
            ],
        )
        exact = -found.fun
        upper = bound_in_ball(P, x, B, 1.0, 0.0, -np.inf)
        assert upper >= exact - 1e-6
        excesses.append(upper / exact - 1.0)
        floor = exact + 0.5 * (1.0 - exact)
        assert bound_in_ball(P, x, B, 1.0, 0.0, floor) >= upper - 1e-12
    assert np.median(excesses) < 0.02
    assert max(excesses) < 0.1


def test_rows_without_any_common_point_are_noticed() -> None:
    P, B = new_polytope(12), new_basis(12)
    u = np.eye(12)[3]
    add_row(P, u, -0.3, 0.0)
    add_row(P, -u, 0.2, 0.0)
    x = sphere(np.random.default_rng(0), 1, 12)[0]
    assert bound_in_ball(P, u, B, 1.0, 0.0, -np.inf) == -np.inf
    assert bound_in_ball(P, np.zeros(12), B, 1.0, 0.0, -np.inf) == 0.0
    assert bound_in_ball(P, x, B, 1.0, 0.0, -np.inf) <= 1.0


@pytest.mark.parametrize(("constants", "scale"), [("kt", 1.0), ("paper", 0.05)])
def test_idle_tests_accept_the_whole_ball(constants: str, scale: float) -> None:
    rng = np.random.default_rng(0)
    Theta = PeeledSet(3, n_rounds=2000, constants=constants, iota_scale=scale)
    idle = active = 0
    for n in (5, 20, 60, 200):
        X = sphere(rng, n, 3)
        Theta.partial_fit(X, X @ [0.5, 0.0, 0.3])
        Theta._set_prices()
        tests = Theta._unpacked()
        kept = able(tests, Theta.n_observations)
        some = select_tests(tests, kept)
        others = select_tests(tests, ~kept)
        assert len(unpack(some, 3).a) == kept.sum()
        np.testing.assert_array_equal(unpack(some, 3).G, tests.G[kept])
        for theta in sphere(rng, 100, 3):
            assert passes(others, theta, 0.0)
        idle, active = idle + int((~kept).sum()), active + int(kept.sum())
    assert idle > 0
    assert active > 0


def test_in_many_dimensions_a_copy_continues_and_members_stay() -> None:
    rng = np.random.default_rng(3)
    theta_star = sphere(rng, 1, 12, 0.5)[0]
    given = 2.0 * spread_lines(12, 6)
    policy = VOFUL(12, n_rounds=600, directions=given)
    fixed = sphere(rng, 6, 12)
    for k in range(600):
        arms = fixed if k % 50 < 40 else sphere(rng, 6, 12)
        i = policy.select(arms)
        if k % 97 == 0:
            copy = VOFUL(12, n_rounds=600, directions=given)
            copy.restore(policy.state())
            assert copy.select(arms) == i == policy.select(arms)
        policy.update(arms[i], float(arms[i] @ theta_star))
    P = policy._outer._polytope
    size = int(P.size[0])
    assert size > 24
    assert policy.confidence_set.contains(theta_star)
    assert (P.A[:size] @ theta_star <= P.h[:size]).all()
