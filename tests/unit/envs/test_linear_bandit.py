from __future__ import annotations

import copy
import json
import math
from typing import Any

import numpy as np
import pytest

from voful.envs import (
    LAWS,
    ArmScale,
    ConstantScale,
    DirectionScale,
    GivenArms,
    LinearBandit,
    Noise,
    RandomArms,
    TinyThenUnitArms,
    linear_bandit,
)
from voful.envs.bandit.linear_bandit import Feedback
from voful.envs.bandit.streams import BLOCK_ROUNDS
from voful.typing import FloatArray

GAUSSIAN = Noise("gaussian", ConstantScale(0.1))
VARIANTS = [
    {"arms": "sphere"},
    {"arms": "ball", "redraw": True},
    {"arms": "corners", "redraw": True, "noise": "bernoulli"},
    {"arms": "tiny_then_unit", "n_tiny": 300, "noise": "rare_positive"},
    {"noise": "adversary", "redraw": True},
    {"noise": "two_point", "sigma": [0.1, 0.2, 0.3]},
    {"noise": "uniform", "sigma_low": 0.0, "redraw": True},
    {"theta_norm": 1.0, "noise": "rare_negative"},
    {"reward_range": (-0.5, 2.0), "noise": "none"},
]


def play(env: LinearBandit, indices: list[int]) -> list[Feedback]:
    return [env.pull(i) for i in indices]


def state(env: LinearBandit) -> tuple[object, ...]:
    upcoming = play(copy.deepcopy(env), [0, 1, 2])
    return env.round, env.arms.tobytes(), env.mean_rewards.tobytes(), upcoming


@pytest.mark.parametrize("settings", VARIANTS, ids=str)
def test_a_run_is_consistent_and_reproducible(settings: dict[str, Any]) -> None:
    settings = json.loads(json.dumps(settings))  # plain values only
    env, twin = (linear_bandit(dim=3, n_arms=7, seed=5, **settings) for _ in range(2))
    lo, hi = env.reward_range
    for t in range(2 * BLOCK_ROUNDS + 3):
        assert env.round == t
        X, means, variances = env.arms, env.mean_rewards, env.variances
        assert X.shape == (7, 3)
        assert X.flags.c_contiguous
        assert np.linalg.norm(X, axis=1).max() <= 1.0 + 1e-12
        np.testing.assert_allclose(means, X @ env.theta_star, rtol=1e-12, atol=1e-15)
        assert env.optimal_value == means.max()
        np.testing.assert_array_equal(env.arms, X)
        i = t % 7
        feedback = env.pull(i)
        assert feedback == twin.pull(np.int64(i))
        assert all(type(v) is float for v in feedback)
        assert lo <= feedback.reward <= hi
        assert feedback.mean == means[i]
        assert feedback.variance == variances[i]


def test_another_seed_gives_another_bandit() -> None:
    a, b = linear_bandit(dim=3, seed=0), linear_bandit(dim=3, seed=1)
    assert not np.array_equal(a.theta_star, b.theta_star)
    assert not np.array_equal(a.arms, b.arms)
    assert a.pull(0).reward != b.pull(0).reward


def test_a_seed_sequence_can_be_used_twice() -> None:
    seed = np.random.SeedSequence(3)
    a, b = (linear_bandit(dim=3, redraw=True, seed=seed) for _ in range(2))
    from_int = linear_bandit(dim=3, redraw=True, seed=3)
    assert play(a, [0] * 300) == play(b, [0] * 300) == play(from_int, [0] * 300)


def test_common_random_numbers_across_policies() -> None:
    rng = np.random.default_rng(0)
    a, b = (linear_bandit(dim=4, redraw=True, seed=2) for _ in range(2))
    for _ in range(BLOCK_ROUNDS + 20):
        np.testing.assert_array_equal(a.arms, b.arms)
        a.pull(int(rng.integers(20)))
        b.pull(int(rng.integers(20)))
    assert a.pull(6) == b.pull(6)


def test_noise_and_arms_do_not_depend_on_each_other() -> None:
    theta = np.zeros(3)  # means are 0: the reward is the noise
    fixed = LinearBandit(theta, arms=RandomArms(3, 5), noise=GAUSSIAN, seed=4)
    redrawn = LinearBandit(theta, arms=RandomArms(3, 9, "ball", True), noise=GAUSSIAN, seed=4)
    assert play(fixed, [1] * 300) == play(redrawn, [7] * 300)
    other = LinearBandit(theta, arms=RandomArms(3, 5), noise=Noise("none"), seed=4)
    np.testing.assert_array_equal(other.arms, fixed.arms)


