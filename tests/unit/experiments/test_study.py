from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from drawings import unrendered
from inline import inline
from typer.testing import CliRunner

import voful
from voful import registry
from voful.cli import app
from voful.experiments.runner.runner import run_study
from voful.experiments.study.study import parse_study, read_study

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

OWN = """
import numpy as np

class Random:
    confidence_set = None

    def __init__(self, dim, boldness=1.0, seed=0):
        self.rng = np.random.default_rng(seed)

    def select(self, arms, mask=None):
        return int(self.rng.integers(len(arms)))

    def update(self, x, reward, *, variance=None):
        pass

class Mute:
    def __init__(self, dim):
        pass

def bandit(scale, seed=0):
    from voful.envs import linear_bandit
    return linear_bandit(dim=2, theta_norm=scale, seed=seed)
"""


def variant(old: str, new: str, text: str = GOOD) -> str:
    assert old in text
    return text.replace(old, new)


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_shipped_studies_are_valid(path: Path) -> None:
    study = read_study(path)
    assert study.name == path.stem
    assert study.runs()


def test_a_study_runs_from_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "small.toml"
    path.write_text(GOOD)
    command = ["run", str(path), "--out", str(tmp_path / "out"), "--workers", "1"]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    assert "4/4 runs" in result.output
    frame = voful.results(tmp_path / "out")
    assert frame["policy"].cast(pl.String).unique(maintain_order=True).to_list() == ["oful", "wide"]
    assert frame["round"].unique().sort().to_list() == [10, 30]
    assert len(frame) == 2 * 2 * 2
    again = CliRunner().invoke(app, command)
    assert again.exit_code == 0
    assert "nothing to do: all 4 runs are stored" in again.output


def test_a_grid_stands_for_many() -> None:
    study = parse_study(
        variant(
            "sigma = 0.1", "sigma = { grid = [0.0, 0.5] }\nrounds = { grid = [40, 80] }"
        ).replace('name = "a"', 'name = "σ={sigma}"')
    )
    assert [p.name for p in study.problems] == [
        "σ=0 rounds=40",
        "σ=0 rounds=80",
        "σ=0.5 rounds=40",
        "σ=0.5 rounds=80",
    ]
    assert [p.length for p in study.problems] == [40, 80, 40, 80]
    assert [p.params["sigma"] for p in study.problems] == [0.0, 0.0, 0.5, 0.5]
    assert study.problems[0].varied == ("sigma", "rounds")
    assert len(study.runs()) == 4 * 2 * 2


def test_a_grid_over_ids_and_parameters_names_policies() -> None:
    text = variant(
        'id = "oful"\nname = "wide"\nwidth_scale = 2.0',
        'id = { grid = ["losan", "betoful"] }\nwidth_scale = { grid = [1.0, 0.5] }',
    )
    assert [c.name for c in parse_study(text).contenders] == [
        "oful",
        "losan width_scale=1",
        "losan width_scale=0.5",
        "betoful width_scale=1",
        "betoful width_scale=0.5",
    ]


def test_a_grid_gives_the_numbers_of_its_tables() -> None:
    """Only the name of a cell counts for its seeds, not how it was declared."""
    grid = parse_study(
        variant('name = "a"', 'name = "s={sigma}"').replace("0.1", "{ grid = [0.1] }")
    )
    table = parse_study(variant('name = "a"', 'name = "s=0.1"'))
    assert [r.key for r in grid.runs()] == [r.key for r in table.runs()]


def test_the_users_own_code(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN)
    text = variant(
        'id = "oful"\nname = "wide"\nwidth_scale = 2.0', 'id = "own.py:Random"\nboldness = 2.0'
    )
    text = variant(
        "dim = 2\nsigma = 0.1", 'family = "own.py:bandit"\nscale = { grid = [0.1, 0.5] }', text
    )
    study = parse_study(text, tmp_path)
    assert [c.name for c in study.contenders] == ["oful", "Random"]
    before = study.contenders[1].code
    assert run_study(study, tmp_path / "out", workers=1).played == 8
    frame = voful.results(tmp_path / "out")
    assert frame["problem_scale"].unique().sort().to_list() == [0.1, 0.5]
    own = frame.filter((pl.col("policy") == "Random") & (pl.col("round") == 30))
    assert (own["regret"] > 0).all()
    assert own["covered"].null_count() == len(own)
    (tmp_path / "own.py").write_text(OWN + "\n# changed\n")
    assert parse_study(text, tmp_path).contenders[1].code != before, "changed code: other runs"


def test_a_module_of_the_users_own(tmp_path: Path) -> None:
    study = parse_study(
        variant('id = "oful"\nname', 'id = "voful.bandits.oful:OFUL"\nname'), tmp_path
    )
    run = study.runs()[-1]
    assert run.contender.code is not None
    assert run.contender.code.load() is voful.OFUL


