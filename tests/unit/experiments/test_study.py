from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from voful.cli import app
from voful.experiments.study import read_study

STUDIES = sorted((Path(__file__).parents[3] / "studies").glob("*.toml"))

GOOD = """
name = "small"
rounds = 30
replicates = 2
record_at = [10, 30]
[[policy]]
id = "oful"
[[policy]]
id = "oful"
name = "wide"
width_scale = 2.0
[[problem]]
name = "a"
dim = 2
sigma = 0.1
"""


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_shipped_studies_are_valid(path: Path) -> None:
    study = read_study(path)
    assert study.name == path.stem
    assert study.runs()


def test_a_study_runs_from_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "small.toml"
    path.write_text(GOOD)
    result = CliRunner().invoke(
        app, ["run", str(path), "--out", str(tmp_path / "out"), "--workers", "1"]
    )
    assert result.exit_code == 0, result.output
    frame = pl.read_parquet(tmp_path / "out" / "results.parquet")
    assert sorted(frame["policy"].cast(pl.String).unique()) == ["oful", "wide"]
    assert frame["round"].unique().sort().to_list() == [10, 30]
    assert len(frame) == 2 * 2 * 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("rounds = 30", "rounds = 0"), "rounds: got 0"),
        (("rounds = 30", "round = 30"), "key: got 'round'"),
        (("rounds = 30", ""), "rounds: missing"),
        (('id = "oful"\nname', 'id = "ofull"\nname'), "did you mean 'oful'"),
        (('name = "a"\n', ""), "problem.name: missing"),
        (('name = "wide"', 'name = "oful"'), "same name"),
        (("rounds = 30", "rounds = ["), "not valid TOML"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(GOOD.replace(*change))
    with pytest.raises(ValueError, match=f"bad.toml: .*{message}"):
        read_study(path)
    result = CliRunner().invoke(app, ["run", str(path), "--out", str(tmp_path / "out")])
    assert result.exit_code == 2
