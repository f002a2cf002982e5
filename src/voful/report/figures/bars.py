"""Figure of the final regret of every policy on every problem, with intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from voful.report.figures.panels import arrangement, caption, looks_in, scales_of, titled_panels
from voful.report.figures.style import COLOURS, MARKERS, SCREEN, VERBATIM, Look, Style, ink
from voful.report.statistics.cells import step_of
from voful.report.statistics.summaries import final_table, relative_regret

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDE = 30.0  # means further apart than this need a logarithmic axis


def final_regret(
    results: pl.DataFrame, *, title: str | None = None, style: Style = SCREEN
) -> Figure:
    """Final regret with bootstrap intervals: a panel a problem, a row a policy, the best on top.

    Bars from zero; where the means span more than a factor of 30, dots on a logarithmic axis.
    """
    table = final_table(results)
    problems = table["problem"].unique().sort().to_list()
    looks = looks_in(table)
    policies = _best_first(results)
    means = table["regret"].to_numpy()
    log = bool(means.min() > 0.0 and means.max() > _WIDE * means.min())
    rows, columns = arrangement(len(problems), 4 if style.width is None else 2 * style.columns)
    font = style.font - 2 if len(policies) > 12 else style.font
    leading = 1.2 if len(policies) > 12 else 1.6
    names = 0.085 * max(len(policy) for policy in policies) * font / 10.0
    width = names + 2.5 * columns if style.width is None else style.width
    with style.settings():
        size = width, rows * (0.75 + leading * font * len(policies) / 72.0) + 0.3
        scales = None if log else scales_of(results, problems)
        figure, panels = titled_panels(
            size, problems, columns, style, scales=scales, shared="x", names=names
        )
        for panel, problem in zip(panels, problems, strict=True):
            _draw(panel, table.filter(pl.col("problem") == problem), policies, looks, log)
            panel.tick_params(axis="y", length=0)
            if log:
                panel.grid(axis="y", linewidth=0.4, alpha=0.5)
                panel.set_xscale("log")
        for panel in panels:
            if not log:
                panel.set_xlim(left=0)  # once all are drawn: it ends the shared autoscaling
        panels[0].set_ylim(len(policies) - 0.4, -0.6)
        panels[0].set_yticks(range(len(policies)), policies, **VERBATIM)
        for panel in panels[::columns]:
            panel.tick_params(axis="y", labelsize=font)
            for label in panel.get_yticklabels():
                label.set_color(ink(COLOURS[looks[label.get_text()].colour]))
        for panel in panels[-columns:]:
            panel.set_xlabel(f"regret after the last {step_of(results)}")
        caption(figure, title, style)
    return figure


def _draw(
    panel: Axes, table: pl.DataFrame, policies: list[str], looks: dict[str, Look], log: bool
) -> None:
    """Bars, or dots on a logarithmic axis, and their intervals."""
    for row in table.iter_rows(named=True):
        look, y = looks[row["policy"]], policies.index(row["policy"])
        colour, low, high = COLOURS[look.colour], row["regret_low"], row["regret_high"]
        if log:
            panel.plot(row["regret"], y, MARKERS[look.dash], color=colour, markersize=4)
        else:
            panel.barh(y, row["regret"], 0.66, color=colour, alpha=0.55, linewidth=0)
        if low is not None:
            panel.plot([low, high], [y, y], color=ink(colour), linewidth=1.3)


def _best_first(results: pl.DataFrame) -> list[str]:
    """By the geometric mean of the ratios to one policy that met every problem."""
    policies = results["policy"].unique().sort().cast(pl.String).to_list()
    met = results.group_by("policy").agg(pl.col("problem").n_unique()).sort("policy")
    reference = policies[int(met["problem"].arg_max() or 0)]
    table = relative_regret(results, reference)
    ranked = table["policy"].unique(maintain_order=True).cast(pl.String).to_list()
    return ranked + [policy for policy in policies if policy not in ranked]
