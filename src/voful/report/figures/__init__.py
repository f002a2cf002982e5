"""Figures for papers: readable in grey and by colour-blind people, labelled directly."""

from __future__ import annotations

from voful.report.figures.bars import final_regret
from voful.report.figures.curves import regret_over_rounds, width_over_rounds
from voful.report.figures.grid import regret_grid
from voful.report.figures.lines import regret_against_horizon, regret_against_variance
from voful.report.figures.panels import write

__all__ = [
    "final_regret",
    "regret_against_horizon",
    "regret_against_variance",
    "regret_grid",
    "regret_over_rounds",
    "width_over_rounds",
    "write",
]
