"""What scaling, mirroring and batching must do to a betting ellipsoid."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import sphere
from voful import BetOFUL
from voful.confidence import BettingEllipsoid
from voful.confidence.betting.state import BETS
from voful.typing import FloatArray

seeds = st.integers(0, 10_000)
lengths = st.integers(0, 150)


def data(seed: int, n: int) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(seed)
    X = sphere(rng, n, 3) * rng.uniform(0.01, 1.0, (n, 1))
    y = X @ sphere(rng, 1, 3, 0.6)[0] + rng.choice([0.0, 0.05, 0.4]) * rng.uniform(-1, 1, n)
    return X, np.clip(y, -1, 1)


def fitted(X: FloatArray, y: FloatArray, **params: Any) -> BettingEllipsoid:
    policy = BetOFUL(3, **params)
    policy.partial_fit(X, y)
    return policy.confidence_set


@pytest.mark.parametrize("bet", BETS)
@given(seed=seeds, n=lengths, power=st.integers(-6, 6), reward_power=st.integers(-6, 6))
def test_powers_of_two_scale_exactly(
    bet: str, seed: int, n: int, power: int, reward_power: int
) -> None:
    """Features times F, rewards times h, theta times h/F: the same numbers, scaled."""
    X, y = data(seed, n)
    F, h = 2.0**power, 2.0**reward_power
    plain = fitted(X, y, bet=bet)
    scaled = fitted(F * X, h * y, bet=bet, feature_norm=F, reward_range=(-h, h), theta_norm=h / F)
    probes = sphere(np.random.default_rng(seed), 10, 3)
    np.testing.assert_array_equal(scaled.support(F * probes), h * plain.support(probes))
    np.testing.assert_array_equal(scaled.rad, plain.rad)


@pytest.mark.parametrize("bet", BETS)
@given(seed=seeds, n=lengths)
def test_negated_rewards_mirror_the_set(bet: str, seed: int, n: int) -> None:
    X, y = data(seed, n)
    probes = sphere(np.random.default_rng(seed), 10, 3)
    up = fitted(X, y, bet=bet, theta_center=[0.1, 0.0, 0.2])
    down = fitted(X, -y, bet=bet, theta_center=[-0.1, 0.0, -0.2])
    np.testing.assert_allclose(down.support(-probes), up.support(probes), rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("bet", BETS)
@pytest.mark.parametrize("refresh", [True, False])
@given(seed=seeds, n=lengths, cut=st.floats(0, 1))
def test_batches_are_one_by_one(bet: str, refresh: bool, seed: int, n: int, cut: float) -> None:
    X, y = data(seed, n)
    one, many = (BetOFUL(3, bet=bet, refresh=refresh).confidence_set for _ in range(2))
    for x, reward in zip(X, y, strict=True):
        one.update(x, reward)
    middle = int(cut * n)
    many.partial_fit(X[:middle], y[:middle])
    many.partial_fit(X[middle:], y[middle:])
    for name, array in one.state().items():
        np.testing.assert_array_equal(array, many.state()[name])


@pytest.mark.parametrize("bet", BETS)
@given(seed=seeds, n=lengths)
def test_rotations_turn_the_support(bet: str, seed: int, n: int) -> None:
    X, y = data(seed, n)
    Q, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((3, 3)))
    probes = sphere(np.random.default_rng(seed + 1), 20, 3)
    plain = fitted(X, y, bet=bet, refresh=False).support(probes)
    turned = fitted(X @ Q, y, bet=bet, refresh=False).support(probes @ Q)
    np.testing.assert_allclose(turned, plain, rtol=1e-7, atol=1e-8)
