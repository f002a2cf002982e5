"""What the page shows, as plain data: the one step between results and page."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import polars as pl

from voful import registry
from voful.experiments.store.manifest import Cell
from voful.report.figures import style_of
from voful.report.page.numbers import short, shorts
from voful.report.page.stage import stage
from voful.report.page.story import how_to_repeat, what_is_missing
from voful.report.statistics.cells import last_rows
from voful.report.statistics.groups import has_widths, of_long_series
from voful.report.statistics.played import Played
from voful.report.statistics.summaries import (
    regret_by_horizon,
    regret_by_variance,
    regret_curves,
    relative_regret,
    step_of,
    width_curves,
)

FORMAT = 1
MOST_POINTS = 120  # of a curve
MOST_SEEDS = 20  # curves of single seeds in a cell
MOST_NUMBERS = 600_000  # in all curves of single seeds: some 4 MB

NUMBERS = (
    "runs",
    "regret",
    "regret_low",
    "regret_high",
    "regret_median",
    "least",
    "most",
    "ratio",
    "difference",
    "difference_low",
    "difference_high",
    "won",
    "exponent",
    "exponent_low",
    "exponent_high",
    "coverage",
    "coverage_low",
    "coverage_high",
    "time_per_step",
)
"""Columns of the headline besides problem and policy."""

Data = dict[str, Any]
Places = dict[str, dict[str, int]]


def page_data(study: str | Path | Played) -> Data:
    """Everything that the page of a results directory shows.

    Problems and policies are named by their places; numbers have five significant digits.
    """
    played = study if isinstance(study, Played) else Played(study)
    manifest, results, growth = played.manifest, played.results, played.growth
    places = {
        "problem": {cell["name"]: place for place, cell in enumerate(manifest.problems)},
        "policy": {cell["name"]: place for place, cell in enumerate(manifest.policies)},
    }
    ratios = relative_regret(results, played.reference)
    return {
        "format": FORMAT,
        "name": manifest.name,
        "step": manifest.step,
        "problems": [_problem(cell) for cell in manifest.problems],
        "policies": [_policy(cell) for cell in manifest.policies],
        "replicates": len({replicate for _, _, replicate in manifest.runs.values()}),
        "reference": places["policy"][played.reference],
        "table": _headline(played, ratios, places),
        "typical": _typical(ratios, places),
        "curves": _curves(results, places),
        "widths": _widths(results, places),
        "variance": _by_variance(results, growth, places),
        "horizon": _by_horizon(results, growth, places),
        "theatre": stage(played.snapshots, places),
        "missing": what_is_missing(played.store, manifest, results, places),
        "repeat": how_to_repeat(manifest),
    }


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


def _headline(played: Played, ratios: pl.DataFrame, places: Places) -> Data:
    """A row per problem and policy; ratio and difference are to the reference there."""
    cell, results = ["problem", "policy"], played.results
    regret = pl.col("regret")
    ends = last_rows(results).group_by(cell).agg(least=regret.min(), most=regret.max())
    with_rounds = played.growth.filter(pl.col("with") == "K").select(
        pl.col("group").cast(results.schema["problem"]).alias("problem"),
        pl.col("policy").cast(results.schema["policy"]),
        pl.col("^exponent.*$"),
    )
    table = played.final
    for more in (ratios.drop("regret"), ends, played.differences, with_rounds):
        table = table.join(more, on=cell, how="left", maintain_order="left")
    return {name: _places(table[name], places[name]) for name in cell} | {
        name: shorts(table[name]) for name in NUMBERS
    }


def _typical(ratios: pl.DataFrame, places: Places) -> Data:
    """Policies by their typical ratio to the reference, best first."""
    table = ratios.unique("policy").sort("typical", "policy", nulls_last=True)
    return {"policy": _places(table["policy"], places["policy"]), "ratio": shorts(table["typical"])}


def _curves(results: pl.DataFrame, places: Places) -> Data:
    """Mean curves with their intervals, coverage, and curves of single seeds, a cell each."""
    step = step_of(results)
    shown = _thinned(results)
    means = regret_curves(shown)
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


def _widths(results: pl.DataFrame, places: Places) -> Data:
    """Mean widths of the sets, a cell each."""
    if not has_widths(results):
        return {"steps": [], "cells": []}
    grids: dict[tuple[int, ...], int] = {}
    cells = width_curves(_thinned(results.filter(pl.col("width").is_not_null()))).partition_by(
        "problem", "policy", as_dict=True, maintain_order=True
    )
    found = [
        {
            "problem": places["problem"][problem],
            "policy": places["policy"][policy],
            "steps": grids.setdefault(tuple(curve[step_of(results)].to_list()), len(grids)),
            "mean": shorts(curve["width"]),
            "low": shorts(curve["width_low"]),
            "high": shorts(curve["width_high"]),
        }
        for (problem, policy), curve in cells.items()
    ]
    return {"steps": [list(steps) for steps in grids], "cells": found}


def _by_variance(results: pl.DataFrame, growth: pl.DataFrame, places: Places) -> list[Data]:
    """Final regret against the root of the sum of variances, a panel per series of problems."""
    long = of_long_series(results)
    if long is None:
        return []
    table = regret_by_variance(long).with_columns(pl.col("sum_variance").sqrt())
    exponents = _exponents(growth, "variance")
    return [
        {
            "title": str(series),
            "lines": _lines(part, "sum_variance", str(series), exponents, places),
        }
        for (series,), part in table.group_by("series", maintain_order=True)
    ]


def _by_horizon(results: pl.DataFrame, growth: pl.DataFrame, places: Places) -> list[Data]:
    """Final regret against the horizon, a panel per family."""
    if "problem_horizon" not in results.columns:
        return []
    exponents = _exponents(growth, "horizon")
    return [
        {"title": name, "lines": _lines(part, "horizon", name, exponents, places)}
        for name, part in _by_name(regret_by_horizon(results), "family")
    ]


def _by_name(table: pl.DataFrame, column: str) -> list[tuple[str, pl.DataFrame]]:
    groups = table.group_by(column, maintain_order=True)
    return [(str(name), part) for (name,), part in groups]


Exponents = dict[tuple[str, str], float | int | None]


def _exponents(growth: pl.DataFrame, kind: str) -> Exponents:
    """(group, policy) -> exponent of the growth."""
    rows = growth.filter(pl.col("with") == kind).select("group", "policy", "exponent").rows()
    return {(group, policy): short(exponent) for group, policy, exponent in rows}


def _lines(
    table: pl.DataFrame, x: str, group: str, exponents: Exponents, places: Places
) -> list[Data]:
    return [
        {
            "policy": places["policy"][policy],
            "x": shorts(line[x]),
            "mean": shorts(line["regret"]),
            "low": shorts(line["regret_low"]),
            "high": shorts(line["regret_high"]),
            "exponent": exponents.get((group, str(policy))),
        }
        for (policy,), line in table.group_by("policy", maintain_order=True)
    ]


def _places(names: pl.Series, places: dict[str, int]) -> list[int]:
    return [places[name] for name in names.cast(pl.String)]
