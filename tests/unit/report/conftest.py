"""Small results, as a study stores them."""

from __future__ import annotations

import polars as pl
import pytest


@pytest.fixture
def results() -> pl.DataFrame:
    rows = [
        {
            "problem": problem,
            "policy": policy,
            "replicate": replicate,
            "round": round,
            "regret": round * slope + replicate,
            "sum_variance": 0.0,
            "in_set": True,
            "covered": None if policy == "mine" else replicate == 0,
            "select_time": 1e-6 * round,
            "update_time": 2e-6 * round,
        }
        for problem in ("easy", "hard")
        for policy, slope in (("oful", 0.5), ("mine", 0.25))
        for replicate in (0, 2)
        for round in (1, 10, 100)
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


@pytest.fixture
def horizons() -> pl.DataFrame:
    rows = [
        {
            "problem": f"{family} H={horizon} {theta}",
            "problem_horizon": horizon,
            "policy": policy,
            "replicate": replicate,
            "episode": episode,
            "regret": episode * (slope * horizon + theta + replicate),
        }
        for family in ("goal", "queue")
        for horizon in (16, 64)
        for theta in (0, 2)
        for policy, slope in (("varlin", 0.5), ("mine", 0.25))
        for replicate in (0, 1)
        for episode in (1, 10)
    ]
    return pl.DataFrame(rows)
