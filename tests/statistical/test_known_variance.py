"""Algorithms that are told the variances: theta* stays in the set, and so do the inequalities.

Power of each count: .81 against 3 failure_prob (77 runs); with --full (308) .90 against 2.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from helpers import (
    assert_condemned,
    assert_covers,
    assert_exit_rate,
    count,
    coverage_runs,
    full,
    in_turn,
    last_record,
    sphere,
)
from voful import concentration as C
from voful import registry
from voful.envs import linear_bandit
from voful.typing import FloatArray

IDS = [entry.id for entry in registry.entries("bandit") if entry.needs_variance]
LAWS = ["two_point", "rare_positive", "adversary", "heteroscedastic"]
DELTA, ROUNDS = 0.1, 300 if full() else 200


def problem(law: str, run: int) -> Any:
    common: dict[str, Any] = {
        "dim": 2 + run % 4, "n_arms": 8, "redraw": run % 2 == 0,
        "theta_norm": 0.5 if run % 3 else 0.95, "seed": np.random.SeedSequence([31, run]),
    }  # fmt: skip
    if law == "heteroscedastic":
        return linear_bandit(sigma_low=0.0, sigma_high=0.5, **common)
    return linear_bandit(noise=law, sigma=0.1 if law.startswith("rare") else 0.4, **common)


@pytest.mark.parametrize("laws", in_turn(*LAWS))
@pytest.mark.parametrize("id", IDS)
def test_covers(id: str, laws: tuple[str, ...]) -> None:
    def left(law: str, run: int) -> bool:
        env = problem(law, run)
        policy = registry.create(id, env.dim, n_rounds=ROUNDS, failure_prob=DELTA)
        return not last_record(policy, env, ROUNDS).covered

    assert_covers(left, laws, DELTA)


def pulled_along(id: str, run: int, rounds: int = ROUNDS, **params: Any) -> bool:
    """Whether theta* stayed in the set when every arm points along the estimate's error.

    That direction, Z^-1 S up to the ridge's bias, is where the set is nearest to losing theta*;
    the noise is rare and large, of the sign that adds to the error.
    """
    rng = np.random.default_rng([32, run])
    dim, p = 2 + run % 3, 0.02
    theta_star = sphere(rng, 1, dim, 0.2)[0]
    policy = registry.create(
        id, dim, n_rounds=ROUNDS, failure_prob=DELTA, noise_bound=0.8, theta_norm=0.2, **params
    )
    Theta = policy.confidence_set
    for _ in range(rounds):
        error = Theta.center - theta_star
        x = error / np.linalg.norm(error) if rng.random() < 0.9 else sphere(rng, 1, dim)[0]
        eta = 0.8 if rng.random() < p else -0.8 * p / (1 - p)
        policy.update(x, float(x @ theta_star + eta), variance=0.64 * p / (1 - p))
        if not Theta.contains(theta_star):
            return False
    return True


@pytest.mark.parametrize("id", IDS)
def test_covers_in_the_worst_direction(id: str) -> None:
    runs, rounds = coverage_runs(DELTA), ROUNDS if full() else ROUNDS // 2  # in Python
    assert_exit_rate(sum(not pulled_along(id, run, rounds) for run in range(runs)), runs, DELTA)


@pytest.mark.parametrize("id", ["faury", "weighted-oful", "weighted-oful-plus-oful"])
def test_the_test_can_fail(id: str) -> None:
    assert_condemned(lambda run: not pulled_along(id, run, width_scale=0.05), DELTA)


# --- the inequalities themselves, many runs side by side ---------------------------------------


LAWS_OF_ETA = ["rademacher", "skewed"]


def sums(law: str, runs: int, steps: int, dim: int, ridge: float) -> dict[str, FloatArray]:
    """Self-normalised squares at all times, shape (steps, runs); arms along Z^-1 S mostly."""
    rng = np.random.default_rng([33, LAWS_OF_ETA.index(law)])
    start = np.broadcast_to(ridge * np.eye(dim), (runs, dim, dim))
    Z, H, V = start.copy(), start.copy(), start.copy()
    S = np.zeros((runs, dim))
    out: dict[str, list[FloatArray]] = {name: [] for name in ("Z", "H", "V", "Zd", "Hd", "Vd")}
    for _ in range(steps):
        x = rng.standard_normal((runs, dim))
        along = np.linalg.solve(Z, S[:, :, None])[:, :, 0]
        pulled = (rng.random(runs) < 0.9) & (np.abs(along).sum(axis=1) > 0)
        x[pulled] = along[pulled]
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        signs = rng.choice([-1.0, 1.0], runs)
        if law == "rademacher":
            eta, variance = signs, 1.0
        else:
            p = 0.02
            eta, variance = np.where(rng.random(runs) < p, 1.0, -p / (1 - p)), p / (1 - p)
        S += eta[:, None] * x
        outer = x[:, :, None] * x[:, None, :]
        Z += outer
        H += variance * outer
        V += (eta**2)[:, None, None] * outer
        for name, M in (("Z", Z), ("H", H), ("V", V)):
            out[name].append((S * np.linalg.solve(M, S[:, :, None])[:, :, 0]).sum(axis=1))
            out[name + "d"].append(np.linalg.slogdet(M)[1] - dim * math.log(ridge))
    return {name: np.array(rows) for name, rows in out.items()}


@pytest.mark.parametrize("law", LAWS_OF_ETA)
def test_vector_inequalities(law: str) -> None:
    runs, steps, dim, ridge = count(1000), 300, 2, 1.0
    path = sums(law, runs, steps, dim, ridge)
    variance = 1.0 if law == "rademacher" else 0.02 / 0.98
    # |eta| <= 1, w <= 1: w / (1 + w^2) <= 1/2, w^2 / (1 + w^2) <= 1/2
    bernstein = C.self_normalized_bernstein(
        variance=variance,
        linear=0.5,
        square=math.sqrt(0.5),
        log_det_bound=C.log_det_growth(steps, dim, 1.0, ridge),
        delta=DELTA,
    )
    known = C.best_variation_bernstein(dim, ridge=ridge, b=1.0, delta=DELTA, log_det_ratio=2.0)
    empirical = C.variation_bernstein(
        dim, ridge=ridge, b=1.0, delta=DELTA, exponent=0.7, predictable=False
    )
    bounds = (("Z", bernstein), ("H", known), ("V", empirical))
    for name, bound in bounds:
        radius = np.vectorize(bound.radius)(path[name + "d"])
        exits = int((np.sqrt(path[name]) > radius).any(axis=0).sum())
        assert_exit_rate(exits, runs, DELTA)
        far = int((np.sqrt(path[name]) > 0.05 * radius).any(axis=0).sum())
        with pytest.raises(AssertionError, match="left the set"):  # the test can fail
            assert_exit_rate(far, runs, DELTA)
