"""Figure of all ratios at once: a row per policy, a column per problem."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import polars as pl

from voful.report.figures.panels import caption, new_figure
from voful.report.figures.style import SCREEN, VERBATIM, Style
from voful.report.statistics.summaries import relative_regret

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def regret_grid(
    results: pl.DataFrame,
    *,
    reference: str = "oful",
    title: str | None = None,
    style: Style = SCREEN,
) -> Figure:
    """Final regret over that of `reference`: a row per policy (best first), a column per problem.

    The numbers say it all; the colour only guides the eye. "-": the reference has no regret.
    """
    from matplotlib import colormaps
    from matplotlib.patches import Rectangle

    table = relative_regret(results, reference)
    policies = table["policy"].unique(maintain_order=True).to_list()
    problems = results["problem"].unique().sort().to_list()
    colours = colormaps["PuOr_r"]
    font = style.font if style.titled else min(style.font, 7.0)
    width = 1.6 + 0.58 * len(problems) if style.width is None else style.width
    with style.settings():
        names = 0.6 * font / 72.0 * max(len(problem) for problem in problems)
        figure = new_figure(width, 0.5 + names + 0.027 * font * len(policies))
        panel = figure.subplots()
        for row in table.iter_rows(named=True):
            x, y = problems.index(row["problem"]), policies.index(row["policy"])
            ratio = row["ratio"]
            octaves = 0.0 if ratio is None else math.log2(min(max(ratio, 0.125), 8.0))
            red, green, blue, _ = shade = colours(0.5 + octaves / 8.0)
            text_colour = "#111111" if 0.3 * red + 0.59 * green + 0.11 * blue > 0.5 else "white"
            panel.add_patch(Rectangle((x, y), 1, 1, fc=shade, ec="white", lw=1.5))
            text = "-" if ratio is None else f"{ratio:.{2 if ratio < 9.95 else 0}f}"
            centred: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": font - 1}
            panel.text(x + 0.5, y + 0.5, text, color=text_colour, **centred)
        panel.set(xlim=(0, len(problems)), ylim=(len(policies), 0))
        columns, rows = ([k + 0.5 for k in range(len(side))] for side in (problems, policies))
        panel.set_xticks(columns, problems, fontsize=font - 1, rotation=90, **VERBATIM)
        panel.set_yticks(rows, policies, fontsize=font, **VERBATIM)
        panel.tick_params(length=0)
        panel.xaxis.tick_top()
        panel.spines[:].set_visible(False)
        caption(figure, title, style)
    return figure
