from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
import pytest

from helpers import members, sphere
from voful.compiled import kernel
from voful.confidence import BettingEllipsoid
from voful.confidence.betting.quadratic import slab, slabs
from voful.confidence.betting.state import (
    BETS,
    new_room,
    open_ellipsoids,
    open_rules,
    scratch_in,
)
from voful.typing import FloatArray
from voful.validation import ObservationSpace


def betting_set(dim: int = 3, feature_norm: float = 1.0, **params: Any) -> BettingEllipsoid:
    space = ObservationSpace(dim, feature_norm, params.pop("reward_range", (-1.0, 1.0)))
    return BettingEllipsoid(space, **{"failure_prob": 0.05, **params})


def data(dim: int, n: int, noise: float = 0.2) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(0)
    X = sphere(rng, n, dim)
    return X, X @ sphere(rng, 1, dim, 0.5)[0] + noise * rng.uniform(-1, 1, n)


def contradicted(bet: str, refresh: bool = True) -> BettingEllipsoid:
    """A set that was told .9 and then -.9 of one arm, until nothing is left."""
    Theta = betting_set(2, bet=bet, refresh=refresh)
    x = np.tile([1.0, 0.0], (4000, 1))
    Theta.partial_fit(x[:2000], np.full(2000, 0.9))
    Theta.partial_fit(x, np.full(4000, -0.9))
    return Theta


@pytest.mark.parametrize("bet", BETS)
def test_before_the_first_reward_it_is_the_ball_and_more(bet: str) -> None:
    Theta = betting_set(3, bet=bet, theta_norm=0.5, theta_center=np.array([0.2, 0.0, 0.0]))
    np.testing.assert_array_equal(Theta.center, [0.2, 0.0, 0.0])
    assert (Theta.support(np.eye(3)) >= [0.7, 0.5, 0.5]).all()
    assert Theta.contains([0.7, 0.0, 0.0])
    assert not Theta.contains([0.71, 0.0, 0.0])


@pytest.mark.parametrize("bet", BETS)
@pytest.mark.parametrize("refresh", [True, False])
def test_it_closes_in_on_the_truth(bet: str, refresh: bool) -> None:
    rng = np.random.default_rng(1)
    X, y = data(3, 1500, noise=0.05)
    theta_star = sphere(np.random.default_rng(0), 1, 3, 0.5)[0]
    Theta = betting_set(3, bet=bet, refresh=refresh)
    y = X @ theta_star + 0.05 * rng.uniform(-1, 1, len(X))
    Theta.partial_fit(X, y)
    lower, upper = Theta.interval(np.eye(3))
    assert (upper - lower < 0.08).all()
    assert Theta.contains(theta_star)
    assert Theta.n_observations == 1500
    assert not Theta.is_empty


@pytest.mark.parametrize("bet", BETS)
def test_support_bounds_members_and_is_attained_by_one_ellipsoid(bet: str) -> None:
    Theta = betting_set(3, bet=bet)
    Theta.partial_fit(*data(3, 200))
    X = sphere(np.random.default_rng(5), 20, 3)
    inside = members(Theta, np.random.default_rng(1))
    assert len(inside) > 20
    assert (Theta.support(X)[:, None] + 1e-8 >= X @ np.array(inside).T).all()
    if bet == "mixed":
        return
    state = Theta.views()
    M = state.Theta.A[0].sum(axis=0) + state.Theta.lam[0] * np.eye(3)
    for x, high in zip(X, Theta.support(X), strict=True):
        inverse = np.linalg.solve(M, x)
        edge = Theta.center + math.sqrt(Theta.rad[0] / (x @ inverse)) * inverse
        assert x @ edge == pytest.approx(high, rel=1e-9)
        assert Theta.contains(edge)
        assert not Theta.contains(edge + 1e-5 * (edge - Theta.center))


def test_width_scale_scales_the_answers_not_the_bets() -> None:
    wide, narrow = betting_set(3), betting_set(3, width_scale=0.25)
    for Theta in (wide, narrow):
        Theta.partial_fit(*data(3, 100))
    for one, other in zip(wide.views().Theta, narrow.views().Theta, strict=True):
        np.testing.assert_array_equal(one, other)
    X = np.eye(3)
    low, high = wide.interval(X)
    low4, high4 = narrow.interval(X)
    assert ((high4 - low4) < 0.5 * (high - low)).all()


@pytest.mark.parametrize("bet", BETS)
def test_an_empty_set_warns_once_and_goes_on_predicting(bet: str) -> None:
    Theta = contradicted(bet, refresh=False)
    state = Theta.views()
    state.Theta.rad[0] = -1.0  # whatever the bets made of it
    assert Theta.is_empty
    with pytest.warns(RuntimeWarning, match="BettingEllipsoid is empty"):
        assert not Theta.contains([0.0, 0.0])
    np.testing.assert_array_equal(Theta.interval(np.eye(2)), [[-1.0, -1.0], [1.0, 1.0]])
    before = Theta.center
    Theta.partial_fit(np.tile([0.0, 1.0], (50, 1)), np.full(50, 0.5))
    assert Theta.is_empty
    assert abs(Theta.center[1] - 0.5) < abs(before[1] - 0.5)
    assert np.isfinite(Theta.support(np.eye(2))).all()


