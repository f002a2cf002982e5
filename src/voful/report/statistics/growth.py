"""Growth exponents: how the regret scales with rounds, variances and the horizon."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from voful.report.statistics import summaries
from voful.report.statistics.cells import cells, last_rows
from voful.report.statistics.intervals import percentile_interval, resampled_means
from voful.typing import FloatArray

LAST_PART = 0.1
"""Rounds from this fraction of the last one on tell the growth with K."""

_SCHEMA: dict[str, Any] = {
    "with": pl.String,
    "group": pl.String,
    "policy": pl.String,
    "points": pl.Int64,
    **dict.fromkeys(("exponent", "exponent_low", "exponent_high"), pl.Float64),
}


def growth_exponents(results: pl.DataFrame) -> pl.DataFrame:
    """Least-squares slopes of log(mean regret), with bootstrap intervals over the replicates.

    Against log K within each problem, over the last decade of rounds (or episodes); against
    log(sum of variances) over the problems of a series (`with_series`); against log H over the
    horizons of a family (`with_families`). sqrt(K) growth has exponent 1/2. Points where the mean
    regret or the variance is zero have no logarithm and are left out.

    Columns: with ("K", "variance", "horizon"), group (problem, series or family), policy, points,
    exponent, exponent_low, exponent_high.
    """
    lines = [*_with_rounds(results)]
    if "sum_variance" in results.columns:
        lines += _with_variance(results)
    if "problem_horizon" in results.columns:
        lines += _with_horizon(results)
    rows = [(*names, *fit) for *names, x, y, draws in lines if (fit := _fit(x, y, draws))]
    frame = pl.DataFrame(rows, schema=_SCHEMA, orient="row")
    return frame.with_columns(pl.col(pl.Float64).fill_nan(None))


Line = tuple[str, str, str, FloatArray, FloatArray, FloatArray | None]
"""with, group, policy; x and y of its points, and draws of the latter."""


def _with_rounds(results: pl.DataFrame) -> Iterator[Line]:
    for cell in cells(results, "regret"):
        late = cell.steps >= LAST_PART * cell.steps[-1]
        values = cell.values[:, late]
        draws = resampled_means(values, stream=cell.problem) if len(values) > 1 else None
        x = cell.steps[late].astype(np.float64)
        yield "K", cell.problem, cell.policy, x, np.nanmean(values, axis=0), draws


def _with_variance(results: pl.DataFrame) -> Iterator[Line]:
    table = summaries.regret_by_variance(results).filter(pl.col("sum_variance") > 0.0)
    draws = {
        (cell.problem, cell.policy): resampled_means(cell.values[:, -1:], stream=cell.problem)
        for cell in cells(last_rows(results), "regret")
    }
    for line in table.partition_by("series", "policy", maintain_order=True):
        policy = str(line["policy"][0])
        together = np.hstack([draws[str(problem), policy] for problem in line["problem"]])
        x, y = (line[name].to_numpy() for name in ("sum_variance", "regret"))
        yield "variance", line["series"][0], policy, x, y, together


def _with_horizon(results: pl.DataFrame) -> Iterator[Line]:
    last = summaries.with_horizons(last_rows(results))
    table = summaries.regret_by_horizon(results)
    for line in table.partition_by("family", "policy", maintain_order=True):
        family, policy = line["family"][0], line["policy"][0]
        own = last.filter(family=family, policy=policy)
        draws = np.hstack([summaries.pooled_draws(own.filter(horizon=H)) for H in line["horizon"]])
        x, y = (line[name].to_numpy().astype(np.float64) for name in ("horizon", "regret"))
        yield "horizon", family, str(policy), x, y, draws


def _fit(
    x: FloatArray, y: FloatArray, draws: FloatArray | None
) -> tuple[int, float, float, float] | None:
    """Points, exponent and the ends of its interval; None with fewer than two points."""
    usable = (y > 0.0) & (x > 0.0)
    if len(np.unique(x[usable])) < 2:
        return None
    log_x = np.log(x[usable])
    exponent = float(slopes(log_x, np.log(y[usable])[None])[0])
    low = high = np.full(1, np.nan)
    if draws is not None and np.ptp(draws, axis=0).any():
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(draws[:, usable])
        low, high = percentile_interval(slopes(log_x, logs)[:, None])
    return int(usable.sum()), exponent, float(low[0]), float(high[0])


def slopes(x: FloatArray, Y: FloatArray) -> FloatArray:
    """Least-squares slope of each row of Y against x, over its finite entries; NaN below two."""
    there = np.isfinite(Y)
    filled = np.where(there, Y, 0.0)
    n = there.sum(axis=1)
    mean = (there @ x) / np.maximum(n, 1)
    centred = np.where(there, x - mean[:, None], 0.0)
    spread = (centred**2).sum(axis=1)
    enough = spread > 0.0
    slope: FloatArray = np.where(
        enough, (centred * filled).sum(axis=1) / np.where(enough, spread, 1.0), np.nan
    )
    return slope
