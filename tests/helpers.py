"""What several suites share."""

from __future__ import annotations

import math
import os
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.stats import binomtest

from voful import registry
from voful.checks import sampled_members as members
from voful.experiments.play.compiled_loop import can_play, play_compiled
from voful.experiments.play.loop import play
from voful.typing import FloatArray

__all__ = [
    "assert_exit_rate",
    "count",
    "full",
    "last_record",
    "make_policy",
    "members",
    "play_some",
    "sphere",
    "teach",
    "teach_one",
]


def full() -> bool:
    """Whether the suites run at their full counts."""
    return os.environ.get("VOFUL_TEST_FULL") == "1"


def count(all_of_them: int) -> int:
    """How many runs: all with --full, else the first tenth of the same seeds."""
    return all_of_them if full() else math.ceil(all_of_them / 10)


def assert_exit_rate(exits: int, runs: int, failure_prob: float) -> None:
    """A binomial test at a tiny false-alarm level: more exits than failure_prob allows?"""
    test = binomtest(exits, runs, failure_prob, alternative="greater")
    assert test.pvalue > 1e-4, f"theta* left the set in {exits} of {runs} runs"


def sphere(rng: np.random.Generator, n: int, dim: int, radius: float = 1.0) -> FloatArray:
    points = rng.standard_normal((n, dim))
    scaled: FloatArray = radius * points / np.linalg.norm(points, axis=1, keepdims=True)
    return scaled


def make_policy(id: str, dim: int = 3, **params: Any) -> Any:
    return registry.create(id, dim, n_rounds=500, **params)


def teach(policy: Any, X: Any, rewards: Any, *, variance: float = 0.04) -> None:
    """One `partial_fit`, with the variance for those that must be told."""
    told = {"variances": np.full(len(rewards), variance)} if policy.needs_variance else {}
    policy.partial_fit(X, rewards, **told)


def teach_one(policy: Any, x: Any, reward: Any, *, variance: float = 0.04) -> None:
    """One `update`, with the variance for those that must be told."""
    told = {"variance": variance} if policy.needs_variance else {}
    policy.update(x, reward, **told)


def last_record(policy: Any, env: Any, rounds: int, *, check_every: int = 1) -> Any:
    """What `play` records at the end; by the compiled loop where it can, with the same bits."""
    options: Any = {"record_at": [rounds], "check_every": check_every}
    if can_play(policy, env, rounds):
        columns = play_compiled(policy, env, rounds, **options)
        return SimpleNamespace(**{name: values[-1] for name, values in columns.items()})
    *_, last = play(policy, env, rounds, pass_variance=policy.needs_variance, **options)
    return last


def play_some(
    policy: Any, rounds: int, seed: int = 0, noise: float = 0.2
) -> tuple[FloatArray, FloatArray]:
    """Feed a policy its own choices on random arms; returns what it was taught."""
    rng = np.random.default_rng(seed)
    theta_star = sphere(rng, 1, policy.dim, 0.5)[0]
    X, y = np.empty((rounds, policy.dim)), np.empty(rounds)
    for k in range(rounds):
        arms = sphere(rng, 7, policy.dim)
        X[k] = arms[policy.select(arms)]
        y[k] = X[k] @ theta_star + noise * rng.choice([-1.0, 1.0])
        teach_one(policy, X[k], y[k])
    return X, y
