"""The command line: `voful --help` says what it can do."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from voful import __version__, registry
from voful.report.terminal.tables import registry_markdown

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Column, Table

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


@cache
def _console(**how: Any) -> Console:
    from rich.console import Console  # later: --version and plain lists do without

    return Console(**how)


def _say(text: str, style: str | None = None, **how: Any) -> None:
    """A line as it is: neither wrapped nor coloured by its words."""
    _console(**how).print(text, style=style, soft_wrap=True, highlight=False, markup=False)


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
    _say(f"{rounds} rounds a run: 20 fixed arms on the sphere, d = 5 and 2, rewards in [-1, 1]")
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
    with _clear_errors():
        _warm(ids or [entry.id for entry in registry.entries()], task, workers or None)


def _warm(ids: Sequence[str], task: Callable[[str], None], workers: int | None) -> None:
    """Compile with a bar on a terminal and a line for each id elsewhere."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from voful.warming import warm_all

    console = _console()
    columns = BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        shown = bar.add_task("compiling for this machine, once", total=len(ids))
        for id, seconds in warm_all(ids, task, workers):
            bar.advance(shown)
            if seconds >= 1.0 or not console.is_terminal:
                bar.console.print(f"{id} is compiled ({seconds:.0f} s)", highlight=False)


@app.command()
def run(
    study: Annotated[Path, typer.Argument(help="A declared study, TOML.", exists=True)],
    out: Annotated[
        Path | None, typer.Option(help="Directory for the results; default: out/NAME.")
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

    with _clear_errors():
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

    with _clear_errors(out):
        with make_progress(_console()) as progress:
            summary = run_study(study, out, observer=progress, **how)
        if summary.foreign:
            _say(
                f"{summary.foreign} stored runs are of an earlier form of this study or of the "
                "library; they are kept, and not part of its results"
            )
        for place in summary.damaged:
            _say(f"damaged, set aside, and its runs played again: {place}", "yellow")
        if table and (summary.played or summary.stored):
            _print_table(tables.headline(final_table(results(out)), study.step))
        _say(f"results: {out}")
        if summary.failed:
            _say(f"{len(summary.failed)} runs failed twice: voful show {out}", "red")
        return not summary.failed


@contextlib.contextmanager
def _clear_errors(out: Path | None = None) -> Iterator[None]:
    """What a user can mend is said in one line, not in a traceback."""
    try:
        yield
    except (ValueError, TypeError, LookupError) as error:
        raise typer.BadParameter(str(error)) from None
    except OSError as error:
        _stop(f"{out or ''}: {error.strerror or error}; results stored before are intact", 1)
    except RuntimeError as error:
        _stop(str(error), 1)
    except KeyboardInterrupt:
        _stop("stopped; what is stored is kept, and the same command goes on", 130)


def _stop(message: str, code: int) -> NoReturn:
    _say(message, "red", stderr=True)
    raise typer.Exit(code)


@app.command()
def show(directory: Results) -> None:
    """Say what is stored of a study, what is missing and what failed."""
    from voful.report.terminal.state import state_of

    with _clear_errors(directory):
        for line in state_of(directory):
            print(line)


@app.command()
def merge(
    target: Annotated[Path, typer.Argument(help="Directory to add to.")],
    sources: Annotated[list[Path], typer.Argument(help="Directories to take from.", exists=True)],
) -> None:
    """Add what is stored in other directories, of the same study played elsewhere."""
    from voful.experiments.store.merge import merge_results

    with _clear_errors(target):
        for source in sources:
            print(f"{merge_results(target, source)} runs of {source} added to {target}")


@app.command()
def export(directory: Results, csv: Annotated[Path, typer.Option(help="File to write.")]) -> None:
    """Write the results as CSV."""
    from voful.atomic import atomic_file
    from voful.experiments.store.store import results

    with _clear_errors(csv), atomic_file(csv) as file:
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

    with _clear_errors(directory):
        made = write_report(directory, style)
    _print_table(tables.headline(made.final, made.manifest.step))
    if (growth := tables.exponents(made.growth)) is not None:
        _print_table(growth)
    for line in tables.gaps(made.missing):
        _say(line, "yellow")
    for path in made.paths:
        print(f"written: {path}")
    print(f"page: {made.page.resolve().as_uri()}")


@app.command("evaluate")
def evaluate_log(
    log: Annotated[Path, typer.Argument(help="CSV, Parquet or NDJSON.", exists=True)],
    target: Annotated[
        list[str] | None, typer.Option(help="Column of probabilities; may be repeated.")
    ] = None,
    policy: Annotated[
        list[Path] | None, typer.Option(help="A saved policy; may be repeated.", exists=True)
    ] = None,
    reward_range: Annotated[tuple[float, float], typer.Option(help="Low and high.")] = (0.0, 1.0),
    min_propensity: Annotated[float | None, typer.Option(help="Least that any arm had.")] = None,
    against: Annotated[
        str | None, typer.Option(help="Compare with this column, or with what 'logged'.")
    ] = None,
    estimator: Annotated[str, typer.Option(help="snips, ips or dr.")] = "snips",
    failure_prob: Annotated[float, typer.Option(help="Of each interval.")] = 0.05,
    horizon: Annotated[int | None, typer.Option(help="Narrowest after so many rows.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead.")] = False,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave bad rows out.")] = False,
    out: Annotated[Path | None, typer.Option(help="Also write a page here.")] = None,
) -> None:
    """Say how good policies would have been, from a log of another's decisions."""
    from voful.logs.readers import Skipping
    from voful.report.page.evaluation import write_evaluations
    from voful.report.terminal import evaluation as shown

    how = {"estimator": estimator, "failure_prob": failure_prob, "horizon": horizon}
    how |= {"reward_range": reward_range, "min_propensity": min_propensity, "against": against}
    with _clear_errors(log):
        skipping = Skipping(reward_range, min_propensity) if skip_bad else None
        targets = shown.targets_of(target or [], policy or [])
        found = shown.read_and_evaluate(log, targets, skipping, _console(stderr=True), **how)
        notes = shown.skipped(skipping)
        if out is not None:
            write_evaluations(out, log.name, found, notes)
    if as_json:
        print(json.dumps({name: one.as_dict() for name, one in found.items()}))
    else:
        _print_table(shown.evaluation_table(found, against))
    for line in (*notes, *shown.suspicions(found)):
        _say(line, "yellow", stderr=True)
    if out is not None and not as_json:
        print(f"page: {out.resolve().as_uri()}")


def _print_table(table: Table) -> None:
    """Off a terminal as wide as it is: lines in a file need not fit a screen."""
    (_console() if _console().is_terminal else _console(width=400)).print(table)


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
    shown = (0, 2, 3) if _console().width < WIDE else range(len(headings))
    columns = [Column(headings[place], no_wrap=place == 0) for place in shown]  # ids: to be copied
    _print_rows(columns, ([row[place] for place in shown] for row in rows))


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
    with _clear_errors(out):
        if episodic:
            columns = speed.episodic_table(rows := measure_episodic(ids=only))
        elif sweep:
            columns = speed.growth_table(rows := sweep_sizes(ids=only or IDS))
        else:
            size = {"dim": dim, "n_arms": arms, "n_rounds": rounds, "repetitions": repetitions}
            columns = speed.speed_table(rows := measure(**size, ids=only))
        _print_columns(columns)
        if out is not None:
            out.write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n")


def _print_columns(columns: dict[str, list[str]]) -> None:
    """On a terminal a table, else Markdown to paste."""
    from voful.report.terminal.speed import markdown

    if not sys.stdout.isatty():
        print(markdown(columns), end="")
        return
    from rich.table import Column

    name, *numbers = columns
    headings = [Column(name), *(Column(heading, justify="right") for heading in numbers)]
    _print_rows(headings, zip(*columns.values(), strict=True))


def _print_rows(columns: Iterable[Column], rows: Iterable[Iterable[str]]) -> None:
    from rich.table import Table

    table = Table(*columns)
    for row in rows:
        table.add_row(*row)
    _console().print(table)


def main() -> None:
    """Entry point of `voful` and `python -m voful`."""
    app()
