"""What the page shows, as plain data: the one step between results and page."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import polars as pl

from voful import registry
from voful.experiments.manifest import Cell, Manifest
from voful.experiments.store import Store
from voful.report.figures import style_of
from voful.report.groups import differing_in_noise, reference_of
from voful.report.page.numbers import short, shorts
from voful.report.page.stage import stage
from voful.report.page.story import how_to_repeat, what_is_missing
from voful.report.summaries import (
    final_table,
    regret_by_horizon,
    regret_by_variance,
    regret_curves,
    relative_regret,
    step_of,
    with_families,
)

FORMAT = 1
MOST_POINTS = 120  # of a curve
MOST_SEEDS = 20  # curves of single seeds in a cell
MOST_NUMBERS = 600_000  # in all curves of single seeds: some 4 MB

Data = dict[str, Any]


def page_data(directory: str | Path) -> Data:
    """Everything that the page of a results directory shows.

    Problems and policies are named by their places; numbers have five significant digits.
    """
    store = Store(directory)
    manifest, results = store.manifest(), store.frame()
    if results.is_empty():
        raise ValueError(f"{directory}: got no results; expected a study that was played")
    places = {
        "problem": {cell["name"]: place for place, cell in enumerate(manifest.problems)},
        "policy": {cell["name"]: place for place, cell in enumerate(manifest.policies)},
    }
    with_results = results["policy"].unique().sort().cast(pl.String).to_list()
    reference = reference_of(with_results)
    final, ratios = final_table(results), relative_regret(results, reference)
    return {
        "format": FORMAT,
        "name": manifest.name,
        "step": manifest.step,
        "problems": [_problem(cell) for cell in manifest.problems],
        "policies": [_policy(cell) for cell in manifest.policies],
        "replicates": len({replicate for _, _, replicate in manifest.runs.values()}),
        "reference": places["policy"][reference],
        "interval": _interval_in_words(final),
        "table": _headline(results, final, ratios, places),
        "typical": _typical(ratios, places),
        "curves": _curves(results, places),
        "variance": _by_variance(results, manifest, places),
        "horizon": _by_horizon(results, manifest, places),
        "theatre": stage(store.snapshots(), places),
        "missing": what_is_missing(store, manifest),
        "repeat": how_to_repeat(manifest),
    }


def with_interval(table: pl.DataFrame) -> pl.DataFrame:
    """The table with regret_low and regret_high: mean ± two standard errors, unless it has them."""
    if "regret_low" in table.columns:
        return table
    error = 2.0 * pl.col("regret_error")
    return table.with_columns(
        regret_low=pl.col("regret") - error, regret_high=pl.col("regret") + error
    )


def _interval_in_words(table: pl.DataFrame) -> str:
    own = "regret_low" in table.columns
    return "95 % bootstrap of the mean over the seeds" if own else "mean ± two standard errors"


# --- who played -------------------------------------------------------------------------------


def _problem(cell: Cell) -> Data:
    return {
        "name": cell["name"],
        "family": cell["family"],
        "length": cell["length"],
        "params": _shown(cell["params"]),
    }


def _policy(cell: Cell) -> Data:
    style = style_of(cell["name"])
    dash = style["linestyle"]
    return {
        "name": cell["name"],
        "id": cell["id"],
        "params": _shown(cell["params"]),
        "colour": style["color"],
        "dash": [] if dash == "-" else list(dash[1]),
        "promise": _promise(cell),
    }


def _shown(params: Data) -> dict[str, str]:
    return {name: str(value) for name, value in params.items()}


def _promise(cell: Cell) -> float | None:
    """1 - failure_prob, with which theta* is to be in the set at all times; None if unknown."""
    given = cell["params"].get("failure_prob")
    if given is None and cell["id"] in {entry.id for entry in registry.entries()}:
        entry = registry.lookup(cell["id"])
        argument = inspect.signature(entry.cls).parameters.get("failure_prob")
        given = entry.params.get("failure_prob", argument and argument.default)
    return short(1.0 - given) if isinstance(given, float) else None


# --- numbers ----------------------------------------------------------------------------------


def _headline(
    results: pl.DataFrame,
    final: pl.DataFrame,
    ratios: pl.DataFrame,
    places: dict[str, dict[str, int]],
) -> Data:
    """A row per problem and policy; ratio is to the reference on the same problem."""
    last = pl.col(step_of(results)) == pl.col(step_of(results)).max().over("problem", "policy")
    spread = (
        results.filter(last)
        .group_by("problem", "policy")
        .agg(
            least=pl.col("regret").min(),
            median=pl.col("regret").median(),
            most=pl.col("regret").max(),
        )
    )
    table = (
        with_interval(final)
        .join(
            ratios.select("problem", "policy", "ratio"),
            on=["problem", "policy"],
            how="left",
            maintain_order="left",
        )
        .join(spread, on=["problem", "policy"], how="left", maintain_order="left")
    )
    wanted = (
        "runs",
        "regret",
        "regret_low",
        "regret_high",
        "ratio",
        "coverage",
        "coverage_low",
        "coverage_high",
        "time_per_step",
        "least",
        "median",
        "most",
    )
    numbers = {name: shorts(table[name]) for name in wanted if name in table.columns}
    return {name: _places(table[name], places[name]) for name in ("problem", "policy")} | numbers


def _typical(ratios: pl.DataFrame, places: dict[str, dict[str, int]]) -> Data:
    """Policies by their typical ratio to the reference, best first."""
    table = ratios.unique("policy").sort("typical", "policy")
    return {"policy": _places(table["policy"], places["policy"]), "ratio": shorts(table["typical"])}


def _curves(results: pl.DataFrame, places: dict[str, dict[str, int]]) -> Data:
    """Mean curves with their intervals, coverage, and curves of single seeds, a cell each."""
    step = step_of(results)
    shown = _thinned(results)
    means = with_interval(regret_curves(shown))
    cells = shown.select("problem", "policy").n_unique()
    points = -(-len(means) // max(cells, 1))
    n_seeds = max(2, min(MOST_SEEDS, MOST_NUMBERS // max(1, cells * points)))
    seeds = _evenly_chosen_seeds(shown, n_seeds).partition_by(
        "problem", "policy", as_dict=True, maintain_order=True
    )
    grids: dict[tuple[int, ...], int] = {}
    found = []
    for (problem, policy), curve in means.partition_by(
        "problem", "policy", as_dict=True, maintain_order=True
    ).items():
        steps = tuple(curve[step].to_list())
        entry: Data = {
            "problem": places["problem"][problem],
            "policy": places["policy"][policy],
            "steps": grids.setdefault(steps, len(grids)),
            "mean": shorts(curve["regret"]),
        }
        of_seeds = seeds[problem, policy]
        if of_seeds["replicate"].n_unique() > 1:
            entry |= {"low": shorts(curve["regret_low"]), "high": shorts(curve["regret_high"])}
            runs = of_seeds.partition_by("replicate", as_dict=True, maintain_order=True)
            entry["seeds"] = {str(seed): shorts(run["regret"]) for (seed,), run in runs.items()}
        found.append(entry)
    return {"steps": [list(steps) for steps in grids], "cells": found, "most_seeds": n_seeds}


def _thinned(results: pl.DataFrame) -> pl.DataFrame:
    """At most `MOST_POINTS` of each run's points, evenly chosen, the last one among them."""
    return _evenly_chosen(results, ["problem"], step_of(results), MOST_POINTS)


