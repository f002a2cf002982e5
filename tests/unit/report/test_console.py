from __future__ import annotations

import io

import polars as pl
import pytest
from rich.console import Console
from rich.table import Table

from voful.report.statistics.growth import growth_exponents
from voful.report.statistics.summaries import final_table
from voful.report.terminal.console import MOST_ROWS, exponents, headline, number


def shown(table: Table) -> str:
    text = io.StringIO()
    Console(file=text, width=200).print(table)
    return text.getvalue()


def test_headline(results: pl.DataFrame) -> None:
    lines = shown(headline(final_table(results), "round")).splitlines()
    (oful,) = [line.split() for line in lines if "easy" in line and "oful" in line]
    text = " ".join(oful)
    assert text == "easy oful 2 51.0 [50.0, 52.0] 50% [1, 99] 3.00"
    (mine,) = [" ".join(line.split()) for line in lines if "easy" in line and "mine" in line]
    assert mine == "easy mine 2 26.0 [25.0, 27.0] - 3.00"
    assert any("[low, high]: 95% intervals" in line for line in lines)
    one = shown(headline(final_table(results.filter(pl.col("replicate") == 0)), "round"))
    assert "50.0 [" not in one


def test_exponents(results: pl.DataFrame) -> None:
    table = growth_exponents(results)
    found = exponents(table)
    assert found is not None
    assert "oful" in shown(found)
    many = pl.concat([table] * MOST_ROWS)
    assert exponents(many) is None  # only growth with K, and too much of it
    horizon = table.head(1).with_columns(pl.lit("horizon").alias("with"))
    few = exponents(pl.concat([many, horizon]))
    assert few is not None
    assert few.row_count == 1


@pytest.mark.parametrize(
    ("x", "text"), [(1234.5, "1234"), (99.96, "100"), (23.04, "23.0"), (0.126, "0.13"), (0, "0.00")]
)
def test_numbers(x: float, text: str) -> None:
    assert number(x) == text
