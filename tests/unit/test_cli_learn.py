"""`voful learn`."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import voful
from helpers import sphere
from voful.cli import app, main

runner = CliRunner()
D = 3


@pytest.fixture
def logs(tmp_path: Path) -> list[str]:
    rng = np.random.default_rng(0)
    paths = []
    for number in range(2):
        X = sphere(rng, 60, D)
        y = X @ [0.3, -0.2, 0.1] + 0.1 * rng.choice([-1.0, 1.0], 60)
        path = tmp_path / f"{number}.parquet"
        pl.DataFrame({"x": X, "reward": y}).write_parquet(path)
        paths.append(str(path))
    return paths


def test_learns_and_goes_on(logs: list[str], tmp_path: Path) -> None:
    out = str(tmp_path / "p.voful")
    done = runner.invoke(app, ["learn", logs[0], "--policy", "betoful", "--out", out])
    assert done.exit_code == 0, done.output
    assert "after 60 observations" in done.output
    policy = voful.load(out)
    assert (policy.dim, policy.refresh, policy.n_observations) == (D, False, 60)
    assert not list(tmp_path.glob("*.part"))
    more = ["learn", logs[1], "--policy", out, "--out", out]
    done = runner.invoke(app, [*more, "--dim", "4"])
    assert done.exit_code == 2
    assert "dim: got 4" in done.output
    assert runner.invoke(app, more).exit_code == 0
    assert voful.load(out).n_observations == 120
    again = runner.invoke(app, more)
    assert again.exit_code == 2
    assert "not learnt" in again.output


def test_shards_and_arguments(logs: list[str], tmp_path: Path) -> None:
    out = tmp_path / "p.voful"
    told = ["--param", "ridge=2", "--failure-prob", "0.1", "--reward-range", "-2", "2"]
    command = ["learn", *logs, "--policy", "oful", "--out", str(out), "--shards", "2", *told]
    done = runner.invoke(app, command)
    assert done.exit_code == 0, done.output
    policy = voful.load(out)
    assert (policy.ridge, policy.failure_prob, policy.reward_range) == (2.0, 0.1, (-2.0, 2.0))
    assert policy.n_observations == 120


def test_a_warning_stands_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without the line of code that called: it is Typer's."""
    log, out = tmp_path / "turned.parquet", tmp_path / "p.voful"
    X, turned = np.tile([1.0, 0.0, 0.0], (400, 1)), np.repeat([0.9, -0.9], 200)
    pl.DataFrame({"x": X, "reward": turned}).write_parquet(log)
    command = ["voful", "learn", str(log), "--policy", "betoful", "--param", "on_change=warn"]
    monkeypatch.setattr("sys.argv", [*command, "--out", str(out)])
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        with pytest.raises(SystemExit, match="0"):
            main()
    said = capsys.readouterr().err
    assert said.startswith("BetOFUL is refuted: the data refute the model")
    assert ".py" not in said


def test_bad_input_is_said_in_one_line(logs: list[str], tmp_path: Path) -> None:
    out, bad = tmp_path / "p.voful", tmp_path / "bad.csv"
    bad.write_text('x,reward\n"[1, 0, 0]",0.5\n"[0, 1, 0]",7\n')
    command = ["learn", logs[0], str(bad), "--policy", "oful", "--out", str(out)]
    done = runner.invoke(app, command)
    assert done.exit_code == 2
    assert "bad.csv: reward[1]: got 7" in done.output.replace("\n", " ").replace("│", "")
    assert not list(tmp_path.glob("p.voful*"))
    done = runner.invoke(app, [*command, "--skip-bad"])
    assert done.exit_code == 0
    assert "1 rows left out" in done.output
    for wrong in (["--policy", "varlin"], ["--policy", "nothing"], ["--param", "ridge"]):
        base = ["learn", logs[0], "--out", str(out), "--policy", "oful", *wrong]
        assert runner.invoke(app, base).exit_code == 2


@pytest.mark.parametrize(
    ("text", "policy", "said"),
    [
        ("user,clicked\n1,0\n", "betoful", "a row with a column 'x' or 'arms'"),
        ("x,reward\n0.1 0.2,0.5\n", "betoful", "a list of numbers, such as [0.5, 1]"),
        ("x,reward\n0.1,0.5\n", "betoful", "a list of numbers, such as [0.5, 1]"),
        ('x,reward\n"[0.1, 0.2]",0.5\n', "voful", "n_rounds=VALUE too"),
    ],
)
def test_a_file_as_a_beginner_writes_it(text: str, policy: str, said: str, tmp_path: Path) -> None:
    log, out = tmp_path / "log.csv", tmp_path / "p.voful"
    log.write_text(text, encoding="utf-8")
    done = runner.invoke(app, ["learn", str(log), "--policy", policy, "--out", str(out)])
    assert done.exit_code == 2
    assert said in " ".join(done.output.replace("│", " ").split())
    assert not out.exists()
