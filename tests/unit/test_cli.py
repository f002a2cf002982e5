from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from typer.testing import CliRunner

import voful
from voful import registry
from voful.cli import app
from voful.experiments.demo import demo_study

runner = CliRunner()


def test_list_prints_one_plain_line_per_id() -> None:
    output = subprocess.run(
        [sys.executable, "-m", "voful", "list"], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert [line.split("\t")[0] for line in output] == [entry.id for entry in registry.entries()]
    for line, entry in zip(output, registry.entries(), strict=True):
        assert entry.paper in line
        assert entry.guarantee in line


def test_demo_prints_a_table_and_writes_a_figure(tmp_path: Path) -> None:
    result = runner.invoke(
        app,
        [
            "demo",
            "--out",
            str(tmp_path / "d"),
            "--rounds",
            "50",
            "--replicates",
            "2",
            "--workers",
            "1",
        ],
    )
    assert result.exit_code == 0, result.output
    for contender in demo_study().contenders:
        assert contender.name in result.output
    assert "100%" in result.output
    wanted = {"regret.svg", "theatre.svg", "report.html"}
    assert wanted <= {path.name for path in (tmp_path / "d").iterdir()}


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