def _evenly_chosen_seeds(results: pl.DataFrame, most: int) -> pl.DataFrame:
    """Of each cell with more than `most` seeds, so many, evenly spaced in their order."""
    cell = ["problem", "policy"]
    chosen = _evenly_chosen(results, cell, "replicate", most)
    return chosen.sort(*cell, "replicate", step_of(results))


def _evenly_chosen(results: pl.DataFrame, group: list[str], name: str, most: int) -> pl.DataFrame:
    """The rows with at most so many of each group's values of a column; the last one stays."""
    values = results.select(*group, name).unique().sort(*group, name)
    place, n = pl.int_range(pl.len()).over(group), pl.len().over(group)
    slots = values.with_columns(slot=place * most // n)
    kept = slots.filter(pl.struct(*group, "slot").is_last_distinct())
    return results.join(kept, on=[*group, name], how="semi", maintain_order="left")


def _by_variance(
    results: pl.DataFrame, manifest: Manifest, places: dict[str, dict[str, int]]
) -> list[Data]:
    """Final regret against the root of the sum of variances, a panel per group of problems."""
    groups = differing_in_noise(manifest.problems)
    if "sum_variance" not in results.columns or not groups:
        return []
    table = with_interval(regret_by_variance(results)).with_columns(pl.col("sum_variance").sqrt())
    panels = []
    for names in groups:
        part = table.filter(pl.col("problem").cast(pl.String).is_in(names))
        lines = _lines(part, "sum_variance", places)
        panels.append({"problems": [places["problem"][name] for name in names], "lines": lines})
    return [panel for panel in panels if panel["lines"]]


def _by_horizon(
    results: pl.DataFrame, manifest: Manifest, places: dict[str, dict[str, int]]
) -> list[Data]:
    """Final regret against the horizon, a panel per family."""
    if "problem_horizon" not in results.columns:
        return []
    families = {problem["name"]: problem["family"] for problem in manifest.problems}
    table = with_interval(regret_by_horizon(with_families(results, families)))
    return [
        {"family": family, "lines": _lines(part, "horizon", places)}
        for (family,), part in table.group_by("family", maintain_order=True)
    ]


def _lines(table: pl.DataFrame, x: str, places: dict[str, dict[str, int]]) -> list[Data]:
    return [
        {
            "policy": places["policy"][policy],
            "x": shorts(line[x]),
            "mean": shorts(line["regret"]),
            "low": shorts(line["regret_low"]),
            "high": shorts(line["regret_high"]),
        }
        for (policy,), line in table.group_by("policy", maintain_order=True)
    ]


def _places(names: pl.Series, places: dict[str, int]) -> list[int]:
    return [places[name] for name in names.cast(pl.String)]
