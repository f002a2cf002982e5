"""What the page shows, as plain data: the one step between results and page."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import polars as pl

from voful import registry
from voful.experiments.store.manifest import Cell
from voful.report.figures.style import style_of
from voful.report.page.numbers import short, shorts
from voful.report.page.stage import stage
from voful.report.page.story import how_to_repeat, what_is_missing
from voful.report.statistics import summaries
from voful.report.statistics.cells import last_rows, step_of
from voful.report.statistics.groups import has_widths, of_long_series
from voful.report.statistics.played import Played

FORMAT = 1
MOST_POINTS = 120  # of a curve
MOST_SEEDS = 20  # curves of single seeds in a cell
MOST_NUMBERS = 600_000  # in all curves of single seeds: some 4 MB

Data = dict[str, Any]
Places = dict[str, dict[str, int]]


def page_data(study: str | Path | Played) -> Data:
    """Everything that the page of a results directory shows.

    Problems and policies are named by their places; numbers have five significant digits.
    """
    played = study if isinstance(study, Played) else Played(study)
    manifest, results, growth = played.manifest, played.results, played.growth
    sides = {"problem": manifest.problems, "policy": manifest.policies}
    places = {side: {c["name"]: i for i, c in enumerate(cells)} for side, cells in sides.items()}
    ratios = summaries.relative_regret(results, played.reference)
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
        "missing": what_is_missing(played, places),
        "repeat": how_to_repeat(manifest),
    }


# --- who played -------------------------------------------------------------------------------


def _problem(cell: Cell) -> Data:
    told = {key: cell[key] for key in ("name", "family", "length")}
    return told | {"params": _shown(cell["params"])}


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
    numbers = table.drop(*cell, "regret_error", "typical", "other", "seeds")
    return {name: _places(table[name], places[name]) for name in cell} | {
        column.name: shorts(column) for column in numbers
    }


def _typical(ratios: pl.DataFrame, places: Places) -> Data:
    """Policies by their typical ratio to the reference, best first."""
    table = ratios.unique("policy").sort("typical", "policy", nulls_last=True)
    return {"policy": _places(table["policy"], places["policy"]), "ratio": shorts(table["typical"])}


def _curves(results: pl.DataFrame, places: Places) -> Data:
    """Mean curves with their intervals, and curves of single seeds, a cell each."""
    cell, shown = ["problem", "policy"], _thinned(results)
    means = summaries.regret_curves(shown)
    n_cells = means.select(cell).n_unique()
    points = -(-len(means) // n_cells)
    n_seeds = max(2, min(MOST_SEEDS, MOST_NUMBERS // max(1, n_cells * points)))
    data = _cells(means, "regret", places)
    if "alarms" in means.columns:
        for entry, curve in zip(data["cells"], _partition(means).values(), strict=True):
            entry["alarms"] = shorts(curve["alarms"])
    seeds = _evenly_chosen(shown, cell, "replicate", n_seeds)
    seeds = seeds.sort(*cell, "replicate", step_of(results))
    for entry, of_seeds in zip(data["cells"], _partition(seeds).values(), strict=True):
        if of_seeds["replicate"].n_unique() > 1:
            runs = of_seeds.partition_by("replicate", as_dict=True, maintain_order=True)
            entry["seeds"] = {str(seed): shorts(run["regret"]) for (seed,), run in runs.items()}
        else:
            del entry["low"], entry["high"]
    return data | {"most_seeds": n_seeds}


def _partition(table: pl.DataFrame) -> dict[tuple[Any, ...], pl.DataFrame]:
    return table.partition_by("problem", "policy", as_dict=True, maintain_order=True)


def _cells(means: pl.DataFrame, column: str, places: Places) -> Data:
    """Mean curves with their intervals, a cell each; steps that cells share are told once."""
    grids: dict[tuple[int, ...], int] = {}
    cells = [
        {
            "problem": places["problem"][problem],
            "policy": places["policy"][policy],
            "steps": grids.setdefault(tuple(curve[step_of(means)].to_list()), len(grids)),
            **_means(curve, column),
        }
        for (problem, policy), curve in _partition(means).items()
    ]
    return {"steps": [list(steps) for steps in grids], "cells": cells}


def _thinned(results: pl.DataFrame) -> pl.DataFrame:
    """At most `MOST_POINTS` of each run's points, evenly chosen, the last one among them."""
    return _evenly_chosen(results, ["problem"], step_of(results), MOST_POINTS)


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
    measured = _thinned(results.filter(pl.col("width").is_not_null()))
    return _cells(summaries.width_curves(measured), "width", places)


def _by_variance(results: pl.DataFrame, growth: pl.DataFrame, places: Places) -> list[Data]:
    """Final regret against the root of the sum of variances, a panel per series of problems."""
    long = of_long_series(results)
    if long is None:
        return []
    table = summaries.regret_by_variance(long).with_columns(pl.col("sum_variance").sqrt())
    exponents = growth.filter(pl.col("with") == "variance")
    return _panels(table, "series", "sum_variance", exponents, places)


def _by_horizon(results: pl.DataFrame, growth: pl.DataFrame, places: Places) -> list[Data]:
    """Final regret against the horizon, a panel per family."""
    if "problem_horizon" not in results.columns:
        return []
    exponents = growth.filter(pl.col("with") == "horizon")
    return _panels(summaries.regret_by_horizon(results), "family", "horizon", exponents, places)


def _panels(
    table: pl.DataFrame, by: str, x: str, growth: pl.DataFrame, places: Places
) -> list[Data]:
    """Final regret against x with the exponents of its growth, a panel a group, a line a policy."""
    rows = growth.select("group", "policy", "exponent").rows()
    exponents = {(group, policy): short(exponent) for group, policy, exponent in rows}
    panels: dict[str, list[Data]] = {}
    for (group, policy), line in table.group_by(by, "policy", maintain_order=True):
        panels.setdefault(str(group), []).append(
            {
                "policy": places["policy"][str(policy)],
                "x": shorts(line[x]),
                **_means(line, "regret"),
                "exponent": exponents.get((str(group), str(policy))),
            }
        )
    return [{"title": title, "lines": lines} for title, lines in panels.items()]


def _means(line: pl.DataFrame, column: str) -> Data:
    ends = {"mean": "", "low": "_low", "high": "_high"}
    return {name: shorts(line[column + end]) for name, end in ends.items()}


def _places(names: pl.Series, places: dict[str, int]) -> list[int]:
    return [places[name] for name in names.cast(pl.String)]
