"""Tables of a report for the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import polars as pl
from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table

from voful.report.statistics.intervals import LEVEL

MOST_ROWS = 40  # of growth with K; else only the file has them


def headline(final: pl.DataFrame, step: str) -> Table:
    """A row per problem and policy: regret and coverage with their intervals, and time."""
    rows = (
        (
            *(row["problem"], row["policy"], row["runs"]),
            _with_ends(row, "regret", number),
            _with_ends(row, "coverage", lambda share: f"{100.0 * share:.0f}", "%"),
            number(row["time_per_step"]),
        )
        for row in final.iter_rows(named=True)
    )
    numbers = ("runs", "regret", "coverage", f"µs per {step}")
    table = table_of(f"After the last {step}", ("problem", "policy"), numbers, rows)
    table.caption = rf"\[low, high]: {LEVEL:.0%} intervals"
    return table


def left_out(reasons: Counter[str] | None, consequence: str) -> list[str]:
    """Rows that were left out, in words, and what follows if that depended on rewards."""
    if not reasons:
        return []
    lines = [f"{count:,} × {reason}" for reason, count in reasons.most_common()]
    void = f"if a row's reward decides whether it is left out, {consequence}"
    return [f"{sum(reasons.values()):,} rows left out ({'; '.join(lines)}): {void}"]


def exponents(growth: pl.DataFrame) -> Table | None:
    """Growth with rounds, variances and the horizon; None where nothing can be said."""
    with_rounds = pl.col("with") == "K"
    few = len(growth.filter(with_rounds)) <= MOST_ROWS
    shown = growth if few else growth.filter(~with_rounds)
    if shown.is_empty():
        return None
    words = {"K": "K", "variance": "sum of variances", "horizon": "horizon H"}
    rows = (
        (
            *(words[row["with"]], row["group"], row["policy"], row["points"]),
            _with_ends(row, "exponent", "{:.2f}".format),
        )
        for row in shown.iter_rows(named=True)
    )
    names = ("with", "problem", "policy")
    return table_of("Growth exponents of the regret", names, ("points", "exponent"), rows)


def table_of(
    title: str, names: Iterable[str], numbers: Iterable[str], rows: Iterable[tuple[Any, ...]]
) -> Table:
    """Columns of names, then of numbers."""
    table = Table(title=title, box=SIMPLE_HEAD)
    for heading in names:
        table.add_column(heading, no_wrap=heading != "problem")
    for heading in numbers:
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*(escape(str(cell)) for cell in row))
    return table


def _with_ends(
    row: dict[str, Any], name: str, shown: Callable[[float], str], unit: str = ""
) -> str:
    """A mean and its interval, as far as they are known."""
    mean, low, high = (row[name + end] for end in ("", "_low", "_high"))
    if mean is None:
        return "-"
    ends = "" if low is None or high is None else f" [{shown(low)}, {shown(high)}]"
    return shown(mean) + unit + ends


def gaps(missing: pl.DataFrame, most: int = 12) -> list[str]:
    """What is missing, in words: a line a cell, the rest in one more."""
    if missing.is_empty():
        return []
    absent = int((missing["declared"] - missing["stored"]).sum())
    failed = and_failed(int(missing["failed"].sum()))
    lines = (
        f"  {problem}/{policy}: {stored} of {declared} runs{and_failed(lost)}"
        for problem, policy, declared, stored, lost in missing.head(most).iter_rows()
    )
    more = [f"  and {len(missing) - most} more"] if len(missing) > most else []
    return [f"missing: {absent} of the declared runs{failed}", *lines, *more]


def and_failed(n: int) -> str:
    """To be added to a count of runs."""
    return f", {n} failed" if n else ""


def number(x: float) -> str:
    """Three digits or more."""
    digits = 0 if abs(x) >= 99.95 else 1 if abs(x) >= 9.995 else 2
    return f"{x:.{digits}f}"
