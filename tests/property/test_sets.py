"""Properties of every registered set, over random data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import make_policy, members, sphere, teach
from voful import registry
from voful.typing import FloatArray

IDS = [
    entry.id
    for entry in registry.entries("bandit")
    if make_policy(entry.id).confidence_set is not None
]
# Larger failure_prob, smaller set: true where the definition makes it so.
# LOSAN's threshold is, and LOFAV's; bets (BetOFUL, CertifiedUCB) depend on failure_prob, SAVE's
# count of ranges jumps with it.
NESTED = [
    "confidence-ball", "faury", "faury-paper", "lin-ts", "lin-ts-paper", "lofav", "lofav-paper",
    "losan", "oful", "oful-rare", "weighted-oful", "weighted-oful-paper", "weighted-oful-plus",
    "weighted-oful-plus-oful", "weighted-oful-plus-paper",
]  # fmt: skip
# Turning the data turns the set: not so where test directions are fixed in advance.
ROTATION_INVARIANT = ["betoful", "certified", "save", "save-paper", *NESTED]

seeds = st.integers(0, 10_000)
dims = st.integers(1, 4)
lengths = st.integers(0, 60)


def data(seed: int, dim: int, n: int) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(seed)
    X = sphere(rng, n, dim) * rng.uniform(0.01, 1.0, (n, 1))
    theta_star = sphere(rng, 1, dim, 0.6)[0]
    y = X @ theta_star + rng.choice([0.0, 0.05, 0.4]) * rng.uniform(-1, 1, n)
    return X, np.clip(y, -1, 1)


def fitted(id: str, X: FloatArray, y: FloatArray, dim: int, **params: Any) -> Any:
    policy = make_policy(id, dim, **params)
    teach(policy, X, y)
    return policy.confidence_set


@pytest.mark.parametrize("id", IDS)
@given(seed=seeds, dim=dims, n=lengths)
def test_support_bounds_members(id: str, seed: int, dim: int, n: int) -> None:
    Theta = fitted(id, *data(seed, dim, n), dim)
    X = sphere(np.random.default_rng(seed + 1), 20, dim)
    upper = Theta.support(X)
    for theta in members(Theta, np.random.default_rng(seed), 60):
        assert (X @ theta <= upper + 1e-8).all()


@pytest.mark.parametrize("id", NESTED)
@given(seed=seeds, dim=dims, n=lengths)
def test_nested_in_failure_prob(id: str, seed: int, dim: int, n: int) -> None:
    X, y = data(seed, dim, n)
    large, small = (fitted(id, X, y, dim, failure_prob=p) for p in (0.01, 0.2))
    probes = sphere(np.random.default_rng(seed), 20, dim)
    assert (small.support(probes) <= large.support(probes) + 1e-9).all()
    for theta in members(small, np.random.default_rng(seed), 60):
        assert large.contains(theta)


@pytest.mark.parametrize("id", ROTATION_INVARIANT)
@given(seed=seeds, dim=st.integers(2, 4), n=lengths)
def test_rotations_turn_the_support(id: str, seed: int, dim: int, n: int) -> None:
    X, y = data(seed, dim, n)
    Q, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((dim, dim)))
    probes = sphere(np.random.default_rng(seed + 1), 20, dim)
    plain = fitted(id, X, y, dim).support(probes)
    turned = fitted(id, X @ Q, y, dim).support(probes @ Q)
    np.testing.assert_allclose(turned, plain, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("id", IDS)
@given(seed=seeds, dim=dims, n=lengths)
def test_the_order_of_the_questions_does_not_matter(id: str, seed: int, dim: int, n: int) -> None:
    Theta = fitted(id, *data(seed, dim, n), dim)
    probes = sphere(np.random.default_rng(seed), 12, dim)
    order = np.random.default_rng(seed).permutation(12)
    np.testing.assert_array_equal(Theta.support(probes[order]), Theta.support(probes)[order])
    np.testing.assert_array_equal(
        Theta.support(probes), [Theta.support(probe[None])[0] for probe in probes]
    )