def test_episodes(tmp_path: Path) -> None:
    study = parse_study(
        'name = "mdp"\nepisodes = 20\nreplicates = 2\n'
        '[[policy]]\nid = "mdp_helpers:Counter"\n'
        '[[problem]]\nname = "H={horizon}"\nfamily = "ctgoal"\nhorizon = { grid = [16, 32] }\n'
    )
    assert study.step == "episode"
    with inline():
        assert run_study(study, tmp_path, workers=2).played == 4
    frame = voful.results(tmp_path)
    assert frame["episode"].max() == 20
    assert frame["problem_horizon"].unique().sort().to_list() == [16, 32]
    assert frame.schema["plans"] == pl.Int64
    assert frame.schema["optimistic"] == pl.Boolean
    assert not set(frame.columns) & {"round", "select_time"}
    with unrendered():
        result = CliRunner().invoke(app, ["report", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert (tmp_path / "regret.svg").exists()


def test_keys_tell_runs_apart() -> None:
    def keys(text: str) -> set[str]:
        return {run.key for run in parse_study(text).runs()}

    base = keys(GOOD)
    assert len(base) == 4
    assert keys(GOOD + "\n# a comment\n") == base
    assert keys(variant('name = "small"', 'name = "other"')) == base
    assert base < keys(variant("replicates = 2", "replicates = 3"))
    for old, new in (
        ("rounds = 30", "rounds = 31"),
        ("replicates = 2", "replicates = 2\nseed = 1"),
        ("record_at = [10, 30]", ""),
        ("sigma = 0.1", "sigma = 0.2"),
        ('name = "a"', 'name = "b"'),
    ):
        assert not keys(variant(old, new)) & base, new
    assert len(keys(variant("width_scale = 2.0", "width_scale = 3.0")) & base) == 2


def test_another_library_has_other_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    before = {run.key for run in parse_study(GOOD).runs()}
    monkeypatch.setattr("voful.experiments.study.run.library_digest", lambda *modules: "other")
    assert not before & {run.key for run in parse_study(GOOD).runs()}


def test_other_arguments_in_the_table_are_other_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    before = {run.key for run in parse_study(GOOD).runs()}
    changed = replace(registry.lookup("oful"), arguments="{'det_growth': 1.0}")
    monkeypatch.setattr(registry, "lookup", lambda id: changed)
    assert not before & {run.key for run in parse_study(GOOD).runs()}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("rounds = 30", "rounds = 0", "rounds: got 0; expected a whole number >= 1"),
        ("rounds = 30", "rounds = true", "rounds: got True; expected a whole number"),
        ("rounds = 30", 'rounds = "many"', "rounds: got 'many'"),
        ("rounds = 30", "rounds = 30\nround = 3", "key: got 'round'.*did you mean 'rounds'"),
        ("rounds = 30", "", "rounds: missing"),
        ("rounds = 30", "rounds = 30\nepisodes = 3", "rounds, episodes: got both"),
        ("rounds = 30", "rounds = [", "not valid TOML"),
        ("replicates = 2", "", "replicates: missing; expected a whole number >= 1"),
        ("replicates = 2", "replicates = 2\nseed = -1", "seed: got -1"),
        ("record_at = [10, 30]", "record_at = []", "record_at: got"),
        ("record_at = [10, 30]", "record_at = [0]", "record_at.0: got 0"),
        ("record_at = [10, 30]", "record_at = [31]", "record_at: got 31; expected at most 30"),
        (
            'id = "oful"\nname',
            'id = "ofull"\nname',
            "policy 2: id: got 'ofull'.*did you mean 'oful'",
        ),
        ('id = "oful"\nname', "name", "policy 2: id: missing"),
        ("width_scale", "widht_scale", "policy 2: key: got 'widht_scale'.*'width_scale'"),
        ("width_scale = 2.0", "seed = 1", "policy 2: key: got 'seed'"),
        ('name = "wide"', 'name = "oful"', "policy: got the name 'oful' twice"),
        ('name = "wide"', "name = 3", "policy 2: name: got 3"),
        ('name = "wide"', 'name = "w={wdth}"', "policy 2: name: got 'w={wdth}'"),
        ('name = "a"\n', "", "problem 1: name: missing"),
        ("sigma", "sigmma", "problem 1: key: got 'sigmma'.*did you mean 'sigma'"),
        ("sigma = 0.1", "sigma = { grid = [] }", "problem 1: sigma: got {'grid': ..}"),
        ("sigma = 0.1", "sigma = { grid = 1 }", "problem 1: sigma: got"),
        ("dim = 2", 'family = "ctgoal"', "problem 1: family: got 'ctgoal'"),
        ("dim = 2", 'family = "linear_bandi"', "did you mean 'linear_bandit'"),
        ('id = "oful"\nname', 'id = "nowhere.py:X"\nname', "policy 2: id: .*nowhere.py:X.*No such"),
        ('id = "oful"\nname', 'id = "no.module:X"\nname', "policy 2: id: .*there is no module"),
        ('id = "oful"\nname', 'id = "own.py:Nothing"\nname', "own.py:Nothing does not load"),
        (
            'id = "oful"\nname',
            'id = "own.py:Mute"\nname',
            "own.py:Mute has no select and no update",
        ),
        ('id = "oful"\nname', 'id = "own.py:Random"\nname', "key: got 'width_scale'.*boldness"),
        ('id = "oful"\nname', 'id = ":X"\nname', "expected path/to/file.py:Name"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    (tmp_path / "own.py").write_text(OWN)
    path = tmp_path / "bad.toml"
    path.write_text(variant(old, new))
    with pytest.raises(ValueError, match=f"bad.toml: .*{message}"):
        read_study(path)
    result = CliRunner().invoke(app, ["run", str(path), "--out", str(tmp_path / "out")])
    assert result.exit_code == 2
    assert not (tmp_path / "out").exists()
