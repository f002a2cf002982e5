"""The maximum over an ellipsoid within the simplex, against a general solver and face by face."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize

from helpers import full
from reference.literal_planning import maximum_by_faces
from voful.confidence.algebra import whitener_from
from voful.confidence.mixture.ends import MixtureEllipsoids, corners_within, ellipsoids_of, ends_of
from voful.confidence.mixture.ridge import at_sum_one
from voful.typing import FloatArray


class Case:
    """A random ellipsoid {|theta - center|_M <= 1} that has some member of the simplex."""

    def __init__(self, rng: np.random.Generator, d: int) -> None:
        self.member = rng.dirichlet(np.full(d, rng.choice([0.3, 1.0, 3.0])))
        root = rng.standard_normal((d, d)) * np.exp(rng.uniform(-2.0, 2.0, d))[:, None]
        M = root.T @ root + 10.0 ** rng.uniform(-2.0, 1.0) * np.eye(d)
        self.M = M * 10.0 ** rng.uniform(-1.0, 3.0) * d / np.trace(M)
        away = np.linalg.solve(np.linalg.cholesky(self.M).T, rng.standard_normal(d))
        away *= rng.random() / math.sqrt(away @ self.M @ away)
        self.center = self.member + away
        self.x = rng.random(d)

    @property
    def ellipsoids(self) -> MixtureEllipsoids:
        whitener = np.empty(self.M.shape)
        assert whitener_from(self.M, whitener)
        center, factor = at_sum_one(self.center, whitener, 1.0)
        corners = corners_within(self.center[None], self.M[None], np.ones(1))
        return ellipsoids_of(center[None], factor[None], corners, True, True)

    def by_solver(self) -> tuple[FloatArray, float]:
        """(a maximiser that SLSQP found, by how much it is no member)."""
        M, c, x = self.M, self.center, self.x
        found = minimize(
            lambda theta: -x @ theta,
            self.member,
            jac=lambda theta: -x,
            bounds=[(0.0, 1.0)] * len(x),
            constraints=[
                {"type": "eq", "fun": lambda t: t.sum() - 1.0, "jac": lambda t: np.ones(len(t))},
                {
                    "type": "ineq",
                    "fun": lambda t: 1.0 - (t - c) @ M @ (t - c),
                    "jac": lambda t: -2.0 * M @ (t - c),
                },
            ],
            method="SLSQP",
            options={"maxiter": 200, "ftol": 1e-10},
        )
        theta: FloatArray = found.x
        off = max((theta - c) @ M @ (theta - c) - 1.0, abs(theta.sum() - 1.0), -theta.min(), 0.0)
        return theta, float(off)


def test_never_below_a_general_solver_and_hardly_above() -> None:
    """2,000 cases, d = 2..16: the excess in units of the width is 0 for most."""
    rng = np.random.default_rng(7)
    excess = []
    for k in range(2000 if full() else 300):
        case = Case(rng, 2 + k % 15)
        lower, upper = ends_of(case.ellipsoids, case.x[None])[:, 0]
        theta, off = case.by_solver()
        if off < 1e-6:
            assert upper >= case.x @ theta - 1e-5
            excess.append((upper - case.x @ theta) / max(upper - lower, 1e-9))
        assert lower - 1e-9 <= case.x @ case.member <= upper + 1e-9
        assert case.x.min() <= upper <= case.x.max()
    assert len(excess) > 0.9 * (k + 1)
    assert np.median(excess) < 0.001
    assert np.quantile(excess, 0.9) < 0.01


@pytest.mark.parametrize("d", [2, 3, 4, 5])
def test_the_best_face(d: int) -> None:
    rng = np.random.default_rng(d)
    for _ in range(60):
        case = Case(rng, d)
        lower, upper = ends_of(case.ellipsoids, case.x[None])[:, 0]
        inverse = np.linalg.inv(case.M)
        largest = maximum_by_faces(case.center, inverse, 1.0, case.x)
        least = -maximum_by_faces(case.center, inverse, 1.0, -case.x)
        assert upper >= largest - 1e-8
        assert lower <= least + 1e-8
        assert upper - largest <= 1e-3 * (largest - least) + 1e-8


def test_the_lesser_of_two_ends_would_be_far_above() -> None:
    """The control: what the planner did before fails this bound."""
    rng = np.random.default_rng(3)
    excess = []
    for _ in range(60):
        case = Case(rng, 8)
        Theta = case.ellipsoids
        lower, upper = ends_of(Theta, case.x[None])[:, 0]
        alone = ends_of(Theta._replace(cut=False), case.x[None])[1, 0]
        excess.append((min(alone, case.x.max()) - upper) / max(upper - lower, 1e-9))
    assert np.median(excess) > 0.01


def test_no_member_shows_as_ends_that_cross() -> None:
    center = np.array([1.4, -0.3, -0.1])
    M = 400.0 * np.eye(3)
    whitener = np.empty((3, 3))
    assert whitener_from(M, whitener)
    middle, factor = at_sum_one(center, whitener, 1.0)
    nowhere = np.zeros(3, dtype=np.bool_)
    Theta = ellipsoids_of(middle[None], factor[None], nowhere, True, True)
    lower, upper = ends_of(Theta, np.eye(3))
    assert (lower > upper).any()