def test_looking_changes_nothing() -> None:
    a, b = (linear_bandit(dim=3, redraw=True, noise="uniform", seed=1) for _ in range(2))
    for _ in range(BLOCK_ROUNDS + 5):
        a.arms, a.variances, a.mean_rewards, a.optimal_value, a.block(3), repr(a)
        assert a.pull(2) == b.pull(2)


@pytest.mark.parametrize("redraw", [False, True])
def test_block_is_what_pull_plays(redraw: bool) -> None:
    env = linear_bandit(dim=3, redraw=redraw, noise="none", seed=1)
    block = env.block(1)
    for _ in range(BLOCK_ROUNDS):
        env.pull(0)
    for t in range(5):
        row = t if redraw else 0
        np.testing.assert_array_equal(env.arms, block.arms[row])
        np.testing.assert_array_equal(env.mean_rewards, block.means[row])
        assert env.pull(4).reward == block.means[row, 4]
    assert block.sigmas.shape == block.means.shape


def test_callers_cannot_corrupt_the_environment() -> None:
    theta = np.array([0.3, 0.4])
    env = LinearBandit(theta, arms=RandomArms(2, 4), noise=GAUSSIAN)
    before = state(env)
    theta[:] = 9.0
    env.arms[:] = 9.0
    env.mean_rewards[:] = 9.0
    env.variances[:] = 9.0
    env.block(0).means[:] = 9.0
    with pytest.raises(ValueError, match="read-only"):
        env.theta_star[0] = 9.0
    assert state(env) == before
    np.testing.assert_array_equal(env.theta_star, [0.3, 0.4])


@pytest.mark.parametrize("index", [-1, 4, 10**30, True, np.True_, 1.0, "1", None, math.nan])
def test_a_bad_index_leaves_everything_as_it_was(index: Any) -> None:
    env = LinearBandit([0.3, 0.4], arms=RandomArms(2, 4, redraw=True), noise=GAUSSIAN)
    env.pull(0)
    before = state(env)
    with pytest.raises((ValueError, TypeError), match=r"^index"):
        env.pull(index)
    assert state(env) == before


