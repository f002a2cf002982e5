"""The theatre of confidence sets: snapshots as the page's player reads them."""

from __future__ import annotations

from typing import Any

import polars as pl

from voful.report.page.numbers import short, shorts


def stage(snapshots: pl.DataFrame, places: dict[str, dict[str, int]]) -> list[dict[str, Any]]:
    """One entry per run that took snapshots; arms that never change are told once."""
    entries = []
    runs = snapshots.partition_by("problem", "policy", "replicate", as_dict=True)
    for (problem, policy, replicate), run in runs.items():
        arms: dict[tuple[float, ...], int] = {}
        frames = [
            {
                "round": row["round"],
                "regret": short(row["regret"]),
                "center": row["center"] and shorts(row["center"]),
                "in_set": row["in_set"],
                "polygons": [shorts(polygon) for polygon in row["polygons"]],
                "arms": arms.setdefault(tuple(row["arms"]), len(arms)),
                "choice": row["choice"],
            }
            for row in run.sort("round").iter_rows(named=True)
        ]
        entries.append(
            {
                "problem": places["problem"][problem],
                "policy": places["policy"][policy],
                "replicate": replicate,
                "theta_star": shorts(run["theta_star"][0]),
                "arms": [shorts(each) for each in arms],
                "frames": frames,
            }
        )
    return entries
