"""What several suites share."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from voful import registry
from voful.checks import sampled_members as members
from voful.experiments.play.compiled_loop import can_play, play_compiled
from voful.experiments.play.loop import play
from voful.typing import FloatArray

__all__ = [
    "assert_condemned",
    "assert_covers",
    "assert_exit_rate",
    "count",
    "coverage_runs",
    "full",
    "in_turn",
    "last_record",
    "make_policy",
    "members",
    "most_exits",
    "play_some",
    "power",
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


# --- coverage: how many runs, how many exits, what they find ------------------------------------

LEVEL = 1e-4  # how often a set that fails as often as it says is condemned


def most_exits(runs: int, failure_prob: float) -> int:
    """The largest number of exits that a count forgives."""
    return int(binom.isf(LEVEL, runs, failure_prob))


def power(runs: int, failure_prob: float, times: float) -> float:
    """How often the count condemns a set that fails `times` as often as it says."""
    return float(binom.sf(most_exits(runs, failure_prob), runs, times * failure_prob))


def has_power(runs: int, failure_prob: float) -> bool:
    """At least .8 against three times the stated rate; with --full .9 against twice."""
    times, wanted = (2.0, 0.9) if full() else (3.0, 0.8)
    return power(runs, failure_prob, times) >= wanted


@cache
def coverage_runs(failure_prob: float) -> int:
    """From how many runs on a count has power: 77 (--full: 308) at .1, 170 (664) at .05."""
    runs = 10
    while not all(has_power(n, failure_prob) for n in range(runs, runs + 20)):
        runs += 1
    return runs


def in_turn(*settings: Any) -> list[tuple[Any, ...]]:
    """Settings that share a count, by the number of the run; with --full each has its own."""
    return [(setting,) for setting in settings] if full() else [settings]


def assert_exit_rate(exits: int, runs: int, failure_prob: float) -> None:
    """A binomial test at level 10^-4, with power: more exits than failure_prob allows?"""
    assert has_power(runs, failure_prob), f"{runs} runs say too little; coverage_runs says how many"
    assert exits <= most_exits(runs, failure_prob), f"theta* left the set in {exits} of {runs} runs"


def assert_covers(left: Callable[[Any, int], bool], settings: Sequence[Any], delta: float) -> None:
    """`assert_exit_rate` of runs in which settings take turns, and a test of each alone.

    `left(setting, run)` plays a run, numbered from 0 in each setting: whether theta* left. What is
    wrong in one setting only, and there in half of the runs, is found too.
    """
    n, runs = len(settings), coverage_runs(delta)
    exits = [left(settings[k % n], k // n) for k in range(runs)]
    assert_exit_rate(sum(exits), runs, delta)
    for k, setting in enumerate(settings):
        own = exits[k::n]
        said = f"{setting}: theta* left the set in {sum(own)} of {len(own)} runs"
        assert sum(own) <= most_exits(len(own), delta), said


def assert_condemned(left: Callable[[int], bool], failure_prob: float) -> None:
    """The control of a suite: broken in 3 failure_prob of its runs, a set is condemned.

    `left(run)` plays a run of the set that is broken: whether theta* was seen to leave.
    """
    runs = coverage_runs(failure_prob)
    exits = sum(left(run) for run in range(math.ceil(3.0 * failure_prob * runs)))
    with pytest.raises(AssertionError, match="left the set"):
        assert_exit_rate(exits, runs, failure_prob)


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
