from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
import pytest

from helpers import play_some, sphere
from voful import LOFAV


def test_before_the_first_reward_the_set_is_the_ball() -> None:
    policy = LOFAV(3, n_rounds=1000, theta_norm=0.7)
    X = sphere(np.random.default_rng(0), 5, 3)
    np.testing.assert_allclose(policy.confidence_set.support(X), 0.7)


@pytest.mark.parametrize(
    ("n_rounds", "dim", "layers"), [(1, 5, 1), (20, 5, 1), (21, 5, 2), (4096, 4, 5), (4097, 4, 6)]
)
def test_number_of_layers(n_rounds: int, dim: int, layers: int) -> None:
    policy = LOFAV(dim, n_rounds=n_rounds)
    assert policy.n_layers == layers
    assert policy.confidence_set.n_parts == 2 * layers


def test_noise_bound_defaults_to_the_whole_range_and_its_scale_to_half() -> None:
    """gamma after one useless round is lambda S^2 / 2 + sigma_0^2 ln(2L / delta)."""
    for constants, variance in (("tight", 0.25), ("paper", 1.0)):
        policy = LOFAV(2, n_rounds=2, reward_range=(0.0, 1.0), constants=constants)
        assert policy.noise_bound == 1.0
        policy.update([0.0, 0.0], 0.0)
        gamma = 0.5 * policy.confidence_set.radii[0] ** 2
        assert gamma == pytest.approx(0.125 + variance * math.log(2 / 0.05))
    assert LOFAV(2, n_rounds=9, noise_bound=0.3)._noise_scale() == 0.3
    with pytest.raises(ValueError, match="noise_bound: got None"):
        LOFAV(2, n_rounds=9, reward_range=None)


def test_rewards_of_any_size_stay_finite() -> None:
    policy = LOFAV(2, n_rounds=9, reward_range=None, noise_bound=1.0)
    for reward in (1e100, -1e100, 0.0):
        policy.update([1.0, 0.0], reward)
    assert np.isfinite(policy.confidence_set.blocks).all()


def test_a_quiet_problem_gets_smaller_radii_than_a_loud_one() -> None:
    quiet, loud = LOFAV(3, n_rounds=2000), LOFAV(3, n_rounds=2000)
    play_some(quiet, 500, noise=0.01)
    play_some(loud, 500, noise=0.5)
    assert (quiet.confidence_set.radii < loud.confidence_set.radii).all()


def test_the_range_rests_on_what_is_proved() -> None:
    """|theta* - theta_hat|^2_Sigma / 2 <= min(B, gamma), whose largest value is kept."""
    rng = np.random.default_rng(4)
    X = sphere(rng, 400, 3)
    theta_star = np.array([0.3, 0.2, -0.4])
    y = X @ theta_star + rng.choice([-0.3, 0.3], 400)
    policy = LOFAV(3, n_rounds=400, failure_prob=0.01)
    Theta = policy.confidence_set
    n = policy.n_layers
    largest = np.array([layer.distance[0] for layer in Theta.layers])
    for x, reward in zip(X, y, strict=True):
        policy.update(x, reward)
        gap = np.array([layer.gap.sum() for layer in Theta.layers])
        assert (gap >= 0).all()  # K(theta_bar) >= L(theta_hat)
        gamma, beta = 0.5 * Theta.radii[:n] ** 2, 0.5 * Theta.radii[n:] ** 2
        proved = np.minimum(beta + gap, gamma)
        largest = np.maximum(largest, proved)
        np.testing.assert_allclose([layer.distance[0] for layer in Theta.layers], largest)
        offsets = theta_star - np.array([part.center for part in Theta.parts[:n]])
        Sigmas = np.array([part.precision for part in Theta.parts[:n]])
        assert (0.5 * np.einsum("li,lij,lj->l", offsets, Sigmas, offsets) <= proved).all()


def test_a_copy_has_its_own_radii() -> None:
    policy = LOFAV(2, n_rounds=10)
    clone = copy.deepcopy(policy)
    before = policy.confidence_set.radii
    clone.update([1.0, 0.0], 1.0)
    np.testing.assert_array_equal(policy.confidence_set.radii, before)
    assert (clone.confidence_set.radii != before).all()


def test_a_set_that_lost_its_members_says_so_and_goes_on() -> None:
    policy = LOFAV(2, n_rounds=10)
    policy.update([1.0, 0.0], 0.5)
    policy.confidence_set.parts[policy.n_layers].radius[0] = -1.0
    assert policy.confidence_set.is_empty
    with pytest.warns(RuntimeWarning, match="LofavSet is empty"):
        assert policy.select(np.eye(2)) == 0  # by the centre
    assert not policy.confidence_set.contains([0.0, 0.0])


@pytest.mark.parametrize(
    "bad",
    [{"dim": 0}, {"n_rounds": 0}, {"failure_prob": 0.0}, {"reward_range": (1, 1)},
     {"noise_bound": 0.0}, {"noise_bound": 1e200}, {"theta_norm": 0.0}, {"feature_norm": 1e9},
     {"constants": "kt"}, {"width_scale": -1.0}, {"seed": -1}],
)  # fmt: skip
def test_bad_arguments_are_named(bad: dict[str, Any]) -> None:
    (name,) = bad
    with pytest.raises((ValueError, TypeError), match=f"{name}: got"):
        LOFAV(**{"dim": 2, "n_rounds": 100, **bad})


def test_updates_beyond_the_horizon_are_refused() -> None:
    policy = LOFAV(2, n_rounds=1)
    policy.update([1.0, 0.0], 0.0)
    with pytest.raises(RuntimeError, match="n_rounds = 1"):
        policy.update([1.0, 0.0], 0.0)
