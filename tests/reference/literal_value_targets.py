"""UCRL-VTR, UCRL-VTR+ and HF-UCRL-VTR+ step by step, with dense inverses and Python loops."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from voful.typing import FloatArray


class Ridge:
    def __init__(self, dim: int, ridge: float) -> None:
        self.ridge = ridge
        self.M: FloatArray = ridge * np.eye(dim)
        self.b: FloatArray = np.zeros(dim)

    def learn(self, x: FloatArray, y: float, variance: float) -> None:
        self.M = self.M + np.outer(x, x) / variance
        self.b = self.b + x * y / variance

    @property
    def theta(self) -> FloatArray:
        return np.asarray(np.linalg.solve(self.M, self.b))

    def norm(self, x: FloatArray) -> float:
        return math.sqrt(x @ np.linalg.solve(self.M, x))

    @property
    def log_det_ratio(self) -> float:
        return float(np.linalg.slogdet(self.M)[1] - len(self.b) * math.log(self.ridge))

    def frozen(self) -> Ridge:
        copy = Ridge(len(self.b), self.ridge)
        copy.M, copy.b = self.M, self.b
        return copy


def steps(agent: Any, states: Any, actions: Any) -> Any:
    """(V_{h+1}, P_{s,a} (d, S), s') of each step, from the dense base models."""
    P = agent.model.base_models
    plan = agent.plan()
    for h, a in enumerate(actions):
        yield plan.value_row(h + 1), P[:, states[h], a], states[h + 1]


def clip(z: float) -> float:
    return min(max(z, 0.0), 1.0)


def ucrl_vtr(ridge: Ridge, agent: Any, states: Any, actions: Any) -> None:
    for V, P, t in steps(agent, states, actions):
        ridge.learn(P @ V, V[t], 1.0)


def ucrl_vtr_plus(
    hat: Ridge, tilde: Ridge, check: float, wide: float, agent: Any, states: Any, actions: Any
) -> None:
    """`check` and `wide`: beta_check and beta_tilde of this episode."""
    d = agent.dim
    old_hat, old_tilde = hat.frozen(), tilde.frozen()
    for V, P, t in steps(agent, states, actions):
        x, x2 = P @ V, P @ V**2
        variance = clip(x2 @ old_tilde.theta) - clip(x @ old_hat.theta) ** 2
        error = min(1.0, wide * old_tilde.norm(x2)) + min(1.0, 2.0 * check * old_hat.norm(x))
        hat.learn(x, V[t], max(1.0 / d, variance + error))
        tilde.learn(x2, V[t] ** 2, 1.0)


def hf_ucrl_vtr_plus(
    ridges: list[Ridge], betas: list[float], agent: Any, states: Any, actions: Any
) -> None:
    d, H, M = agent.dim, agent.model.horizon, len(ridges)
    alpha, gamma = H**-0.5, d**-0.25
    old = [ridge.frozen() for ridge in ridges]
    for V, P, t in steps(agent, states, actions):
        X = [P @ V ** (2.0**m) for m in range(M)]
        sigma2 = []
        for m in range(M):
            bound = 1.0
            if m < M - 1:
                mean, next_mean = clip(X[m] @ old[m].theta), clip(X[m + 1] @ old[m + 1].theta)
                bound = next_mean - mean**2 + min(1.0, 2.0 * betas[m] * old[m].norm(X[m]))
                bound += min(1.0, betas[m + 1] * old[m + 1].norm(X[m + 1]))
            sigma2.append(max(gamma**2 * ridges[m].norm(X[m]), bound, alpha**2))
        for m in range(M):
            ridges[m].learn(X[m], V[t] ** (2.0**m), sigma2[m])
