from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
import pytest

from helpers import full, sphere
from voful.confidence import PeeledSet
from voful.confidence.directions import collapse, spread_lines
from voful.confidence.levels import ell, notable_growth, voful2_peeling, voful_peeling
from voful.typing import FloatArray


def taught(dim: int = 2, n: int = 800, noise: float = 0.05, **params: Any) -> PeeledSet:
    rng = np.random.default_rng(0)
    Theta = PeeledSet(dim, n_rounds=2000, failure_prob=0.1, **params)
    X = sphere(rng, n, dim)
    theta_star = np.full(dim, 0.5 / math.sqrt(dim))
    Theta.partial_fit(X, X @ theta_star + noise * rng.choice([-1.0, 1.0], n))
    return Theta


def test_levels_and_prices_of_the_papers() -> None:
    peeling = voful_peeling(5, 5000, 0.05)
    assert peeling.levels[:3] == (2.0, 1.0, 0.5)
    assert len(peeling.levels) == 14  # ceil(log2 5000) + 1
    assert peeling.iota == pytest.approx(16 * 5 * math.log(5 * 5000 / 0.05))
    assert ell(1) == 2.0
    second = voful2_peeling(5, 5000, 0.05)
    assert second.levels == tuple(2.0**-level for level in range(1, 10))
    expected = 128 * (7 * math.log(12 * 5000 * 2**9) + math.log(20))
    assert second.iota == pytest.approx(expected)


def test_lines_are_spread() -> None:
    for dim, count in ((2, 6), (3, 15), (5, 25)):
        lines = spread_lines(dim, count)
        np.testing.assert_allclose(np.linalg.norm(lines, axis=1), 1.0)
        cosines = np.abs(lines @ lines.T - np.eye(count))
        random = sphere(np.random.default_rng(0), count, dim)
        assert cosines.max() < np.abs(random @ random.T - np.eye(count)).max()
    assert spread_lines(1, 1).tolist() == [[1.0]]
    np.testing.assert_array_equal(
        collapse(np.array([[1.0, 2.0]]), np.array([1.0, 0.5])), [[1.0, 2.0], [2.0, 4.0]]
    )


@pytest.mark.parametrize("constants", ["kt", "paper"])
def test_before_any_data_it_is_the_unit_ball(constants: str) -> None:
    Theta = PeeledSet(3, n_rounds=100, constants=constants)
    X = np.array([[0.6, 0.8, 0.0], [0.0, 0.0, 0.5]])
    np.testing.assert_allclose(Theta.support(X), [1.0, 0.5])
    assert Theta.contains([1.0, 0.0, 0.0])
    assert not Theta.contains([1.0, 0.1, 0.0])
    np.testing.assert_array_equal(Theta.center, np.zeros(3))


def test_it_shrinks_around_the_truth() -> None:
    Theta = taught(noise=0.01)
    lower, upper = Theta.interval(np.eye(2))
    truth = 0.5 / math.sqrt(2)
    assert (lower <= truth).all()
    assert (upper >= truth).all()
    assert (upper - lower < 0.25).all()


def test_answers_depend_on_the_data_alone() -> None:
    """Questions asked before change nothing, and rows are answered one by one."""
    asked, fresh = taught(3), taught(3)
    X = sphere(np.random.default_rng(5), 8, 3)
    for _ in range(3):
        asked.support(sphere(np.random.default_rng(6), 20, 3))
    np.testing.assert_array_equal(asked.support(X), fresh.support(X))
    np.testing.assert_array_equal([fresh.support(x[None])[0] for x in X], fresh.support(X))


def test_gap_is_the_distance_to_a_member() -> None:
    Theta = taught(2)
    upper, gap = Theta.support(np.eye(2), return_gap=True)
    np.testing.assert_array_equal(upper, Theta.support(np.eye(2)))
    assert (gap >= 0).all()
    assert (gap < 0.1).all()


