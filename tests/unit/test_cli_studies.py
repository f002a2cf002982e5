"""show, merge, export and report, on a small study."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from drawings import unrendered
from inline import inline
from typer.testing import CliRunner

import voful
from voful.cli import app
from voful.experiments.runner.runner import run_study
from voful.experiments.store.store import Store
from voful.experiments.study.run import Contender, Problem
from voful.experiments.study.study import Study, read_study

runner = CliRunner()

STUDY = Study(
    "small",
    tuple(Problem(f"σ={s}", {"dim": 2, "sigma": s}, 20) for s in (0.0, 0.1, 0.2)),
    (Contender("oful", "oful"), Contender("losan", "losan")),
    replicates=2,
)


@pytest.fixture(autouse=True, scope="module")
def in_this_process() -> Iterator[None]:
    with inline():
        yield


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("small")
    run_study(STUDY, out, workers=2, only="*/oful/*")
    return out


def test_show(played: Path) -> None:
    shown = runner.invoke(app, ["show", str(played)])
    assert shown.exit_code == 0, shown.output
    assert "small: 6 of 12 runs stored\n" in shown.output
    assert "σ=0.1/oful: 2 of 2" in shown.output
    assert "σ=0.1/losan: 0 of 2" in shown.output
    assert f"voful {voful.__version__}," in shown.output


def test_export(played: Path, tmp_path: Path) -> None:
    done = runner.invoke(app, ["export", str(played), "--csv", str(tmp_path / "x.csv")])
    assert done.exit_code == 0, done.output
    exported = pl.read_csv(tmp_path / "x.csv")
    frame = voful.results(played)
    assert exported.columns == frame.columns
    assert exported["regret"].to_list() == frame["regret"].to_list()


def test_merge(played: Path, tmp_path: Path) -> None:
    run_study(STUDY, tmp_path / "b", workers=2, only="*/losan/*")
    done = runner.invoke(app, ["merge", str(tmp_path / "all"), str(played), str(tmp_path / "b")])
    assert done.exit_code == 0, done.output
    assert done.output.count("6 runs of") == 2
    assert voful.results(tmp_path / "all")["policy"].n_unique() == 2
    other = Study("other", (Problem("σ=0.1", {"dim": 3}, 20),), STUDY.contenders, 1)
    run_study(other, tmp_path / "c", workers=1)
    refused = runner.invoke(app, ["merge", str(tmp_path / "all"), str(tmp_path / "c")])
    assert refused.exit_code == 2
    assert "two ways" in " ".join(refused.output.replace("│", " ").split())


def test_a_report_says_what_is_missing_and_what_failed(played: Path, tmp_path: Path) -> None:
    shutil.copytree(played, tmp_path / "part")
    broken = next(run for run in STUDY.runs() if run.label == "σ=0.1/losan/1")
    Store(tmp_path / "part").add_failure(broken.key, {"traceback": "ZeroDivisionError"})
    with unrendered():
        done = runner.invoke(app, ["report", str(tmp_path / "part")])
    assert done.exit_code == 0, done.output
    assert "missing: 6 of the declared runs, 1 failed\n" in done.output
    assert "  σ=0.1/losan: 0 of 2 runs, 1 failed\n" in done.output
    assert "  σ=0.2/losan: 0 of 2 runs\n" in done.output
    for name in ("regret.svg", "regret.png", "regret.pdf", "regret.csv", "variance.svg"):
        assert (tmp_path / "part" / name).exists()
        assert f"written: {tmp_path / 'part' / name}" in done.output
    assert "95% intervals" in done.output
    assert "sum of variances" in done.output


def test_report_for_a_paper(played: Path, tmp_path: Path) -> None:
    shutil.copytree(played / "runs", tmp_path / "runs")
    shutil.copy(played / "manifest.json", tmp_path)
    with unrendered():
        done = runner.invoke(app, ["report", str(tmp_path), "--style", "paper"])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "regret_column.pdf").exists()
    assert (tmp_path / "regret_page.pdf").exists()
    assert not list(tmp_path.glob("*.png"))
    refused = runner.invoke(app, ["report", str(tmp_path), "--style", "poster"])
    assert refused.exit_code == 2


def test_report_of_horizons(tmp_path: Path) -> None:
    study = tmp_path / "h.toml"
    study.write_text(
        'name = "h"\nepisodes = 5\nreplicates = 1\n[[policy]]\nid = "likelihood-ucrl"\n'
        '[[problem]]\nname = "goal"\nfamily = "ctgoal"\nhorizon = { grid = [16, 32] }\n'
        '[[problem]]\nname = "queue"\nfamily = "ctqueue"\nhorizon = { grid = [16, 32] }\n'
    )
    run_study(read_study(study), tmp_path / "out", workers=1)
    with unrendered():
        done = runner.invoke(app, ["report", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    numbers = (tmp_path / "out" / "horizon.csv").read_text()
    assert "ctgoal" in numbers
    assert "ctqueue" in numbers
    for name in ("horizon.svg", "regret.svg"):
        assert (tmp_path / "out" / name).exists()


@pytest.mark.parametrize("command", ["show", "report"])
def test_a_directory_without_results(command: str, tmp_path: Path) -> None:
    done = runner.invoke(app, [command, str(tmp_path)])
    assert done.exit_code == 1
    assert done.exception is None or isinstance(done.exception, SystemExit)
    assert runner.invoke(app, [command, str(tmp_path / "nothing")]).exit_code == 2


def test_bad_options_of_run(tmp_path: Path) -> None:
    study = tmp_path / "s.toml"
    study.write_text(
        'name = "s"\nrounds = 5\nreplicates = 1\n[[policy]]\nid = "oful"\n'
        '[[problem]]\nname = "a"\ndim = 2\n'
    )
    for options in (["--backend", "threads"], ["--only", "nothing"], ["--address", "x"]):
        command = ["run", str(study), "--out", str(tmp_path / "out"), *options]
        done = runner.invoke(app, command)
        assert done.exit_code == 2, done.output
        assert not (tmp_path / "out").exists()


def test_names_are_no_markup(tmp_path: Path) -> None:
    study = tmp_path / "odd.toml"
    study.write_text("""
name = "odd" # {{script}} and {{style}}
rounds = 10
replicates = 1
policy = [{ id = "oful", name = "mine [/bold]" }]
problem = [{ name = "a [sigma=0.1]", dim = 2 }]
""")
    out = tmp_path / "r[red]s"
    played = runner.invoke(app, ["run", str(study), "--out", str(out), "--workers", "1"])
    assert played.exit_code == 0, played.output
    assert "a [sigma=0.1]" in played.output
    assert "r[red]s" in played.output
    with unrendered():
        reported = runner.invoke(app, ["report", str(out)])
    assert reported.exit_code == 0, reported.output
    assert "mine [/bold]" in reported.output
    assert "{{script}}" in (out / "report.html").read_text()
