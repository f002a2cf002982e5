"""Tidy frames behind every table and figure.

A column x that is a mean comes with x_low and x_high, the ends of its 95 % percentile bootstrap
interval over the replicates; they are null with one replicate.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from voful import validation
from voful.report.statistics import intervals
from voful.report.statistics.cells import cells, last_rows, step_of
from voful.report.statistics.groups import has_alarms
from voful.typing import FloatArray

NO_REGRET = 1e-6  # a mean below it is rounding, and nothing to divide by

_TIMES = ("select_time", "plan_time", "update_time")  # what the policy is responsible for


def final_table(results: pl.DataFrame) -> pl.DataFrame:
    """One row per problem and policy, at the last recorded round.

    Columns: problem, policy, runs, regret (mean), regret_error (standard error over the runs),
    regret_low, regret_high, regret_median, coverage (fraction of runs in which theta* was in the
    set at every check; null without a set), coverage_low, coverage_high (Clopper-Pearson),
    alarms (mean number in a run; null where they were not recorded), time_per_step (microseconds
    in the policy a round or episode, median over the runs).
    """
    cell, last = ["problem", "policy"], last_rows(results)
    recorded = "alarms" in last.columns
    alarms = pl.col("alarms") if recorded else pl.lit(None, dtype=pl.Float64)
    time = pl.sum_horizontal(name for name in _TIMES if name in last.columns)
    more = last.group_by(cell).agg(
        coverage=pl.col("covered").cast(pl.Float64).mean(),
        successes=pl.col("covered").sum(),
        trials=pl.col("covered").count(),
        alarms=alarms.mean(),
        time_per_step=1e6 * (time / pl.col(step_of(results))).median(),
    )
    low, high = intervals.clopper_pearson(more["successes"], more["trials"])
    more = more.with_columns(_series("coverage_low", low), _series("coverage_high", high))
    error = pl.when(pl.col("runs") > 1).then("regret_error")
    return (
        curves(last, "regret")
        .with_columns(regret_error=error)
        .join(more, on=cell)
        .select(
            *(*cell, "runs"),
            *("regret", "regret_error", "regret_low", "regret_high", "regret_median"),
            *("coverage", "coverage_low", "coverage_high", "alarms", "time_per_step"),
        )
        .sort("problem", "regret", "policy")
    )


def times(results: pl.DataFrame) -> pl.DataFrame:
    """Microseconds a round or episode, a row per problem, policy and part of its work.

    Columns: problem, policy, part ("select", "plan", "update"), time_per_step (median over the
    runs), time_low, time_high (the quartiles).
    """
    parts = {name.removesuffix("_time"): name for name in _TIMES if name in results.columns}
    a_step = {part: 1e6 * pl.col(name) / pl.col(step_of(results)) for part, name in parts.items()}
    each = last_rows(results).select("problem", "policy", **a_step)
    return (
        each.unpivot(list(parts), index=["problem", "policy"], variable_name="part")
        .group_by("problem", "policy", "part", maintain_order=True)
        .agg(
            time_per_step=pl.col("value").median(),
            time_low=pl.col("value").quantile(0.25),
            time_high=pl.col("value").quantile(0.75),
        )
        .sort("problem", "policy", "part")
    )


def regret_by_variance(results: pl.DataFrame) -> pl.DataFrame:
    """Final regret against the sum of variances, a row per problem and policy.

    Without ``problem_series`` (`with_series`) all problems count as one series, named "".

    Columns: series, policy, problem, sum_variance, regret (mean), regret_error, regret_low,
    regret_high.
    """
    last = last_rows(results)
    named = last.with_columns(series=_known_or_one(last, "problem_series"))
    variances = named.group_by("series", "policy", "problem").agg(pl.col("sum_variance").mean())
    return (
        variances.join(curves(last, "regret"), on=["problem", "policy"])
        .drop(step_of(results), "runs", "regret_median")
        .sort("series", "policy", "sum_variance")
    )


def regret_by_horizon(results: pl.DataFrame) -> pl.DataFrame:
    """Final regret against the horizon, a row per family, policy and horizon.

    Needs a grid of horizons; without ``problem_family`` all problems count as one family, named
    "". Other parameters of the problems, such as theta*, are pooled: the mean is over n problems
    of a family and horizon, which are declared and not drawn, so that its error is that of the
    seeds alone, sqrt(sum of the squared errors of the problems' means) / n; a problem with one
    seed adds nothing to it. The interval, too, draws seeds anew within each problem.

    Columns: family, policy, horizon, runs, regret (mean), regret_error, regret_low, regret_high.
    """
    groups = ["family", "policy", "horizon"]
    last = with_horizons(last_rows(results))
    table = (
        last.group_by(*groups, "problem", maintain_order=True)
        .agg(
            runs=pl.len(),
            regret=pl.col("regret").mean(),
            squared_error=pl.col("regret").var().fill_null(0.0) / pl.len(),
        )
        .group_by(groups, maintain_order=True)
        .agg(
            runs=pl.col("runs").sum(),
            regret=pl.col("regret").mean(),
            regret_error=pl.col("squared_error").sum().sqrt() / pl.len(),
        )
        .sort(groups)
    )
    low, high = np.full((2, len(table)), np.nan)
    for row, group in enumerate(table.select(groups).iter_rows(named=True)):
        draws = pooled_draws(last.filter(**group))
        if np.ptp(draws) > 0.0:
            (low[row],), (high[row],) = intervals.percentile_interval(draws)
    return table.with_columns(_series("regret_low", low), _series("regret_high", high))


def with_horizons(results: pl.DataFrame) -> pl.DataFrame:
    """The results of problems that have a horizon, with columns family and horizon."""
    if "problem_horizon" not in results.columns:
        raise validation.fail("results", results.columns, "a column problem_horizon (a grid)")
    return results.with_columns(
        family=_known_or_one(results, "problem_family"),
        horizon=pl.col("problem_horizon").cast(pl.Int64),
    ).filter(pl.col("horizon").is_not_null())


def _known_or_one(results: pl.DataFrame, column: str) -> pl.Expr:
    return pl.col(column) if column in results.columns else pl.lit("")


def pooled_draws(last: pl.DataFrame) -> FloatArray:
    """(repetitions, 1) means over the problems of one policy, seeds drawn within each problem."""
    draws = (
        intervals.resampled_means(cell.values[:, -1:], stream=cell.problem)
        for cell in cells(last, "regret")
    )
    return np.asarray(np.mean([*draws], axis=0))


def relative_regret(results: pl.DataFrame, reference: str) -> pl.DataFrame:
    """Mean final regret over that of a reference policy on the same problem.

    Columns: problem, policy, regret, ratio (null where the reference has no regret: below 1e-6),
    typical (geometric mean of a policy's ratios, each taken as at least 1/100); the best policies
    come first.
    """
    table = (
        last_rows(results)
        .group_by("problem", "policy", maintain_order=True)
        .agg(regret=pl.col("regret").mean())
    )
    base = table.filter(pl.col("policy").cast(pl.String) == reference)
    joined = table.join(base.select("problem", base="regret"), on="problem")
    ratio = pl.when(pl.col("base") > NO_REGRET).then(pl.col("regret") / pl.col("base"))
    return (
        joined.with_columns(ratio=ratio)
        .with_columns(typical=pl.col("ratio").clip(0.01).log().mean().over("policy").exp())
        .select("problem", "policy", "regret", "ratio", "typical")
        .sort("typical", "policy", "problem", nulls_last=True)
    )


def curves(results: pl.DataFrame, column: str) -> pl.DataFrame:
    """A recorded column by problem, policy and round (or episode), where it is not null.

    Columns: problem, policy, round (or episode), runs, x (mean), x_error (standard error),
    x_median, x_low, x_high, with the column's name for x.
    """
    step = step_of(results)
    mean = (
        results.filter(pl.col(column).is_not_null())
        .group_by("problem", "policy", step)
        .agg(
            pl.len().alias("runs"),
            pl.col(column).mean(),
            (pl.col(column).std().fill_null(0.0) / pl.len().sqrt()).alias(f"{column}_error"),
            pl.col(column).median().alias(f"{column}_median"),
        )
    )
    cell = ["problem", "policy", step]
    return mean.join(_intervals(results, column), on=cell, how="left").sort(cell)


def regret_curves(results: pl.DataFrame) -> pl.DataFrame:
    """Mean regret by problem, policy and round (or episode); `curves` has the columns.

    Where policies have raised alarms there is one more: alarms, their mean number in a run so far.
    """
    table = curves(results, "regret")
    if not has_alarms(results):
        return table
    cell = ["problem", "policy", step_of(results)]
    return table.join(results.group_by(cell).agg(pl.col("alarms").mean()), on=cell).sort(cell)


def width_curves(results: pl.DataFrame) -> pl.DataFrame:
    """Mean width of the sets by problem, policy and round (or episode); of policies with bounds."""
    return curves(results, "width")


def _intervals(results: pl.DataFrame, column: str) -> pl.DataFrame:
    """Ends of the intervals of the mean, by problem, policy and step."""
    keys, ends = ["problem", "policy", step_of(results)], [f"{column}_low", f"{column}_high"]
    types = {key: results.schema[key] for key in keys} | dict.fromkeys(ends, pl.Float64())
    found = list(cells(results, column))
    if not found:
        return pl.DataFrame(schema=types)
    # One frame at the end: a frame for each of thousands of cells takes longer than the draws.
    rows = [len(cell.steps) for cell in found]
    ends_of = [intervals.mean_interval(cell.values, stream=cell.problem) for cell in found]
    columns = [
        np.repeat([cell.problem for cell in found], rows),
        np.repeat([cell.policy for cell in found], rows),
        np.concatenate([cell.steps for cell in found]),
        *map(np.concatenate, zip(*ends_of, strict=True)),
    ]
    frame = pl.DataFrame(dict(zip(types, columns, strict=True))).cast(types)  # type: ignore[arg-type]
    return frame.with_columns(pl.col(ends).fill_nan(None))


def _series(name: str, values: Any) -> pl.Series:
    return pl.Series(name, values, dtype=pl.Float64).fill_nan(None)
