"""What the figures share: panels, labels at the ends of lines, files."""

from __future__ import annotations

import math
import os
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from voful.report.figures.style import COLOURS, SCREEN, VERBATIM, Look, Style, drawn, ink, looks_of
from voful.typing import FloatArray, Path

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GAP = 1.15  # between two labels, in sizes of the font
MOST_NAMES = 10  # lines whose names a panel of the usual size has room for
LEADER = 9.0  # points from the end of a line to its label
UNDATED: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
"""No date in a file: the same study gives the same bytes."""


def new_figure(width: float, height: float) -> Figure:
    """An empty figure that no window knows."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def arrangement(n: int, most: int) -> tuple[int, int]:
    """(rows, columns) for n panels, at most so many side by side, in rows as even as can be."""
    rows = math.ceil(n / most)
    return rows, math.ceil(n / rows)


def titled_panels(
    size: tuple[float, float],
    titles: Sequence[str],
    columns: int,
    style: Style,
    *,
    scales: Sequence[str] | None = None,
    shared: Literal["x", "y"] = "y",
    names: float = 0.0,
) -> tuple[Figure, list[Axes]]:
    """A figure of a size in inches, and in it a panel for each title, `columns` side by side.

    Panels with the same one of `scales` share the axis `shared`; None: all do. `names` is the width
    that labels left of the panels take, in inches.
    """
    figure, rows = new_figure(*size), math.ceil(len(titles) / columns)
    places = figure.subplots(rows, columns, squeeze=False, sharey=shared == "x")
    for unused in places.flat[len(titles) :]:
        unused.remove()
    width = (size[0] - names) / columns
    scales = scales or [""] * len(titles)
    first: dict[str, Axes] = {}
    for place, (panel, title) in enumerate(zip(places.flat, titles, strict=False)):
        leader = first.setdefault(scale := scales[place], panel)
        if leader is not panel:
            panel.sharex(leader) if shared == "x" else panel.sharey(leader)
        if shared == "y" and place % columns and scales[place - 1] == scale:
            panel.tick_params(axis="y", labelleft=False)  # its left neighbour says it
        panel.set_title(wrapped(title, width, style), loc="left", **VERBATIM)
        panel.grid(axis=shared, linewidth=0.4, alpha=0.5)
        panel.set_axisbelow(True)
    return figure, list(places.flat[: len(titles)])


def scales_of(results: pl.DataFrame, problems: Sequence[str]) -> list[str]:
    """What panels of these problems share their axis by: problems that differ in noise only do.

    Regrets in other dimensions or of other families are not to be compared by their height.
    """
    if "problem_series" not in results.columns:
        return [""] * len(problems)
    known = dict(results.select("problem", "problem_series").unique().iter_rows())
    return [str(known[problem]) for problem in problems]


def looks_in(table: pl.DataFrame) -> dict[str, Look]:
    """The looks of the policies of a frame, in the order of the study."""
    return looks_of(table["policy"].unique().sort().cast(pl.String).to_list())


class LineChart:
    """A figure with a panel a group and a line a policy, each named at its end.

    Draw every line with `line`, then call `finish`; all within `Style.settings`.

    Parameters
    ----------
    table
        Its rows, in the order in which lines are drawn; policies in a column of that name.
    by
        Column of the groups.
    style
        Sizes.
    scales
        What panels share their vertical axis by; None: all do.
    n_lines
        More than `MOST_NAMES` lines make panels as much larger as their names need room.
    """

    def __init__(
        self,
        table: pl.DataFrame,
        by: str,
        style: Style,
        *,
        scales: Sequence[str] | None = None,
        n_lines: int = 0,
    ) -> None:
        self.style = style
        self.looks = looks_in(table)
        self._groups = table.partition_by(by, maintain_order=True)
        titles = [str(group[by][0]) for group in self._groups]
        rows, self._columns = arrangement(len(titles), style.columns)
        width, height = style.size(rows, self._columns)
        more = max(1.0, n_lines / MOST_NAMES)
        width = width * min(more, 1.5) if style.width is None else width
        size = width, height * more
        self.figure, self.panels = titled_panels(size, titles, self._columns, style, scales=scales)
        self._ends: dict[Axes, list[tuple[str, float, float]]] = {p: [] for p in self.panels}

    def __iter__(self) -> Iterator[tuple[Axes, list[tuple[str, pl.DataFrame]]]]:
        """Panels with the lines to draw there, by policy."""
        for panel, group in zip(self.panels, self._groups, strict=True):
            lines = group.partition_by("policy", maintain_order=True)
            yield panel, [(str(line["policy"][0]), line) for line in lines]

    def line(self, panel: Axes, policy: str, x: FloatArray, y: FloatArray, **more: Any) -> None:
        """Draw a line in its policy's look."""
        look = drawn(self.looks[policy])
        panel.plot(x, y, linewidth=self.style.line, **look, **more)
        self._ends[panel].append((policy, float(x[-1]), float(y[-1])))

    def finish(self, ylabel: str, title: str | None) -> Figure:
        """Label axes and lines, when the limits of the axes are final."""
        for panel in self.panels[:: self._columns]:
            panel.set_ylabel(ylabel)
        caption(self.figure, title, self.style)
        self._label_ends()
        return self.figure

    def _label_ends(self) -> None:
        """Name each line at its end instead of in a legend.

        The layout is computed with the labels, and then fixed: only now it is known how far apart
        labels must stand. Where one stands off its line, a thin leader ties them.
        """
        colours = {policy: COLOURS[look.colour] for policy, look in self.looks.items()}
        texts = {}
        for panel, ends in self._ends.items():
            for policy, _, _ in ends:
                look = {"color": ink(colours[policy]), "va": "center"} | beside(panel) | VERBATIM
                room = "   "  # for the leader
                texts[panel, policy] = panel.text(1.0, 0.5, room + policy, **look)
        _fix_layout(self.figure)
        for panel, ends in self._ends.items():
            box = panel.get_window_extent()
            width, height = (72.0 * size / self.figure.dpi for size in (box.width, box.height))
            to_axes = panel.transScale + panel.transLimits
            places = [(*to_axes.transform((x, y)), policy) for policy, x, y in ends]
            places.sort(key=lambda place: place[1])
            font = min(self.style.font, height / (GAP * max(len(places), 1)))
            heights = spread([y for _, y, _ in places], GAP * font / height, (0.0, 1.0))
            for (x, y, policy), moved in zip(places, heights, strict=True):
                text = texts[panel, policy]
                text.set(text=policy, fontsize=font)
                text.set_position((1.0 + (LEADER + 2.0) / width, moved))
                ends_at = [x, 1.0 + LEADER / width], [y, moved]
                panel.plot(*ends_at, color=colours[policy], lw=0.5, zorder=1.5, **beside(panel))


def beside(panel: Axes) -> dict[str, Any]:
    """Of what is drawn in fractions of a panel, also outside of it."""
    return {"transform": panel.transAxes, "clip_on": False}


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
    paths = {suffix: f"{os.fspath(stem)}.{suffix}" for suffix in formats}
    with SCREEN.settings():  # of files, the settings of all styles are the same
        _fix_layout(figure)  # once, not for each file
        for suffix, path in paths.items():
            figure.savefig(path, dpi=160, metadata=UNDATED.get(suffix))
    return list(paths.values())


def _fix_layout(figure: Figure) -> None:
    """Compute the layout, if it is not fixed yet."""
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    if isinstance(figure.get_layout_engine(), ConstrainedLayoutEngine):
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
