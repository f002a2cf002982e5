"""`voful evaluate`: read a log with a bar, show a table."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from voful import registry, validation
from voful.bandits.base import Policy
from voful.logs.evaluate import evaluate_file
from voful.logs.evaluation import Evaluation
from voful.logs.readers import Skipping
from voful.report.terminal.console import left_out, table_of


def targets_of(columns: Sequence[str], files: Sequence[Path]) -> dict[str, Any]:
    """Columns and saved policies by name."""
    found: dict[str, Any] = {name: name for name in columns}
    for file in files:
        policy = registry.load(file)
        if not isinstance(policy, Policy):
            raise validation.fail_type("--policy", policy, "a file that a policy's `save` wrote")
        found[file.stem] = policy
    if not found:
        raise validation.fail("--target", None, "a column of the log, or --policy FILE")
    return found


def read_and_evaluate(
    log: Path, targets: Mapping[str, Any], skipping: Skipping | None, console: Console, **how: Any
) -> dict[str, Evaluation]:
    """Evaluate with a bar on a terminal; what is suspicious is in the evaluations."""
    columns = TextColumn("{task.description}"), TimeElapsedColumn()
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        shown, rows = bar.add_task("reading", total=None), 0

        def on_rows(n: int) -> None:
            nonlocal rows
            rows += n
            bar.update(shown, description=f"{rows:,} rows")

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            return evaluate_file(log, targets, skipping=skipping, on_rows=on_rows, **how)


def skipped(skipping: Skipping | None) -> list[str]:
    """What was left out, in words."""
    return [] if skipping is None else left_out(skipping.reasons, "the intervals are void")


def suspicions(evaluations: Mapping[str, Evaluation]) -> list[str]:
    """What says that propensities are wrong."""
    return [
        f"{name}: the propensities are wrong: {one.suspicion}"
        for name, one in evaluations.items()
        if one.suspicion
    ]


def evaluation_table(evaluations: Mapping[str, Evaluation], against: str | None) -> Table:
    """A row a policy."""
    one = next(iter(evaluations.values()))
    what = "value" if against is None else f"gain over {against}"
    rows = (
        (
            *(name, f"{e.estimate:.4g}", f"[{e.lower:.4g}, {e.upper:.4g}]", f"{e.n:,}"),
            *(f"{number:.4g}" for number in (e.effective_n, e.max_weight, e.weight_evalue)),
        )
        for name, e in evaluations.items()
    )
    numbers = (what, "interval", "rows", "worth rows", "largest weight", "e-value")
    table = table_of(f"Estimator: {one.estimator}", ("policy",), numbers, rows)
    sure = f"{1.0 - one.failure_prob:.4g}"
    table.caption = f"each interval is true at all times at once with probability {sure}"
    return table
