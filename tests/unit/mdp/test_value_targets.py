from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from mdp_helpers import random_model, random_walk, signed_model
from voful import UCRLVTR, BetVTR, HFUCRLVTRPlus, PosteriorMixture, UCRLVTRPlus
from voful.confidence.algebra import whitener_from
from voful.confidence.mixture.ends import ellipsoids_of, ends_of
from voful.confidence.mixture.ridge import at_sum_one
from voful.envs.mixture.families import mixture_family
from voful.experiments.play.episodes import play_episodes
from voful.mdp.agents.posterior_mixture import hit_and_run
from voful.mdp.planning import optimistic_plan


def test_the_cut_with_sum_one_is_exact() -> None:
    rng = np.random.default_rng(0)
    root = rng.standard_normal((4, 4))
    M = root @ root.T + np.eye(4)
    c, beta = np.array([0.1, 0.4, 0.2, 0.2]), 1.3
    whitener = np.empty((4, 4))
    assert whitener_from(M, whitener)
    X = rng.standard_normal((6, 4))
    center, factor = at_sum_one(c, whitener, beta)
    nowhere = np.zeros(4, dtype=np.bool_)
    cut = ellipsoids_of(center[None], factor[None], nowhere, False, True)
    lower, upper = ends_of(cut, X)
    # the boundary of the cut, by coordinates in the plane
    plane = np.linalg.svd(np.ones((1, 4)))[2][1:].T
    G = plane.T @ M @ plane
    base = np.full(4, 0.25)
    middle = base + plane @ np.linalg.solve(G, plane.T @ M @ (c - base))
    left = beta**2 - (middle - c) @ M @ (middle - c)
    width = np.sqrt(left * np.einsum("ki,ki->k", X @ plane, np.linalg.solve(G, plane.T @ X.T).T))
    np.testing.assert_allclose(upper, X @ middle + width)
    np.testing.assert_allclose(lower, X @ middle - width)


@pytest.mark.parametrize("cls", [UCRLVTR, UCRLVTRPlus, HFUCRLVTRPlus])
def test_support_bounds_the_members(cls: Any) -> None:
    model = random_model(5, horizon=8)
    for cut in (True, False):
        agent = cls(model, n_episodes=40, cut=cut)
        rng = np.random.default_rng(1)
        for _ in range(40):
            agent.update(*random_walk(model, rng))
        Theta = agent.confidence_set
        members = [theta for theta in rng.dirichlet(np.ones(3), 200) if Theta.contains(theta)]
        X = rng.random((20, 3))
        lower, upper = Theta.interval(X)
        assert members
        assert all((X @ theta <= upper + 1e-9).all() for theta in members)
        assert all((X @ theta >= lower - 1e-9).all() for theta in members)
        assert not Theta.contains([1.5, -0.25, -0.25])


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("arguments", [{"cut": True}, {"cut": False}, {"width_scale": 0.3}])
@pytest.mark.parametrize("cls", [UCRLVTR, UCRLVTRPlus, HFUCRLVTRPlus, BetVTR])
def test_a_compiled_plan_has_the_bits_of_one_that_asks_the_set(
    cls: Any, arguments: dict[str, Any], signed: bool
) -> None:
    model = signed_model(2) if signed else random_model(5, dim=4, horizon=300)
    if cls is BetVTR:
        arguments = {name: arguments[name] for name in arguments if name != "cut"}
    agent = cls(model, n_episodes=12, **arguments)
    rng = np.random.default_rng(4)
    for _ in range(12):
        agent.update(*random_walk(model, rng, stop=False))
    plan = agent.plan()
    within = not signed and arguments.get("cut", True)
    asked = optimistic_plan(model, agent.confidence_set.support, within_simplex=within)
    np.testing.assert_array_equal(plan.values, asked.values)
    np.testing.assert_array_equal(plan.actions, asked.actions)
    assert plan.value == asked.value


def test_an_empty_ellipsoid_plans_with_its_centre() -> None:
    model = random_model(5, horizon=8)
    agent = UCRLVTR(model, n_episodes=1, width_scale=1e-9)
    walk = random_walk(model, np.random.default_rng(0))
    with pytest.warns(RuntimeWarning, match="empty"):
        agent.update(*walk)
    with pytest.warns(RuntimeWarning, match="empty"):
        plan = agent.plan()
    center = agent.confidence_set.center
    asked = optimistic_plan(model, lambda X: X @ center, within_simplex=False)
    np.testing.assert_allclose(plan.values, asked.values, atol=1e-14)


