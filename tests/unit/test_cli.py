from __future__ import annotations

import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from drawings import unrendered
from inline import inline
from typer.testing import CliRunner

import voful
from voful import registry
from voful.cli import app
from voful.experiments.study.demo import demo_study

runner = CliRunner()


def test_list_prints_one_plain_line_per_id() -> None:
    output = subprocess.run(
        [sys.executable, "-m", "voful", "list"], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert [line.split("\t")[0] for line in output] == [entry.id for entry in registry.entries()]
    for line, entry in zip(output, registry.entries(), strict=True):
        assert entry.paper in line
        assert entry.guarantee in line


def test_demo_prints_a_table_writes_a_figure_and_opens_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr("voful.cli._warm", lambda *args: None)  # test_warming is about it
    monkeypatch.setattr("voful.experiments.study.demo.SNAPSHOTS", 5)
    size = ["--rounds", "50", "--replicates", "2", "--workers", "1"]
    arguments = ["demo", "--out", str(tmp_path / "d"), *size]
    with inline(), unrendered():
        result = runner.invoke(app, [*arguments, "--open"])
    assert result.exit_code == 0, result.output
    assert opened == [(tmp_path / "d" / "report.html").resolve().as_uri()]
    assert f"page: {opened[0]}" in result.output
    for contender in demo_study().contenders:
        assert contender.name in result.output
    assert "100%" in result.output
    wanted = {"regret.svg", "theatre.svg", "report.html"}
    assert wanted <= {path.name for path in (tmp_path / "d").iterdir()}
    monkeypatch.setattr("voful.cli.report", lambda *args: None)
    assert runner.invoke(app, [*arguments, "--no-open"]).exit_code == 0
    assert len(opened) == 1


def test_bench_writes_json(tmp_path: Path) -> None:
    result = runner.invoke(
        app,
        [
            "bench",
            "--rounds",
            "40",
            "--repetitions",
            "1",
            "--dim",
            "2",
            "--json",
            str(tmp_path / "b"),
        ],
    )
    assert result.exit_code == 0, result.output
    assert json.loads((tmp_path / "b").read_text())[0]["ratio"] == 1.0


def test_version_and_help() -> None:
    assert runner.invoke(app, ["--version"]).output.strip() == voful.__version__
    assert "demo" in runner.invoke(app, ["--help"]).output


def test_bad_options_are_refused() -> None:
    for arguments in (["demo", "--rounds", "0"], ["bench", "--dim", "x"], ["nonsense"]):
        assert runner.invoke(app, arguments).exit_code == 2


def test_bench_measures_one_policy_agents_and_growth(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from voful.bench import episodic, sweep

    size = {"horizon": 10, "n_states": 3, "n_actions": 2, "dim": 2, "episodes": 3}
    small_agents = partial(episodic.measure_episodic, base=size, changes=[{}])
    small_sweep = partial(
        sweep.sweep_sizes, dims=[2], arms=[3], rounds=[20], dim=2, n_arms=3, repetitions=1
    )
    monkeypatch.setattr(episodic, "measure_episodic", small_agents)
    monkeypatch.setattr(sweep, "sweep_sizes", small_sweep)
    out = tmp_path / "b"
    for flags, name in (
        (["--only", "losan", "--rounds", "40", "--repetitions", "1"], "losan"),
        (["--episodic", "--only", "ucrl-vtr"], "ucrl-vtr"),
        (["--sweep", "--only", "losan"], "losan"),
    ):
        result = runner.invoke(app, ["bench", *flags, "--json", str(out)])
        assert result.exit_code == 0, result.output
        assert name in result.output
        assert name in [row["name"] for row in json.loads(out.read_text())]
    assert runner.invoke(app, ["bench", "--only", "nonsense"]).exit_code == 2
