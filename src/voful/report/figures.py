"""Figures for papers: readable in grey and by colour-blind people, labelled directly."""

from __future__ import annotations

import math
import os
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from voful import registry, validation
from voful.report.summaries import (
    regret_by_horizon,
    regret_by_variance,
    regret_curves,
    relative_regret,
    step_of,
)
from voful.typing import Path

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe-Ito without its yellow (too faint on white); with the line styles every one of the
# combinations is also distinct in grey.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
_LINES: tuple[str | tuple[int, tuple[float, ...]], ...] = (
    "-",
    (0, (5, 2)),
    (0, (1, 1.4)),
    (0, (6, 2, 1, 2)),
)

MAX_COLUMNS = 4  # of panels; more problems make more rows


def style_of(policy: str) -> dict[str, Any]:
    """Colour and line of a policy: by its place among those of its kind, alike in every figure.

    A name that begins with an id and a blank has the colour of that id.
    """
    places = {
        entry.id: place
        for kind in registry.KINDS
        for place, entry in enumerate(registry.entries(kind))
    }
    mixed = sum(policy.encode())
    if policy in places:
        turn, colour = divmod(places[policy], len(_COLOURS))
    elif (named := policy.split()[0]) in places:  # a variant: "oful width_scale=0.5"
        turn, colour = mixed, places[named] % len(_COLOURS)
    else:
        turn, colour = divmod(mixed % 28, len(_COLOURS))
    return {"color": _COLOURS[colour], "linestyle": _LINES[(colour + turn) % len(_LINES)]}


def regret_over_rounds(results: pl.DataFrame, *, title: str | None = None) -> Figure:
    """Mean regret over the rounds or episodes ± two standard errors, one panel a problem."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    curves = regret_curves(results)
    problems = results["problem"].unique().sort().to_list()
    columns = min(len(problems), MAX_COLUMNS)
    rows = math.ceil(len(problems) / columns)
    figure = Figure(figsize=(4.6 * columns, 3.6 * rows), layout="constrained")
    FigureCanvasAgg(figure)
    places = figure.subplots(rows, columns, squeeze=False, sharey=True)
    panels = places.flat[: len(problems)]
    for unused in places.flat[len(problems) :]:
        unused.remove()
    for panel, problem in zip(panels, problems, strict=True):
        _draw_curves(panel, curves.filter(pl.col("problem") == problem))
        panel.set_title(problem, loc="left", fontsize=11)
    panels[0].set_ylim(bottom=0)  # once all panels are drawn: it ends the shared autoscaling
    for panel, problem in zip(panels, problems, strict=True):
        _label_ends(panel, curves.filter(pl.col("problem") == problem))
    for panel in places[:, 0]:
        panel.set_ylabel("cumulative regret")
    if title is not None:
        _caption(figure, title)
    return figure


def regret_against_variance(results: pl.DataFrame, *, title: str | None = None) -> Figure:
    """Final regret against the root of the sum of variances, one line a policy."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.2, 3.8), layout="constrained")
    FigureCanvasAgg(figure)
    panel = figure.subplots()
    table = regret_by_variance(results)
    ends: list[tuple[float, float, str]] = []
    for (policy,), line in table.group_by("policy", maintain_order=True):
        style = style_of(str(policy))
        x, y = line["sum_variance"].sqrt(), line["regret"]
        panel.errorbar(
            x, y, 2.0 * line["regret_error"], marker="o", markersize=4, linewidth=1.6, **style
        )
        ends.append((float(x[-1]), float(y[-1]), str(policy)))
    panel.set_ylim(bottom=0)
    panel.set_xlim(left=0)
    panel.set_xlabel("root of the sum of the noise's variances")
    panel.set_ylabel("regret after the last round")
    panel.spines[["top", "right"]].set_visible(False)
    panel.grid(axis="y", linewidth=0.4, alpha=0.5)
    ends.sort(key=lambda end: end[1])
    heights = spread([y for _, y, _ in ends], 0.06 * panel.get_ylim()[1])
    for (x_end, _, policy), height in zip(ends, heights, strict=True):
        _label(panel, policy, x_end, height)
    if title is not None:
        _caption(figure, title)
    return figure


_ASIDE = 1.08  # lines of a panel lie within 8 % of the horizons: bars do not hide each other

HORIZON_FLOOR = 0.1
"""Where the logarithmic axis of regrets ends: smaller means and ends of bars are drawn there."""


