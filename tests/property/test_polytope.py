"""Whatever halfspaces come, in whatever order: the set keeps members and answers soundly."""

from __future__ import annotations

import warnings

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from voful.confidence import PolytopeSet

SEEDS = st.integers(0, 2**32 - 1)


@given(SEEDS, st.integers(1, 7), st.booleans(), st.floats(1e-6, 1.0), st.integers(1, 4))
def test_members_stay_and_are_bounded(
    seed: int, dim: int, simplex: bool, scale: float, rounds: int
) -> None:
    rng = np.random.default_rng(seed)
    theta = rng.dirichlet(np.full(dim, 0.5))
    if not simplex:
        theta = theta * rng.choice([-1.0, 1.0], size=dim) * rng.random()
    Theta = PolytopeSet(dim, simplex=simplex)
    X = rng.standard_normal((5, dim))
    for _ in range(rounds):
        A = rng.standard_normal((15, dim)) * 10.0 ** rng.uniform(-6, 6, size=(15, 1))
        b = A @ theta + np.abs(A).max(axis=1) * scale * rng.random(15)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # too thin for a ball of 1e-9 inside
            Theta.cut(A, b)
        assert Theta.contains(theta)
        assert (Theta.support(X) >= X @ theta - 1e-9).all()
        assert (Theta.exact_support(X) >= X @ theta - 1e-9).all()


@given(SEEDS, st.integers(1, 7), st.booleans())
def test_garbage_never_empties(seed: int, dim: int, simplex: bool) -> None:
    rng = np.random.default_rng(seed)
    Theta = PolytopeSet(dim, simplex=simplex)
    X = rng.standard_normal((5, dim))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        for _ in range(3):
            Theta.cut(rng.standard_normal((10, dim)), rng.standard_normal(10))
    lower, upper = Theta.interval(X)
    assert (lower <= upper + 1e-9).all()
    assert np.isfinite(upper).all()
    assert not Theta.is_empty
    assert Theta.n_cuts == 30


@given(SEEDS, st.integers(2, 4))
def test_order_of_valid_cuts_does_not_matter(seed: int, dim: int) -> None:
    rng = np.random.default_rng(seed)
    theta = rng.dirichlet(np.ones(dim))
    A = rng.standard_normal((20, dim))
    b = A @ theta + 0.01 + 0.3 * rng.random(20)
    one, two = PolytopeSet(dim), PolytopeSet(dim)
    one.cut(A, b)
    for k in rng.permutation(20):
        two.cut(A[k : k + 1], b[k : k + 1])
    X = rng.standard_normal((5, dim))
    np.testing.assert_allclose(one.support(X), two.support(X), atol=1e-8)