def test_tight_radii_are_far_below_the_printed_ones() -> None:
    model = random_model(5, horizon=8)
    for cls in (UCRLVTRPlus, HFUCRLVTRPlus):
        tight, paper = cls(model, n_episodes=1000), cls(model, n_episodes=1000, constants="paper")
        assert tight.radius * 14.0 < paper.radius


@pytest.mark.parametrize("bet", ["product", "ratio", "mixed"])
def test_betting_set_shrinks_and_keeps_theta(bet: str) -> None:
    env = mixture_family("ctgoal", horizon=64, theta_star=[0.15, 0.25, 0.6], seed=3)
    agent = BetVTR(env.model, n_episodes=400, bet=bet)
    before = np.diff(agent.confidence_set.interval(np.eye(3)), axis=0).sum()
    *_, last = play_episodes(agent, env, 400)
    after = np.diff(agent.confidence_set.interval(np.eye(3)), axis=0).sum()
    assert last.covered
    assert last.optimistic
    assert after < 0.8 * before
    assert agent.confidence_set.center.sum() == pytest.approx(1.0)
    assert agent.confidence_set.n_observations > 1000


def test_a_bet_does_not_see_which_other_laws_are_met() -> None:
    """What one law teaches before anything else is the same whatever stands beside it."""
    from voful.confidence.mixture.betting import CountedBettingSet
    from voful.confidence.mixture.domain import Domain
    from voful.confidence.mixture.observations import observe

    rng = np.random.default_rng(0)
    laws = np.ascontiguousarray(np.moveaxis(rng.dirichlet(np.ones(4), size=(5, 3)), 1, 2))
    targets, counts = rng.random((5, 4)), np.zeros((5, 4))
    counts[2] = [3, 1, 0, 2]

    def fresh() -> CountedBettingSet:
        return CountedBettingSet(Domain(3, True), failure_prob=0.05, bet="mixed", width_scale=1.0)

    alone, among = fresh(), fresh()
    alone.learn(observe(laws[2:3], targets[2:3], counts[2:3]))
    among.learn(observe(laws, targets, counts))
    np.testing.assert_array_equal(alone.support(np.eye(3)), among.support(np.eye(3)))


def test_the_chain_samples_the_posterior() -> None:
    rng = np.random.default_rng(0)
    p = np.array([[0.7, 0.2], [0.3, 0.8]])
    counts = np.array([30.0, 70.0])
    grid = np.linspace(0.0, 1.0, 20001)
    log_density = counts @ np.log(p[:, :1] * grid + p[:, 1:] * (1.0 - grid))
    weight = np.exp(log_density - log_density.max())
    mean = (weight * grid).sum() / weight.sum()
    deviation = math.sqrt((weight * (grid - mean) ** 2).sum() / weight.sum())
    theta, draws = np.array([0.5, 0.5]), np.empty(4000)
    for k in range(len(draws)):
        hit_and_run(p, counts, theta, rng.standard_normal((2, 2)), rng.random((2, 64)))
        draws[k] = theta[0]
    assert theta.sum() == pytest.approx(1.0)
    assert draws.mean() == pytest.approx(mean, abs=0.08 * deviation)
    assert draws.std() == pytest.approx(deviation, rel=0.06)


def test_posterior_sampling_learns_and_needs_kernels() -> None:
    env = mixture_family("ctgoal", horizon=64, theta_star=[0.15, 0.25, 0.6], seed=3)
    agent = PosteriorMixture(env.model, n_episodes=2000)
    *_, last = play_episodes(agent, env, 2000)
    assert last.covered is None
    assert last.regret < 20.0
    assert abs(agent.theta - env.theta_star).max() < 0.3
    assert agent.theta[2] == pytest.approx(0.6, abs=0.05)
    with pytest.raises(ValueError, match="n_steps: got 0"):
        PosteriorMixture(env.model, n_episodes=10, n_steps=0)
