"""What the machinery of studies costs: python benchmarks/studies.py overhead|scan.

overhead: CPU time of a study of 400 runs of 2,000 rounds, in all its processes, and the share that
is not spent in the loops. scan: reading 10,000 stored runs, packed as a study leaves them.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

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


def scan(n_runs: int = 10_000, n_points: int = 51) -> None:
    """Through the store's own writing and packing."""
    import polars as pl

    import voful
    from voful.experiments.manifest import Manifest
    from voful.experiments.run import Contender, Problem
    from voful.experiments.store import PACK_AT, Store
    from voful.experiments.study import Study

    study = Study("scan", (Problem("d=5", {"dim": 5}, 2000),), (Contender("oful", "oful"),), n_runs)
    with tempfile.TemporaryDirectory() as out:
        store = Store(out)
        with store.locked():
            store.write_manifest(Manifest.of(study))
            for done, run in enumerate(study.runs(), 1):
                columns: dict[str, list[Any]] = {
                    "round": list(range(1, n_points + 1)),
                    "regret": [float(k) for k in range(n_points)],
                    "sum_variance": [0.01 * k for k in range(n_points)],
                    "covered": [True] * n_points,
                    "select_time": [1e-6 * k for k in range(n_points)],
                }
                store.add(run, columns)
                if done % PACK_AT == 0:
                    store.pack()
        files = len(list(Path(out, "runs").iterdir()))
        started, cpu = time.perf_counter(), time.process_time()
        frame = voful.results(out)
        wall, cpu = time.perf_counter() - started, time.process_time() - cpu
        assert frame.select(pl.struct("policy", "replicate").n_unique()).item() == n_runs
        print(f"{n_runs} runs in {files} files, {len(frame)} rows: {wall:.2f} s ({cpu:.2f} s CPU)")
        started = time.perf_counter()
        assert len(store.keys()) == n_runs
        print(f"their keys alone, to resume: {time.perf_counter() - started:.2f} s")


if __name__ == "__main__":
    if sys.argv[1:2] == ["scan"]:
        scan()
    else:
        overhead(sys.argv[2:] or ["oful"])
