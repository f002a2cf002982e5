"""Tidy frames behind every table and figure."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from voful import validation


def step_of(results: pl.DataFrame) -> str:
    """What the runs are counted in: "round" or "episode"."""
    return "episode" if "episode" in results.columns else "round"


def _last(results: pl.DataFrame) -> pl.DataFrame:
    step = pl.col(step_of(results))
    return results.filter(step == step.max().over("problem", "policy"))


def final_table(results: pl.DataFrame) -> pl.DataFrame:
    """One row per problem and policy, at the last recorded round.

    Columns: problem, policy, runs, regret (mean), regret_error (standard error over the runs),
    coverage (fraction of runs in which theta* was in the set at every check; null without a
    set), time_per_step (microseconds in the policy a round or episode, median over the runs).
    """
    last = _last(results)
    of_policy = [n for n in ("select_time", "plan_time", "update_time") if n in results.columns]
    time = pl.sum_horizontal(of_policy) / pl.col(step_of(results))
    return (
        last.group_by("problem", "policy", maintain_order=True)
        .agg(
            runs=pl.len(),
            regret=pl.col("regret").mean(),
            regret_error=pl.col("regret").std() / pl.len().sqrt(),
            coverage=pl.col("covered").cast(pl.Float64).mean(),
            time_per_step=1e6 * time.median(),
        )
        .sort("problem", "regret", "policy")
    )


def regret_by_variance(results: pl.DataFrame) -> pl.DataFrame:
    """Final regret against the sum of variances, a row per problem and policy."""
    return (
        _last(results)
        .group_by("policy", "problem", maintain_order=True)
        .agg(
            sum_variance=pl.col("sum_variance").mean(),
            regret=pl.col("regret").mean(),
            regret_error=pl.col("regret").std().fill_null(0.0) / pl.len().sqrt(),
        )
        .sort("policy", "sum_variance")
    )


def with_families(results: pl.DataFrame, families: Mapping[str, str]) -> pl.DataFrame:
    """The results with each problem's family in the column ``problem_family``."""
    family = pl.col("problem").cast(pl.String).replace_strict(families, return_dtype=pl.String)
    return results.with_columns(problem_family=family)


def regret_by_horizon(results: pl.DataFrame) -> pl.DataFrame:
    """Final regret against the horizon, a row per family, policy and horizon.

    Needs a grid of horizons; without ``problem_family`` all problems count as one family, named
    "". Other parameters of the problems, such as theta*, are pooled: the mean is over n problems
    of a family and horizon, which are declared and not drawn, so that its error is that of the
    seeds alone, sqrt(sum of the squared errors of the problems' means) / n; a problem with one
    seed adds nothing to it.

    Columns: family, policy, horizon, runs, regret (mean), regret_error.
    """
    if "problem_horizon" not in results.columns:
        raise validation.fail("results", results.columns, "a column problem_horizon (a grid)")
    known = "problem_family" in results.columns
    groups = ["family", "policy", "horizon"]
    return (
        _last(results)
        .with_columns(
            family=pl.col("problem_family") if known else pl.lit(""),
            horizon=pl.col("problem_horizon").cast(pl.Int64),
        )
        .filter(pl.col("horizon").is_not_null())
        .group_by(*groups, "problem", maintain_order=True)
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


def relative_regret(results: pl.DataFrame, reference: str) -> pl.DataFrame:
    """Mean final regret over that of a reference policy on the same problem.

    Columns: problem, policy, regret, ratio, typical (geometric mean of a policy's ratios, each
    taken as at least 1/100); the best policies come first.
    """
    table = final_table(results).select("problem", "policy", "regret")
    base = table.filter(pl.col("policy").cast(pl.String) == reference)
    joined = table.join(base.select("problem", base="regret"), on="problem")
    ratio = pl.col("regret") / pl.col("base")
    return (
        joined.with_columns(ratio=ratio)
        .with_columns(typical=pl.col("ratio").clip(0.01).log().mean().over("policy").exp())
        .select("problem", "policy", "regret", "ratio", "typical")
        .sort("typical", "policy", "problem")
    )


def regret_curves(results: pl.DataFrame) -> pl.DataFrame:
    """Mean regret and its standard error by problem, policy and round (or episode)."""
    step = step_of(results)
    return (
        results.group_by("problem", "policy", step)
        .agg(
            regret=pl.col("regret").mean(),
            regret_error=pl.col("regret").std().fill_null(0.0) / pl.len().sqrt(),
        )
        .sort("problem", "policy", step)
    )
