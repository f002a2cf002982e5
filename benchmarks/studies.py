"""What studies cost: python benchmarks/studies.py overhead|speedup [IDS], or scan, or report.

overhead: CPU time of a study of 400 runs of 2,000 rounds, in all its processes, and what of it is
not spent in the loops: to start, and for each run. speedup: wall time on one worker over that on
two. Both for all bandits if no ids are given. scan: reading 10,000 stored runs, packed as a study
leaves them. report: everything that `voful report` makes of 10,000 runs.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from voful.experiments.runner.threads import ONE_THREAD

if TYPE_CHECKING:
    from voful.experiments.store.store import Store
    from voful.experiments.study.study import Study

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


class Played(NamedTuple):
    """Runs, and seconds: of CPU in all processes, of those in the loops, and of waiting."""

    runs: float
    cpu: float
    loop_time: float
    wall: float

    @property
    def outside(self) -> float:
        """CPU outside the loops."""
        return self.cpu - self.loop_time


def cpu_time() -> float:
    """Of this process and of those that it started and that have ended."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in both)


def played(ids: list[str], runs: int, workers: int) -> Played:
    """A study in a process of its own, as the command ``voful run`` plays it."""
    command = [sys.executable, __file__, "play", str(runs), str(workers), *ids]
    output = subprocess.run(command, env=os.environ | ONE_THREAD, capture_output=True, check=True)
    return Played(*map(float, output.stdout.split()))


def play(runs: int, workers: int, ids: list[str]) -> Played:
    """From the start of Python to the last result on disk."""
    from voful.experiments.runner.runner import run_study
    from voful.experiments.study.study import parse_study

    study = parse_study(STUDY.format(ids=ids, replicates=runs // len(ids)))
    with tempfile.TemporaryDirectory() as out:
        started = time.perf_counter()
        summary = run_study(study, out, workers=workers)
        wall = time.perf_counter() - started
        return Played(summary.played, cpu_time(), summary.loop_time, wall)


def overhead(ids: list[str]) -> None:
    """The start is what one run of each takes outside its loop, less what a further run takes."""
    few, many = played(ids, len(ids), workers=2), played(ids, 400, workers=2)
    each = (many.outside - few.outside) / (many.runs - few.runs)
    print(
        f"{' '.join(ids)}: {many.runs:.0f} runs, {many.cpu:.1f} s of CPU, {many.outside:.2f} s or "
        f"{many.outside / many.cpu:.1%} outside the loops: {few.outside - each * few.runs:.2f} s "
        f"to start, {1e3 * each:.2f} ms a run"
    )


def speedup(ids: list[str]) -> None:
    """Of what follows the start, which one run of each policy measures."""
    wall = [played(ids, 400, w).wall - played(ids, len(ids), w).wall for w in (1, 2)]
    print(f"{' '.join(ids)}: {wall[0]:.2f} s on one worker, {wall[0] / wall[1]:.2f} times two")


def store_runs(study: Study, out: str, n_points: int) -> Store:
    """Through the store's own writing and packing."""
    from voful.experiments.play.loop import log_spaced
    from voful.experiments.store.manifest import Manifest
    from voful.experiments.store.store import PACK_AT, Store

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
    from voful.experiments.study.run import Contender, Problem
    from voful.experiments.study.study import Study

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
    from voful.experiments.study.run import Contender, Problem
    from voful.experiments.study.study import Study
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
    task, *arguments = sys.argv[1:] or ["overhead"]
    if task == "scan":
        scan()
    elif task == "report":
        report()
    elif task == "play":
        print(*play(int(arguments[0]), int(arguments[1]), arguments[2:]))
    else:
        from voful import registry

        ids = arguments or [entry.id for entry in registry.entries("bandit")]
        {"overhead": overhead, "speedup": speedup}[task](ids)
