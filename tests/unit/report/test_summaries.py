from __future__ import annotations

import statistics

import polars as pl
import pytest

from voful.report.statistics.groups import with_families, with_series
from voful.report.statistics.intervals import clopper_pearson
from voful.report.statistics.summaries import (
    final_table,
    regret_by_horizon,
    regret_by_variance,
    regret_curves,
    relative_regret,
    times,
    width_curves,
)


def test_final_table(results: pl.DataFrame) -> None:
    table = final_table(results)
    assert table["policy"].to_list() == ["mine", "oful"] * 2
    oful = table.row(1, named=True)
    assert oful["runs"] == 2
    assert oful["regret"] == pytest.approx(51.0)
    assert oful["regret_error"] == pytest.approx(1.0)
    assert oful["coverage"] == pytest.approx(0.5)
    assert oful["time_per_step"] == pytest.approx(3.0)
    assert table.row(0, named=True)["coverage"] is None


def test_curves(results: pl.DataFrame) -> None:
    curve = regret_curves(results).filter(
        (pl.col("policy") == "oful") & (pl.col("problem") == "easy")
    )
    assert curve["round"].to_list() == [1, 10, 100]
    assert curve["regret"].to_list() == pytest.approx([1.5, 6.0, 51.0])


def test_alarms_are_counted_a_run(results: pl.DataFrame) -> None:
    assert final_table(results)["alarms"].null_count() == 4  # stored before there were any
    assert "alarms" not in regret_curves(results).columns
    of_mine = (pl.col("policy") == "mine") & (pl.col("replicate") == 2)
    some = results.with_columns(alarms=pl.when(of_mine, pl.col("round") >= 10).then(3).otherwise(0))
    final = final_table(some)
    assert dict(final.group_by("policy").agg(pl.col("alarms").mean()).rows()) == {
        "mine": 1.5,
        "oful": 0.0,
    }
    mine = regret_curves(some).filter(problem="hard", policy="mine")
    assert mine["alarms"].to_list() == [0.0, 1.5, 1.5]
    assert mine.drop("alarms").equals(regret_curves(results).filter(problem="hard", policy="mine"))


def test_one_seed_has_a_curve_without_a_band(results: pl.DataFrame) -> None:
    curve = regret_curves(results.filter(pl.col("replicate") == 0))
    assert curve["regret_error"].to_list() == [0.0] * len(curve)


def test_relative_regret_puts_the_best_first(results: pl.DataFrame) -> None:
    table = relative_regret(results, "oful")
    assert table["policy"].to_list() == ["mine", "mine", "oful", "oful"]
    assert table["ratio"].to_list() == pytest.approx([26 / 51, 26 / 51, 1.0, 1.0])
    assert table["typical"].to_list() == pytest.approx([26 / 51, 26 / 51, 1.0, 1.0])


def by_family(horizons: pl.DataFrame) -> pl.DataFrame:
    names = horizons["problem"].unique().to_list()
    return with_families(horizons, {name: name.split()[0] for name in names})


def test_regret_by_horizon_pools_all_else(horizons: pl.DataFrame) -> None:
    table = regret_by_horizon(by_family(horizons))
    assert table["family"].to_list() == ["goal"] * 4 + ["queue"] * 4
    assert table["horizon"].to_list() == [16, 64] * 4
    row = table.filter(policy="varlin", family="goal", horizon=16).row(0, named=True)
    assert row["runs"] == 4
    assert row["regret"] == pytest.approx(10 * (8 + 1.5))
    error_of_a_problem = statistics.stdev([80, 90]) / 2**0.5
    assert row["regret_error"] == pytest.approx(error_of_a_problem / 2**0.5)
    assert regret_by_horizon(horizons)["family"].unique().to_list() == [""]


def test_one_seed_has_no_error_over_horizons(horizons: pl.DataFrame) -> None:
    table = regret_by_horizon(horizons.filter(pl.col("replicate") == 0))
    assert table["regret_error"].to_list() == [0.0] * len(table)


