"""What the figures share: panels, labels at the ends of lines, files."""

from __future__ import annotations

import math
import os
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import polars as pl

from voful.report.figures.style import COLOURS, SCREEN, VERBATIM, Look, Style, ink, looks_of
from voful.typing import Path

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GAP = 1.15  # between two labels, in sizes of the font
MOST_NAMES = 10  # lines whose names a panel of the usual size has room for
LEADER = 9.0  # points from the end of a line to its label


@contextmanager
def settings(style: Style) -> Iterator[None]:
    """Matplotlib's settings of a style, while a figure is drawn."""
    import matplotlib as mpl

    with mpl.rc_context(cast(Any, style.parameters())):
        yield


def new_figure(width: float, height: float) -> Figure:
    """An empty figure that no window knows."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def arrangement(n: int, most: int) -> tuple[int, int]:
    """(rows, columns) for n panels, at most so many side by side, in rows as even as can be."""
    rows = math.ceil(n / most)
    return rows, math.ceil(n / rows)


def panels_for(
    titles: Sequence[str], style: Style, scales: Sequence[str] | None = None, n_lines: int = 0
) -> tuple[Figure, list[Axes]]:
    """A figure with a panel for each title, row by row.

    Panels with the same one of `scales` share their vertical axis; None: all do. More than
    `MOST_NAMES` lines make panels as much larger as their names need room.
    """
    rows, columns = arrangement(len(titles), style.columns)
    width, height = style.size(rows, columns)
    more = max(1.0, n_lines / MOST_NAMES)
    figure = new_figure(width * min(more, 1.5) if style.width is None else width, height * more)
    places = figure.subplots(rows, columns, squeeze=False)
    for unused in places.flat[len(titles) :]:
        unused.remove()
    panels = list(places.flat[: len(titles)])
    scales = scales or [""] * len(titles)
    first: dict[str, Axes] = {}
    for place, (panel, title, scale) in enumerate(zip(panels, titles, scales, strict=True)):
        if scale in first:
            panel.sharey(first[scale])
        if place % columns and scales[place - 1] == scale:  # its left neighbour says it
            panel.tick_params(axis="y", labelleft=False)
        first.setdefault(scale, panel)
        panel.set_title(
            wrapped(title, figure.get_figwidth() / columns, style), loc="left", **VERBATIM
        )
        panel.grid(axis="y", linewidth=0.4, alpha=0.5)
        panel.set_axisbelow(True)
    return figure, panels


def scales_of(results: pl.DataFrame, problems: Sequence[str]) -> list[str]:
    """What panels of these problems share their axis by: problems that differ in noise only do.

    Regrets in other dimensions or of other families are not to be compared by their height.
    """
    if "problem_series" not in results.columns:
        return [""] * len(problems)
    known = dict(results.select("problem", "problem_series").unique().iter_rows())
    return [str(known[problem]) for problem in problems]


def leftmost(panels: Sequence[Axes], style: Style) -> Sequence[Axes]:
    """The panels that begin a row."""
    return panels[:: arrangement(len(panels), style.columns)[1]]


def looks_in(table: pl.DataFrame) -> dict[str, Look]:
    """The looks of the policies of a frame, in the order of the study."""
    return looks_of(table["policy"].unique().sort().cast(pl.String).to_list())


@dataclass(frozen=True)
class End:
    """The end of a line, which gets a label: in the coordinates of the data."""

    policy: str
    x: float
    y: float


Ends: TypeAlias = "dict[Axes, list[End]]"


def label_ends(
    figure: Figure,
    ends: Ends,
    looks: Mapping[str, Look],
    style: Style,
) -> None:
    """Name each line at its end instead of in a legend; call it last, when the axes are final.

    The layout is computed with the labels, and then fixed: only now it is known how far apart
    labels must stand. Where one stands off its line, a thin leader ties them.
    """
    texts = {
        (panel, end): panel.text(
            1.0,
            0.5,
            end.policy,
            transform=panel.transAxes,
            va="center",
            color=ink(COLOURS[looks[end.policy].colour]),
            clip_on=False,
            **VERBATIM,
        )
        for panel, of_panel in ends.items()
        for end in of_panel
    }
    for text in texts.values():  # room for the leaders
        text.set_text("   " + text.get_text())
    _fix_layout(figure)
    for panel, of_panel in ends.items():
        box = panel.get_window_extent()
        width, height = (72.0 * size / figure.dpi for size in (box.width, box.height))
        to_axes = panel.transScale + panel.transLimits
        places = [to_axes.transform((end.x, end.y)) for end in of_panel]
        order = sorted(range(len(places)), key=lambda i: places[i][1])
        font = min(style.font, height / (GAP * max(len(places), 1)))
        heights = spread([places[i][1] for i in order], GAP * font / height, (0.0, 1.0))
        for i, y in zip(order, heights, strict=True):
            end, text = of_panel[i], texts[panel, of_panel[i]]
            text.set_text(end.policy)
            text.set_fontsize(font)
            text.set_position((1.0 + (LEADER + 2.0) / width, y))
            panel.plot(
                [places[i][0], 1.0 + LEADER / width],
                [places[i][1], y],
                transform=panel.transAxes,
                color=COLOURS[looks[end.policy].colour],
                linewidth=0.5,
                clip_on=False,
                zorder=1.5,
            )


def spread(
    heights: Sequence[float], gap: float, within: tuple[float, float] = (-math.inf, math.inf)
) -> list[float]:
    """Move sorted label heights apart until neighbours are at least `gap` apart."""
    low, high = within
    placed = [min(max(height, low), high) for height in heights]
    for _ in range(400):
        moved = False
        for i in range(len(placed) - 1):
            overlap = gap - (placed[i + 1] - placed[i])
            if overlap > 1e-6 * gap:
                down = min(overlap / 2, placed[i] - low)  # what the floor does not allow goes up
                placed[i] -= down
                placed[i + 1] += overlap - down
                moved = True
        for i in reversed(range(len(placed))):
            ceiling = high - gap * (len(placed) - 1 - i)
            if placed[i] > max(ceiling, low) + 1e-6 * gap:
                placed[i] = max(ceiling, low)
                moved = True
        if not moved:
            break
    return placed


def wrapped(text: str, inches: float, style: Style) -> str:
    """In as many lines as the width needs, at about 0.62 of the font's size a letter."""
    return textwrap.fill(text, max(10, int(116.0 * inches / (style.font + 1.0))))


