from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from helpers import sphere
from voful import SAVE
from voful.confidence.ellipsoids.layers import save_printed_beta, save_tight_beta


def test_before_the_first_reward_the_set_is_the_ball() -> None:
    X = sphere(np.random.default_rng(0), 5, 3)
    policy = SAVE(3, n_rounds=1000, theta_norm=0.7)
    np.testing.assert_allclose(policy.confidence_set.support(X), 0.7)
    printed = SAVE(3, n_rounds=1000, theta_norm=0.7, constants="paper")
    np.testing.assert_allclose(printed.confidence_set.support(X), 1.4)


def test_layers_and_alpha() -> None:
    policy = SAVE(2, n_rounds=100)
    assert policy.alpha == pytest.approx(1 / 2000)
    assert policy.n_layers == 11
    ridges = [layer.precision[0, 0] for layer in policy.confidence_set.parts]
    np.testing.assert_allclose(ridges, 0.25 ** np.arange(1, 12))
    assert SAVE(2, n_rounds=1, noise_bound=0.1).n_layers == 1


@pytest.mark.parametrize("ell", [1, 2, 4, 6, 9, 12, 20])
@pytest.mark.parametrize("n_rounds", [10, 1000, 10**6])
@pytest.mark.parametrize("delta", [0.3, 0.01, 1e-4])
def test_the_tight_radius_is_below_the_printed_one(ell: int, n_rounds: int, delta: float) -> None:
    """Whatever the counts, the rounds, the noise's bound and the residuals."""
    R, rho = 2.0, 2.0**-ell
    L = max(ell, math.ceil(math.log2(R * n_rounds**1.5)))
    for k in np.unique(np.geomspace(1, n_rounds, 12).astype(int)):
        for count in np.unique(np.geomspace(1, k, 6).astype(int)):
            for share in (0.0, 1e-3, 0.1, 1.0):  # of the largest residuals that there may be
                squares = share * R**2 * count
                # the ridge adds at most 4^-l |theta_hat|^2; |theta_hat| <= sqrt(sum w^2 y^2) / rho
                residuals = squares + rho**2
                tight = save_tight_beta(
                    float(count), float(count), residuals, rho, n_rounds, R, 1.0, delta / L
                )
                printed = save_printed_beta(int(k), float(count), squares, rho, L, R, 1.0, delta)
                assert tight <= printed
                assert tight <= printed / 5 or rho < 1e-3


def test_quiet_deep_layers_have_smaller_radii() -> None:
    rng = np.random.default_rng(1)
    X = 0.01 * sphere(rng, 300, 2)  # into the fourth layer and deeper at once
    noise = rng.choice([-1.0, 1.0], 300)
    radii = []
    for sigma in (0.0, 0.1, 0.9):
        policy = SAVE(2, n_rounds=300)
        policy.partial_fit(X, sigma * noise)
        learnt = policy.confidence_set.counts > 0
        assert not learnt[:3].any()
        radii.append(policy.confidence_set.radii[learnt])
    assert (radii[0] <= radii[1]).all()
    assert (radii[1] <= radii[2]).all()
    assert (radii[0] < radii[2]).any()


def test_scaling_rewards_and_parameter_scales_the_set() -> None:
    """Both constants: S and R times 3 is theta times 3."""
    X = sphere(np.random.default_rng(1), 200, 2)
    y = X @ np.array([0.5, 0.2])
    for constants in ("tight", "paper"):
        one = SAVE(2, n_rounds=300, constants=constants)
        three = SAVE(2, n_rounds=300, constants=constants, reward_range=(-3.0, 3.0), theta_norm=3.0)
        one.partial_fit(X, y)
        three.partial_fit(X, 3 * y)
        np.testing.assert_allclose(three.confidence_set.radii, 3 * one.confidence_set.radii)
        np.testing.assert_allclose(
            three.confidence_set.support(X), 3 * one.confidence_set.support(X)
        )


def test_delayed_rewards_find_a_layer() -> None:
    """Rewards that come in a batch, or for arms that were never played, are learnt all the same."""
    rng = np.random.default_rng(1)
    policy = SAVE(2, n_rounds=500)
    X = sphere(rng, 400, 2)
    choices = [policy.select(X[k : k + 4]) for k in range(0, 400, 4)]
    assert choices
    policy.partial_fit(X, X @ np.array([0.5, 0.2]))
    assert policy.confidence_set.counts.sum() == 400
    assert policy.confidence_set.contains([0.5, 0.2])


def test_masked_arms_are_not_played() -> None:
    policy = SAVE(2, n_rounds=500)
    policy.partial_fit(np.tile(np.eye(2), (100, 1)), np.tile([1.0, 0.0], 100))
    arms = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.6]])
    for allowed in range(3):
        assert policy.select(arms, mask=np.arange(3) == allowed) == allowed


@pytest.mark.parametrize(
    "bad",
    [{"dim": 0}, {"n_rounds": 0}, {"failure_prob": 0.0}, {"reward_range": (1, 1)},
     {"noise_bound": 0.0}, {"noise_bound": 1e40}, {"theta_norm": 0.0}, {"constants": "kt"},
     {"width_scale": -1.0}, {"seed": -1}],
)  # fmt: skip
def test_bad_arguments_are_named(bad: dict[str, Any]) -> None:
    (name,) = bad
    with pytest.raises((ValueError, TypeError), match=f"{name}: got"):
        SAVE(**{"dim": 2, "n_rounds": 100, **bad})