class Interval:
    def __init__(self, midpoint: float) -> None:
        self.midpoint = midpoint

    def interval(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        if math.isnan(self.midpoint):
            raise RuntimeError("no interval")
        return np.full(len(X), self.midpoint - 0.1), np.full(len(X), self.midpoint + 0.1)


def around(midpoint: float) -> Any:
    return Interval(midpoint)


def test_the_adversary_looks_at_the_set() -> None:
    env = LinearBandit([0.0], arms=GivenArms([[1.0]]), noise=Noise("adversary", ConstantScale(0.1)))
    twin = copy.deepcopy(env)
    down = [env.pull(0, around(-0.2)) for _ in range(2000)]
    up = [twin.pull(0, around(0.2)) for _ in range(2000)]
    assert sorted({f.reward for f in down}) == pytest.approx([-0.01, 1.0])
    assert sorted({f.reward for f in up}) == pytest.approx([-1.0, 0.01])
    assert [f.variance for f in down + up] == pytest.approx([0.01] * 4000)


def test_a_failing_set_leaves_everything_as_it_was() -> None:
    env = linear_bandit(dim=2, noise="adversary")
    before = state(env)
    with pytest.raises(RuntimeError, match="no interval"):
        env.pull(0, around(math.nan))
    assert state(env) == before


@pytest.mark.parametrize("law", LAWS)
def test_rewards_have_the_reported_mean_and_variance(law: str) -> None:
    env = LinearBandit([0.5], arms=GivenArms([[0.6]]), noise=Noise(law, ConstantScale(0.3)))
    feedback = [env.pull(0) for _ in range(20_000)]
    noise = np.array([f.reward - f.mean for f in feedback])
    variance = feedback[0].variance
    assert abs(noise.mean()) <= 5 * math.sqrt(variance / noise.size)
    assert noise.var() == pytest.approx(variance, rel=0.15, abs=1e-12)


def test_scales_reach_the_arms() -> None:
    X = [[0.5, 0.0], [-0.5, 0.0], [0.2, 0.1]]
    side = DirectionScale([1.0, 0.0], sigma_low=0.01, sigma_high=0.1)
    for scale, sigmas in ((side, [0.1, 0.01, 0.1]), (ArmScale([0.01, 0.1]), [0.01, 0.1, 0.01])):
        env = LinearBandit([0.1, 0.1], arms=GivenArms(X), noise=Noise("two_point", scale))
        np.testing.assert_allclose(env.variances, np.square(sigmas), rtol=1e-12)


def test_means_may_touch_the_ends_of_the_range() -> None:
    env = LinearBandit([0.6, 0.8], arms=GivenArms([[0.6, 0.8]]), noise=GAUSSIAN)
    assert env.pull(0) == pytest.approx((1.0, 1.0, 0.0))
    LinearBandit([1.0], arms=GivenArms([[0.0], [1.0]]), noise=GAUSSIAN, reward_range=(0.0, 1.0))


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"theta_star": [0.1]}, "theta_star"),
        ({"theta_star": [[0.1, 0.2]]}, "theta_star"),
        ({"theta_star": [0.1, math.nan]}, "theta_star"),
        ({"theta_star": [0.1, math.inf]}, "theta_star"),
        ({"theta_star": [0.8, 0.8]}, "theta_star"),
        ({"theta_star": [0.3, 0.3], "reward_range": (0.0, 1.0)}, "theta_star"),
        ({"theta_star": [0.9, 0.9], "arms": GivenArms([[0.8, 0.6]])}, "theta_star"),
        ({"theta_star": [0.8, 0.8], "arms": TinyThenUnitArms(2, 3, 10)}, "theta_star"),
        ({"arms": [[0.1, 0.2]]}, "arms"),
        ({"noise": "gaussian"}, "noise"),
        ({"reward_range": (1.0, -1.0)}, "reward_range"),
        ({"reward_range": (0.0, math.nan)}, "reward_range"),
        ({"reward_range": 1.0}, "reward_range"),
        ({"seed": -1}, "seed"),
        ({"seed": 0.5}, "seed"),
        (
            {"noise": Noise("uniform", DirectionScale([1.0], sigma_low=0.1, sigma_high=0.1))},
            "direction",
        ),
    ],
)
def test_bad_input_names_the_argument(changes: dict[str, Any], name: str) -> None:
    arguments: dict[str, Any] = {
        "theta_star": [0.1, 0.2],
        "arms": RandomArms(2, 3),
        "noise": GAUSSIAN,
    } | changes
    with pytest.raises((ValueError, TypeError), match=f"^{name}"):
        LinearBandit(arguments.pop("theta_star"), **arguments)


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"dim": 0}, "dim"),
        ({"n_arms": 0}, "n_arms"),
        ({"arms": "simplex"}, "arms"),
        ({"theta_norm": -0.1}, "theta_norm"),
        ({"theta_norm": 1.1}, "theta_star"),
        ({"noise": "cauchy"}, "law"),
        ({"sigma": -1.0}, "sigma"),
        ({"sigma": [0.1], "sigma_low": 0.1}, "sigma"),
        ({"sigma_high": math.nan}, "sigma_high"),
        ({"direction": [1.0, 0.0]}, "direction"),
        ({"n_tiny": 5}, "n_tiny"),
        ({"tiny_norm": 0.1}, "tiny_norm"),
        ({"arms": "tiny_then_unit"}, "n_tiny"),
        ({"redraw": "yes"}, "redraw"),
    ],
)
def test_bad_settings_name_the_argument(changes: dict[str, Any], name: str) -> None:
    with pytest.raises((ValueError, TypeError), match=f"^{name}"):
        linear_bandit(**({"dim": 3} | changes))


def test_factory_settings() -> None:
    env = linear_bandit(dim=3, theta_norm=0.7, sigma=0.2, sigma_low=0.1, noise="two_point")
    assert np.linalg.norm(env.theta_star) == pytest.approx(0.7)
    assert env.noise.scale == DirectionScale([1.0, 0.0, 0.0], sigma_low=0.1, sigma_high=0.2)
    expected = np.where(env.arms[:, 0] > 0.0, 0.04, 0.01)
    np.testing.assert_allclose(env.variances, expected, rtol=1e-12)
    assert (env.dim, env.n_arms, env.reward_range) == (3, 20, (-1.0, 1.0))
    assert repr(env).startswith("LinearBandit(dim=3, n_arms=20")
