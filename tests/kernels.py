"""Compiles what many tests call and `voful warm` leaves out, before two workers do it at once.

`python tests/kernels.py`; takes a second where it is done already.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl

import voful
from helpers import play_some, sphere
from voful import BetOFUL, CertifiedUCB, Evaluator, Log, PerAction

DIM = 3


def data(n: int) -> tuple[Any, Any]:
    """Arms, and rewards of which no parameter can be the reason: sets become empty."""
    rng = np.random.default_rng(0)
    return sphere(rng, n, DIM), rng.uniform(0.5, 1.0, n)


def compile_evaluation() -> None:
    """Values of logs."""
    X, y = data(40)
    log = Log(
        np.zeros(20, dtype=np.int64), y[:20], np.full((20, 2), 0.5), arms=X.reshape(20, 2, DIM)
    )
    for options in ({"estimator": "ips"}, {"estimator": "dr", "dim": DIM}):
        evaluator = Evaluator(**options)
        evaluator.update(log, np.full((20, 2), 0.5))
        evaluator.interval()


def compile_cut() -> None:
    """Both bets at once, with rewards that are late, and once they are refuted."""
    policy = BetOFUL(DIM, bet="mixed+cr", theta_norm=0.1)
    arms, _ = play_some(policy, 20)
    policy.select(arms, pending=arms[:2])
    policy.partial_fit(*data(600))
    policy.select(arms)
    actions = PerAction(2, DIM, failure_prob=0.1)
    actions.update(arms[0], actions.select(arms[0]), 0.5)
    actions.index(arms[0])


def compile_guard() -> None:
    """An index that is guarded, here that of a policy which stays as it is."""
    guarded: Any = voful.Guarded(DIM, heuristic=Fixed())
    play_some(guarded, 20)
    for policy in (BetOFUL(DIM, theta_norm=0.1), CertifiedUCB(DIM, theta_norm=0.1)):
        policy.partial_fit(*data(600))
        policy.select(sphere(np.random.default_rng(0), 5, DIM))


class Fixed:
    """Scores that learn nothing."""

    def __init__(self) -> None:
        self.policy = CertifiedUCB(DIM)

    def scores(self, arms: Any) -> Any:
        return self.policy.scores(arms)

    def update(self, x: Any, reward: float) -> None:
        return


def compile_shards() -> None:
    """Sets of several shards, on their own and with barriers."""
    shards = [BetOFUL(DIM, refresh=False) for _ in range(2)]
    with TemporaryDirectory() as folder:
        paths = []
        for number, shard in enumerate(shards):
            X, y = play_some(shard, 80, number)
            paths.append(f"{folder}/{number}.parquet")
            pl.DataFrame({"x": X, "reward": y}).write_parquet(paths[-1])
        voful.learn(paths, BetOFUL(DIM, refresh=False), shards=2)
    voful.merge(shards)


def quietly(task: Callable[[], None]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of sets that are empty
        task()


if __name__ == "__main__":
    tasks = (compile_shards, compile_evaluation, compile_cut, compile_guard)
    with ProcessPoolExecutor(2) as pool:
        list(pool.map(quietly, tasks))