@pytest.mark.parametrize("dim", [1, 3, 5])
def test_members_are_never_cut_off(dim: int) -> None:
    for scale in (1.0, 0.3):
        Theta = taught(dim, n=600, iota_scale=scale)
        rng = np.random.default_rng(1)
        X = sphere(rng, 12, dim)
        upper = Theta.support(X)
        found = 0
        n = 2000 if full() or dim == 1 else 600
        for theta in Theta.center + sphere(rng, n, dim) * rng.uniform(0, 0.6, (n, 1)):
            if np.linalg.norm(theta) <= 1 and Theta.contains(theta):
                found += 1
                assert (X @ theta <= upper + 1e-9).all()
        assert found > 20


@pytest.mark.filterwarnings("ignore:PeeledSet is empty")  # the data turn over: so it is
def test_permanent_elimination_and_its_memo() -> None:
    Theta = PeeledSet(2, n_rounds=4000, failure_prob=0.1)
    u, theta = np.array([1.0, 0.0]), np.array([0.1, 0.0])
    assert Theta.contains(theta)
    Theta.partial_fit(np.tile(u, (150, 1)), np.full(150, 0.6))
    assert not Theta.contains(theta)
    assert Theta.contains([0.6, 0.0])
    assert not Theta.contains(theta)
    Theta.partial_fit(np.tile(u, (2000, 1)), np.tile([-0.5, 0.7], 1000))
    assert not Theta.contains(theta)


def test_offered_directions_count_from_the_next_reward_on() -> None:
    Theta = taught(2, n=300)
    before = Theta.support(np.eye(2))
    n = Theta.n_tests
    Theta.offer([5.0, 0.0])
    assert Theta.n_tests == n + 1
    np.testing.assert_array_equal(Theta.support(np.eye(2)), before)
    assert Theta._unpacked().a[-1] == 0.0
    Theta.update([1.0, 0.0], 0.3)
    assert Theta._unpacked().a[-1] != 0.0
    clone, state = copy.deepcopy(Theta), Theta.state()
    clone.restore(state)
    np.testing.assert_array_equal(clone.support(np.eye(2)), Theta.support(np.eye(2)))
    with pytest.raises(ValueError, match="fixed directions"):
        PeeledSet(2, n_rounds=10, directions=np.eye(2)).offer([1.0, 0.0])
    for bad in ([1.0], [math.nan, 0.0], None):
        with pytest.raises((ValueError, TypeError), match="direction"):
            Theta.offer(bad)  # type: ignore[arg-type]


def test_given_directions_are_nested_in_failure_prob() -> None:
    rng = np.random.default_rng(2)
    D = sphere(rng, 6, 2, 2.0)
    X = sphere(rng, 400, 2)
    large, small = (
        PeeledSet(2, n_rounds=2000, directions=D, failure_prob=delta) for delta in (0.001, 0.5)
    )
    for Theta in (large, small):
        Theta.partial_fit(X, X @ [0.3, 0.3])
    thetas = [0.3, 0.3] + sphere(rng, 500, 2) * rng.uniform(0, 0.4, (500, 1))
    inside = [theta for theta in thetas if small.contains(theta)]
    assert 5 < len(inside) < sum(large.contains(theta) for theta in thetas) < 500
    assert all(large.contains(theta) for theta in inside)


def test_an_empty_set_warns_and_knows_the_ball_only() -> None:
    Theta = PeeledSet(1, n_rounds=2000, width_scale=1e-6)
    Theta.partial_fit(np.ones((500, 1)), np.tile([0.9, 0.8], 250))
    assert Theta.is_empty
    with pytest.warns(RuntimeWarning, match="PeeledSet is empty"):
        upper = Theta.support([[1.0], [0.5]])
    np.testing.assert_allclose(upper, [1.0, 0.5])
    np.testing.assert_array_equal(Theta.interval([[0.5]]), [[-1.0], [1.0]])
    assert not Theta.contains(Theta.center)


def test_subgaussian_rewards_are_clipped_not_refused() -> None:
    Theta = PeeledSet(2, n_rounds=100, reward_noise="subgaussian")
    Theta.update([1.0, 0.0], 25.0)
    assert Theta._unpacked().a.max() <= 1.0 + math.sqrt(2 * math.log(100))
    with pytest.raises(ValueError, match="reward"):
        PeeledSet(2, n_rounds=100).update([1.0, 0.0], 25.0)


