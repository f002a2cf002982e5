from __future__ import annotations

import numpy as np
import pytest

from helpers import full
from mdp_helpers import random_model
from reference.literal_bet_vtr import LiteralBetVTR
from voful import BetVTR, LinearMixtureModel
from voful.envs import ctgoal
from voful.envs.mixture.linear_mixture import LinearMixtureMDP


@pytest.mark.parametrize("bet", ["mixed", "product", "ratio"])
@pytest.mark.parametrize(
    ("model", "theta_star"),
    [
        (random_model(3, dim=3, n_states=4, horizon=6), [0.2, 0.5, 0.3]),
        (ctgoal(16, dim=2).model, [0.3, 0.7]),
    ],
    ids=["random", "ctgoal"],
)
def test_sets_and_plans_agree_with_the_literal_ones(
    model: LinearMixtureModel, theta_star: list[float], bet: str
) -> None:
    n_episodes = 30 if full() else 16
    env = LinearMixtureMDP(model, theta_star, seed=2)
    agent = BetVTR(model, n_episodes=n_episodes, failure_prob=0.1, bet=bet)
    literal = LiteralBetVTR(model, 0.1, bet)
    X = np.random.default_rng(0).random((10, model.dim))
    whole = np.ptp(agent.confidence_set.interval(X), axis=0)
    seen: list[tuple[list[int], list[int]]] = []
    while agent.episodes_learnt < n_episodes:
        plan = agent.plan()
        values = literal.plan()
        rows = np.minimum(np.arange(model.horizon + 1), len(plan.values) - 1)
        np.testing.assert_allclose(plan.values[rows], values, atol=1e-8)
        assert plan.value == pytest.approx(values[-1, model.initial_state], abs=1e-8)
        states, actions, lengths = env.rollout(plan.actions, plan.episodes)
        agent.update_many(states, actions, lengths)
        seen += [
            (path[: n + 1].tolist(), taken[:n].tolist())
            for path, taken, n in zip(states, actions, lengths, strict=True)
        ]
        if agent._plan_is_over():
            literal.learn(plan, seen)
            seen.clear()
        upper = [literal.Theta.upper_end(x) for x in X]
        np.testing.assert_allclose(agent.confidence_set.support(X), upper, atol=1e-8)
        ellipsoids = agent.confidence_set.ellipsoids()
        for e, (center, factor) in enumerate(
            zip(ellipsoids.centers, ellipsoids.factors, strict=True)
        ):
            inverse, literal_center, rad = literal.Theta.ellipsoid(e)
            np.testing.assert_allclose(center, literal_center, atol=1e-8)
            plane = np.eye(model.dim) - 1.0 / model.dim
            np.testing.assert_allclose(
                factor @ factor.T, rad * plane @ inverse @ plane, rtol=1e-7, atol=1e-10
            )
    assert (np.ptp(agent.confidence_set.interval(X), axis=0) < 0.999 * whole).any()
