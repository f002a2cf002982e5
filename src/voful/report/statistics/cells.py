"""Results as matrices: for each problem and policy a row per replicate, a column per step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from voful.typing import FloatArray, IntArray


def step_of(results: pl.DataFrame) -> str:
    """What the runs are counted in: "round" or "episode"."""
    return "episode" if "episode" in results.columns else "round"


@dataclass(frozen=True)
class Cell:
    """One column of the results of one problem and policy.

    Attributes
    ----------
    problem, policy
        Names.
    steps
        (m,) recorded rounds or episodes, increasing.
    values
        (n, m), a row a replicate in increasing order; NaN is missing.
    """

    problem: str
    policy: str
    steps: IntArray
    values: FloatArray


def cells(results: pl.DataFrame, column: str) -> Iterator[Cell]:
    """All cells, in the order of the results; steps without any value are left out."""
    step = step_of(results)
    names = ["problem", "policy", "replicate", step, column]
    there = results.select(names).filter(pl.col(column).is_not_null())
    for part in there.partition_by("problem", "policy", maintain_order=True):
        seeds, rows = np.unique(part["replicate"].to_numpy(), return_inverse=True)
        steps, columns = np.unique(part[step].to_numpy(), return_inverse=True)
        values = np.full((len(seeds), len(steps)), np.nan)
        values[rows, columns] = part[column].cast(pl.Float64).to_numpy()
        yield Cell(str(part["problem"][0]), str(part["policy"][0]), steps, values)


def last_rows(results: pl.DataFrame) -> pl.DataFrame:
    """The rows of the last recorded step of each problem and policy."""
    step = pl.col(step_of(results))
    return results.filter(step == step.max().over("problem", "policy"))
