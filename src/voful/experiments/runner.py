"""Plays the runs of a study, on one process or on several, with the same numbers."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from voful import registry
from voful.envs import linear_bandit
from voful.experiments.loop import play
from voful.experiments.study import Run, Study

if TYPE_CHECKING:
    import polars as pl

Row = dict[str, Any]

CHECK_EVERY = 10  # rounds between two looks whether theta* is in the set


def execute(run: Run) -> list[Row]:
    """Play one run; one row per record."""
    env = linear_bandit(**run.problem.params, seed=run.environment_seed())
    entry = registry.lookup(run.contender.id)
    params = {"reward_range": env.reward_range, "seed": run.policy_seed(), **run.contender.params}
    policy = registry.create(run.contender.id, env.dim, n_rounds=run.n_rounds, **params)
    labels = {
        "problem": run.problem.name,
        "policy": run.contender.name,
        "replicate": run.replicate,
    }
    records = play(
        policy,
        env,
        run.n_rounds,
        record_at=run.record_at,
        pass_variance=entry.needs_variance,
        check_every=CHECK_EVERY,
    )
    return [labels | asdict(record) for record in records]


def run_study(
    study: Study,
    *,
    workers: int | None = None,
    on_finished: Callable[[Run], None] = lambda run: None,
) -> pl.DataFrame:
    """All rows of a study, sorted; `on_finished` is told of every finished run."""
    import polars as pl  # not needed by the workers, and slow to import

    rows: list[Row] = []
    for run, records in _results(study.runs(), workers or os.cpu_count() or 1):
        rows.extend(records)
        on_finished(run)
    frame = pl.DataFrame(rows, infer_schema_length=None)
    declared = {  # sorts, tables and panels keep the order of the study
        "problem": pl.Enum([problem.name for problem in study.problems]),
        "policy": pl.Enum([contender.name for contender in study.contenders]),
    }
    return frame.cast(declared).sort("problem", "policy", "replicate", "round")  # type: ignore[arg-type]


def _results(runs: list[Run], workers: int) -> Iterator[tuple[Run, list[Row]]]:
    if workers == 1:
        yield from ((run, execute(run)) for run in runs)
        return
    # spawn: a forked child of a threaded parent (BLAS, Polars) may hang
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        pending = {pool.submit(execute, run): run for run in runs}
        try:
            for future in as_completed(pending):
                yield pending[future], future.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
