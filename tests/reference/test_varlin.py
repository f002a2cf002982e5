"""VARLin with the paper's constants and VARLin2, with given directions, are literal."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog, minimize_scalar

from mdp_helpers import plan_for_each_episode, random_model, signed_model
from reference.literal_varlin import LiteralVARLin
from reference.literal_varlin2 import LiteralVARLin2
from voful import LinearMixtureModel, VARLin, VARLin2
from voful.confidence.mixture.layered_tests import paper_iota, varlin2_iota
from voful.confidence.mixture.polytope import PolytopeSet
from voful.confidence.mixture.variance import variance_bound
from voful.typing import FloatArray

EPISODES = 5


def candidates(dim: int, simplex: bool, rng: np.random.Generator) -> FloatArray:
    theta = rng.dirichlet(np.full(dim, 0.7), size=60)
    if not simplex:
        theta = theta * rng.choice([-1.0, 1.0], size=theta.shape) * rng.random((60, 1))
    return theta


def mixed(model: LinearMixtureModel, theta: FloatArray) -> FloatArray:
    P: FloatArray = np.tensordot(theta, model.base_models, axes=1)
    return P


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(
    ("model", "theta_star", "iota"),
    [
        (random_model(3, dim=2, n_states=3, horizon=3), [0.2, 0.8], 0.2),
        (random_model(8, dim=3, n_states=3, horizon=3, sparse=False), [0.1, 0.6, 0.3], 0.034),
        (signed_model(2), [1.0, 0.0], 0.2),
    ],
    ids=["segment", "triangle", "ball"],
)
def test_literal_set_plan_and_values(
    model: LinearMixtureModel,
    theta_star: list[float],
    iota: float,
    version: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plan_for_each_episode(monkeypatch)
    rng = np.random.default_rng(7)
    mu = rng.uniform(-1.0, 1.0, size=(3, model.dim))
    mu *= (2.0 * rng.random(3) / np.abs(mu).sum(axis=1))[:, None]
    price = (paper_iota if version == 1 else varlin2_iota)(model.dim, model.horizon, EPISODES, 0.05)
    scale = iota / price
    agent: VARLin
    if version == 1:
        agent = VARLin(
            model, n_episodes=EPISODES, constants="paper", directions=mu, iota_scale=scale
        )
    else:
        agent = VARLin2(model, n_episodes=EPISODES, directions=mu, iota_scale=scale)
    literal = (LiteralVARLin if version == 1 else LiteralVARLin2)(
        model.base_models,
        model.rewards,
        model.horizon,
        EPISODES,
        0.05,
        mu,
        simplex=model.stochastic,
        iota_scale=scale,
    )
    P = mixed(model, np.array(theta_star))
    excluded = 0
    for _ in range(EPISODES):
        plan = agent.plan()
        assert plan.value == pytest.approx(literal.plan(), abs=1e-7)
        states, actions = [model.initial_state], []
        for h in range(model.horizon):
            actions.append(plan.action(h, states[-1]))
            law = np.clip(P[states[-1], actions[-1]], 0.0, None)
            states.append(int(rng.choice(model.n_states, p=law / law.sum())))
        agent.update(states, actions)
        literal.update(states, actions)
        assert not agent.confidence_set.is_empty
        for theta in candidates(model.dim, model.stochastic, rng):
            excess = literal.excess(theta)
            if abs(excess) > 1e-6:
                assert agent.confidence_set.contains(theta) == (excess < 0.0)
                excluded += excess > 0.0
    assert excluded > 5  # the tests did cut something


@pytest.mark.parametrize("simplex", [True, False])
@pytest.mark.parametrize("dim", [2, 3, 4, 5])
def test_eta_bounds_the_maximum_and_is_near_it(dim: int, simplex: bool) -> None:
    rng = np.random.default_rng(dim)
    Theta = PolytopeSet(dim, simplex=simplex)
    inner = rng.dirichlet(np.ones(dim)) * (1.0 if simplex else 0.5)
    A = rng.standard_normal((6, dim))
    Theta.cut(A, A @ inner + 0.2)
    g = rng.random((30, 8))
    P = rng.dirichlet(np.ones(8), size=(30, dim))
    X, X2 = np.einsum("kib,kb->ki", P, g), np.einsum("kib,kb->ki", P, g * g)
    eta = variance_bound(Theta.exact_support, X, X2)
    points = rng.dirichlet(np.ones(dim), size=20_000)
    if not simplex:
        points *= rng.choice([-1.0, 1.0], size=points.shape) * rng.random((20_000, 1)) ** 0.1
    points = points[(points @ Theta.A.T <= Theta.b).all(axis=1)]
    values = points @ X2.T - (points @ X.T) ** 2
    assert (eta >= values.max(axis=0) - 1e-12).all()
    for k in range(5):
        best = maximum(Theta, X[k], X2[k])
        assert best - 1e-9 <= eta[k] <= best + 1e-3


def maximum(Theta: PolytopeSet, x: FloatArray, x2: FloatArray) -> float:
    """max of <theta, x2> - <theta, x>^2: given u = <theta, x> a linear programme, concave in u."""
    split = np.concatenate([Theta.A, -Theta.A], axis=1)
    total = np.ones((1, 2 * Theta.dim))
    high = [1.0] * Theta.dim + [0.0 if Theta.domain.simplex else 1.0] * Theta.dim

    def solve(cost: FloatArray, u: float | None) -> float:
        rows = [] if u is None else [np.concatenate([x, -x])]
        right = [] if u is None else [u]
        if Theta.domain.simplex:
            rows, right = [*rows, total[0]], [*right, 1.0]
        answer = linprog(
            np.concatenate([cost, -cost]),
            A_ub=np.concatenate([split, total]),
            b_ub=np.append(Theta.b, 1.0),
            A_eq=np.array(rows) if rows else None,
            b_eq=right or None,
            bounds=[(0.0, end) for end in high],
        )
        return float(answer.fun) if answer.status == 0 else np.inf

    low, top = solve(x, None), -solve(-x, None)
    best = minimize_scalar(lambda u: u * u + solve(-x2, u), bounds=(low, top), method="bounded")
    return -float(best.fun)
