from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import voful
from helpers import full
from mdp_helpers import random_model, signed_model
from voful import VARLin, VARLin2
from voful.concentration import freedman_curvature
from voful.confidence.mixture.layered_tests import (
    LayeredTests,
    paper_iota,
    varlin2_iota,
    varlin2_layering,
)
from voful.confidence.mixture.observations import observe
from voful.envs import ctgoal
from voful.experiments.play.episodes import play_episodes

MODEL = random_model(5, dim=3, n_states=5, n_actions=2, horizon=6)


def test_levels_and_layers() -> None:
    layering = varlin2_layering(3, 10, 100, 0.05)
    assert layering.levels == tuple(2.0**-level for level in range(1, 11))
    assert layering.n_layers == 11  # (1/2, 1] is the second of (l_{i+1}, l_i], l_i = 2^(2-i)
    assert (
        VARLin2(MODEL, n_episodes=100).moments
        == VARLin(MODEL, n_episodes=100, constants="paper").moments
    )


def test_small_variances_join_the_last_layer() -> None:
    """VARLin, as printed, leaves them out."""
    layering = varlin2_layering(2, 4, 2, 0.05)  # L = 4, the last layer is (0, 1/8]
    tests = LayeredTests(np.array([[1.0, -1.0]]), layering, 1.0)
    p = np.array([[[0.5, 0.25], [0.5, 0.75]]] * 4)
    seen = observe(p, np.array([[0.0, 1.0]] * 4), np.ones((4, 2)))
    tests.add(0, seen, np.array([0.25, 0.2, 1e-3, 0.0]))
    assert tests.keys.tolist() == [[0, 4], [0, 5]]
    sums = tests.totals[:, 0, -1]  # at the smallest level every weight is clipped to -1/16
    np.testing.assert_allclose(sums[:, 0], -2 * 2 / 16 * 0.5)
    np.testing.assert_allclose(sums[:, 3], [2 * 0.45 / 256, 2 * 1e-3 / 256])


@pytest.mark.parametrize("n", [1, 2, 7, 1000, 10**7, 10**13])
def test_the_right_side_is_above_freedmans_lines(n: int) -> None:
    """The step of the proof of `varlin2_iota` that is about one test, for every possible V."""
    slopes = [0.7 * 2.0 ** (-j / 2) for j in range(math.ceil(math.log2(n)) + 1)]
    v = np.concatenate([[0.0], np.geomspace(1e-9, n, 2000)])
    lines = np.min([freedman_curvature(s) * s * v + 1 / s for s in slopes], axis=0)
    assert (lines <= 4 * np.sqrt(3 / 8 * v) + 3 / 2).all()


def test_the_price_is_far_below_varlins() -> None:
    for dim, horizon, K in [(2, 10, 100), (3, 1024, 20_000), (10, 10**5, 10**6)]:
        price, paper = varlin2_iota(dim, horizon, K, 0.05), paper_iota(dim, horizon, K, 0.05)
        assert 15 * price < paper
        assert price >= dim * math.log(horizon * K / 0.05) / 2


def test_it_learns_where_the_paper_has_not_begun() -> None:
    env = ctgoal(16, theta_star=[0.15, 0.25, 0.6], seed=1)
    episodes = 6000 if full() else 3000
    for scale in (1.0, 0.1):
        agent = VARLin2(env.model, n_episodes=episodes, iota_scale=scale)
        *_, last = play_episodes(agent, env, episodes)
        assert last.covered
        assert last.optimistic
        width = np.ptp(agent.confidence_set.interval(np.eye(3)), axis=0)
        assert width.max() < 0.9
    paper = VARLin(env.model, n_episodes=episodes, constants="paper")
    *_, last = play_episodes(paper, env, episodes)
    np.testing.assert_allclose(np.ptp(paper.confidence_set.interval(np.eye(3)), axis=0), 1.0)


def test_signed_base_models() -> None:
    model = signed_model(2)
    agent = VARLin2(model, n_episodes=5)
    assert not agent.confidence_set.polytope.domain.simplex
    assert agent.confidence_set.contains([1.0, 0.0])


def test_saved_and_loaded(tmp_path: Any) -> None:
    env = ctgoal(16, theta_star=[0.15, 0.25, 0.6], seed=1)
    agent = VARLin2(env.model, n_episodes=50, iota_scale=0.01, moments=3)
    list(play_episodes(agent, env, 30))
    agent.save(tmp_path / "agent")
    other = voful.load(tmp_path / "agent")
    assert type(other) is VARLin2
    assert (other.moments, other.iota_scale) == (3, 0.01)
    np.testing.assert_array_equal(other.plan().values, agent.plan().values)


def test_bad_arguments() -> None:
    for bad in ({"moments": 99}, {"iota_scale": 0.0}, {"directions": [[3.0, 0.0, 0.0]]}):
        with pytest.raises(ValueError, match=": got .*; expected"):
            VARLin2(MODEL, n_episodes=10, **bad)
