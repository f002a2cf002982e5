"""What commands print, and how they say what went wrong."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Column, Table


@cache
def console(**how: Any) -> Console:
    """Standard output, or what `how` says."""
    from rich.console import Console  # later: --version and plain lists do without

    return Console(**how)


def say(text: str, style: str | None = None, **how: Any) -> None:
    """A line as it is: neither wrapped nor coloured by its words."""
    console(**how).print(text, style=style, soft_wrap=True, highlight=False, markup=False)


@contextlib.contextmanager
def clear_errors(out: Path | None = None) -> Iterator[None]:
    """What a user can mend is said in one line, not in a traceback."""
    try:
        yield
    except (ValueError, TypeError, LookupError) as error:
        raise typer.BadParameter(str(error)) from None
    except OSError as error:
        stop(f"{out or ''}: {error.strerror or error}; results stored before are intact", 1)
    except RuntimeError as error:
        stop(str(error), 1)
    except KeyboardInterrupt:
        stop("stopped; what is stored is kept, and the same command goes on", 130)


def stop(message: str, code: int) -> NoReturn:
    """Say what is wrong, and leave."""
    say(message, "red", stderr=True)
    raise typer.Exit(code)


def print_table(table: Table) -> None:
    """Off a terminal as wide as it is: lines in a file need not fit a screen."""
    (console() if console().is_terminal else console(width=400)).print(table)


def print_columns(columns: dict[str, list[str]]) -> None:
    """On a terminal a table, else Markdown to paste."""
    from voful.report.terminal.speed import markdown

    if not sys.stdout.isatty():
        print(markdown(columns), end="")
        return
    from rich.table import Column

    name, *numbers = columns
    headings = [Column(name), *(Column(heading, justify="right") for heading in numbers)]
    print_rows(headings, zip(*columns.values(), strict=True))


def print_rows(columns: Iterable[Column], rows: Iterable[Iterable[str]]) -> None:
    """A table."""
    from rich.table import Table

    table = Table(*columns)
    for row in rows:
        table.add_row(*row)
    console().print(table)
