from __future__ import annotations

import polars as pl

from voful.experiments.store.manifest import Manifest
from voful.experiments.study.run import Contender, Problem
from voful.experiments.study.study import Study
from voful.report.statistics.missing import missing
from voful.report.terminal.console import gaps

STUDY = Study(
    "s",
    (Problem("z", {"dim": 2}, 10), Problem("a", {"dim": 2}, 10)),
    (Contender("oful", "oful"), Contender("losan", "losan")),
    replicates=3,
)


def stored(counts: dict[tuple[str, str], int]) -> pl.DataFrame:
    rows = [
        {"problem": problem, "policy": policy, "replicate": replicate, "round": round}
        for (problem, policy), n in counts.items()
        for replicate in range(n)
        for round in (1, 10)
    ]
    return pl.DataFrame(rows)


def test_cells_with_fewer_runs_than_declared() -> None:
    counts = {("z", "oful"): 3, ("z", "losan"): 1, ("a", "oful"): 2}
    runs = {run.label: run.key for run in STUDY.runs()}
    failed = [runs["z/losan/1"], runs["z/losan/2"], "of another study"]
    table = missing(stored(counts), Manifest.of(STUDY), failed)
    assert table.rows() == [
        ("z", "losan", 3, 1, 2),
        ("a", "oful", 3, 2, 0),
        ("a", "losan", 3, 0, 0),
    ]
    assert gaps(table) == [
        "missing: 6 of the declared runs, 2 failed",
        "  z/losan: 1 of 3 runs, 2 failed",
        "  a/oful: 2 of 3 runs",
        "  a/losan: 0 of 3 runs",
    ]
    assert gaps(table, most=1)[-1] == "  and 2 more"


def test_nothing_is_missing() -> None:
    counts = {(p.name, c.name): 3 for p in STUDY.problems for c in STUDY.contenders}
    table = missing(stored(counts), Manifest.of(STUDY))
    assert table.is_empty()
    assert gaps(table) == []