def test_beyond_n_rounds() -> None:
    Theta = PeeledSet(1, n_rounds=2)
    Theta.partial_fit([[1.0], [0.5]], [0.1, 0.1])
    with pytest.raises(RuntimeError, match="n_rounds = 2"):
        Theta.update([1.0], 0.1)


@pytest.mark.parametrize(
    "bad",
    [{"dim": 0}, {"n_rounds": 1}, {"n_rounds": 2.5}, {"failure_prob": 1.0},
     {"reward_range": (1, 0)}, {"constants": "best"}, {"directions": [[1.0]]},
     {"directions": np.empty((0, 2))},
     {"directions": [[math.nan, 0.0]]}, {"iota_scale": 0.0}, {"width_scale": -1.0},
     {"reward_noise": "cauchy"}, {"noise_scale": 0.0}, {"peeling": "voful3"}],
)  # fmt: skip
def test_bad_arguments_are_named(bad: dict[str, Any]) -> None:
    (name,) = bad
    with pytest.raises((ValueError, TypeError), match=f"{name}"):
        PeeledSet(**{"dim": 2, "n_rounds": 10, **bad})


def test_printed_constants_are_for_the_papers_rewards() -> None:
    with pytest.raises(ValueError, match="reward_range: got .* printed constants"):
        PeeledSet(2, n_rounds=10, constants="paper", reward_range=(0.0, 2.0))
    with pytest.raises(ValueError, match="reward_noise: got .* printed constants"):
        PeeledSet(2, n_rounds=10, constants="paper", reward_noise="subgaussian")


def test_growth_that_is_notable() -> None:
    assert notable_growth(2) == pytest.approx(math.log(1.1))
    assert notable_growth(50) == pytest.approx(10 * math.log(1.1))


def test_long_quiet_runs_stay_valid() -> None:
    """30,000 rounds of noise +-.003: theta* stays, and the width is small."""
    rng = np.random.default_rng(0)
    theta_star = np.array([0.6, -0.3])
    arms: FloatArray = sphere(rng, 5, 2)
    Theta = PeeledSet(2, n_rounds=30_000)
    X = arms[rng.integers(0, 5, 30_000)]
    Theta.partial_fit(X, X @ theta_star + rng.uniform(-0.003, 0.003, 30_000))
    assert Theta.contains(theta_star)
    lower, upper = Theta.interval(np.eye(2))
    assert (upper - lower < 0.01).all()
    assert (lower <= theta_star + 1e-9).all()
    assert (theta_star <= upper + 1e-9).all()


def prices(Theta: PeeledSet) -> tuple[FloatArray, FloatArray, FloatArray]:
    Theta._set_prices()
    tests = Theta._unpacked()
    return tests.kappa, tests.beta0, tests.beta1


