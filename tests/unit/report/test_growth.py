from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from voful.report.statistics.groups import with_families, with_series
from voful.report.statistics.growth import growth_exponents, slopes

ROUNDS = (1, 10, 50, 100, 200, 500)


def frame(regrets: dict[str, float], seeds: int = 4, power: float = 0.5) -> pl.DataFrame:
    """Regret scale (1 + noise) K^power for each problem's scale."""
    noise = np.random.default_rng(0).uniform(-0.1, 0.1, (len(regrets), seeds))
    return pl.DataFrame(
        [
            {
                "problem": problem,
                "policy": "mine",
                "replicate": seed,
                "round": round,
                "regret": scale * (1.0 + noise[place, seed]) * round**power,
            }
            for place, (problem, scale) in enumerate(regrets.items())
            for seed in range(seeds)
            for round in ROUNDS
        ]
    )


def one(table: pl.DataFrame, kind: str) -> dict[str, Any]:
    return table.filter(pl.col("with") == kind).row(0, named=True)


def test_growth_with_rounds_looks_at_the_last_decade() -> None:
    late = frame({"p": 2.0}).with_columns(
        regret=pl.when(pl.col("round") < 50).then(1e3).otherwise("regret")
    )
    row = one(growth_exponents(late), "K")
    assert (row["group"], row["policy"], row["points"]) == ("p", "mine", 4)
    assert row["exponent"] == pytest.approx(0.5)
    assert row["exponent_low"] == pytest.approx(0.5)
    assert row["exponent_high"] == pytest.approx(0.5)


def test_growth_with_variances_and_its_interval() -> None:
    variances = {"none": 0.0, "some": 1.0, "more": 10.0, "much": 100.0}
    results = frame({name: 3.0 * v**0.5 + (v == 0.0) for name, v in variances.items()})
    results = results.with_columns(
        sum_variance=pl.col("problem").replace_strict(variances, return_dtype=pl.Float64)
    )
    row = one(growth_exponents(results), "variance")
    assert row["points"] == 3  # zero variance has no logarithm
    assert row["exponent_low"] < row["exponent"] < row["exponent_high"]
    assert row["exponent"] == pytest.approx(0.5, abs=0.03)
    split = with_series(results, dict.fromkeys(("none", "some"), "a") | {"more": "b", "much": "b"})
    table = growth_exponents(split).filter(pl.col("with") == "variance")
    assert table["group"].to_list() == ["b"]  # the other has one point left


def test_growth_with_the_horizon_pools_problems() -> None:
    horizons = {"x 16": 16, "y 16": 16, "x 64": 64, "y 64": 64}
    results = frame({name: float(h) for name, h in horizons.items()}).with_columns(
        problem_horizon=pl.col("problem").replace_strict(horizons, return_dtype=pl.Int64)
    )
    row = one(growth_exponents(with_families(results, dict.fromkeys(horizons, "goal"))), "horizon")
    assert (row["group"], row["points"]) == ("goal", 2)
    assert row["exponent"] == pytest.approx(1.0, abs=0.1)
    assert row["exponent_low"] < row["exponent"] < row["exponent_high"]


def test_one_seed_has_a_slope_without_interval_and_no_regret_has_none() -> None:
    row = one(growth_exponents(frame({"p": 1.0}, seeds=1)), "K")
    assert row["exponent"] == pytest.approx(0.5)
    assert row["exponent_low"] is None
    assert growth_exponents(frame({"p": 0.0})).is_empty()


def test_slopes_leave_out_what_is_missing() -> None:
    x = np.array([0.0, 1.0, 2.0])
    found = slopes(x, np.array([[1.0, 3.0, 5.0], [1.0, np.nan, 2.0], [np.nan, np.nan, 1.0]]))
    assert found[:2] == pytest.approx([2.0, 0.5])
    assert np.isnan(found[2])
