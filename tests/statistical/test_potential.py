"""Measured sums of the generalised potential against the classical d log bound.

The paper proves O(d^4 log(dt/l)) for the sequential form and O(d log(dt/l)) in hindsight. On runs
of optimism, and on bad directions, the measured sums stay below 2 d ln(1 + t/(d l^2)).
"""

from __future__ import annotations

import numpy as np
import pytest

from helpers import count, sphere
from voful import OFUL
from voful.envs import linear_bandit
from voful.potential import elliptical_bound, potential_terms
from voful.typing import FloatArray

ROUNDS = 600
LEVELS = (1.0, 0.25, 1 / 16, 1 / 256)


def optimistic_run(dim: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """x_k and mu_k = theta_k - theta* of a run, theta_k the optimistic parameter at x_k."""
    env = linear_bandit(dim=dim, sigma=0.1, redraw=seed % 2 == 0, seed=seed)
    policy = OFUL(dim)
    X, M = np.empty((ROUNDS, dim)), np.empty((ROUNDS, dim))
    for k in range(ROUNDS):
        arms = env.arms
        choice = policy.select(arms)
        Theta, x = policy.confidence_set, arms[choice]
        step = np.linalg.solve(Theta.precision, x)
        theta_k = Theta.center + Theta.radius * step / np.sqrt(x @ step)
        error = theta_k - env.theta_star
        X[k], M[k] = x, error / max(1.0, float(np.linalg.norm(error)))
        policy.update(x, env.pull(choice).reward)
    return X, M


def greedy_directions(X: FloatArray, rng: np.random.Generator) -> FloatArray:
    """For each x_i the worst of many directions: large at x_i, small on the past."""
    M = np.empty_like(X)
    for i, x in enumerate(X):
        gram = 1e-3 * np.eye(X.shape[1]) + X[:i].T @ X[:i]
        candidates = [np.linalg.solve(gram, x), *sphere(rng, 8, X.shape[1])]
        scores = [(x @ m) ** 2 / (m @ gram @ m) for m in candidates]
        best = candidates[int(np.argmax(scores))]
        M[i] = best / np.linalg.norm(best)
    return M


@pytest.mark.parametrize("dim", [2, 5, 10])
def test_the_sums_stay_below_the_classical_bound(dim: int) -> None:
    for seed in range(max(2, count(10))):
        X, M = optimistic_run(dim, seed)
        bad = greedy_directions(X, np.random.default_rng(seed))
        for directions in (M, bad):
            for ell in LEVELS:
                total = potential_terms(X, directions, ell).sum()
                hindsight = potential_terms(X, directions, ell, hindsight=True).sum()
                assert hindsight <= total + 1e-9
                assert total <= elliptical_bound(dim, ROUNDS, ell)