def test_every_price_is_the_formula() -> None:
    K, delta, w = 500, 0.1, 0.5
    common: dict[str, Any] = {"n_rounds": K, "failure_prob": delta, "width_scale": w}
    levels = 10  # ceil(log2 500) + 1
    xi = 0.5 * math.log(math.pi * K + 1) + math.log(3 * levels / delta)
    kappa, beta0, beta1 = prices(
        PeeledSet(2, reward_range=(-1.0, 2.0), directions=np.ones((3, 2)), **common)
    )
    assert kappa.shape == (30,)
    np.testing.assert_allclose(kappa, 2 * w * w * xi)
    np.testing.assert_allclose(beta0, w * 3.0 * xi)
    np.testing.assert_allclose(beta1, 0.0)
    # chosen directions: 12 tests share .95 delta, at the price of the rounds so far
    Theta = PeeledSet(2, **common)
    Theta.partial_fit(np.tile([1.0, 0.0], (7, 1)), np.zeros(7))
    Theta.offer([1.0, 0.0])
    xi = 0.5 * math.log(math.pi * 7 + 1) + math.log(12 / (0.95 * delta))
    offered = 0.5 * math.log(math.pi * 7 + 1) + math.log(math.pi**2 / (6 * 0.05 * delta))
    kappa, beta0, beta1 = prices(Theta)
    np.testing.assert_allclose(kappa, 2 * w * w * np.array([xi] * 12 + [offered]))
    np.testing.assert_allclose(beta0, w * np.array([xi] * 12 + [offered]))  # half the range ...
    np.testing.assert_allclose(beta1, beta0)  # ... plus |theta|
    # a range in which |x.theta| <= 1 says nothing: the whole range
    _, beta0, beta1 = prices(PeeledSet(2, reward_range=(0.0, 1.0), **common))
    xi = 0.5 * math.log(math.pi + 1) + math.log(12 / (0.95 * delta))
    np.testing.assert_allclose(beta0, w * xi)
    np.testing.assert_allclose(beta1, 0.0)
    # clipped rewards: range 1 + c + |theta|, and the bias
    R, c = 2.0, 2.0 * math.sqrt(2 * math.log(K))
    bias = 2 * R * R / c / K
    _, beta0, beta1 = prices(PeeledSet(2, reward_noise="subgaussian", noise_scale=R, **common))
    np.testing.assert_allclose(beta0, w * ((1 + c) * xi + bias * K + bias * math.sqrt(2 * xi * K)))
    np.testing.assert_allclose(beta1, w * xi)
    kappa, beta0, _ = prices(PeeledSet(2, constants="paper", **common))
    iota = 32 * math.log(2 * K / delta)
    np.testing.assert_allclose(kappa, w * w * iota)
    np.testing.assert_allclose(beta0, w * iota)


@pytest.mark.parametrize("dim", [3, 5])
@pytest.mark.parametrize("width_scale", [1.0, 1e-3, 1e-6, 1e-10])
def test_thin_sets_keep_their_members(dim: int, width_scale: float) -> None:
    """Two arms, almost no noise: cuts whose rounding could matter are not made."""
    rng = np.random.default_rng(dim)
    for noise in (0.0, 1e-8):
        theta_star = sphere(rng, 1, dim, 0.6)[0]
        X = sphere(rng, 2, dim)[rng.integers(0, 2, 1500)]
        Theta = PeeledSet(dim, n_rounds=1500, width_scale=width_scale)
        Theta.partial_fit(X, X @ theta_star + noise * rng.choice([-1.0, 1.0], 1500))
        if Theta._contains(theta_star):
            P, _, empty = Theta._outer()
            size = int(P.size[0])
            assert not empty
            assert (P.A[:size] @ theta_star <= P.h[:size] + 1e-9).all()
            probes = np.concatenate([sphere(rng, 10, dim), X[:2], -X[:2]])
            assert (Theta.support(probes) >= probes @ theta_star - 1e-9).all()


def test_emptiness_is_a_function_of_the_data() -> None:
    """A reward that turns over empties the running intersection, though the centre passes now."""
    Theta = PeeledSet(1, n_rounds=40_000)
    Theta.partial_fit(np.ones((500, 1)), np.full(500, 0.9))
    Theta.partial_fit(np.ones((30_000, 1)), np.full(30_000, -0.9))
    assert Theta.is_empty
    with pytest.warns(RuntimeWarning, match="is empty"):
        assert not Theta.contains(Theta.center)
    np.testing.assert_array_equal(Theta.support([[1.0]]), [1.0])
    assert Theta.support([[1.0]], return_gap=True)[1][0] == math.inf


def test_restoring_forgets_what_was_asked_before() -> None:
    sets = []
    for sign in (1.0, -1.0):
        Theta = PeeledSet(2, n_rounds=500, failure_prob=0.1)
        X = sphere(np.random.default_rng(0), 400, 2)
        Theta.partial_fit(X, X @ [0.6 * sign, 0.0])
        Theta.support(np.eye(2))
        assert Theta.contains([0.6 * sign, 0.0])
        sets.append(Theta)
    one, other = sets
    one.restore(other.state())
    np.testing.assert_array_equal(one.support(np.eye(2)), other.support(np.eye(2)))
    assert not one.contains([0.6, 0.0])
