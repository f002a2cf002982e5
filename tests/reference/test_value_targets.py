from __future__ import annotations

import math

import numpy as np
import pytest

from mdp_helpers import random_model, random_walk
from reference.literal_value_targets import Ridge, hf_ucrl_vtr_plus, ucrl_vtr, ucrl_vtr_plus
from voful import UCRLVTR, HFUCRLVTRPlus, UCRLVTRPlus
from voful.confidence.ellipsoids.ridge import open_ridge

MODEL = random_model(3, dim=3, n_states=5, n_actions=2, horizon=9)
LONG = random_model(3, dim=3, n_states=5, n_actions=2, horizon=150)  # more than a chunk of steps
EPISODES = 12


def test_ucrl_vtr() -> None:
    agent, ridge = UCRLVTR(MODEL, n_episodes=EPISODES), Ridge(3, 1.0)
    rng = np.random.default_rng(0)
    for _ in range(EPISODES):
        path, taken = random_walk(MODEL, rng)
        ucrl_vtr(ridge, agent, path, taken)
        agent.update(path, taken)
        np.testing.assert_allclose(agent.confidence_set.center, ridge.theta, rtol=1e-8)
        beta = 1.0 + 0.5 * math.sqrt(ridge.log_det_ratio + 2.0 * math.log(1 / 0.05))
        assert agent.radius == pytest.approx(beta)


@pytest.mark.parametrize("constants", ["tight", "paper"])
def test_ucrl_vtr_plus(constants: str) -> None:
    agent = UCRLVTRPlus(MODEL, n_episodes=EPISODES, constants=constants)
    hat, tilde = Ridge(3, 1.0), Ridge(3, 1.0)
    rng = np.random.default_rng(1)
    n = EPISODES * 9
    t, root = math.log(48 * n**2 / 0.05), math.sqrt(math.log(1 + 3 * n))
    for _ in range(EPISODES):
        if constants == "tight":
            check = agent.radius
            wide = 1.0 + 0.5 * math.sqrt(tilde.log_det_ratio + 2.0 * math.log(2 / 0.05))
        else:
            check = 8 * 3 * root * math.sqrt(t) + 4 * math.sqrt(3) * t + 1
            wide = 8 * math.sqrt(3 * t) * root + 4 * t + 1
            hat_radius = 8 * math.sqrt(3 * t) * root + 4 * math.sqrt(3) * t + 1
            assert agent.radius == pytest.approx(hat_radius)
        path, taken = random_walk(MODEL, rng)
        ucrl_vtr_plus(hat, tilde, check, wide, agent, path, taken)
        agent.update(path, taken)
        np.testing.assert_allclose(agent.confidence_set.center, hat.theta, rtol=1e-8)


@pytest.mark.parametrize("constants", ["tight", "paper"])
def test_hf_ucrl_vtr_plus(constants: str) -> None:
    agent = HFUCRLVTRPlus(MODEL, n_episodes=EPISODES, constants=constants)
    M = math.ceil(math.log2(3 * EPISODES * 9))
    assert agent.moments == M
    ridges = [Ridge(3, 3.0) for _ in range(M)]
    rng = np.random.default_rng(2)
    for k in range(1, EPISODES + 1):
        if constants == "tight":
            line = agent._tight
            betas = [
                math.sqrt(3.0) + math.sqrt(line.slope * r.log_det_ratio + line.offset)
                for r in ridges
            ]
        else:
            # alpha^2 = 1/H, gamma^2 = 1/sqrt(d); |x|^2 <= d and lambda = d cancel
            t = math.log(32 * (math.log(3.0 / math.sqrt(3.0)) + 1) * (9 * k) ** 2 / 0.05)
            beta = 12 * math.sqrt(3 * math.log(1 + 9 * k * 9 / 3) * t) + 30 * math.sqrt(3) * t
            betas = [beta + math.sqrt(3.0)] * M
        assert agent.radius == pytest.approx(betas[0])
        path, taken = random_walk(MODEL, rng)
        hf_ucrl_vtr_plus(ridges, betas, agent, path, taken)
        agent.update(path, taken)
        np.testing.assert_allclose(agent.confidence_set.center, ridges[0].theta, rtol=1e-7)


@pytest.mark.parametrize("n_episodes", [1, 3])
def test_long_episodes(n_episodes: int) -> None:
    plus = UCRLVTRPlus(LONG, n_episodes=n_episodes)
    hf = HFUCRLVTRPlus(LONG, n_episodes=n_episodes)
    hat, tilde = Ridge(3, 1.0), Ridge(3, 1.0)
    ridges = [Ridge(3, 3.0) for _ in range(hf.moments)]
    rng = np.random.default_rng(5)
    for _ in range(n_episodes):
        path, taken = random_walk(LONG, rng, stop=False)
        wide = 1.0 + 0.5 * math.sqrt(tilde.log_det_ratio + 2.0 * math.log(2 / 0.05))
        ucrl_vtr_plus(hat, tilde, plus.radius, wide, plus, path, taken)
        plus.update(path, taken)
        line = hf._tight
        betas = [
            math.sqrt(3.0) + math.sqrt(line.slope * r.log_det_ratio + line.offset) for r in ridges
        ]
        hf_ucrl_vtr_plus(ridges, betas, hf, path, taken)
        hf.update(path, taken)
    np.testing.assert_allclose(plus.confidence_set.center, hat.theta, rtol=1e-8)
    for m, ridge in enumerate(ridges):
        learnt = open_ridge(hf._blocks[m], hf.dim)
        np.testing.assert_allclose(learnt.center, ridge.theta, rtol=1e-6, atol=1e-12)
        np.testing.assert_allclose(learnt.precision, ridge.M, rtol=1e-9)
