from __future__ import annotations

import numpy as np
import pytest

from mdp_helpers import random_model
from reference.literal_planning import literal_plan
from voful.mdp.model import LinearMixtureModel
from voful.mdp.planning import OptimisticPlan, optimistic_plan, optimistic_plan_over_vertices
from voful.typing import FloatArray


def signed_model(seed: int) -> LinearMixtureModel:
    rng = np.random.default_rng(seed)
    kernels = rng.dirichlet(np.ones(4), size=(3, 4, 2))
    differences = 0.5 * (kernels - np.roll(kernels, 1, axis=0))
    P = np.concatenate([kernels[:1], differences])
    return LinearMixtureModel(P, rng.random((4, 2)) / 7, 7, 2, signed=True)


def both(model: LinearMixtureModel, Theta: FloatArray) -> list[OptimisticPlan]:
    return [
        optimistic_plan(model, lambda X: (X @ Theta.T).max(axis=1)),
        optimistic_plan_over_vertices(model, Theta),
    ]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("kind", ["sparse", "dense", "signed", "one step", "one model"])
def test_planning_is_the_triple_loop(kind: str, seed: int) -> None:
    rng = np.random.default_rng(seed + 100)
    if kind == "signed":
        model = signed_model(seed)
        Theta = rng.standard_normal((4, model.dim))
        Theta /= np.abs(Theta).sum(axis=1, keepdims=True)
    else:
        sizes = {"one step": {"horizon": 1}, "one model": {"dim": 1}}.get(kind, {})
        model = random_model(seed, sparse=kind == "sparse", **sizes)
        Theta = rng.dirichlet(np.ones(model.dim), size=4)
    V, Q = literal_plan(model.base_models, model.rewards, model.horizon, Theta.tolist())
    for plan in both(model, Theta):
        assert plan.value == pytest.approx(V[0][model.initial_state], rel=1e-12)
        for h in range(model.horizon + 1):
            np.testing.assert_allclose(plan.value_row(h), V[h], rtol=0, atol=1e-13)
        for h in range(model.horizon):
            for s in range(model.n_states):
                q = Q[h][s]
                assert q[plan.action(h, s)] >= max(q) - 2e-12
                assert not any(q[a] > max(q) - 5e-13 for a in range(plan.action(h, s)))
