"""Figures over the rounds or episodes: a panel a problem, a line a policy, bootstrap bands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from voful import validation
from voful.report.figures.panels import (
    End,
    Ends,
    caption,
    label_ends,
    leftmost,
    looks_in,
    panels_for,
    scales_of,
    settings,
)
from voful.report.figures.style import SCREEN, Style, drawn
from voful.report.statistics.cells import step_of
from voful.report.statistics.summaries import regret_curves, width_curves

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def regret_over_rounds(
    results: pl.DataFrame, *, title: str | None = None, style: Style = SCREEN
) -> Figure:
    """Mean regret over the rounds or episodes with bootstrap bands, one panel a problem."""
    return _over_rounds(
        results, regret_curves(results), "regret", "cumulative regret", title, style
    )


def width_over_rounds(
    results: pl.DataFrame, *, title: str | None = None, style: Style = SCREEN
) -> Figure:
    """Mean width of the sets on log-log axes, with bootstrap bands, one panel a problem."""
    table = width_curves(results)
    if table.is_empty():
        raise validation.fail("results", "no widths", "a column width that is not all null")
    name = "width of the set" if step_of(results) == "episode" else "width at the played arm"
    return _over_rounds(results, table, "width", name, title, style, log=True)


def _over_rounds(
    results: pl.DataFrame,
    table: pl.DataFrame,
    column: str,
    name: str,
    title: str | None,
    style: Style,
    *,
    log: bool = False,
) -> Figure:
    step = step_of(table)
    problems = table["problem"].unique().sort().to_list()
    looks = looks_in(table)
    with settings(style):
        scales = None if log else scales_of(results, problems)
        figure, panels = panels_for(problems, style, scales)
        ends: Ends = {}
        for panel, problem in zip(panels, problems, strict=True):
            ends[panel] = []
            if log:
                panel.set(xscale="log", yscale="log")
            of_problem = table.filter(pl.col("problem") == problem)
            for line in of_problem.partition_by("policy", maintain_order=True):
                policy = str(line["policy"][0])
                line_style = drawn(looks[policy])
                x, y = line[step].to_numpy(), line[column].to_numpy()
                low, high = (line[f"{column}_{end}"].to_numpy() for end in ("low", "high"))
                panel.fill_between(x, low, high, color=line_style["color"], alpha=0.14, linewidth=0)
                # Widths are measured here and there, and the markers say where.
                if log:
                    line_style |= {"marker": "o", "markersize": 1.6 * style.line, "clip_on": False}
                panel.plot(x, y, linewidth=style.line, **line_style)
                ends[panel].append(End(policy, float(x[-1]), float(y[-1])))
            panel.set_xlim(1 if log else 0, float(of_problem[step].max()))  # type: ignore[arg-type]
            panel.set_xlabel(step)
        for panel in panels:
            if not log:
                panel.set_ylim(bottom=0)  # once all are drawn: it ends the shared autoscaling
        for panel in leftmost(panels, style):
            panel.set_ylabel(name)
        caption(figure, title, style)
        label_ends(figure, ends, looks, style)
    return figure
