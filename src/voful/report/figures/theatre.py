"""Confidence sets of runs in the plane, as a strip of pictures for print."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from voful import validation
from voful.report.figures.panels import new_figure
from voful.report.figures.style import VERBATIM, style_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOMENTS = 4  # pictures of a run
TOLD_APART = ("oful", "voful", "betoful")  # if they are there: the ball, its peeling, betting

_GREY, _PALE, _GOLD = "#8a949f", "#e2e5e9", "#ffc933"


def theatre_strip(
    snapshots: pl.DataFrame,
    *,
    policies: Sequence[str] | None = None,
    problems: Sequence[str] | None = None,
    moments: int = MOMENTS,
) -> Figure:
    """Sets over the rounds: a row per policy, a block of columns per problem.

    Parameters
    ----------
    snapshots
        As `Store.snapshots` returns them.
    policies, problems
        Which to draw; default: OFUL, VOFUL and BetOFUL if they are there, else the first three,
        and the first two problems.
    moments
        Pictures of each run, evenly spaced in the logarithm of the round from 10 on.
    """
    if snapshots.is_empty():
        raise validation.fail("snapshots", "an empty frame", "at least one snapshot")
    moments = validation.positive_int("moments", moments)
    there = snapshots["policy"].unique(maintain_order=True).to_list()
    best_known = [policy for policy in TOLD_APART if policy in there]
    chosen = list(policies or (best_known if len(best_known) > 1 else there[:3]))
    acts = list(problems or snapshots["problem"].unique(maintain_order=True).to_list()[:2])
    rounds = _moments(snapshots["round"].unique().sort().to_list(), moments)
    columns = len(acts) * len(rounds)
    figure = new_figure(1.32 * columns + 0.5, 1.4 * len(chosen) + 0.75)
    blocks = figure.subfigures(1, len(acts), squeeze=False, wspace=0.03)[0]
    for act, block in zip(acts, blocks, strict=True):
        block.suptitle(act, fontsize=11, x=0.02, ha="left", **VERBATIM)
        panels = block.subplots(len(chosen), len(rounds), squeeze=False)
        for policy, row in zip(chosen, panels, strict=True):
            run = snapshots.filter(pl.col("problem") == act, pl.col("policy") == policy)
            for round, panel in zip(rounds, row, strict=True):
                picture = run.filter(pl.col("round") <= round).sort("round").tail(1)
                panel.set(xticks=[], yticks=[], aspect="equal", xlim=(-1.1, 1.1), ylim=(-1.1, 1.1))
                panel.spines[:].set_visible(False)
                for seen in picture.iter_rows(named=True):
                    _draw(panel, seen, style_of(policy)["color"])
                if policy == chosen[0]:
                    panel.set_title(f"round {round:,}", fontsize=9, color="#55606c")
            if act == acts[0]:
                row[0].set_ylabel(policy, fontsize=10, color=style_of(policy)["color"], **VERBATIM)
    return figure


def _moments(rounds: list[int], n: int) -> list[int]:
    """So many of the rounds, evenly spaced in the logarithm, the last one among them."""
    late = [round for round in rounds if round >= 10] or rounds[-1:]
    wanted = np.geomspace(late[0], late[-1], n + 1)[1:]
    nearest = [min(late, key=lambda r, at=at: abs(np.log(r / at))) for at in wanted]  # type: ignore[misc]
    return sorted(set(nearest))


def _draw(panel: Axes, seen: dict[str, Any], colour: str) -> None:
    from matplotlib.patches import Circle, PathPatch
    from matplotlib.path import Path

    panel.add_patch(Circle((0, 0), 1.0, facecolor="none", edgecolor=_PALE, linewidth=1.0))
    polygons = [np.reshape(polygon, (-1, 2)) for polygon in seen["polygons"]]
    if polygons:
        paths = [Path(np.vstack([p, p[:1]]), closed=True) for p in polygons]
        both = Path.make_compound_path(*paths)
        panel.add_patch(PathPatch(both, fc=colour, alpha=0.35, ec="none", lw=0))
        panel.add_patch(PathPatch(both, fc="none", ec=colour, lw=1.2))
    arms = np.reshape(seen["arms"], (-1, 2))
    panel.plot(*arms.T, "o", markersize=1.6, color=_GREY)
    x, y = arms[seen["choice"]]
    panel.plot([0.0, x], [0.0, y], color="black", linewidth=0.7, alpha=0.5)
    panel.plot(x, y, "o", markersize=3.6, color="black")
    panel.plot(*seen["theta_star"], marker="*", ms=5.5, color=_GOLD, mec="black", mew=0.6)
