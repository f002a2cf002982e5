from __future__ import annotations

import itertools
import statistics
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from voful import registry
from voful.report.figures import (
    HORIZON_FLOOR,
    regret_against_horizon,
    regret_grid,
    regret_over_rounds,
    spread,
    style_of,
    write,
)
from voful.report.summaries import (
    final_table,
    regret_by_horizon,
    regret_curves,
    relative_regret,
    with_families,
)


@pytest.fixture
def results() -> pl.DataFrame:
    rows = [
        {
            "problem": problem,
            "policy": policy,
            "replicate": replicate,
            "round": round,
            "regret": round * slope + replicate,
            "sum_variance": 0.0,
            "in_set": True,
            "covered": None if policy == "mine" else replicate == 0,
            "select_time": 1e-6 * round,
            "update_time": 2e-6 * round,
        }
        for problem in ("easy", "hard")
        for policy, slope in (("oful", 0.5), ("mine", 0.25))
        for replicate in (0, 2)
        for round in (1, 10, 100)
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


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


def test_one_seed_has_a_curve_without_a_band(results: pl.DataFrame) -> None:
    curve = regret_curves(results.filter(pl.col("replicate") == 0))
    assert curve["regret_error"].to_list() == [0.0] * len(curve)


def test_figure_names_every_policy_and_is_reproducible(
    results: pl.DataFrame, tmp_path: Path
) -> None:
    contents = []
    for stem in ("first", "second"):
        figure = regret_over_rounds(results, title="title")
        labels = [text.get_text() for axes in figure.axes for text in axes.texts]
        assert sorted(labels) == ["mine", "mine", "oful", "oful"]
        png, svg = write(figure, tmp_path / stem)
        assert Path(png).stat().st_size > 5000
        contents.append(Path(svg).read_text())
    assert contents[0] == contents[1]


def test_relative_regret_puts_the_best_first(results: pl.DataFrame) -> None:
    table = relative_regret(results, "oful")
    assert table["policy"].to_list() == ["mine", "mine", "oful", "oful"]
    assert table["ratio"].to_list() == pytest.approx([26 / 51, 26 / 51, 1.0, 1.0])
    assert table["typical"].to_list() == pytest.approx([26 / 51, 26 / 51, 1.0, 1.0])


def test_grid_shows_every_ratio(results: pl.DataFrame) -> None:
    (panel,) = regret_grid(results, title="title").axes
    assert sorted(text.get_text() for text in panel.texts) == ["0.51", "0.51", "1.00", "1.00"]
    assert [label.get_text() for label in panel.get_yticklabels()] == ["mine", "oful"]


def test_labels_do_not_overlap() -> None:
    placed = spread([1.0, 1.01, 1.02, 5.0], 0.5)
    assert all(b - a >= 0.5 - 1e-6 for a, b in itertools.pairwise(placed))
    assert placed[3] == 5.0


def test_every_policy_has_its_own_style() -> None:
    for kind in registry.KINDS:  # no figure has both
        entries = list(registry.entries(kind))
        assert len({str(style_of(entry.id)) for entry in entries}) == len(entries)
    assert style_of("mine") == style_of("mine")


def test_a_variant_has_the_colour_of_its_policy() -> None:
    assert style_of("varlin-paper x3")["color"] == style_of("varlin-paper")["color"]


def test_many_problems_make_rows(results: pl.DataFrame) -> None:
    one = results.filter(pl.col("problem") == "easy")
    many = pl.concat([one.with_columns(problem=pl.lit(f"p{i}")) for i in range(6)])
    figure = regret_over_rounds(many)
    assert len(figure.axes) == 6
    three = regret_over_rounds(many.filter(pl.col("problem") < "p3"))
    assert figure.get_figwidth() == three.get_figwidth()
    assert figure.get_figheight() == 2 * three.get_figheight()


@pytest.fixture
def horizons() -> pl.DataFrame:
    rows = [
        {
            "problem": f"{family} H={horizon} {theta}",
            "problem_horizon": horizon,
            "policy": policy,
            "replicate": replicate,
            "episode": episode,
            "regret": episode * (slope * horizon + theta + replicate),
        }
        for family in ("goal", "queue")
        for horizon in (16, 64)
        for theta in (0, 2)
        for policy, slope in (("varlin", 0.5), ("mine", 0.25))
        for replicate in (0, 1)
        for episode in (1, 10)
    ]
    return pl.DataFrame(rows)


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


def test_horizon_figure_has_a_panel_a_family_and_a_label_a_line(
    horizons: pl.DataFrame, tmp_path: Path
) -> None:
    figure = regret_against_horizon(by_family(horizons), title="title")
    assert [panel.get_title("left") for panel in figure.axes] == ["goal", "queue"]
    for panel in figure.axes:
        assert sorted(text.get_text() for text in panel.texts) == ["mine", "varlin"]
        assert (panel.get_xscale(), panel.get_yscale()) == ("log", "log")
        assert panel.get_ylim()[0] > 0.0
    png, _ = write(figure, tmp_path / "horizon")
    assert Path(png).stat().st_size > 5000


def test_zero_regret_stands_on_the_floor(horizons: pl.DataFrame) -> None:
    none = by_family(horizons).with_columns(
        regret=pl.when(pl.col("policy") == "mine").then(0.0).otherwise("regret")
    )
    panel = regret_against_horizon(none).axes[0]
    (on_floor,) = [line for line in panel.lines if line.get_markerfacecolor() == "white"]
    assert len(on_floor.get_xdata()) == 2
    assert f"open: below {HORIZON_FLOOR}" in panel.get_ylabel()
    assert np.all(on_floor.get_ydata() == HORIZON_FLOOR)
    with pytest.raises(ValueError, match="floor"):
        regret_against_horizon(none, floor=0.0)
