"""Tables of a report for the terminal."""

from __future__ import annotations

import polars as pl
from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table

from voful.report.statistics.bootstrap import LEVEL

MOST_ROWS = 40  # of growth with K; else only the file has them


def headline(final: pl.DataFrame, step: str) -> Table:
    """A row per problem and policy: regret and coverage with their intervals, and time."""
    table = Table(
        title=f"After the last {step}",
        caption=rf"\[low, high]: {LEVEL:.0%} intervals",
        box=SIMPLE_HEAD,
    )
    table.add_column("problem")
    table.add_column("policy", no_wrap=True)
    for heading in ("runs", "regret", "coverage", f"µs per {step}"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in final.iter_rows(named=True):
        table.add_row(
            escape(row["problem"]),
            escape(row["policy"]),
            str(row["runs"]),
            _with_interval(row["regret"], row["regret_low"], row["regret_high"]),
            _coverage(row),
            number(row["time_per_step"]),
        )
    return table


def exponents(growth: pl.DataFrame) -> Table | None:
    """Growth with rounds, variances and the horizon; None where nothing can be said."""
    with_rounds = pl.col("with") == "K"
    few = len(growth.filter(with_rounds)) <= MOST_ROWS
    rows = growth if few else growth.filter(~with_rounds)
    if rows.is_empty():
        return None
    table = Table(title="Growth exponents of the regret", box=SIMPLE_HEAD)
    for heading in ("with", "problem", "policy"):
        table.add_column(heading, no_wrap=heading != "problem")
    for heading in ("points", "exponent"):
        table.add_column(heading, justify="right", no_wrap=True)
    words = {"K": "K", "variance": "sum of variances", "horizon": "horizon H"}
    for row in rows.iter_rows(named=True):
        table.add_row(
            words[row["with"]],
            escape(row["group"]),
            escape(row["policy"]),
            str(row["points"]),
            _exponent(row),
        )
    return table


def gaps(missing: pl.DataFrame, most: int = 12) -> list[str]:
    """What is missing, in words: a line a cell, the rest in one more."""
    if missing.is_empty():
        return []
    absent = int((missing["declared"] - missing["stored"]).sum())
    failed = int(missing["failed"].sum())
    lines = [f"missing: {absent} of the declared runs" + (f", {failed} failed" if failed else "")]
    for row in missing.head(most).iter_rows(named=True):
        line = f"  {row['problem']}/{row['policy']}: {row['stored']} of {row['declared']} runs"
        lines.append(line + (f", {row['failed']} failed" if row["failed"] else ""))
    if len(missing) > most:
        lines.append(f"  and {len(missing) - most} more")
    return lines


def number(x: float) -> str:
    """Three digits or more."""
    digits = 0 if abs(x) >= 99.95 else 1 if abs(x) >= 9.995 else 2
    return f"{x:.{digits}f}"


def _with_interval(mean: float, low: float | None, high: float | None) -> str:
    ends = "" if low is None or high is None else f" [{number(low)}, {number(high)}]"
    return number(mean) + ends.replace("[", r"\[")


def _exponent(row: dict[str, float | None]) -> str:
    low, high = row["exponent_low"], row["exponent_high"]
    ends = "" if low is None or high is None else rf" \[{low:.2f}, {high:.2f}]"
    return f"{row['exponent']:.2f}{ends}"


def _coverage(row: dict[str, float | None]) -> str:
    if row["coverage"] is None:
        return "-"
    low, high = (f"{100.0 * (row[f'coverage_{end}'] or 0.0):.0f}" for end in ("low", "high"))
    return rf"{row['coverage']:.0%} \[{low}, {high}]"
