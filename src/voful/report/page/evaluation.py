"""The page of an evaluation from logs: policies side by side, intervals closing over the rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from voful.logs.evaluation import Evaluation
from voful.report.figures.style import style_of
from voful.report.page.numbers import short, shorts
from voful.report.page.write import fill_page

SCRIPTS = ("base.js", "axes.js", "charts.js", "evaluation.js")
FIRST_ROW = 10  # of the charts: before, intervals say nothing


def write_evaluations(
    path: Path, log: str, evaluations: Mapping[str, Evaluation], notes: Sequence[str] = ()
) -> Path:
    """Write one self-contained page; returns its path."""
    data = evaluation_data(log, evaluations, notes)
    return fill_page(path, data, f"{log} · voful evaluate", "voful evaluate", SCRIPTS)


def evaluation_data(
    log: str, evaluations: Mapping[str, Evaluation], notes: Sequence[str] = ()
) -> dict[str, Any]:
    """What the page shows, as plain data."""
    one = next(iter(evaluations.values()))
    return {
        "name": log,
        "versus": one.versus,
        "estimator": one.estimator,
        "failure_prob": one.failure_prob,
        "notes": list(notes),
        "policies": [{"name": name, **_line(name)} for name in evaluations],
        "found": [_found(evaluation) for evaluation in evaluations.values()],
        # What the parts that studies share with this page look for.
        "problems": [],
        "table": {"problem": []},
        "curves": {"cells": []},
    }


def _line(name: str) -> dict[str, Any]:
    style = style_of(name)
    dash = style["linestyle"]
    return {"colour": style["color"], "dash": [] if dash == "-" else list(dash[1])}


def _found(evaluation: Evaluation) -> dict[str, Any]:
    path = evaluation.trajectory
    shown = path.n >= min(FIRST_ROW, evaluation.n)
    numbers = ("estimate", "lower", "upper", "n", "effective_n", "max_weight", "weight_evalue")
    return {
        **{name: short(getattr(evaluation, name)) for name in numbers},
        "suspicion": evaluation.suspicion,
        "x": path.n[shown].tolist(),
        "mean": shorts(path.estimate[shown]),
        "low": shorts(path.lower[shown]),
        "high": shorts(path.upper[shown]),
    }
