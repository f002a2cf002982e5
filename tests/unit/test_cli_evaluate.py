from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import voful
from voful.cli import app
from voful.report.page.evaluation import evaluation_data

runner = CliRunner()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    n = 600
    a = rng.integers(0, 2, n)
    frame = pl.DataFrame(
        {
            "action": a,
            "reward": (rng.random(n) < 0.2 + 0.5 * a).astype(int),
            "propensities": np.full((n, 2), 0.5).tolist(),
            "new": np.tile([0.1, 0.9], (n, 1)).tolist(),
            "old": np.tile([0.8, 0.2], (n, 1)).tolist(),
            "arms": np.tile(np.eye(2), (n, 1, 1)).tolist(),
        }
    )
    path = tmp_path / "log.parquet"
    frame.write_parquet(path)
    return path


def run(*arguments: object) -> Any:
    return runner.invoke(app, ["evaluate", *map(str, arguments)])


def test_policies_side_by_side(log: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = run(log, "--target", "new", "--target", "old", "--out", page)
    assert done.exit_code == 0, done.output
    found = {name: voful.evaluate(log, name) for name in ("new", "old")}
    for name, one in found.items():
        assert f"[{one.lower:.4g}, {one.upper:.4g}]" in done.output
        assert name in done.output
    text = page.read_text()
    assert "log.parquet · voful evaluate" in text
    assert "{{" not in text
    data = evaluation_data("log", found)
    assert [policy["name"] for policy in data["policies"]] == ["new", "old"]
    assert data["found"][0]["low"][-1] == pytest.approx(found["new"].lower, rel=1e-4)


def test_comparisons_and_json(log: Path, tmp_path: Path) -> None:
    done = run(log, "--target", "new", "--against", "old", "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)["new"]
    assert told["lower"] == voful.compare(log, "new", "old").lower > 0.0
    assert len(told["trajectory"]["n"]) > 10
    policy = voful.OFUL(2, reward_range=(0, 1))
    policy.save(tmp_path / "oful.voful")
    done = run(log, "--policy", tmp_path / "oful.voful", "--against", "logged", "--json")
    expected = voful.compare(log, policy)
    assert json.loads(done.stdout)["oful"]["upper"] == expected.upper


def test_bad_rows_are_named_or_counted(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    lines = ["action,reward,propensity,new"] + ["0,1,0.5,0.5"] * 50
    bad = ["0,oops,0.5,0.5", "0,,0.5,0.5", "0,1,0,0.5", "0,3,0.5,0.5", "x,1,0.5,0.5", "0,1,0.5,2"]
    path.write_text("\n".join(lines + bad) + "\n")
    done = run(path, "--target", "new")
    assert done.exit_code == 2
    assert "expected a number" in done.output
    done = run(path, "--target", "new", "--skip-bad")
    assert done.exit_code == 0, done.output
    assert "6 rows left out" in done.output
    assert "2 × reward: missing" in done.output
    assert "are void" in done.output
    good = tmp_path / "good.csv"
    good.write_text("\n".join(lines) + "\n")
    one = voful.evaluate(good, "new")
    assert f"[{one.lower:.4g}, {one.upper:.4g}]" in done.output


def test_what_a_user_can_mend(log: Path, tmp_path: Path) -> None:
    voful.Evaluator().save(tmp_path / "e.voful")
    for arguments, message in (
        ((log,), "--target"),
        ((log, "--target", "newer"), "'newer'"),
        ((log, "--target", "new", "--reward-range", 0, 0.5), "reward_range"),
        ((log, "--target", "new", "--estimator", "best"), "estimator"),
        ((log, "--policy", tmp_path / "e.voful"), "--policy"),
        ((tmp_path / "none.csv", "--target", "new"), "exist"),
    ):
        done = run(*arguments)
        assert done.exit_code == 2, done.output
        assert message in done.output


def test_wrong_propensities_are_said(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("action,reward,propensity,new\n" + "0,1,0.1,0.9\n" * 300)
    done = run(path, "--target", "new")
    assert done.exit_code == 0, done.output
    assert "new: the propensities are wrong" in done.output
