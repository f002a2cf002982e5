from __future__ import annotations

import polars as pl
import pytest

from voful.report.statistics.differences import paired_differences

REGRETS = {"a": [1.0, 5.0, 9.0, 4.0], "b": [2.0, 7.0, 9.0, 3.0], "c": [0.0, 0.0]}


@pytest.fixture
def results() -> pl.DataFrame:
    return pl.DataFrame(
        [
            {
                "problem": "p",
                "policy": policy,
                "replicate": replicate,
                "round": round,
                "regret": regret * round,
            }
            for policy, regrets in REGRETS.items()
            for replicate, regret in enumerate(regrets)
            for round in (1, 10)
        ]
    )


def test_differences_are_paired_by_seed(results: pl.DataFrame) -> None:
    table = paired_differences(results)
    assert len(table) == 6
    row = table.filter(policy="a", other="b").row(0, named=True)
    assert row["seeds"] == 4
    assert row["difference"] == pytest.approx(10 * (-1 - 2 + 0 + 1) / 4)
    assert row["difference_low"] < row["difference"] < row["difference_high"]
    assert row["won"] == pytest.approx(2.5 / 4)
    back = table.filter(policy="b", other="a").row(0, named=True)
    assert back["difference"] == pytest.approx(-row["difference"])
    assert back["won"] == pytest.approx(1 - row["won"])


def test_only_shared_seeds_count(results: pl.DataFrame) -> None:
    row = paired_differences(results).filter(policy="a", other="c").row(0, named=True)
    assert row["seeds"] == 2
    assert row["difference"] == pytest.approx(30.0)
    assert row["won"] == 0.0
    assert 10.0 <= row["difference_low"] <= row["difference_high"] <= 50.0


def test_against_one_policy(results: pl.DataFrame) -> None:
    table = paired_differences(results, "b")
    assert table["policy"].to_list() == ["a", "c"]
    assert table["other"].to_list() == ["b", "b"]


def test_one_seed_and_one_policy(results: pl.DataFrame) -> None:
    one = paired_differences(results.filter(pl.col("replicate") == 0), "a")
    assert one["difference_low"].null_count() == 2
    assert one["won"].to_list() == [0.0, 1.0]
    assert paired_differences(results.filter(pl.col("policy") == "a")).is_empty()


def test_pairing_takes_the_luck_out() -> None:
    rows = [
        {"problem": "p", "policy": policy, "replicate": seed, "round": 1, "regret": luck + better}
        for seed, luck in enumerate((0.0, 100.0, 5000.0))
        for policy, better in (("a", 0.0), ("b", 1.0))
    ]
    row = paired_differences(pl.DataFrame(rows), "a").row(0, named=True)
    assert row["difference_low"] == pytest.approx(1.0)
    assert row["difference_high"] == pytest.approx(1.0)
