from __future__ import annotations

import math

import numpy as np
import pytest

from helpers import sphere
from voful.bandits.faury import FauryState, Score
from voful.confidence import ScoreEllipsoid
from voful.confidence.ellipsoids.score import new_score
from voful.confidence.rule import observe_by
from voful.typing import FloatArray
from voful.validation import ObservationSpace


def score_set(dim: int) -> ScoreEllipsoid:
    """The set of radius 0.5 + ln(det H / det(0.3 I))."""
    constants = Score(
        as_printed=0.0,
        curvature=1e-300,  # and then the radius is 2 price + ln(...)
        cap=0.5,
        price=0.25,
        variation_ridge=0.3,
        b=1.0,
        delta=0.05,
        bias=0.0,
        width_scale=1.0,
        largest_variance=1.0,
    )
    return ScoreEllipsoid(
        ObservationSpace(dim, 1.0, (-1.0, 1.0)),
        FauryState(new_score(dim, 0.7, 0.3, 0.5), np.array(constants)),
        theta_norm=10.0,
        unknown_variance=1.0,
    )


def learn(Theta: ScoreEllipsoid, x: FloatArray, reward: float, variance: float) -> None:
    observe_by(Theta.rule_state, x, reward, variance)


def fitted(n: int, dim: int = 3, seed: int = 0) -> tuple[ScoreEllipsoid, np.ndarray, np.ndarray]:
    """The set after n observations, with G and H computed anew."""
    rng = np.random.default_rng(seed)
    Theta = score_set(dim)
    G, H = 0.7 * np.eye(dim), 0.3 * np.eye(dim)
    for x in sphere(rng, n, dim):
        variance = float(rng.choice([0.0, 0.01, 0.5]))
        learn(Theta, x, float(rng.uniform(-1, 1)), variance)
        G += np.outer(x, x)
        H += variance * np.outer(x, x)
    return Theta, G, H


@pytest.mark.parametrize("n", [0, 1, 40, 1500])
def test_is_the_ellipsoid_of_G_Hinv_G(n: int) -> None:
    Theta, G, H = fitted(n)
    np.testing.assert_allclose(Theta.gram, G)
    np.testing.assert_allclose(Theta.variation, H)
    growth = np.linalg.slogdet(H)[1] - 3 * math.log(0.3)
    assert Theta.log_det_ratio == pytest.approx(growth, abs=1e-9)
    assert Theta.radius == pytest.approx(0.5 + growth)
    M = G @ np.linalg.solve(H, G)
    X = sphere(np.random.default_rng(1), 9, 3)
    widths = Theta.radius * np.sqrt([x @ np.linalg.solve(M, x) for x in X])
    lower, upper = Theta.interval(X)
    np.testing.assert_allclose(upper - X @ Theta.center, widths, rtol=1e-7)
    np.testing.assert_allclose(X @ Theta.center - lower, widths, rtol=1e-7)
    for x, width in zip(X, widths, strict=True):
        farthest = Theta.radius**2 * np.linalg.solve(M, x) / width  # where <x, theta> is largest
        assert Theta.contains(Theta.center + 0.9999 * farthest)
        assert not Theta.contains(Theta.center + 1.0001 * farthest)


def test_the_score_is_what_is_bounded() -> None:
    """Sum x (y - <x, theta>) = G (theta_hat - theta) + ridge theta."""
    rng = np.random.default_rng(3)
    Theta, G, _ = fitted(0)
    X, y = sphere(rng, 20, 3), rng.uniform(-1, 1, 20)
    for x, reward in zip(X, y, strict=True):
        Theta.update(x, reward)
    G += X.T @ X
    theta = rng.standard_normal(3)
    score = X.T @ (y - X @ theta)
    np.testing.assert_allclose(score, G @ (Theta.center - theta) + 0.7 * theta, atol=1e-10)
    # what comes without a variance has the largest; what claims more is not believed
    np.testing.assert_allclose(Theta.variation, 0.3 * np.eye(3) + X.T @ X)
    learn(Theta, X[0], 0.0, 1e30)
    np.testing.assert_allclose(Theta.variation, 0.3 * np.eye(3) + X.T @ X + np.outer(X[0], X[0]))
