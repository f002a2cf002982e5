"""The command line: `voful --help` says what it can do."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from voful import __version__, cli_logs, registry
from voful.cli_output import (
    clear_errors,
    console,
    print_columns,
    print_rows,
    print_table,
    say,
)
from voful.report.terminal.tables import registry_markdown

if TYPE_CHECKING:
    from voful.experiments.study.study import Study

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Variance-aware linear bandits and linear mixture MDPs.",
)
WIDE = 130  # columns of a terminal that has room for everything about an algorithm


def _say_version(wanted: bool) -> None:
    if wanted:
        print(__version__)
        raise typer.Exit


VERSION = typer.Option("--version", callback=_say_version, is_eager=True, help="Print the version.")
Workers = Annotated[int, typer.Option(min=0, help="Runs at a time; 0: one for each core.")]
Results = Annotated[Path, typer.Argument(help="Directory of results.", exists=True)]


@app.callback()
def _top(version: Annotated[bool, VERSION] = False) -> None:
    pass


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Directory for results, figures and page.")] = Path(
        "out/demo"
    ),
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of each run.")] = 1000,
    replicates: Annotated[int, typer.Option(min=1, help="Seeds of each cell.")] = 3,
    workers: Workers = 0,
    browser: Annotated[
        bool | None, typer.Option("--open/--no-open", help="Show the page; default: on a desktop.")
    ] = None,
) -> None:
    """Play four algorithms with little and with much noise; write their page."""
    from voful.experiments.study.demo import CONTENDERS, demo_study
    from voful.warming import warm_plays

    _warm(CONTENDERS, warm_plays, workers or None)
    say(f"{rounds} rounds a run: 20 fixed arms on the sphere, d = 5 and 2, rewards in [-1, 1]")
    complete = _run(demo_study(rounds, replicates), out, table=False, workers=workers or None)
    report(out)
    if browser or (browser is None and _has_desktop()):
        import webbrowser

        webbrowser.open((out / "report.html").resolve().as_uri())
    raise typer.Exit(0 if complete else 1)


def _has_desktop() -> bool:
    """Whether somebody at a screen has typed the command."""
    screen = sys.platform == "darwin" or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))
    return sys.stdout.isatty() and screen


@app.command("warm")
def warm_algorithms(
    ids: Annotated[
        list[str] | None, typer.Argument(help="Algorithms, as `voful list` names them.")
    ] = None,
    studies: Annotated[
        bool, typer.Option("--studies", help="Also the loop in which studies play whole runs.")
    ] = False,
    workers: Workers = 0,
) -> None:
    """Compile algorithms now and keep the result on disk; without an id, all of them."""
    from voful.warming import warm

    task = partial(warm, studies=studies)
    with clear_errors():
        _warm(ids or [entry.id for entry in registry.entries()], task, workers or None)


def _warm(ids: Sequence[str], task: Callable[[str], None], workers: int | None) -> None:
    """Compile with a bar on a terminal and a line for each id elsewhere."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from voful.warming import warm_all

    shown_on = console()
    columns = BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    with Progress(*columns, console=shown_on, disable=not shown_on.is_terminal) as bar:
        shown = bar.add_task("compiling for this machine, once", total=len(ids))
        for id, seconds in warm_all(ids, task, workers):
            bar.advance(shown)
            if seconds >= 1.0 or not shown_on.is_terminal:
                bar.console.print(f"{id} is compiled ({seconds:.0f} s)", highlight=False)


@app.command()
def run(
    study: Annotated[Path, typer.Argument(help="A declared study, TOML.", exists=True)],
    out: Annotated[
        Path | None,
        typer.Option(help="Directory for the results; default: out/STUDY, the file's name."),
    ] = None,
    workers: Workers = 0,
    backend: Annotated[str, typer.Option(help="processes or ray.")] = "processes",
    address: Annotated[str | None, typer.Option(help="Of a running Ray cluster.")] = None,
    only: Annotated[
        str | None, typer.Option(help="Pattern of problem/policy/replicate, such as '*/oful/*'.")
    ] = None,
) -> None:
    """Play what is missing of a declared study; the same command again goes on."""
    from voful.experiments.study.study import read_study

    with clear_errors():
        declared = read_study(study)
    out = out or Path("out") / study.stem
    complete = _run(
        declared, out, workers=workers or None, backend=backend, address=address, only=only
    )
    raise typer.Exit(0 if complete else 1)


