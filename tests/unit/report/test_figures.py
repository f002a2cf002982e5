from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from matplotlib.patches import Rectangle

from voful.report.figures import (
    final_regret,
    regret_against_horizon,
    regret_against_variance,
    regret_grid,
    regret_over_rounds,
    width_over_rounds,
    write,
)
from voful.report.figures.lines import HORIZON_FLOOR
from voful.report.figures.panels import spread
from voful.report.figures.style import COLUMN, PAGE
from voful.report.statistics.groups import with_families, with_series


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


def test_grid_shows_every_ratio(results: pl.DataFrame) -> None:
    (panel,) = regret_grid(results, title="title").axes
    assert sorted(text.get_text() for text in panel.texts) == ["0.51", "0.51", "1.00", "1.00"]
    assert [label.get_text() for label in panel.get_yticklabels()] == ["mine", "oful"]


@pytest.mark.parametrize("draw", [regret_over_rounds, final_regret, regret_grid])
def test_names_are_no_formulas(results: pl.DataFrame, tmp_path: Path, draw: Any) -> None:
    named = results.with_columns(
        problem=pl.lit("1 $ and 2 $ \\frac"),
        policy=pl.col("policy").replace({"mine": "mine $\\x$"}),
    )
    _, svg = write(draw(named, title="$\\sqrt$"), tmp_path / "figure")
    assert Path(svg).stat().st_size > 5000


def test_labels_do_not_overlap() -> None:
    placed = spread([1.0, 1.01, 1.02, 5.0], 0.5)
    assert all(b - a >= 0.5 - 1e-6 for a, b in itertools.pairwise(placed))
    assert placed[3] == 5.0


def test_many_problems_make_rows(results: pl.DataFrame) -> None:
    one = results.filter(pl.col("problem") == "easy")
    many = pl.concat([one.with_columns(problem=pl.lit(f"p{i}")) for i in range(6)])
    figure = regret_over_rounds(many)
    assert len(figure.axes) == 6
    three = regret_over_rounds(many.filter(pl.col("problem") < "p3"))
    assert figure.get_figwidth() == three.get_figwidth()
    assert figure.get_figheight() == 2 * three.get_figheight()


def by_family(horizons: pl.DataFrame) -> pl.DataFrame:
    names = horizons["problem"].unique().to_list()
    return with_families(horizons, {name: name.split()[0] for name in names})


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
    assert np.size(on_floor.get_xdata()) == 2
    assert f"open: below {HORIZON_FLOOR}" in panel.get_ylabel()
    assert np.all(on_floor.get_ydata() == HORIZON_FLOOR)
    with pytest.raises(ValueError, match="floor"):
        regret_against_horizon(none, floor=0.0)


def test_labels_stay_within_the_panel() -> None:
    placed = spread([0.0, 0.01, 0.02, 0.9, 0.99, 1.0], 0.1, (0.0, 1.0))
    assert all(b - a >= 0.1 - 1e-4 for a, b in itertools.pairwise(placed))
    assert placed[0] >= 0.0
    assert placed[-1] <= 1.0 + 1e-4


def test_labels_of_a_figure_are_apart(results: pl.DataFrame) -> None:
    one = results.filter(pl.col("policy") == "oful")
    alike = pl.concat([one.with_columns(policy=pl.lit(f"p{i}")) for i in range(9)])
    panel = regret_over_rounds(alike).axes[0]
    heights = sorted(text.get_position()[1] for text in panel.texts)
    assert len(heights) == 9
    assert min(b - a for a, b in itertools.pairwise(heights)) > 0.02


def test_panels_share_a_scale_where_problems_differ_in_noise_only(results: pl.DataFrame) -> None:
    larger = results.with_columns(
        regret=pl.when(problem="hard").then(9.0 * pl.col("regret")).otherwise("regret")
    )
    together = with_series(larger, {"easy": "a", "hard": "a"})
    apart = with_series(larger, {"easy": "a", "hard": "b"})
    easy, hard = regret_over_rounds(together).axes
    assert easy.get_ylim() == hard.get_ylim()
    easy, hard = regret_over_rounds(apart).axes
    assert 5.0 * easy.get_ylim()[1] < hard.get_ylim()[1]
    assert easy.get_ylim()[0] == hard.get_ylim()[0] == 0.0
    easy, hard = final_regret(together).axes
    assert easy.get_xlim() == hard.get_xlim()
    easy, hard = final_regret(apart).axes
    assert 5.0 * easy.get_xlim()[1] < hard.get_xlim()[1]


def test_bands_are_the_intervals(results: pl.DataFrame) -> None:
    panel = regret_over_rounds(results.filter(problem="easy", policy="oful")).axes[0]
    (band,) = panel.collections
    corners = np.asarray(band.get_paths()[0].vertices).tolist()
    assert [100.0, 50.0] in corners
    assert [100.0, 52.0] in corners


