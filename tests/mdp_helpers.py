"""Models and agents that several suites of linear mixture MDPs share."""

from __future__ import annotations

from typing import Any

import numpy as np

from voful.mdp.base import Agent
from voful.mdp.model import LinearMixtureModel
from voful.mdp.planning import OptimisticPlan, optimistic_plan, optimistic_plan_over_vertices
from voful.mdp.trajectories import successor_index
from voful.typing import FloatArray, IntArray


def random_model(
    seed: int = 0,
    dim: int = 3,
    n_states: int = 5,
    n_actions: int = 2,
    horizon: int = 6,
    sparse: bool = True,
) -> LinearMixtureModel:
    """Random rows, the last state absorbing; rewards whose sum can come close to 1."""
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.ones(n_states), size=(dim, n_states, n_actions))
    if sparse:
        P[rng.random(P.shape) < 0.5] = 0.0
        P[..., 0] += 1e-3
        P /= P.sum(axis=3, keepdims=True)
    P[:, -1] = 0.0
    P[:, -1, :, -1] = 1.0
    rewards = rng.random((n_states, n_actions)) / horizon
    rewards[-1] = 0.0
    return LinearMixtureModel(P, rewards, horizon)


def signed_model(seed: int) -> LinearMixtureModel:
    """A kernel plus and minus a perturbation whose rows sum up to 0: theta in the L1 ball."""
    rng = np.random.default_rng(seed)
    base = rng.dirichlet(np.ones(3), size=(3, 2))
    other = rng.dirichlet(np.ones(3), size=(3, 2))
    rewards = rng.random((3, 2)) / 3
    return LinearMixtureModel(np.stack([base, base - other]), rewards, 3, signed=True)


def random_walk(
    model: LinearMixtureModel, rng: np.random.Generator, stop: bool = True, most: int = 10**12
) -> tuple[list[int], list[int]]:
    """A possible trajectory under random actions and random base models, or its first steps."""
    states, actions = [model.initial_state], list[int]()
    while len(actions) < min(model.horizon, most) and not (stop and model.absorbing[states[-1]]):
        a = int(rng.integers(model.n_actions))
        n = model.n_successors[states[-1], a]
        actions.append(a)
        states.append(int(model.successors[states[-1], a, rng.integers(n)]))
    return states, actions


class Interval:
    """A set of three members of the simplex, with as much of the contract as a loop needs."""

    def __init__(self, members: FloatArray) -> None:
        self.members = members
        self.dim = members.shape[1]
        self.center = members.mean(axis=0)
        self.is_empty = False

    def contains(self, theta: Any) -> bool:
        return bool(np.abs(self.members - theta).sum(axis=1).min() < 1e-9)

    def support(self, X: Any) -> FloatArray:
        upper: FloatArray = (np.asarray(X) @ self.members.T).max(axis=1)
        return upper

    def interval(self, X: Any) -> tuple[FloatArray, FloatArray]:
        return -self.support(-np.asarray(X)), self.support(X)


class Counter(Agent):
    """Plans over the corners of a set that shrinks with the counts of transitions."""

    _arrays = (*Agent._arrays, "counts")

    def __init__(
        self,
        model: LinearMixtureModel,
        *,
        n_episodes: int = 50,
        failure_prob: float = 0.05,
        compiled: bool = True,
        seed: Any = 0,
    ) -> None:
        super().__init__(model, n_episodes=n_episodes, failure_prob=failure_prob, seed=seed)
        self.compiled = compiled
        self.counts = np.zeros(model.successors.shape)
        self.plans_made = 0

    @property
    def confidence_set(self) -> Interval:
        weight = 1.0 / (1.0 + 0.01 * self.counts.sum())
        middle = np.full(self.dim, 1.0 / self.dim)
        return Interval(weight * np.eye(self.dim) + (1.0 - weight) * middle)

    def _make_plan(self) -> OptimisticPlan:
        self.plans_made += 1
        Theta = self.confidence_set
        if self.compiled:
            return optimistic_plan_over_vertices(self.model, Theta.members)
        return optimistic_plan(self.model, Theta.support)

    def _information(self) -> float:
        return float(np.log1p(self.counts.sum()))

    def _learn(self, states: IntArray, actions: IntArray, lengths: IntArray) -> None:
        model = self.model
        for path, taken, length in zip(states, actions, lengths, strict=True):
            for h in range(length):
                s, a, t = path[h], taken[h], path[h + 1]
                self.counts[
                    s, a, successor_index(model.successors, model.n_successors, s, a, t)
                ] += 1


def plan_for_each_episode(monkeypatch: Any) -> None:
    """Plans as the papers have them: everything is news (for the first 64 episodes)."""
    monkeypatch.setattr("voful.mdp.base.NEWS", -1.0)
