"""A whole report: the frames, and the files that are made of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from voful.experiments.store.manifest import Manifest
from voful.persistence import atomic_file
from voful.report import figures
from voful.report.figures.style import Style, styles
from voful.report.figures.theatre import theatre_strip
from voful.report.page import write_page
from voful.report.statistics import summaries
from voful.report.statistics.groups import has_widths, of_long_series
from voful.report.statistics.missing import missing
from voful.report.statistics.played import Played

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_PANELS = 8  # problems of a study that get curves of their own; else one grid shows them all
MOST_LINES = 12  # policies that lines against the variance can show
MOST_BARS = 120  # policies times rows of panels: what a screen can scroll through
TALLEST = 9.0  # inches of a page
NARROWEST = 0.28  # inches of a column of the grid


@dataclass(frozen=True)
class Report:
    """What a report says, and where it was written.

    Attributes
    ----------
    name
        Of the study.
    results
        All rows, with ``problem_series`` and ``problem_family``.
    final, growth, differences, missing
        Frames of `final_table`, `growth_exponents`, `paired_differences` (with the reference) and
        `missing`.
    reference
        The policy that others are compared with: oful or ucrl-vtr, or the first.
    paths
        Written files.
    page
        The one to open first.
    """

    name: str
    results: pl.DataFrame
    final: pl.DataFrame
    growth: pl.DataFrame
    differences: pl.DataFrame
    missing: pl.DataFrame
    reference: str
    paths: tuple[Path, ...]
    page: Path


@dataclass(frozen=True)
class _Drawing:
    """A figure of the report: its file, its numbers, and how to draw it in a style."""

    stem: str
    numbers: Callable[[pl.DataFrame], pl.DataFrame]
    draw: Callable[..., Figure]
    results: pl.DataFrame
    title: str


def write_report(directory: str | Path, style: str = "screen") -> Report:
    """Write a study's page and figures into its directory, each figure with its numbers as CSV.

    Parameters
    ----------
    directory
        Where ``voful run`` stored the results; runs may be missing.
    style
        "screen" (PNG, SVG and PDF) or "paper" (PDF, one and two columns wide).

    Raises
    ------
    ValueError
        If no run is stored.
    """
    sizes = styles(style)
    played = Played(directory)
    directory, manifest, results = played.directory, played.manifest, played.results
    frames = {
        "final": played.final,
        "growth": played.growth,
        "differences": played.differences,
    }
    paths = [_write_csv(frames[name], directory / f"{name}.csv") for name in frames]
    for drawing in _drawings(results, manifest, played.reference):
        if drawing.stem not in frames:
            numbers = drawing.numbers(drawing.results)
            paths.append(_write_csv(numbers, directory / f"{drawing.stem}.csv"))
        for size in sizes:
            figure = drawing.draw(drawing.results, title=drawing.title, style=size)
            if _fits(figure, drawing, size):
                stem = directory / f"{drawing.stem}{size.name}"
                paths += map(Path, figures.write(figure, stem, size.formats))
    if not played.snapshots.is_empty():
        paths += map(Path, figures.write(theatre_strip(played.snapshots), directory / "theatre"))
    return Report(
        name=manifest.name,
        results=results,
        missing=missing(results, manifest, played.store.failures()),
        reference=played.reference,
        paths=tuple(paths),
        page=write_page(played),
        **frames,
    )


def _drawings(results: pl.DataFrame, manifest: Manifest, reference: str) -> list[_Drawing]:
    """What there is to draw of a study of this shape."""
    cells = results.group_by("problem", "policy")
    runs = cells.agg(pl.col("replicate").n_unique())["replicate"].to_list()
    few, many = min(runs), max(runs)
    seeds = f"{many} seed{'s' if many != 1 else ''}" if few == many else f"{few} to {many} seeds"
    intervals = ", 95 % bootstrap intervals" if many > 1 else ""
    over = f"{manifest.name}: mean over {seeds}{intervals}"
    n_problems = results["problem"].n_unique()
    some = partial(_Drawing, results=results, title=over)
    drawings = []
    if n_problems <= MOST_PANELS:
        drawings.append(some("regret", summaries.regret_curves, figures.regret_over_rounds))
        if has_widths(results):
            drawings.append(some("width", summaries.width_curves, figures.width_over_rounds))
    else:
        ratios = partial(summaries.relative_regret, reference=reference)
        draw = partial(figures.regret_grid, reference=reference)
        title = f"{manifest.name}: mean regret over {seeds}, relative to {reference}"
        drawings.append(_Drawing("grid", ratios, draw, results, title))
    if results["policy"].n_unique() * math.ceil(n_problems / 4) <= MOST_BARS:
        drawings.append(some("final", summaries.final_table, figures.final_regret))
    lines = of_long_series(results)
    if lines is not None and results["policy"].n_unique() <= MOST_LINES:
        by, against = summaries.regret_by_variance, figures.regret_against_variance
        drawings.append(_Drawing("variance", by, against, lines, over))
    if "problem_horizon" in results.columns:
        by, against = summaries.regret_by_horizon, figures.regret_against_horizon
        title = f"{manifest.name}: mean over the problems of each horizon, {seeds}{intervals}"
        drawings.append(_Drawing("horizon", by, against, results, title))
    return drawings


def _fits(figure: Figure, drawing: _Drawing, style: Style) -> bool:
    """Whether a figure of a paper's width has the room that it needs."""
    if style.width is None:
        return True
    if drawing.stem == "grid":
        return (style.width - 1.3) / drawing.results["problem"].n_unique() >= NARROWEST
    return bool(figure.get_figheight() <= TALLEST)


def _write_csv(frame: pl.DataFrame, path: Path) -> Path:
    with atomic_file(path) as file:
        frame.write_csv(file)
    return path