def test_one_seed_is_drawn_without_band(results: pl.DataFrame, tmp_path: Path) -> None:
    one = results.filter(pl.col("replicate") == 0)
    for draw in (regret_over_rounds, final_regret, regret_against_variance):
        write(draw(one), tmp_path / "one", ("png",))


def test_widths_are_drawn_where_there_are_some(results: pl.DataFrame) -> None:
    measured = pl.when(pl.col("policy") == "oful").then(1.0 / pl.col("round"))
    figure = width_over_rounds(results.with_columns(width=measured), title="title")
    assert [text.get_text() for axes in figure.axes for text in axes.texts] == ["oful", "oful"]
    assert {axes.get_yscale() for axes in figure.axes} == {"log"}
    with pytest.raises(ValueError, match="width"):
        width_over_rounds(results.with_columns(width=pl.lit(None, pl.Float64)))


def test_alarms_are_marked_where_there_are_any(results: pl.DataFrame) -> None:
    late = (pl.col("problem") == "hard") & (pl.col("policy") == "mine") & (pl.col("round") > 1)
    alarms = pl.when(late & (pl.col("replicate") == 2)).then(1).otherwise(0)
    easy, hard = regret_over_rounds(results.with_columns(alarms=alarms)).axes
    assert easy.get_legend() is None
    legend = hard.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["alarm"]
    marks = [np.array(line.get_data()) for line in hard.lines if line.get_marker() == "v"]
    assert [mark.T.tolist() for mark in marks] == [[[10.0, 3.5]], []]  # on the mean; the legend's
    for axes in regret_over_rounds(results.with_columns(alarms=pl.lit(0))).axes:
        assert axes.get_legend() is None


def test_bars_have_a_row_a_policy_best_first(results: pl.DataFrame) -> None:
    figure = final_regret(results, title="title")
    assert [panel.get_title("left") for panel in figure.axes] == ["easy", "hard"]
    panel = figure.axes[0]
    assert [label.get_text() for label in panel.get_yticklabels()] == ["mine", "oful"]
    assert [
        bar.get_bbox().width for bar in panel.patches if isinstance(bar, Rectangle)
    ] == pytest.approx([26.0, 51.0])
    assert panel.get_xlim()[1] > 52.0
    ends = np.sort(np.concatenate([np.asarray(line.get_xdata()) for line in panel.lines]))
    assert ends == pytest.approx([25.0, 27.0, 50.0, 52.0])


def test_regrets_far_apart_are_dots_on_a_logarithmic_axis(results: pl.DataFrame) -> None:
    scale = pl.when(policy="mine").then(1.0).otherwise(1000.0)
    panel = final_regret(results.with_columns(regret=scale * pl.col("regret"))).axes[0]
    assert panel.get_xscale() == "log"
    assert not panel.patches


def test_a_panel_for_each_series(results: pl.DataFrame) -> None:
    figure = regret_against_variance(with_series(results, {"easy": "a", "hard": "b"}))
    assert [panel.get_title("left") for panel in figure.axes] == ["a", "b"]
    for panel in figure.axes:
        assert sorted(text.get_text() for text in panel.texts) == ["mine", "oful"]


@pytest.mark.parametrize("style", [COLUMN, PAGE], ids=["column", "page"])
def test_figures_of_papers(results: pl.DataFrame, tmp_path: Path, style: Any) -> None:
    width = 3.25 if style is COLUMN else 6.75
    for draw in (regret_over_rounds, final_regret, regret_against_variance, regret_grid):
        figure = draw(results, title="title", style=style)
        assert figure.get_figwidth() == width
        assert figure.get_suptitle() == ""  # the paper's caption says it
        (path,) = write(figure, tmp_path / draw.__name__, style.formats)
        assert Path(path).read_bytes().startswith(b"%PDF")
    assert {axes.xaxis.label.get_fontsize() for axes in figure.axes} == {8.0}


def test_pdf_is_reproducible(results: pl.DataFrame, tmp_path: Path) -> None:
    contents = [
        Path(write(regret_over_rounds(results), tmp_path / stem, ("pdf",))[0]).read_bytes()
        for stem in ("first", "second")
    ]
    assert contents[0] == contents[1]


def test_grid_shows_where_there_is_no_ratio(results: pl.DataFrame) -> None:
    none = results.with_columns(
        regret=pl.when(problem="hard", policy="oful").then(0.0).otherwise("regret")
    )
    (panel,) = regret_grid(none).axes
    assert sorted(text.get_text() for text in panel.texts) == ["-", "-", "0.51", "1.00"]
