"""A whole report: the files that are made of a study's frames."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from voful.atomic import atomic_file
from voful.report import figures
from voful.report.figures.style import Style, styles
from voful.report.figures.theatre import theatre_strip
from voful.report.page import write_page
from voful.report.statistics import summaries
from voful.report.statistics.groups import has_widths, of_long_series
from voful.report.statistics.played import Played

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_PANELS = 12  # problems of a study that get curves of their own; else one grid shows them all
MOST_LINES = 12  # policies that lines against the variance can show
MOST_BARS = 120  # policies times rows of panels: what a screen can scroll through
TALLEST = 9.0  # inches of a page
NARROWEST = 0.28  # inches of a column of the grid


def write_report(directory: str | Path, style: str = "screen") -> Played:
    """Write a study's page and figures into its directory, each figure with its numbers as CSV.

    Parameters
    ----------
    directory
        Where ``voful run`` stored the results; runs may be missing.
    style
        "screen" (PNG, SVG and PDF) or "paper" (PDF, one and two columns wide).

    Returns
    -------
    Played
        The frames, and where they were written.

    Raises
    ------
    ValueError
        If no run is stored.
    """
    sizes = styles(style)
    played = Played(directory)
    directory, results = played.directory, played.results
    for name in ("final", "growth", "differences"):
        played.paths.append(_write_csv(getattr(played, name), directory / f"{name}.csv"))
    for stem, numbers, draw in _drawings(played):
        if numbers is not played.final:
            played.paths.append(_write_csv(numbers, directory / f"{stem}.csv"))
        for size in sizes:
            figure = draw(style=size)
            if _fits(figure, results["problem"].n_unique() if stem == "grid" else 0, size):
                written = figures.write(figure, directory / f"{stem}{size.name}", size.formats)
                played.paths += map(Path, written)
    if not played.snapshots.is_empty():
        strip = theatre_strip(played.snapshots)
        played.paths += map(Path, figures.write(strip, directory / "theatre"))
    write_page(played)
    return played


def _drawings(played: Played) -> Iterator[tuple[str, pl.DataFrame, Callable[..., Figure]]]:
    """What there is to draw of a study of this shape: file, numbers, and figure by style."""
    results, name, reference = played.results, played.manifest.name, played.reference
    runs = results.group_by("problem", "policy").agg(pl.col("replicate").n_unique())["replicate"]
    few, many = (int(n) for n in (runs.to_numpy().min(), runs.to_numpy().max()))
    seeds = f"{many} seed{'s' if many != 1 else ''}" if few == many else f"{few} to {many} seeds"
    intervals = ", 95 % bootstrap intervals" if many > 1 else ""
    over = f"{name}: mean over {seeds}{intervals}"
    n_problems, n_policies = (results[side].n_unique() for side in ("problem", "policy"))
    if n_problems <= MOST_PANELS:
        numbers = summaries.regret_curves(results)
        yield "regret", numbers, partial(figures.regret_over_rounds, results, title=over)
        if has_widths(results):
            numbers = summaries.width_curves(results)
            yield "width", numbers, partial(figures.width_over_rounds, results, title=over)
    else:
        title = f"{name}: mean regret over {seeds}, relative to {reference}"
        draw = partial(figures.regret_grid, results, reference=reference, title=title)
        yield "grid", summaries.relative_regret(results, reference), draw
    if n_policies * math.ceil(n_problems / 4) <= MOST_BARS:
        yield "final", played.final, partial(figures.final_regret, results, title=over)
    lines = of_long_series(results)
    if lines is not None and n_policies <= MOST_LINES:
        numbers = summaries.regret_by_variance(lines)
        yield "variance", numbers, partial(figures.regret_against_variance, lines, title=over)
    if "problem_horizon" in results.columns:
        title = f"{name}: mean over the problems of each horizon, {seeds}{intervals}"
        draw = partial(figures.regret_against_horizon, results, title=title)
        yield "horizon", summaries.regret_by_horizon(results), draw


def _fits(figure: Figure, columns: int, style: Style) -> bool:
    """Whether a figure of a paper's width has the room that it needs, also for a grid's columns."""
    if style.width is None:
        return True
    if columns:
        return (style.width - 1.3) / columns >= NARROWEST
    return bool(figure.get_figheight() <= TALLEST)


def _write_csv(frame: pl.DataFrame, path: Path) -> Path:
    with atomic_file(path) as file:
        frame.write_csv(file)
    return path