def caption(figure: Figure, title: str | None, style: Style) -> None:
    """Above all panels, in as many lines as the width needs; a paper prints its own."""
    if title is not None and style.titled:
        lines = wrapped(title, figure.get_figwidth(), style)
        figure.suptitle(lines, fontsize=style.font + 1, x=0.01, ha="left", **VERBATIM)


def write(figure: Figure, stem: Path, formats: Sequence[str] = ("png", "svg")) -> list[str]:
    """Save a figure as `stem`.png and so on; returns the paths."""
    paths = [f"{os.fspath(stem)}.{suffix}" for suffix in formats]
    with settings(SCREEN):  # of files, the settings of all styles are the same
        _fix_layout(figure)  # once, not for each file
        for path in paths:
            figure.savefig(path, dpi=160, metadata=_undated(path))
    return paths


def _fix_layout(figure: Figure) -> None:
    """Compute the layout, if it is not fixed yet."""
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    if isinstance(figure.get_layout_engine(), ConstrainedLayoutEngine):
        figure.draw_without_rendering()
        figure.set_layout_engine("none")


def _undated(path: str) -> dict[str, str | None]:
    """No date in the file: the same study gives the same bytes."""
    dates = {"svg": "Date", "pdf": "CreationDate"}
    suffix = path.rsplit(".", 1)[-1]
    return {dates[suffix]: None} if suffix in dates else {}
