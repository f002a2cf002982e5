from __future__ import annotations

from typing import Any

import polars as pl

from voful.experiments.study.run import Problem
from voful.report.statistics.groups import of_long_series, reference_of, series_of


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


def problem(name: str, **params: Any) -> dict[str, Any]:
    return Problem(name, params, 100).definition()


def test_a_series_differs_in_the_noise_only() -> None:
    problems = [problem(f"d={d} σ={s}", dim=d, sigma=s) for d in (2, 5) for s in (0.1, 0.2)]
    assert series_of(problems) == {
        "d=2 σ=0.1": "d=2",
        "d=2 σ=0.2": "d=2",
        "d=5 σ=0.1": "d=5",
        "d=5 σ=0.2": "d=5",
    }
    laws = [problem(f"{noise} noise", dim=2, noise=noise) for noise in ("gaussian", "two_point")]
    assert set(series_of(laws).values()) == {"noise"}


def test_series_with_the_same_words_are_numbered() -> None:
    problems = [problem(f"{d}-{s}", dim=d, sigma=s) for d in (2, 5) for s in (0.1, 0.2)]
    assert list(dict.fromkeys(series_of(problems).values())) == ["(1)", "(2)"]
    assert series_of(problems[:2]) == {"2-0.1": "", "2-0.2": ""}
