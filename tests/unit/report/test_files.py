from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from drawings import unrendered

from voful.experiments.store.manifest import Manifest
from voful.experiments.store.store import Store
from voful.experiments.study.run import Contender, Problem
from voful.experiments.study.study import Study
from voful.report.files import MOST_PANELS, write_report
from voful.report.statistics.summaries import final_table, regret_curves


@pytest.fixture
def blank() -> Iterator[None]:
    with unrendered():
        yield


BLANK = pytest.mark.usefixtures("blank")


def stored(
    directory: Path, n_problems: int = 3, policies: tuple[str, ...] = ("losan", "oful")
) -> Store:
    """A study of which all runs but those of seed 2 of oful are there; one of these failed."""
    study = Study(
        "noise",
        tuple(Problem(f"σ={s}", {"dim": 2, "sigma": s}, 10) for s in range(n_problems)),
        tuple(Contender(name, name) for name in policies),
        replicates=3,
    )
    store = Store(directory)
    with store.locked():
        store.write_manifest(Manifest.of(study))
        for run in study.runs():
            if run.contender.name == "oful" and run.replicate == 2:
                if run.problem.name == "σ=1":
                    store.add_failure(run.key, {"traceback": "ZeroDivisionError"})
                continue
            scale = 1.0 + run.replicate + run.problem.params["sigma"]
            store.add(
                run,
                {
                    "round": [1, 5, 10],
                    "regret": [scale, 2.0 * scale, 3.0 * scale],
                    "sum_variance": [run.problem.params["sigma"] * k for k in (1.0, 5.0, 10.0)],
                    "covered": [True] * 3,
                    "width": [2.0, 1.0, 0.5],
                    "select_time": [1e-6, 5e-6, 1e-5],
                },
            )
    return store


def test_a_report_of_what_is_there_says_what_is_not(tmp_path: Path) -> None:
    report = write_report(stored(tmp_path).directory)
    assert report.missing.rows() == [
        ("σ=0", "oful", 3, 2, 0),
        ("σ=1", "oful", 3, 2, 1),
        ("σ=2", "oful", 3, 2, 0),
    ]
    assert report.reference == "oful"
    assert report.final.equals(final_table(report.results))
    assert report.differences["seeds"].to_list() == [2, 2, 2]
    assert set(report.growth["with"].unique()) == {"K", "variance"}
    names = {path.name for path in report.paths}
    for stem in ("regret", "width", "final", "variance"):
        assert {f"{stem}.{suffix}" for suffix in ("csv", "png", "svg", "pdf")} <= names
    assert len(names) == len(report.paths) == 4 * 4 + 2
    assert all(path.stat().st_size > 0 for path in report.paths)
    read = pl.read_csv(tmp_path / "regret.csv")  # the numbers of a figure stand beside it
    assert read["regret_low"].to_list() == pytest.approx(
        regret_curves(report.results)["regret_low"].to_list()
    )


@BLANK
def test_papers_get_two_widths(tmp_path: Path) -> None:
    report = write_report(stored(tmp_path).directory, "paper")
    drawn = {path.name for path in report.paths if path.suffix != ".csv"}
    assert {"regret_column.pdf", "regret_page.pdf", "variance_column.pdf"} <= drawn
    assert all(name.endswith(".pdf") for name in drawn)
    with pytest.raises(ValueError, match="style"):
        write_report(tmp_path, "poster")


@BLANK
def test_many_problems_make_a_grid(tmp_path: Path) -> None:
    report = write_report(stored(tmp_path, MOST_PANELS + 1).directory, "paper")
    drawn = {path.name for path in report.paths if path.suffix != ".csv"}
    assert "grid_page.pdf" in drawn
    assert "grid_column.pdf" not in drawn  # nine columns of numbers do not fit
    assert not any(name.startswith("regret") for name in drawn)


@BLANK
def test_the_reference_is_the_first_where_there_is_no_oful(tmp_path: Path) -> None:
    assert write_report(stored(tmp_path, 1, ("save", "losan")).directory).reference == "save"


def test_nothing_stored(tmp_path: Path) -> None:
    store = stored(tmp_path)
    for path in store.runs.iterdir():
        path.unlink()
    with pytest.raises(ValueError, match="no results"):
        write_report(tmp_path)
