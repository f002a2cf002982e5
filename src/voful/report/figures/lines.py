"""Figures of the final regret against what makes problems harder: variances, the horizon."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
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
    settings,
)
from voful.report.figures.style import MARKERS, SCREEN, Look, Style, drawn
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
    table = regret_by_variance(results)
    series = table["series"].unique(maintain_order=True).to_list()
    looks = looks_in(table)
    with settings(style):
        figure, panels = panels_for(series, style)
        ends: Ends = {}
        for panel, one in zip(panels, series, strict=True):
            ends[panel] = []
            for line in table.filter(series=one).partition_by("policy", maintain_order=True):
                look = looks[policy := str(line["policy"][0])]
                x, y = line["sum_variance"].sqrt().to_numpy(), line["regret"].to_numpy()
                panel.plot(x, y, linewidth=style.line, **drawn(look))
                _bars(panel, x, y, *_interval(line), look, style)
                ends[panel].append(End(policy, float(x[-1]), float(y[-1])))
            panel.set_xlim(left=0)
            panel.set_xlabel("√(sum of variances)")
        panels[0].set_ylim(bottom=0)  # once all panels are drawn: it ends the shared autoscaling
        for panel in leftmost(panels, style):
            panel.set_ylabel("regret after the last round")
        caption(figure, title, style)
        label_ends(figure, ends, looks, style)
    return figure


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
    families = table["family"].unique(maintain_order=True).to_list()
    looks = looks_in(table)
    with settings(style):
        figure, panels = panels_for(families, style, n_lines=table["policy"].n_unique())
        ends: Ends = {}
        for panel, family in zip(panels, families, strict=True):
            ends[panel] = []
            panel.set_xscale("log", base=2)
            panel.set_yscale("log")
            of_family = table.filter(family=family)
            lines = of_family.partition_by("policy", maintain_order=True)
            for place, line in enumerate(lines):
                look = looks[policy := str(line["policy"][0])]
                x = _ASIDE ** ((2 * place + 1) / len(lines) - 1) * line["horizon"].to_numpy()
                mean = line["regret"].to_numpy()
                low, high = (np.maximum(end, floor) for end in _interval(line))
                y = np.maximum(mean, floor)
                panel.plot(x, y, linewidth=style.line, **drawn(look))
                _bars(panel, x, y, low, high, look, style, hollow=mean < floor)
                ends[panel].append(End(policy, float(x[-1]), float(y[-1])))
            horizons = of_family["horizon"].unique().sort().to_list()
            panel.set_xticks(horizons, [str(horizon) for horizon in horizons])
            panel.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            panel.yaxis.set_major_formatter("{x:g}")
            panel.minorticks_off()
            panel.set_xlabel("horizon H")
        panels[0].set_ylim(*_limits(table, floor))  # once all panels are drawn
        hollow = bool((table["regret"] < floor).any())
        means = f" (open: below {floor:g})" if hollow else ""
        for panel in leftmost(panels, style):
            panel.set_ylabel(f"regret after the last {step_of(results)}{means}")
        caption(figure, title, style)
        label_ends(figure, ends, looks, style)
    return figure


def _interval(line: pl.DataFrame) -> tuple[FloatArray, FloatArray]:
    """Ends of the intervals; the mean itself where there is none."""
    low, high = (line[f"regret_{end}"].fill_null(line["regret"]) for end in ("low", "high"))
    return low.to_numpy(), high.to_numpy()


def _bars(
    panel: Axes,
    x: FloatArray,
    y: FloatArray,
    low: FloatArray,
    high: FloatArray,
    look: Look,
    style: Style,
    hollow: Any = False,
) -> None:
    """Intervals and markers; hollow ones are drawn white inside."""
    colour = drawn(look)["color"]
    panel.vlines(x, low, high, color=colour, linewidth=0.65 * style.line)
    for one in np.unique(np.broadcast_to(hollow, x.shape)):
        these = np.broadcast_to(hollow, x.shape) == one
        panel.plot(
            x[these],
            y[these],
            linestyle="none",
            marker=MARKERS[look.dash],
            color=colour,
            markersize=2.6 * style.line,
            markerfacecolor="white" if one else colour,
            clip_on=False,
            zorder=3,
        )


def _limits(table: pl.DataFrame, floor: float) -> tuple[float, float]:
    """From below the least to above the largest end of a bar, at least one decade."""
    low, high = _interval(table)
    bottom, top = float(np.maximum(low, floor).min()), float(np.maximum(high, floor).max())
    return 0.8 * bottom, max(1.25 * top, 10.0 * bottom)
