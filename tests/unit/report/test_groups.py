from __future__ import annotations

import polars as pl

from voful.report.statistics.groups import of_long_series, reference_of


def test_lines_against_the_variance_need_three_problems() -> None:
    rows = {
        "problem": ["a", "b", "c", "d", "e"],
        "problem_series": ["long", "long", "long", "short", "short"],
        "sum_variance": [1.0, 2.0, 3.0, 1.0, 2.0],
    }
    results = pl.DataFrame(rows)
    long = of_long_series(results)
    assert long is not None
    assert long["problem"].to_list() == ["a", "b", "c"]
    assert of_long_series(results.tail(2)) is None
    assert of_long_series(results.drop("sum_variance")) is None


def test_the_classic_is_the_reference() -> None:
    assert reference_of(["betoful", "oful"]) == "oful"
    assert reference_of(["varlin", "ucrl-vtr"]) == "ucrl-vtr"
    assert reference_of(["varlin", "mvp"]) == "varlin"
