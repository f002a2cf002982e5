from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from matplotlib.path import Path

from voful import OFUL, VOFUL
from voful.confidence.outline import outline
from voful.envs import linear_bandit
from voful.typing import FloatArray


class Shape:
    """A set of the test's own: a union of discs without the inside of others, in a large box."""

    dim = 2
    is_empty = False

    def __init__(self, discs: list[tuple[float, float, float]], holes: list[float] | None = None):
        self.discs = discs
        self.holes = holes or [0.0] * len(discs)

    @property
    def center(self) -> FloatArray:
        return np.zeros(2)

    def contains(self, theta: npt.ArrayLike) -> bool:
        a, b = np.asarray(theta).tolist()
        return any(
            hole <= math.hypot(a - x, b - y) <= radius
            for (x, y, radius), hole in zip(self.discs, self.holes, strict=True)
        )

    def support(self, X: npt.ArrayLike) -> FloatArray:
        rows = np.asarray(X, dtype=float)
        each = [rows @ (x, y) + r * np.linalg.norm(rows, axis=1) for x, y, r in self.discs]
        return np.asarray(np.max(each, axis=0), dtype=float)

    def interval(self, X: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
        rows = np.asarray(X, dtype=float)
        return -self.support(-rows), self.support(rows)


class Needle(Shape):
    """An ellipse with axes 1 and 10^-4, turned by an odd angle."""

    def __init__(self) -> None:
        super().__init__([(0.2, 0.1, 0.0)])
        turn = 0.7391
        self.axes = np.array(
            [[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]]
        ) * (1.0, 1e-4)

    def contains(self, theta: npt.ArrayLike) -> bool:
        inner = np.linalg.solve(self.axes, np.asarray(theta) - (0.2, 0.1))
        return bool(inner @ inner <= 1.0)

    def support(self, X: npt.ArrayLike) -> FloatArray:
        rows = np.asarray(X, dtype=float)
        widths = np.linalg.norm(rows @ self.axes, axis=1)
        return np.asarray(rows @ (0.2, 0.1) + widths, dtype=float)


class Lost(Shape):
    """A disc whose support is a bound a thousand times too large."""

    def support(self, X: npt.ArrayLike) -> FloatArray:
        return np.asarray(1e3 * np.linalg.norm(np.asarray(X), axis=1), dtype=float)


def area(polygons: list[FloatArray]) -> float:
    """Outlines run round members on their left, so that holes count as negative."""
    return sum(
        0.5 * float(np.sum(p[:, 0] * np.roll(p[:, 1], -1) - p[:, 1] * np.roll(p[:, 0], -1)))
        for p in polygons
    )


def test_an_ellipse() -> None:
    policy = OFUL(2)
    rng = np.random.default_rng(0)
    for _ in range(2000):
        x = rng.normal(size=2) * (0.6, 0.4)
        x /= max(1.0, math.hypot(*x))
        policy.update(x, float(x @ (0.3, -0.2)))
    Theta = policy.confidence_set
    (polygon,) = outline(Theta)
    assert 40 < len(polygon) < 200
    distances = [
        math.sqrt((p - Theta.center) @ Theta.precision @ (p - Theta.center)) for p in polygon
    ]
    assert distances == pytest.approx([Theta.radius] * len(polygon), rel=5e-3)
    exact = math.pi * Theta.radius**2 / math.sqrt(np.linalg.det(Theta.precision))
    assert area([polygon]) == pytest.approx(exact, rel=0.01)


@pytest.mark.parametrize(
    ("shape", "pieces", "exact"),
    [
        (Shape([(0.3, -0.2, 0.5)]), 1, math.pi * 0.25),
        (Shape([(0.0, 0.0, 1.0)], [0.6]), 2, math.pi * 0.64),
        (Shape([(-0.6, 0.0, 0.3), (0.5, 0.4, 0.4)]), 2, math.pi * 0.25),
        (Needle(), 1, math.pi * 1e-4),
        (Lost([(0.05, 0.1, 0.4)]), 1, math.pi * 0.16),
    ],
    ids=["disc", "ring", "two discs", "needle", "lost in its box"],
)
def test_shapes(shape: Shape, pieces: int, exact: float) -> None:
    polygons = outline(shape)
    assert len(polygons) == pieces
    assert area(polygons) == pytest.approx(exact, rel=0.02)


def test_the_inside_of_a_set_that_is_not_convex() -> None:
    env = linear_bandit(dim=2, n_arms=12, sigma=0.05, seed=3)
    policy = VOFUL(2, n_rounds=400)
    for _ in range(120):
        arms = env.arms
        choice = policy.select(arms)
        policy.update(arms[choice], env.pull(choice).reward)
    Theta = policy.confidence_set
    polygons = outline(Theta)
    points = np.random.default_rng(1).uniform(-1.0, 1.0, (4000, 2))
    within = np.zeros(len(points), dtype=int)
    for polygon in polygons:
        within += Path(polygon).contains_points(points)
    members = np.array([Theta.contains(point) for point in points])
    assert 200 < members.sum() < 3800
    assert np.mean(members == (within % 2 == 1)) > 0.985


def test_nothing_to_draw() -> None:
    class Empty(Shape):
        is_empty = True

    assert outline(Empty([(0.0, 0.0, 1.0)])) == []
    assert outline(Shape([(9.0, 9.0, -1.0)])) == []


def test_only_the_plane() -> None:
    with pytest.raises(ValueError, match="expected 2"):
        outline(OFUL(3).confidence_set)
