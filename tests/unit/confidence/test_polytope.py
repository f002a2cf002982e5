from __future__ import annotations

import copy
import warnings

import numpy as np
import pytest

from voful.confidence import PolytopeSet
from voful.confidence.mixture.boxes import box_support, frame_support
from voful.confidence.mixture.domain import Domain
from voful.confidence.mixture.linear_programmes import Programme, chebyshev
from voful.confidence.mixture.polygons import clip_polygon
from voful.confidence.mixture.polytope import SLACK
from voful.typing import ConfidenceSet, FloatArray

DOMAINS = [(1, True), (2, True), (3, True), (4, True), (5, True), (8, True)]
DOMAINS += [(1, False), (2, False), (3, False), (4, False), (6, False)]


def member(dim: int, simplex: bool, rng: np.random.Generator) -> FloatArray:
    theta = rng.dirichlet(np.ones(dim))
    return theta if simplex else 0.7 * theta * rng.choice([-1.0, 1.0], size=dim)


def random_cuts(
    theta: FloatArray, rng: np.random.Generator, n: int = 40, scale: float = 0.2
) -> tuple[FloatArray, FloatArray]:
    """Halfspaces that hold at theta."""
    A = rng.standard_normal((n, len(theta)))
    return A, A @ theta + rng.exponential(scale, n)


@pytest.mark.parametrize(("dim", "simplex"), DOMAINS)
def test_cuts_keep_the_member_and_bound_the_support(dim: int, simplex: bool) -> None:
    rng = np.random.default_rng(dim)
    theta = member(dim, simplex, rng)
    Theta = PolytopeSet(dim, simplex=simplex)
    assert isinstance(Theta, ConfidenceSet)
    X = rng.standard_normal((20, dim))
    np.testing.assert_allclose(Theta.support(X), Domain(dim, simplex).support(X), atol=1e-12)
    before = Theta.support(X)
    all_rows: list[FloatArray] = []
    all_right: list[FloatArray] = []
    for _ in range(4):
        A, b = random_cuts(theta, rng)
        Theta.cut(A, b)
        all_rows.append(A)
        all_right.append(b)
        assert Theta.contains(theta)
        after, exact = Theta.support(X), Theta.exact_support(X)
        assert (after >= X @ theta - 1e-12).all()
        assert (exact <= after + 1e-9).all()
        if Theta.has_vertices:
            assert (exact <= before + 1e-9).all()
            np.testing.assert_allclose(after, exact, atol=1e-9)
        before = exact
    # against all rows that ever were: what was dropped was redundant
    everything = Programme(Theta.domain, np.concatenate(all_rows), np.concatenate(all_right))
    whole = np.array([everything.maximum(x) for x in X])
    if Theta.has_vertices:
        np.testing.assert_allclose(before, whole, atol=1e-8)
    else:
        assert (before >= whole - 1e-9).all()
    assert len(Theta.A) < sum(len(b) for b in all_right)
    assert Theta.n_cuts == 160
    assert Theta.n_skipped == 0
    assert Theta.contains(Theta.center)
    lower, upper = Theta.interval(X)
    np.testing.assert_allclose(lower, -Theta.support(-X))
    np.testing.assert_array_equal(upper, Theta.support(X))


def test_membership_is_exactly_the_halfspaces() -> None:
    rng = np.random.default_rng(0)
    for dim, simplex in DOMAINS[1:]:
        theta = member(dim, simplex, rng)
        Theta = PolytopeSet(dim, simplex=simplex)
        A, b = random_cuts(theta, rng, n=5)
        Theta.cut(A, b)
        for _ in range(200):
            point = member(dim, simplex, rng)
            over = (A @ point - b).max()
            if abs(over) > 1e-6 and (Theta.has_vertices or over < 0.0):
                assert Theta.contains(point) == (over < 0.0)


def test_outside_the_domain_is_outside_the_set() -> None:
    Theta = PolytopeSet(3)
    assert Theta.contains([0.2, 0.3, 0.5])
    assert Theta.contains([0.2, 0.3, 0.5 + 5e-10])
    assert not Theta.contains([0.2, 0.3, 0.6])
    assert not Theta.contains([-0.1, 0.6, 0.5])
    Ball = PolytopeSet(3, simplex=False)
    assert Ball.contains([-0.2, 0.3, 0.5])
    assert not Ball.contains([-0.2, 0.3, 0.6])


