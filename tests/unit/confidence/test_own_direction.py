"""Above ten dimensions: every theta is tested along its own direction."""

from __future__ import annotations

import copy
import time

import numpy as np
import pytest

from helpers import sphere
from reference.literal_own_direction import literal_own_direction
from voful import VOFUL, load
from voful.confidence import PeeledSet
from voful.confidence.peeled.own_direction import SLOPES, STAKE, OwnDirection, open_ellipsoid
from voful.typing import FloatArray

D = 20


def data(n: int, sigma: float = 0.1) -> tuple[FloatArray, FloatArray, FloatArray]:
    rng = np.random.default_rng(5)
    theta_star = sphere(rng, 1, D, 0.5)[0]
    X = sphere(rng, 30, D)[rng.integers(30, size=n)]
    return X, X @ theta_star + sigma * rng.choice([-1.0, 1.0], n), theta_star


def own(Theta: PeeledSet) -> OwnDirection:
    assert Theta.own_direction is not None
    return Theta.own_direction


@pytest.mark.parametrize("sigma", [0.0, 0.3])
def test_the_ellipsoid_of_a_literal_transcription(sigma: float) -> None:
    X, y, _ = data(500, sigma)
    Theta = PeeledSet(D, n_rounds=500, failure_prob=0.1)
    Theta.partial_fit(X, y)
    A, c, radius, _ = literal_own_direction(X, y, 0.1, -1.0, 1.0)
    found = open_ellipsoid(own(Theta)._now, D)
    np.testing.assert_allclose(found.center, c, atol=1e-5)
    np.testing.assert_allclose(found.precision, A, rtol=1e-4, atol=1e-4 * A.max())
    assert found.radius[0] == pytest.approx(radius, rel=1e-4)


def test_lines_bound_the_wealth_from_below_on_the_intervals() -> None:
    X, y, theta_star = data(300)
    Theta = PeeledSet(D, n_rounds=300, failure_prob=0.1)
    Theta.partial_fit(X, y)
    *_, rounds = literal_own_direction(X, y, 0.1, -1.0, 1.0)
    a, b = (np.array([one[i] for one in rounds]) for i in (0, 1))
    lo, up = np.array([one[2] for one in rounds]).T
    cap = np.minimum(STAKE / b, np.maximum(up - a, a - lo) ** -2.0)
    rng, asked = np.random.default_rng(0), 0
    for theta in theta_star + sphere(rng, 200, D) * rng.uniform(0.0, 0.6, (200, 1)):
        z = X @ theta
        if ((z < lo) | (z > up)).any():
            continue
        asked += 1
        t = theta - own(Theta)._origin
        for row, slope in zip(own(Theta)._lines, SLOPES, strict=True):
            wealth = np.log1p(np.minimum(slope, cap) * (a - z) * (y - z)).sum()
            G, f, e = row[: D * D].reshape(D, D), row[D * D : -1], row[-1]
            assert t @ G @ t - 2 * f @ t + e <= wealth + 1e-3
    assert asked > 20


def test_bounds_hold_members_and_are_attained() -> None:
    X, y, theta_star = data(3000)
    Theta = PeeledSet(D, n_rounds=3000)
    Theta.partial_fit(X, y)
    assert Theta.contains(theta_star)
    rng = np.random.default_rng(1)
    asked = np.concatenate([X[:5], sphere(rng, 15, D)])
    lower, upper = Theta.interval(asked)
    bounds, gap = Theta.support(asked, return_gap=True)
    np.testing.assert_array_equal(bounds, upper)
    assert (gap <= 0.2 * (upper - lower)).all()
    assert (lower <= asked @ theta_star).all()
    assert (asked @ theta_star <= upper).all()
    assert np.median(upper - lower) < 1.0  # they teach something
    tried = theta_star + sphere(rng, 500, D) * rng.uniform(0.0, 0.5, (500, 1))
    members = [theta for theta in tried if Theta.contains(theta)]
    assert len(members) > 10
    for theta in members:
        assert (asked @ theta <= upper + 1e-9).all()


def test_a_far_away_theta_is_eliminated_for_ever() -> None:
    X, y, theta_star = data(2000, 0.0)
    Theta = PeeledSet(D, n_rounds=3000)
    Theta.partial_fit(X, y)
    assert not Theta.contains(-theta_star)
    Theta.partial_fit(X[:1000], y[:1000])
    assert not Theta.contains(-theta_star)
    assert Theta.contains(theta_star)


def test_what_cannot_be_explained_empties_the_set() -> None:
    x = np.eye(D)
    policy = VOFUL(D, n_rounds=9000)
    Theta = policy.confidence_set
    policy.partial_fit(np.repeat(x[:1], 1000, axis=0), np.full(1000, 0.8))
    lower, upper = Theta.interval(x[:1])
    assert upper - lower < 0.3
    policy.partial_fit(np.repeat(x[:1], 8000, axis=0), np.full(8000, -0.8))
    with pytest.warns(RuntimeWarning, match="is empty"):
        assert not Theta.contains(0.8 * x[0])
    assert Theta.is_empty
    np.testing.assert_array_equal(Theta.interval(x[:1]), [[-1.0], [1.0]])
    assert policy.select(x) == 1  # predictions decide: the first coordinate pays least


def test_a_saved_policy_and_a_copy_continue(tmp_path: object) -> None:
    X, y, theta_star = data(400)
    policy = VOFUL(D, n_rounds=600)
    policy.partial_fit(X, y)
    policy.save(f"{tmp_path}/policy")
    twins = [load(f"{tmp_path}/policy"), copy.deepcopy(policy)]
    rng = np.random.default_rng(2)
    for _ in range(100):
        arms = sphere(rng, 8, D)
        i = policy.select(arms)
        for one in (policy, *twins):
            assert one.select(arms) == i
            one.update(arms[i], float(arms[i] @ theta_star))
    for twin in twins:
        np.testing.assert_array_equal(twin.index(arms), policy.index(arms))


def test_a_mask_and_a_narrower_set() -> None:
    X, y, _ = data(1000)
    wide, narrow = VOFUL(D, n_rounds=1000), VOFUL(D, n_rounds=1000, width_scale=0.5)
    arms = sphere(np.random.default_rng(3), 6, D)
    for policy in (wide, narrow):
        policy.partial_fit(X, y)
        mask = np.arange(6) == 4
        assert policy.select(arms, mask) == 4
    width = [np.subtract(*policy.index(arms)[:0:-1]) for policy in (wide, narrow)]
    assert (width[1] < 0.55 * width[0]).all()  # half of it, but for what the ball cuts off


def test_questions_are_quick() -> None:
    """Two orders of magnitude below what cutting planes took, whatever the machine does besides."""
    X, y, _ = data(500)
    policy = VOFUL(D, n_rounds=500)
    policy.partial_fit(X, y)
    arms = X[:20]
    policy.index(arms)
    start = time.process_time()
    for _ in range(10):
        policy.index(arms)
        policy.select(arms)
    assert time.process_time() - start < 0.5


def test_an_offered_direction_is_tested_too() -> None:
    X, y, _ = data(200)
    Theta = PeeledSet(D, n_rounds=400)
    assert Theta.n_tests == 0
    Theta.offer(np.eye(D)[0])
    Theta.partial_fit(X, y)
    assert Theta.n_tests == 1
    assert Theta._unpacked().a[0] != 0.0
