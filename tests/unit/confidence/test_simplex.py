from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from helpers import full, sphere
from voful.confidence.peeled.dual_simplex import (
    EMPTY,
    OPTIMAL,
    add_row,
    bound,
    dual_bound,
    make_room,
    new_basis,
    optimise,
    start_at_corner,
)
from voful.confidence.peeled.outer_polytope import new_polytope


@pytest.mark.parametrize("dim", [1, 2, 3, 6])
def test_against_highs(dim: int) -> None:
    rng = np.random.default_rng(dim)
    empty = 0
    for _ in range(60):
        P, B = new_polytope(dim), new_basis(dim)
        for _ in range(int(rng.integers(0, 40))):
            add_row(P, sphere(rng, 1, dim)[0], float(rng.uniform(-0.15, 0.8)), 0.0)
        x = sphere(rng, 1, dim)[0]
        size = int(P.size[0])
        exact = linprog(-x, A_ub=P.A[:size], b_ub=P.h[:size], bounds=(None, None))
        start_at_corner(x, B)
        code = optimise(P, x, B, -np.inf)
        if exact.status == 2:
            empty += 1
            assert code == EMPTY
        else:
            assert code == OPTIMAL
            assert x @ B.vertex == pytest.approx(-exact.fun, abs=1e-8)
            assert dual_bound(P, x, B) == pytest.approx(-exact.fun, abs=1e-8)
    assert empty < 50


def test_the_bound_never_exceeds_the_balls_and_zero_is_zero() -> None:
    P, B = new_polytope(3), new_basis(3)
    x = np.array([0.3, -0.4, 0.0])
    assert bound(P, x, B, 0.0, -np.inf) == pytest.approx(0.5)
    assert bound(P, np.zeros(3), B, 0.0, -np.inf) == 0.0


def test_any_dual_feasible_basis_bounds() -> None:
    """Weak duality: the corner's bound is valid before a single pivot."""
    P, B = new_polytope(2), new_basis(2)
    add_row(P, np.array([1.0, 1.0]), 0.2, 0.0)
    x = np.array([0.6, 0.8])
    start_at_corner(x, B)
    assert dual_bound(P, x, B) >= bound(P, x, new_basis(2), 0.0, -np.inf)


def test_room_is_made_among_the_oldest_rows() -> None:
    P, B = new_polytope(2), new_basis(2)
    start_at_corner(np.ones(2), B)
    capacity = P.A.shape[0]
    for k in range(capacity - 4):
        add_row(P, np.array([1.0, 0.01 * k]), 1.0, float(k))
    make_room(P, B, 3)
    size = int(P.size[0])
    assert size < capacity - 3
    np.testing.assert_array_equal(P.A[:4], [[1, 0], [0, 1], [-1, 0], [0, -1]])
    assert P.used[4:size].min() > capacity / 3


def test_near_parallel_rows_are_never_called_empty_by_mistake() -> None:
    """Rows that all hold at a known theta, in bundles of almost the same direction."""
    rng = np.random.default_rng(7)
    for _ in range(400 if full() else 100):
        dim = int(rng.integers(2, 6))
        theta = sphere(rng, 1, dim, 0.7)[0]
        P, B = new_polytope(dim), new_basis(dim)
        for _ in range(6):
            u = sphere(rng, 1, dim)[0]
            for _ in range(6):
                w = u + 10 ** rng.uniform(-12, -2) * sphere(rng, 1, dim)[0]
                w /= np.linalg.norm(w)
                add_row(P, w, float(w @ theta + 10 ** rng.uniform(-13, -3)), 0.0)
        for x in sphere(rng, 4, dim):
            assert bound(P, x, B, 0.0, -np.inf) >= x @ theta - 1e-9