@pytest.mark.parametrize(("dim", "simplex"), DOMAINS)
def test_a_cut_that_leaves_nothing_is_skipped_counted_and_told_once(
    dim: int, simplex: bool
) -> None:
    Theta = PolytopeSet(dim, simplex=simplex)
    theta = Theta.domain.middle
    nothing = np.zeros((1, dim))
    nothing[0, 0] = 1.0
    with pytest.warns(RuntimeWarning, match="would have left nothing"):
        Theta.cut(nothing, [-2.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Theta.cut(nothing, [-3.0])
    assert Theta.n_skipped == 2
    assert not Theta.is_empty
    assert Theta.contains(theta)
    # a bad cut among good ones takes none of them along
    if dim > 1:
        good = np.eye(dim)[:2]
        Theta.cut(np.concatenate([good[:1], nothing, good[1:]]), [0.9, -5.0, 0.8])
        assert Theta.n_skipped == 3
        np.testing.assert_allclose(Theta.exact_support(good), [0.9, 0.8], atol=1e-9)


def test_rows_that_say_nothing_are_ignored() -> None:
    Theta = PolytopeSet(3)
    Theta.cut([[2.0, 2.0, 2.0], [0.0, 0.0, 0.0]], [2.0, 0.0])
    assert Theta.n_skipped == 0
    assert len(Theta.A) == 0


def test_segment_by_hand() -> None:
    Theta = PolytopeSet(2)
    Theta.cut([[1.0, 0.0], [-1.0, 0.0]], [0.7, -0.2])  # 0.2 <= theta_1 <= 0.7
    np.testing.assert_allclose(np.sort(Theta.vertices[:, 0]), [0.2, 0.7], atol=1e-9)
    np.testing.assert_allclose(Theta.center, [0.45, 0.55], atol=1e-9)
    np.testing.assert_allclose(Theta.support([[1.0, 3.0]]), [2.6], atol=1e-9)


def test_clipping_a_square() -> None:
    square = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    half, skipped = clip_polygon(square, np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([0.0, -9.0]))
    assert skipped == 1
    np.testing.assert_allclose(half, [[0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]], atol=1e-15)
    corner, _ = clip_polygon(square, np.array([[-1.0, 0.0]]), np.array([-0.5]))
    assert {tuple(v) for v in np.round(corner, 12)} == {(1.0, 0.0), (0.5, 0.5), (0.5, -0.5)}


def test_chebyshev_centre() -> None:
    center, radius = chebyshev(Domain(3, True), np.empty((0, 3)), np.empty(0))
    np.testing.assert_allclose(center, np.full(3, 1 / 3), atol=1e-9)
    assert radius == pytest.approx(1 / np.sqrt(6))  # of the circle in a triangle of side sqrt 2
    center, radius = chebyshev(Domain(2, False), np.empty((0, 2)), np.empty(0))
    np.testing.assert_allclose(center, 0.0, atol=1e-9)
    assert radius == pytest.approx(1 / np.sqrt(2))
    assert chebyshev(Domain(3, True), np.ones((1, 3)), np.array([0.5]))[1] == -1.0


@pytest.mark.parametrize("simplex", [True, False])
def test_support_of_boxes(simplex: bool) -> None:
    rng = np.random.default_rng(1)
    for _ in range(30):
        d = int(rng.integers(2, 7))
        theta = member(d, simplex, rng)
        lower = np.maximum(theta - rng.random(d) * 0.3, 0.0 if simplex else -1.0)
        upper = np.minimum(theta + rng.random(d) * 0.3, 1.0)
        X = rng.standard_normal((5, d))
        A, b = np.concatenate([np.eye(d), -np.eye(d)]), np.concatenate([upper, -lower])
        programme = Programme(Domain(d, simplex), A, b)
        expected = [programme.maximum(x) for x in X]
        np.testing.assert_allclose(box_support(X, lower, upper, simplex), expected, atol=1e-9)
        frame = Domain(d, simplex).tangent()
        middle = frame @ theta
        ends = frame_support(X, frame, middle, middle, simplex)
        np.testing.assert_allclose(ends, X @ theta, atol=1e-12)


@pytest.mark.parametrize(("dim", "simplex"), [(5, True), (8, True), (4, False), (6, False)])
def test_boxes_touch_the_polytope(dim: int, simplex: bool) -> None:
    """Points of the polytope at every end of both boxes: the corners a wrapped set cuts off."""
    rng = np.random.default_rng(dim)
    Theta = PolytopeSet(dim, simplex=simplex)
    np.testing.assert_array_equal(Theta.touching, Theta.domain.corners)
    Theta.cut(*random_cuts(member(dim, simplex, rng), rng))
    assert len(Theta.touching) == 2 * (dim + Theta.domain.n_free)
    assert all(Theta.contains(theta) for theta in Theta.touching)
    for axes, (low, high) in ((np.eye(dim), Theta.box), (Theta.frame, Theta.ends)):
        along = Theta.touching @ axes.T
        np.testing.assert_allclose(along.max(axis=0), high, atol=1e-8)
        np.testing.assert_allclose(along.min(axis=0), low, atol=1e-8)
    Theta.reset()
    np.testing.assert_array_equal(Theta.touching, Theta.domain.corners)


def test_only_the_nearest_cut_of_a_group_is_made_without_vertices() -> None:
    Theta = PolytopeSet(6)
    A = np.repeat(np.eye(6)[:1], 3, axis=0) * np.array([[1.0], [2.0], [3.0]])
    Theta.cut(A, [0.9, 1.4, 2.4], groups=[0, 0, 0])
    assert len(Theta.A) == 1
    np.testing.assert_allclose(Theta.support(np.eye(6)[:1]), [0.7], atol=1e-8)


def test_a_copy_is_its_own_and_a_state_is_everything() -> None:
    rng = np.random.default_rng(2)
    for dim, simplex in DOMAINS:
        theta = member(dim, simplex, rng)
        Theta, other = PolytopeSet(dim, simplex=simplex), PolytopeSet(dim, simplex=simplex)
        Theta.cut(*random_cuts(theta, rng))
        other.restore(Theta.state())
        twin = copy.deepcopy(Theta)
        more = random_cuts(theta, rng, scale=0.05)
        for each in (Theta, other, twin):
            each.cut(*more)
        X = rng.standard_normal((9, dim))
        np.testing.assert_array_equal(other.support(X), Theta.support(X))
        np.testing.assert_array_equal(twin.support(X), Theta.support(X))
        np.testing.assert_array_equal(twin.center, Theta.center)
    assert repr(PolytopeSet(3)) == "<PolytopeSet in R^3>"


def test_long_run_of_nearly_parallel_cuts_stays_small_and_sound() -> None:
    rng = np.random.default_rng(3)
    theta = np.array([0.2, 0.3, 0.5])
    Theta = PolytopeSet(3)
    for k in range(1, 300):
        A = np.array([1.0, -1.0, 0.3]) + 1e-3 * rng.standard_normal((20, 3))
        A = np.concatenate([A, -A])
        Theta.cut(A, A @ theta + 1.0 / k)
    assert Theta.contains(theta)
    assert len(Theta.vertices) < 100
    width = Theta.support([[1.0, -1.0, 0.3]])[0] - np.dot([1.0, -1.0, 0.3], theta)
    assert 0.0 <= width <= 1.0 / 299 + 10 * SLACK + 1e-3


def test_bad_input_changes_nothing() -> None:
    Theta = PolytopeSet(3)
    before = {name: array.tobytes() for name, array in Theta.state().items()}
    for A, b in (
        ([[1.0, 2.0]], [0.0]),
        ([[1.0, 2.0, np.nan]], [0.0]),
        ([[1.0, 2.0, 3.0]], [0.0, 1.0]),
        ([[1.0, 2.0, 3.0]], [np.inf]),
        ("abc", [0.0]),
    ):
        with pytest.raises((ValueError, TypeError), match="(A|b).*: got .*; expected"):
            Theta.cut(A, b)
    with pytest.raises(ValueError, match="groups"):
        Theta.cut([[1.0, 2.0, 3.0]], [0.0], groups=[1, 2])
    assert {name: array.tobytes() for name, array in Theta.state().items()} == before
    with pytest.raises(ValueError, match="dim: got 0; expected"):
        PolytopeSet(0)
    with pytest.raises(TypeError, match="simplex"):
        PolytopeSet(3, simplex="yes")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="theta"):
        Theta.contains([1.0])
