"""Figures of the final regret against what makes problems harder: variances, the horizon."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from voful import validation
from voful.report.figures.panels import LineChart
from voful.report.figures.style import COLOURS, MARKERS, SCREEN, Style
from voful.report.statistics.cells import step_of
from voful.report.statistics.summaries import regret_by_horizon, regret_by_variance
from voful.typing import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HORIZON_FLOOR = 0.1
"""Where the logarithmic axis of regrets ends: smaller means and ends of bars are drawn there."""

_ASIDE = 1.08  # lines of a panel lie within 8 % of the horizons: bars do not hide each other


def regret_against_variance(
    results: pl.DataFrame, *, title: str | None = None, style: Style = SCREEN
) -> Figure:
    """Final regret against the root of the sum of variances, a panel a series, a line a policy."""
    with style.settings():
        chart = LineChart(regret_by_variance(results), "series", style)
        for panel, lines in chart:
            for policy, line in lines:
                _draw(chart, panel, policy, line, line["sum_variance"].sqrt().to_numpy())
            panel.set_xlim(left=0)
            panel.set_xlabel("√(sum of variances)")
        chart.panels[0].set_ylim(bottom=0)  # once all are drawn: it ends the shared autoscaling
        return chart.finish("regret after the last round", title)


def regret_against_horizon(
    results: pl.DataFrame,
    *,
    title: str | None = None,
    floor: float = HORIZON_FLOOR,
    style: Style = SCREEN,
) -> Figure:
    """Final regret against the horizon on log-log axes, with intervals, a panel a family.

    Regrets below `floor`, zero among them, are drawn on it as open markers.
    """
    from matplotlib.ticker import LogLocator

    floor = validation.positive_float("floor", floor)
    table = regret_by_horizon(results)
    with style.settings():
        chart = LineChart(table, "family", style, n_lines=table["policy"].n_unique())
        for panel, lines in chart:
            panel.set_xscale("log", base=2)
            panel.set_yscale("log")
            for place, (policy, line) in enumerate(lines):
                x = _ASIDE ** ((2 * place + 1) / len(lines) - 1) * line["horizon"].to_numpy()
                _draw(chart, panel, policy, line, x, floor)
            horizons = sorted({horizon for _, line in lines for horizon in line["horizon"]})
            panel.set_xticks(horizons, [str(horizon) for horizon in horizons])
            panel.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            panel.yaxis.set_major_formatter("{x:g}")
            panel.minorticks_off()
            panel.set_xlabel("horizon H")
        chart.panels[0].set_ylim(*_limits(table, floor))  # once all panels are drawn
        hollow = bool((table["regret"] < floor).any())
        means = f" (open: below {floor:g})" if hollow else ""
        return chart.finish(f"regret after the last {step_of(results)}{means}", title)


def _interval(line: pl.DataFrame) -> tuple[FloatArray, FloatArray]:
    """Ends of the intervals; the mean itself where there is none."""
    low, high = (line[f"regret_{end}"].fill_null(line["regret"]) for end in ("low", "high"))
    return low.to_numpy(), high.to_numpy()


def _draw(
    chart: LineChart,
    panel: Axes,
    policy: str,
    line: pl.DataFrame,
    x: FloatArray,
    floor: float = -math.inf,
) -> None:
    """A line with its intervals and markers; what is below the floor stands on it, white inside."""
    low, high, y = (np.maximum(end, floor) for end in (*_interval(line), line["regret"].to_numpy()))
    look, width = chart.looks[policy], chart.style.line
    colour = COLOURS[look.colour]
    chart.line(panel, policy, x, y)
    panel.vlines(x, low, high, color=colour, linewidth=0.65 * width)
    hollow = line["regret"].to_numpy() < floor
    for one in np.unique(hollow):
        size: dict[str, Any] = {"ms": 2.6 * width, "clip_on": False, "zorder": 3}
        inside = "white" if one else colour
        these = hollow == one
        panel.plot(x[these], y[these], MARKERS[look.dash], color=colour, mfc=inside, **size)


def _limits(table: pl.DataFrame, floor: float) -> tuple[float, float]:
    """From below the least to above the largest end of a bar, at least one decade."""
    low, high = _interval(table)
    bottom, top = float(np.maximum(low, floor).min()), float(np.maximum(high, floor).max())
    return 0.8 * bottom, max(1.25 * top, 10.0 * bottom)
