from __future__ import annotations

import itertools
from pathlib import Path

import polars as pl
import pytest

from voful import registry
from voful.report.figures import regret_grid, regret_over_rounds, spread, style_of, write
from voful.report.summaries import final_table, regret_curves, relative_regret


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
