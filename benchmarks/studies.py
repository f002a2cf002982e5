"""What the machinery of studies costs: python benchmarks/studies.py overhead|scan|report.

overhead: CPU time of a study of 400 runs of 2,000 rounds, in all its processes, and the share that
is not spent in the loops. scan: reading 10,000 stored runs, packed as a study leaves them. report:
everything that `voful report` makes of 10,000 runs, as one cell of as many seeds and as many cells.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from voful.experiments.store import Store
    from voful.experiments.study import Study

STUDY = """
name = "overhead"
rounds = 2000
replicates = {replicates}
[[policy]]
id = {{ grid = {ids} }}
[[problem]]
name = "d=5"
dim = 5
"""


def cpu_time() -> float:
    """Of this process and of those that it started and that have ended."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in both)


def overhead(ids: list[str], workers: int = 2) -> None:
    """From the start of Python to the last result on disk."""
    from voful.experiments.runner import run_study
    from voful.experiments.study import parse_study

    study = parse_study(STUDY.format(ids=ids, replicates=400 // len(ids)))
    with tempfile.TemporaryDirectory() as out:
        summary = run_study(study, out, workers=workers)
    total = cpu_time()
    outside = total - summary.loop_time
    print(
        f"{' '.join(ids)}: {summary.played} runs, {total:.1f} s of CPU, "
        f"{outside:.2f} s or {outside / total:.1%} outside the loops"
    )


def store_runs(study: Study, out: str, n_points: int) -> Store:
    """Through the store's own writing and packing."""
    from voful.experiments.loop import log_spaced
    from voful.experiments.manifest import Manifest
    from voful.experiments.store import PACK_AT, Store

    store = Store(out)
    rng = np.random.default_rng(0)
    rounds = list(log_spaced(2000, n_points))
    with store.locked():
        store.write_manifest(Manifest.of(study))
        for done, run in enumerate(study.runs(), 1):
            sigma = run.problem.params.get("sigma", 0.1)
            columns: dict[str, list[Any]] = {
                "round": rounds,
                "regret": (rng.uniform(0.5, 1.5) * np.sqrt(rounds)).tolist(),
                "sum_variance": [sigma**2 * k for k in rounds],
                "covered": [True] * len(rounds),
                "width": [1.0 / k for k in rounds],
                "select_time": [1e-6 * k for k in rounds],
            }
            store.add(run, columns)
            if done % PACK_AT == 0:
                store.pack()
    return store


def scan(n_runs: int = 10_000, n_points: int = 51) -> None:
    """Reading all rows, and the keys alone."""
    import polars as pl

    import voful
    from voful.experiments.run import Contender, Problem
    from voful.experiments.study import Study

    study = Study("scan", (Problem("d=5", {"dim": 5}, 2000),), (Contender("oful", "oful"),), n_runs)
    with tempfile.TemporaryDirectory() as out:
        store = store_runs(study, out, n_points)
        files = len(list(Path(out, "runs").iterdir()))
        started, cpu = time.perf_counter(), time.process_time()
        frame = voful.results(out)
        wall, cpu = time.perf_counter() - started, time.process_time() - cpu
        assert frame.select(pl.struct("policy", "replicate").n_unique()).item() == n_runs
        print(f"{n_runs} runs in {files} files, {len(frame)} rows: {wall:.2f} s ({cpu:.2f} s CPU)")
        started = time.perf_counter()
        assert len(store.keys()) == n_runs
        print(f"their keys alone, to resume: {time.perf_counter() - started:.2f} s")


def report(n_points: int = 60) -> None:
    """Of one policy on one problem with 10,000 seeds; of 25 on 16 problems with 25 seeds."""
    from voful import registry
    from voful.experiments.run import Contender, Problem
    from voful.experiments.study import Study
    from voful.report.files import write_report

    ids = [entry.id for entry in registry.entries("bandit")][:25]
    for n_problems, n_policies, replicates in ((1, 1, 10_000), (4, 10, 250), (16, 25, 25)):
        study = Study(
            "report",
            tuple(Problem(f"σ={s}", {"dim": 5, "sigma": s}, 2000) for s in range(n_problems)),
            tuple(Contender(id, id) for id in ids[:n_policies]),
            replicates,
        )
        with tempfile.TemporaryDirectory() as out:
            store_runs(study, out, n_points)
            started, cpu = time.perf_counter(), time.process_time()
            paths = write_report(out).paths
            wall, cpu = time.perf_counter() - started, time.process_time() - cpu
        print(
            f"{n_problems} problems x {n_policies} policies x {replicates} seeds: "
            f"{len(paths)} files in {wall:.1f} s ({cpu:.1f} s CPU)",
            flush=True,
        )


if __name__ == "__main__":
    if sys.argv[1:2] == ["scan"]:
        scan()
    elif sys.argv[1:2] == ["report"]:
        report()
    else:
        overhead(sys.argv[2:] or ["oful"])