def test_regret_by_horizon_needs_a_grid_of_horizons(results: pl.DataFrame) -> None:
    with pytest.raises(ValueError, match="problem_horizon"):
        regret_by_horizon(results)


def test_means_come_with_intervals(results: pl.DataFrame) -> None:
    oful = final_table(results).row(1, named=True)
    assert (oful["regret_low"], oful["regret_high"]) == pytest.approx((50.0, 52.0))
    assert oful["regret_median"] == pytest.approx(51.0)
    (low,), (high,) = clopper_pearson([1], [2])
    assert (oful["coverage_low"], oful["coverage_high"]) == pytest.approx((low, high))
    mine = final_table(results).row(0, named=True)
    assert mine["coverage_low"] is None
    curve = regret_curves(results)
    assert (
        (curve["regret_low"] <= curve["regret"]) & (curve["regret"] <= curve["regret_high"])
    ).all()
    assert curve["runs"].unique().to_list() == [2]
    one = results.filter(pl.col("replicate") == 0)
    assert final_table(one)["regret_low"].null_count() == 4
    assert regret_curves(one)["regret_high"].null_count() == 12


def test_intervals_do_not_depend_on_other_policies(results: pl.DataFrame) -> None:
    alone = final_table(results.filter(pl.col("policy") == "oful"))
    together = final_table(results).filter(pl.col("policy") == "oful")
    assert alone.equals(together)


def test_a_run_that_is_missing_narrows_nothing_else(results: pl.DataFrame) -> None:
    gone = (pl.col("policy") == "oful") & (pl.col("problem") == "hard") & (pl.col("replicate") == 2)
    table = final_table(results.filter(~gone))
    assert table.filter(problem="hard", policy="oful")["runs"].to_list() == [1]
    kept = pl.col("problem") == "easy"
    assert table.filter(kept).equals(final_table(results).filter(kept))


def test_times_by_part(results: pl.DataFrame) -> None:
    table = times(results).filter(problem="easy", policy="oful")
    assert table["part"].to_list() == ["select", "update"]
    assert table["time_per_step"].to_list() == pytest.approx([1.0, 2.0])
    assert table["time_low"].to_list() == pytest.approx([1.0, 2.0])


def test_widths_where_they_were_measured(results: pl.DataFrame) -> None:
    measured = pl.when((pl.col("round") > 1) & (pl.col("policy") == "oful")).then(
        1.0 / pl.col("round") + pl.col("replicate")
    )
    table = width_curves(results.with_columns(width=measured))
    assert table["policy"].unique().to_list() == ["oful"]
    assert table["round"].to_list() == [10, 100] * 2
    assert table["width"].to_list() == pytest.approx([1.1, 1.01] * 2)
    assert table["width_low"].to_list() == pytest.approx([0.1, 0.01] * 2)


def test_regret_by_variance_keeps_series_apart(results: pl.DataFrame) -> None:
    assert regret_by_variance(results)["series"].unique().to_list() == [""]
    table = regret_by_variance(with_series(results, {"hard": "z", "easy": "a"}))
    assert table["series"].unique(maintain_order=True).to_list() == ["z", "a"]
    row = table.filter(series="a", policy="oful").row(0, named=True)
    assert row["regret"] == pytest.approx(51.0)
    assert (row["regret_low"], row["regret_high"]) == pytest.approx((50.0, 52.0))


def test_horizon_intervals_hold_the_mean(horizons: pl.DataFrame) -> None:
    table = regret_by_horizon(by_family(horizons))
    assert (
        (table["regret_low"] < table["regret"]) & (table["regret"] < table["regret_high"])
    ).all()
    one = regret_by_horizon(horizons.filter(pl.col("replicate") == 0))
    assert one["regret_low"].null_count() == len(one)


def test_no_ratio_to_nothing(results: pl.DataFrame) -> None:
    none = results.with_columns(
        regret=pl.when(problem="hard", policy="oful").then(0.0).otherwise("regret")
    )
    table = relative_regret(none, "oful")
    assert table.filter(problem="hard")["ratio"].to_list() == [None, None]
    assert table["typical"].to_list() == pytest.approx([26 / 51, 26 / 51, 1.0, 1.0])
