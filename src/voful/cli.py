"""The command line: voful demo · run · list · bench."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from voful import __version__, registry
from voful.report.tables import registry_markdown

if TYPE_CHECKING:
    import polars as pl

    from voful.experiments.bench import Speed
    from voful.experiments.study import Study

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Variance-aware linear bandits and linear mixture MDPs.",
)
console = Console()


def _print_version(wanted: bool) -> None:
    if wanted:
        print(__version__)
        raise typer.Exit


@app.callback()
def _top(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    pass


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Directory for the figure.")] = Path("out/demo"),
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of each run.")] = 5000,
    replicates: Annotated[int, typer.Option(min=1, help="Seeds of each cell.")] = 10,
    workers: Annotated[int, typer.Option(min=0, help="Processes; 0: all cores.")] = 0,
) -> None:
    """Play four algorithms on a low-noise and a noisy problem."""
    from voful.experiments.demo import demo_study

    console.print(
        f"{rounds} rounds a run: 20 fixed arms on the sphere, d = 5, rewards in [-1, 1]",
        soft_wrap=True,
    )
    _run(demo_study(rounds, replicates), out, workers)


@app.command()
def run(
    study: Annotated[Path, typer.Argument(help="A declared study, TOML.", exists=True)],
    out: Annotated[Path, typer.Option(help="Directory for results and figures.")],
    workers: Annotated[int, typer.Option(min=0, help="Processes; 0: all cores.")] = 0,
) -> None:
    """Run a declared study; writes results.parquet and figures."""
    from voful.experiments.study import read_study

    try:
        declared = read_study(study)
    except (ValueError, TypeError) as error:
        raise typer.BadParameter(str(error)) from None
    _run(declared, out, workers)


def _run(study: Study, out: Path, workers: int) -> None:
    from voful.experiments.runner import run_study
    from voful.report.figures import regret_against_variance, regret_over_rounds, write
    from voful.report.summaries import final_table

    out.mkdir(parents=True, exist_ok=True)
    total = len(study.runs())
    columns = (TextColumn("playing"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task("runs", total=total)
        results = run_study(
            study, workers=workers or None, on_finished=lambda run: progress.advance(task)
        )
    _print_results(final_table(results))
    unfinished = out / "results.parquet.tmp"
    results.write_parquet(unfinished)
    unfinished.replace(out / "results.parquet")
    caption = f"{study.name}: mean over {study.replicates} seeds ± two standard errors"
    paths = write(regret_over_rounds(results, title=caption), out / "regret")
    if len(study.problems) > 2:
        paths += write(regret_against_variance(results, title=caption), out / "variance")
    for path in paths:
        console.print(f"figure: {path}", soft_wrap=True)


def _print_results(table: pl.DataFrame) -> None:
    shown = Table(title="After the last round")
    for heading in ("problem", "policy"):
        shown.add_column(heading, no_wrap=True)
    for heading in ("regret", "± over seeds", "coverage", "µs a round"):
        shown.add_column(heading, justify="right")
    for row in table.iter_rows(named=True):
        error, coverage = row["regret_error"], row["coverage"]
        shown.add_row(
            row["problem"],
            row["policy"],
            f"{row['regret']:.1f}",
            "-" if error is None else f"{error:.1f}",
            "-" if coverage is None else f"{coverage:.0%}",
            f"{row['time_per_round']:.1f}",
        )
    console.print(shown)


@app.command("list")
def list_algorithms(
    markdown: Annotated[bool, typer.Option(help="The table of README and docs.")] = False,
) -> None:
    """List every registered algorithm."""
    if markdown:
        print(registry_markdown(), end="")
        return
    rows = [
        (
            entry.id,
            entry.kind,
            entry.paper,
            entry.guarantee,
            "known variance" if entry.needs_variance else "-",
            "anytime" if entry.anytime else "horizon",
            entry.cost,
        )
        for entry in registry.entries()
    ]
    if not sys.stdout.isatty():
        for row in rows:
            print("\t".join(row))
        return
    table = Table("id", "kind", "paper", "regret, up to logs", "needs", "runs", "cost")
    for row in rows:
        table.add_row(*row)
    console.print(table)


@app.command()
def bench(
    dim: Annotated[int, typer.Option(min=1, help="Dimension.")] = 10,
    arms: Annotated[int, typer.Option(min=1, help="Arms a round.")] = 20,
    rounds: Annotated[int, typer.Option(min=8, help="Rounds of each repetition.")] = 20_000,
    repetitions: Annotated[int, typer.Option(min=1, help="Medians of so many.")] = 5,
    out: Annotated[Path | None, typer.Option("--json", help="Also write JSON here.")] = None,
) -> None:
    """Measure select + update against a lean NumPy loop in the same process."""
    from voful.experiments.bench import measure

    speeds = measure(dim=dim, n_arms=arms, n_rounds=rounds, repetitions=repetitions)
    _print_speeds(speeds, f"CPU time a round, d = {dim}, {arms} arms")
    if out is not None:
        out.write_text(json.dumps([asdict(speed) for speed in speeds], indent=2) + "\n")


def _print_speeds(speeds: list[Speed], title: str) -> None:
    table = Table("", title=title)
    for heading in ("rounds", "µs a round", "over lean NumPy", "last over first quarter"):
        table.add_column(heading, justify="right")
    for speed in speeds:
        table.add_row(
            speed.name,
            str(speed.rounds),
            f"{speed.microseconds:.2f}",
            f"{speed.ratio:.2f}",
            f"{speed.growth:.2f}",
        )
    console.print(table)


def main() -> None:
    """Entry point of `voful` and `python -m voful`."""
    app()
