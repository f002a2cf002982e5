"""Figures over the rounds or episodes: a panel a problem, a line a policy, bootstrap bands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from voful import validation
from voful.report.figures.panels import LineChart, scales_of
from voful.report.figures.style import SCREEN, Style, drawn
from voful.report.statistics.cells import step_of
from voful.report.statistics.summaries import curves, regret_curves

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def regret_over_rounds(
    results: pl.DataFrame, *, title: str | None = None, style: Style = SCREEN
) -> Figure:
    """Mean regret over the rounds or episodes with bootstrap bands, one panel a problem.

    A mark on a curve: a seed raised an alarm there, since the record before.
    """
    return _over_rounds(results, "regret", "cumulative regret", title, style)


def width_over_rounds(
    results: pl.DataFrame, *, title: str | None = None, style: Style = SCREEN
) -> Figure:
    """Mean width of the sets on log-log axes, with bootstrap bands, one panel a problem."""
    name = "width of the set" if step_of(results) == "episode" else "width at the played arm"
    return _over_rounds(results, "width", name, title, style)


def _over_rounds(
    results: pl.DataFrame, column: str, name: str, title: str | None, style: Style
) -> Figure:
    step, log = step_of(results), column == "width"
    table = curves(results, column) if log else regret_curves(results)
    if table.is_empty():
        raise validation.fail("results", f"no {column}s", f"a column {column} that is not all null")
    problems = table["problem"].unique().sort().to_list()
    scales = None if log else scales_of(results, problems)
    # Widths are measured here and there, and the markers say where.
    markers = {"marker": "o", "markersize": 1.6 * style.line, "clip_on": False} if log else {}
    with style.settings():
        chart = LineChart(table, "problem", style, scales=scales)
        for panel, lines in chart:
            if log:
                panel.set(xscale="log", yscale="log")
            for policy, line in lines:
                x, y = line[step].to_numpy(), line[column].to_numpy()
                low, high = (line[f"{column}_{end}"].to_numpy() for end in ("low", "high"))
                colour = drawn(chart.looks[policy])["color"]
                panel.fill_between(x, low, high, color=colour, alpha=0.14, linewidth=0)
                chart.line(panel, policy, x, y, **markers)
            if "alarms" in table.columns:
                _mark_alarms(panel, lines, chart)
            last = max(float(line[step][-1]) for _, line in lines)
            panel.set(xlim=(1 if log else 0, last), xlabel=step)
        for panel in chart.panels:
            if not log:
                panel.set_ylim(bottom=0)  # once all are drawn: it ends the shared autoscaling
        return chart.finish(name, title)


def _mark_alarms(panel: Axes, lines: list[tuple[str, pl.DataFrame]], chart: LineChart) -> None:
    """Marks where the number of alarms has grown, and a legend where there are any."""
    size = chart.style.line
    mark: dict[str, Any] = {"marker": "v", "ls": "", "ms": 3.0 * size, "mew": 0.5 * size}
    grown = pl.col("alarms").diff().fill_null(pl.col("alarms")) > 0.0
    marked = [(policy, here) for policy, line in lines if len(here := line.filter(grown))]
    for policy, here in marked:
        x, y = here[step_of(here)].to_numpy(), here["regret"].to_numpy()
        colour = drawn(chart.looks[policy])["color"]
        panel.plot(x, y, mec=colour, mfc="white", zorder=3, clip_on=False, **mark)
    if marked:
        panel.plot([], [], mec="black", mfc="white", label="alarm", **mark)
        panel.legend(loc="upper left", frameon=False, handletextpad=0.1)