@pytest.mark.parametrize("bet", BETS)
@pytest.mark.parametrize("refresh", [True, False])
@pytest.mark.filterwarnings("ignore:BettingEllipsoid is empty")
def test_contradictory_rewards_never_make_nan(bet: str, refresh: bool) -> None:
    Theta = contradicted(bet, refresh)
    assert np.isfinite(Theta.memory).all()
    assert np.isfinite(Theta.support(np.eye(2))).all()


@pytest.mark.parametrize("bet", BETS)
def test_extreme_rewards_and_arms(bet: str) -> None:
    """Rewards at the ends of the range, zero arms, one dimension."""
    Theta = betting_set(1, bet=bet)
    Theta.partial_fit(np.ones((300, 1)), np.ones(300))
    Theta.partial_fit(np.zeros((10, 1)), np.zeros(10))
    assert np.isfinite(Theta.memory).all()
    assert Theta.contains([1.0])
    assert Theta.center[0] == pytest.approx(1.0, abs=0.01)


def test_the_streaming_form_keeps_no_rounds() -> None:
    Theta = betting_set(3, refresh=False)
    Theta.partial_fit(*data(3, 300))
    assert Theta.history.shape[0] == 0
    assert Theta.n_observations == 300


def test_the_refreshed_set_is_thinner() -> None:
    X, y = data(3, 600)
    widths = []
    for refresh in (True, False):
        Theta = betting_set(3, refresh=refresh)
        Theta.partial_fit(X, y)
        lower, upper = Theta.interval(np.eye(3))
        widths.append((upper - lower).mean())
    assert widths[0] < widths[1]


def test_saved_history_has_one_row_a_round() -> None:
    Theta = betting_set(3)
    Theta.partial_fit(*data(3, 100))
    saved = copy.deepcopy(Theta.state())
    assert saved["history"].shape[0] == 100
    other = betting_set(3)
    other.restore(saved)
    X, y = data(3, 150)
    for twin in (Theta, other):
        twin.partial_fit(X[100:], y[100:])
    np.testing.assert_array_equal(Theta.memory, other.memory)
    saved["history"] = saved["history"][:50]
    with pytest.raises(ValueError, match="a row of history for each round"):
        betting_set(3).restore(saved)


def test_the_center_is_a_copy() -> None:
    Theta = betting_set(2)
    Theta.center[:] = 9.0
    np.testing.assert_array_equal(Theta.center, [0.0, 0.0])


@pytest.mark.parametrize(
    ("params", "name"),
    [({"reward_range": None}, "reward_range"), ({"bet": "both"}, "bet"),
     ({"refresh": 1}, "refresh"), ({"theta_norm": 1e5}, "theta_norm"),
     ({"theta_center": np.full(3, 1e5)}, "theta_center"), ({"feature_norm": 1e-70}, "feature_norm"),
     ({"reward_range": (0.0, 1e-80)}, "reward_range"),
     ({"reward_range": (5.0, 6.0)}, "reward_range")],
)  # fmt: skip
def test_bad_arguments_are_named(params: dict[str, Any], name: str) -> None:
    with pytest.raises((ValueError, TypeError), match=f"{name}: got"):
        betting_set(**params)


def test_the_smallest_failure_prob_is_finite() -> None:
    Theta = betting_set(2, failure_prob=1e-310)
    assert np.isfinite(Theta.support(np.eye(2))).all()


def test_repr_says_what_it_is() -> None:
    assert repr(betting_set(3)) == "<BettingEllipsoid in R^3 after 0 observations>"


@kernel
def slabs_side_by_side(memory: FloatArray, X: FloatArray) -> tuple[FloatArray, FloatArray]:
    rules = open_rules(memory)
    return slabs(rules, open_ellipsoids(memory), X, rules.y_low, rules.y_high)


@kernel
def slab_of_one(memory: FloatArray, x: FloatArray) -> tuple[float, float]:
    rules = open_rules(memory)
    room = new_room(rules)
    scratch = scratch_in(room, rules)
    return slab(rules, open_ellipsoids(memory), x, 0.0, rules.y_low, rules.y_high, scratch)


@pytest.mark.parametrize("bet", BETS)
@pytest.mark.parametrize(("dim", "n"), [(1, 1), (2, 3), (3, 40), (8, 7), (9, 130), (17, 20)])
def test_intervals_side_by_side_are_those_of_single_rows(bet: str, dim: int, n: int) -> None:
    Theta = betting_set(dim, bet=bet, theta_norm=0.4)
    Theta.partial_fit(*data(dim, 60))
    X = np.vstack([data(dim, n)[0], np.zeros((1, dim))])  # no room in the last row: widened
    lower, upper = slabs_side_by_side(Theta.memory, X)
    ends = [slab_of_one(Theta.memory, x) for x in X]
    np.testing.assert_array_equal(np.column_stack([lower, upper]), ends)
    assert (lower <= upper).all()
    Theta.views().Theta.rad[-1] = -1.0  # nothing is left
    lower, upper = slabs_side_by_side(Theta.memory, X)
    np.testing.assert_array_equal(np.column_stack([lower, upper])[0], [np.inf, -np.inf])
    assert slab_of_one(Theta.memory, X[0]) == (np.inf, -np.inf)
    assert (lower == np.inf).all()
    assert (upper == -np.inf).all()