def regret_against_horizon(
    results: pl.DataFrame, *, title: str | None = None, floor: float = HORIZON_FLOOR
) -> Figure:
    """Final regret against the horizon on log-log axes ± two standard errors, a panel a family.

    Regrets below `floor`, zero among them, are drawn on it as open markers.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator

    floor = validation.positive_float("floor", floor)
    table = regret_by_horizon(results)
    families = table["family"].unique(maintain_order=True).to_list()
    figure = Figure(figsize=(4.9 * len(families), 3.9), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(1, len(families), squeeze=False, sharey=True)[0]
    for panel, family in zip(panels, families, strict=True):
        panel.set_xscale("log", base=2)
        panel.set_yscale("log")
        of_family = table.filter(pl.col("family") == family)
        lines = of_family.partition_by("policy", maintain_order=True)
        for place, line in enumerate(lines):
            aside = _ASIDE ** ((2 * place + 1) / len(lines) - 1)
            _draw_horizons(panel, line, floor, aside)
        horizons = of_family["horizon"].unique().sort().to_list()
        panel.set_xticks(horizons, [str(horizon) for horizon in horizons])
        panel.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        panel.yaxis.set_major_formatter("{x:g}")
        panel.minorticks_off()
        panel.set_xlabel("horizon H")
        panel.set_title(family, loc="left", fontsize=11)
        panel.spines[["top", "right"]].set_visible(False)
        panel.grid(axis="y", linewidth=0.4, alpha=0.5)
    panels[0].set_ylim(*_limits(table, floor))  # once all panels are drawn, as above
    for panel, family in zip(panels, families, strict=True):
        _label_horizons(panel, table.filter(pl.col("family") == family), floor)
    clipped = bool((table["regret"] < floor).any())
    open_means = f" (open: below {floor:g})" if clipped else ""
    panels[0].set_ylabel(f"regret after the last {step_of(results)}{open_means}")
    if title is not None:
        _caption(figure, title)
    return figure


def regret_grid(
    results: pl.DataFrame, *, reference: str = "oful", title: str | None = None
) -> Figure:
    """Final regret over that of `reference`: a row per policy (best first), a column per problem.

    The numbers say it all; the colour only guides the eye.
    """
    from matplotlib import colormaps
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

    table = relative_regret(results, reference)
    policies = table["policy"].unique(maintain_order=True).to_list()
    problems = results["problem"].unique().sort().to_list()
    figure = Figure(
        figsize=(1.6 + 0.58 * len(problems), 1.2 + 0.27 * len(policies)), layout="constrained"
    )
    FigureCanvasAgg(figure)
    panel = figure.subplots()
    colours = colormaps["PuOr_r"]
    for row in table.iter_rows(named=True):
        x, y = problems.index(row["problem"]), policies.index(row["policy"])
        ratio = row["ratio"]
        octaves = min(max(math.log2(ratio) if ratio > 0.0 else -3.0, -3.0), 3.0)
        red, green, blue, _ = shade = colours(0.5 + octaves / 8.0)
        ink = "#111111" if 0.3 * red + 0.59 * green + 0.11 * blue > 0.5 else "white"
        panel.add_patch(Rectangle((x, y), 1, 1, facecolor=shade, edgecolor="white", linewidth=1.5))
        text = f"{ratio:.2f}" if ratio < 9.95 else f"{ratio:.0f}"
        panel.text(x + 0.5, y + 0.5, text, ha="center", va="center", fontsize=8, color=ink)
    panel.set_xlim(0, len(problems))
    panel.set_ylim(len(policies), 0)
    panel.set_xticks([x + 0.5 for x in range(len(problems))], problems, fontsize=8, rotation=90)
    panel.set_yticks([y + 0.5 for y in range(len(policies))], policies, fontsize=9)
    panel.tick_params(length=0)
    panel.xaxis.tick_top()
    panel.spines[:].set_visible(False)
    if title is not None:
        figure.suptitle(title, fontsize=11, x=0.01, ha="left")
    return figure


def _draw_horizons(panel: Axes, line: pl.DataFrame, floor: float, aside: float) -> None:
    style = style_of(str(line["policy"][0]))
    places = aside * line["horizon"]
    mean, error = line["regret"], 2.0 * line["regret_error"]
    shown, low = mean.clip(floor), (mean - error).clip(floor)
    high = (mean + error).clip(floor)
    panel.errorbar(
        places,
        shown,
        [shown - low, high - shown],
        linewidth=1.8,
        elinewidth=1.1,
        **style,
    )
    for place, height, clipped in zip(places, shown, mean < floor, strict=True):
        panel.plot(
            place,
            height,
            "o",
            color=style["color"],
            markersize=4.5,
            markerfacecolor="white" if clipped else style["color"],
            clip_on=False,
            zorder=3,
        )


def _limits(table: pl.DataFrame, floor: float) -> tuple[float, float]:
    """From below the least to above the largest end of a bar, at least one decade."""
    mean, error = table["regret"], 2.0 * table["regret_error"]
    bottom = float((mean - error).clip(floor).min())  # type: ignore[arg-type]
    top = float((mean + error).clip(floor).max())  # type: ignore[arg-type]
    return 0.8 * bottom, max(1.25 * top, 10.0 * bottom)


def _label_horizons(panel: Axes, table: pl.DataFrame, floor: float) -> None:
    """Name each line at its last horizon; heights are spread in the logarithm."""
    last = pl.col("horizon")
    ends = table.filter(last == last.max().over("policy")).sort("regret")
    bottom, top = panel.get_ylim()
    logs = [math.log(max(regret, floor)) for regret in ends["regret"]]
    heights = spread(logs, 0.06 * math.log(top / bottom))
    for horizon, policy, height in zip(ends["horizon"], ends["policy"], heights, strict=True):
        _label(panel, str(policy), _ASIDE * horizon, math.exp(height))


def _draw_curves(panel: Axes, curves: pl.DataFrame) -> None:
    step = step_of(curves)
    for (policy,), curve in curves.group_by("policy", maintain_order=True):
        style = style_of(str(policy))
        rounds, mean, error = (curve[name] for name in (step, "regret", "regret_error"))
        panel.plot(rounds, mean, linewidth=1.8, **style)
        panel.fill_between(
            rounds,
            mean - 2.0 * error,
            mean + 2.0 * error,
            color=style["color"],
            alpha=0.15,
            linewidth=0,
        )
    panel.set_xlim(0, curves[step].max())  # type: ignore[arg-type]
    panel.set_xlabel(step)
    panel.spines[["top", "right"]].set_visible(False)
    panel.grid(axis="y", linewidth=0.4, alpha=0.5)


def _label_ends(panel: Axes, curves: pl.DataFrame) -> None:
    """Name each curve at its end instead of in a legend."""
    step = pl.col(step_of(curves))
    ends = curves.filter(step == step.max()).sort("regret")
    heights = spread(ends["regret"].to_list(), 0.06 * panel.get_ylim()[1])
    for last, policy, height in zip(ends[step_of(curves)], ends["policy"], heights, strict=True):
        _label(panel, policy, last, height)


def _caption(figure: Figure, title: str) -> None:
    """Above all panels, in as many lines as the width needs."""
    lines = textwrap.fill(title, int(11 * figure.get_figwidth()))
    figure.suptitle(lines, fontsize=12, x=0.01, ha="left")


def _label(panel: Axes, policy: str, x: float, y: float) -> None:
    panel.annotate(
        policy,
        (x, y),
        xytext=(5, 0),
        textcoords="offset points",
        va="center",
        color=style_of(policy)["color"],
        fontsize=9,
        annotation_clip=False,
    )


def spread(heights: Sequence[float], gap: float) -> list[float]:
    """Move sorted label heights apart until neighbours are at least `gap` apart."""
    placed = list(heights)
    for _ in range(200):
        moved = False
        for i in range(len(placed) - 1):
            overlap = gap - (placed[i + 1] - placed[i])
            if overlap > 1e-9 * gap:
                placed[i] -= overlap / 2
                placed[i + 1] += overlap / 2
                moved = True
        if not moved:
            break
    return placed


def write(figure: Figure, stem: Path, formats: Sequence[str] = ("png", "svg")) -> list[str]:
    """Save a figure as `stem`.png and so on; returns the paths."""
    import matplotlib as mpl

    paths = [f"{os.fspath(stem)}.{suffix}" for suffix in formats]
    with mpl.rc_context({"svg.hashsalt": "voful"}):  # else ids in the file are random
        for path in paths:
            figure.savefig(path, dpi=160, metadata=_undated(path))
    return paths


def _undated(path: str) -> dict[str, str | None]:
    """No date in the file: the same study gives the same bytes."""
    return {"Date": None} if path.endswith("svg") else {}