def _run(study: Study, out: Path, *, table: bool = True, **how: Any) -> bool:
    """Play a study as `run_study` is told how; whether every wanted run is stored now."""
    from voful.experiments.runner.runner import run_study
    from voful.experiments.store.store import results
    from voful.report.statistics.summaries import final_table
    from voful.report.terminal import console as tables
    from voful.report.terminal.progress import make_progress

    with clear_errors(out):
        with make_progress(console()) as progress:
            summary = run_study(study, out, observer=progress, **how)
        if summary.foreign:
            say(
                f"{summary.foreign} stored runs are of an earlier form of this study or of the "
                "library; they are kept, and not part of its results"
            )
        for place in summary.damaged:
            say(f"damaged, set aside, and its runs played again: {place}", "yellow")
        if table and (summary.played or summary.stored):
            print_table(tables.headline(final_table(results(out)), study.step))
        say(f"results: {out}")
        if summary.failed:
            say(f"{len(summary.failed)} runs failed twice: voful show {out}", "red")
        return not summary.failed


@app.command()
def show(directory: Results) -> None:
    """Say what is stored of a study, what is missing and what failed."""
    from voful.report.terminal.state import state_of

    with clear_errors(directory):
        for line in state_of(directory):
            print(line)


@app.command()
def merge(
    target: Annotated[Path, typer.Argument(help="Directory to add to.")],
    sources: Annotated[list[Path], typer.Argument(help="Directories to take from.", exists=True)],
) -> None:
    """Add what is stored in other directories, of the same study played elsewhere."""
    from voful.experiments.store.merge import merge_results

    with clear_errors(target):
        for source in sources:
            print(f"{merge_results(target, source)} runs of {source} added to {target}")


@app.command()
def export(directory: Results, csv: Annotated[Path, typer.Option(help="File to write.")]) -> None:
    """Write the results as CSV."""
    from voful.atomic import atomic_file
    from voful.experiments.store.store import results

    with clear_errors(csv), atomic_file(csv) as file:
        results(directory).write_csv(file)


@app.command()
def report(
    directory: Results,
    style: Annotated[
        str, typer.Option(help="screen, or paper: PDF for one and for two columns.")
    ] = "screen",
) -> None:
    """Say what a study found and what is missing of it; write its page and its figures."""
    from voful.report.files import write_report
    from voful.report.terminal import console as tables

    with clear_errors(directory):
        made = write_report(directory, style)
    print_table(tables.headline(made.final, made.manifest.step))
    if (growth := tables.exponents(made.growth)) is not None:
        print_table(growth)
    for line in tables.gaps(made.missing):
        say(line, "yellow")
    for path in made.paths:
        print(f"written: {path}")
    print(f"page: {made.page.resolve().as_uri()}")


app.command("evaluate")(cli_logs.evaluate_logs)
app.command("learn")(cli_logs.learn_logs)


@app.command("list")
def list_algorithms(
    markdown: Annotated[bool, typer.Option(help="The tables of the docs.")] = False,
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
    from rich.table import Column

    headings = ("id", "kind", "paper", "regret, up to logs", "needs", "runs", "cost")
    shown = (0, 2, 3) if console().width < WIDE else range(len(headings))
    columns = [Column(headings[place], no_wrap=place == 0) for place in shown]  # ids: to be copied
    print_rows(columns, ([row[place] for place in shown] for row in rows))


@app.command()
def bench(
    dim: Annotated[int, typer.Option(min=1, help="Dimension.")] = 10,
    arms: Annotated[int, typer.Option(min=1, help="Arms a round.")] = 20,
    rounds: Annotated[int, typer.Option(min=8, help="Rounds of each repetition.")] = 20_000,
    repetitions: Annotated[int, typer.Option(min=1, help="Medians of so many.")] = 5,
    only: Annotated[
        list[str] | None, typer.Option(help="An id to measure; may be repeated. Default: all.")
    ] = None,
    sweep: Annotated[
        bool, typer.Option("--sweep", help="Growth with dimension, arms and rounds instead.")
    ] = False,
    episodic: Annotated[
        bool, typer.Option("--episodic", help="Episodes per second of the agents instead.")
    ] = False,
    out: Annotated[Path | None, typer.Option("--json", help="Also write JSON here.")] = None,
) -> None:
    """Measure speed in CPU time, against a lean NumPy loop in the same process."""
    from voful.bench.clock import measure
    from voful.bench.episodic import measure_episodic
    from voful.bench.sweep import IDS, sweep_sizes
    from voful.report.terminal import speed

    rows: Sequence[Any]
    with clear_errors(out):
        if episodic:
            columns = speed.episodic_table(rows := measure_episodic(ids=only))
        elif sweep:
            columns = speed.growth_table(rows := sweep_sizes(ids=only or IDS))
        else:
            size = {"dim": dim, "n_arms": arms, "n_rounds": rounds, "repetitions": repetitions}
            columns = speed.speed_table(rows := measure(**size, ids=only))
        print_columns(columns)
        if out is not None:
            out.write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n")


def main() -> None:
    """Entry point of `voful` and `python -m voful`."""
    warnings.showwarning = _say_warning
    app()


def _say_warning(message: Warning | str, *_: object, **__: object) -> None:
    """A warning without the line of code that it names: who types a command wrote none."""
    say(str(message), "yellow", stderr=True)
