"""The page's data, against the results themselves."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from inline import inline

import voful
from helpers import full
from voful.experiments.runner.runner import run_study
from voful.experiments.store.manifest import Manifest
from voful.experiments.store.store import Store
from voful.experiments.study.run import Contender, Problem
from voful.experiments.study.study import Study, parse_study
from voful.report.page import write_page
from voful.report.page.data import MOST_POINTS, MOST_SEEDS, page_data
from voful.report.page.numbers import short
from voful.report.statistics.differences import paired_differences
from voful.report.statistics.groups import reference_of
from voful.report.statistics.growth import growth_exponents
from voful.report.statistics.summaries import final_table

STUDY = Study(
    "small </script><b>&amp;",
    tuple(Problem(f"σ={s}", {"dim": 2, "sigma": s}, 40) for s in (0.0, 0.1, 0.2)),
    tuple(Contender(id, id) for id in ("betoful", "oful", "epsilon-greedy")),
    replicates=5,
    snapshots=6,
)


@pytest.fixture(autouse=True, scope="module")
def in_this_process() -> Iterator[None]:
    with inline():
        yield


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("small")
    run_study(STUDY, out, workers=2)
    return out


def embedded(page: Path) -> dict[str, Any]:
    """What the file holds."""
    found = re.search(
        r'<script type="application/json" id="data">(.*?)</script>', page.read_text(), re.DOTALL
    )
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


def test_every_number_of_the_headline_follows_from_the_results(played: Path) -> None:
    data = embedded(write_page(played))
    table = data["table"]
    frame = voful.results(played)
    last = frame.filter(pl.col("round") == 40)
    assert len(table["problem"]) == 9
    again = {row["problem"] + row["policy"]: row for row in final_table(frame).rows(named=True)}
    for row in paired_differences(frame, "oful").rows(named=True):
        again[row["problem"] + row["policy"]] |= row
    for row in growth_exponents(frame).filter(pl.col("with") == "K").rows(named=True):
        again[row["group"] + row["policy"]] |= row
    for i, (p, a) in enumerate(zip(table["problem"], table["policy"], strict=True)):
        problem, policy = data["problems"][p]["name"], data["policies"][a]["name"]
        on = last.filter(pl.col("problem") == problem)
        runs = on.filter(pl.col("policy") == policy)
        regret = runs["regret"].to_numpy()
        row = {name: column[i] for name, column in table.items()}
        base = on.filter(pl.col("policy") == "oful")["regret"].to_numpy().mean()
        seconds = runs["select_time"].to_numpy() + runs["update_time"].to_numpy()
        expected = {
            "regret": regret.mean(),
            "ratio": regret.mean() / base,
            "time_per_step": 1e6 * np.median(seconds) / 40,
            "least": regret.min(),
            "regret_median": np.median(regret),
            "most": regret.max(),
        }
        for name in ("regret", "coverage", "difference", "exponent"):
            for end in (f"{name}_low", f"{name}_high"):
                expected[end] = again[problem + policy].get(end)
        if policy != "oful":
            expected["difference"] = regret.mean() - base  # all seeds are there
            expected["won"] = again[problem + policy]["won"]
        for name, value in expected.items():
            if value is None:
                assert row[name] is None, name
            else:
                assert row[name] == pytest.approx(value, rel=1e-4, abs=1e-9), name
        assert row["runs"] == 5
        assert row["regret_low"] <= row["regret"] <= row["regret_high"]
        if policy == "epsilon-greedy":
            assert row["coverage"] is None
        else:
            assert row["coverage"] == pytest.approx(np.mean(runs["covered"].to_numpy()))


def test_curves_are_the_results(played: Path) -> None:
    data = page_data(played)
    frame = voful.results(played)
    assert len(data["curves"]["cells"]) == 9
    for cell in data["curves"]["cells"]:
        runs = frame.filter(
            (pl.col("problem") == data["problems"][cell["problem"]]["name"])
            & (pl.col("policy") == data["policies"][cell["policy"]]["name"])
        )
        steps = data["curves"]["steps"][cell["steps"]]
        assert steps == runs["round"].unique().sort().to_list()
        assert set(cell["seeds"]) == {str(k) for k in range(5)}
        for seed, curve in cell["seeds"].items():
            own = runs.filter(pl.col("replicate") == int(seed)).sort("round")["regret"]
            assert curve == pytest.approx(own.to_list(), rel=1e-4, abs=1e-9)
        mean = np.mean(list(cell["seeds"].values()), axis=0)
        assert cell["mean"] == pytest.approx(mean, rel=1e-3, abs=1e-9)


def test_alarms_on_the_page(played: Path, tmp_path: Path) -> None:
    study = parse_study(
        'name = "flip"\nrounds = 600\nreplicates = 2\n'
        'policy = [{ id = "betoful" }, { id = "oful" }]\n'
        'problem = [{ name = "a", dim = 2, sigma = 0.1, change_at = [300], change = "flip" }]\n'
    )
    run_study(study, tmp_path, workers=1)
    data, frame = page_data(tmp_path), voful.results(tmp_path)
    count = dict(zip(data["table"]["policy"], data["table"]["alarms"], strict=True))
    assert count[0] >= 1.0
    assert count[1] == 0.0
    cell = next(cell for cell in data["curves"]["cells"] if cell["policy"] == 0)
    counted = frame.filter(policy="betoful").group_by("round").agg(pl.col("alarms").mean())
    assert cell["alarms"] == pytest.approx(counted.sort("round")["alarms"].to_list())
    assert not any("alarms" in cell for cell in page_data(played)["curves"]["cells"])


def test_a_text_cannot_leave_its_element(played: Path) -> None:
    text = write_page(played).read_text()
    assert embedded(played / "report.html")["name"] == STUDY.name
    assert text.count("</script>") == 2
    assert "<title>small &lt;/script&gt;" in text
    for outside in ("http://", "https://", "src=", "@import", "url(h"):
        assert outside not in text.replace("http://www.w3.org", "")


def test_the_same_results_give_the_same_bytes(played: Path) -> None:
    assert write_page(played).read_bytes() == write_page(played).read_bytes()


def test_panels_of_noise_and_the_theatre(played: Path) -> None:
    data = page_data(played)
    (panel,) = data["variance"]
    assert panel["title"] == ""  # their names share no word
    assert data["widths"]["cells"]
    assert {line["policy"] for line in panel["lines"]} == {0, 1, 2}
    assert all(len(line["x"]) == 3 for line in panel["lines"])
    assert data["horizon"] == []
    assert len(data["theatre"]) == 9
    run = data["theatre"][0]
    assert len(run["arms"]) == 1  # they never change
    assert run["frames"][-1]["round"] == 40


def test_horizons_on_the_page(tmp_path: Path) -> None:
    study = parse_study(
        'name = "h"\nepisodes = 5\nreplicates = 1\npolicy = [{ id = "likelihood-ucrl" }]\n'
        '[[problem]]\nname = "{family} H={horizon}"\nfamily = { grid = ["ctgoal", "ctqueue"] }\n'
        "horizon = { grid = [16, 32] }\n"
    )
    run_study(study, tmp_path, workers=1)
    data = page_data(tmp_path)
    assert [panel["title"] for panel in data["horizon"]] == ["ctgoal", "ctqueue"]
    assert data["horizon"][0]["lines"][0]["x"] == [16, 32]
    assert data["variance"] == []
    assert data["table"]["regret_low"] == [None] * 4  # one seed has no error
    assert "seeds" not in data["curves"]["cells"][0]


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(
        "from voful import OFUL\n"
        "class Bad(OFUL):\n"
        "    def update(self, x, reward, *, variance=None):\n"
        "        raise ZeroDivisionError('my own mistake')\n"
    )
    study = parse_study(
        'name = "m"\nrounds = 9\nreplicates = 2\n'
        'policy = [{ id = "oful" }, { id = "bad.py:Bad" }, { id = "losan" }]\n'
        'problem = [{ name = "a", dim = 2 }]\n',
        tmp_path,
    )
    run_study(study, tmp_path / "out", workers=1, only="a/[oB]*/*")
    missing = page_data(tmp_path / "out")["missing"]
    assert (missing["declared"], missing["stored"], missing["failed"]) == (6, 2, 2)
    assert missing["cells"] == [[0, 1, 2, 0, 2], [0, 2, 2, 0, 0]]
    label, traceback = missing["failures"][0]
    assert label == "a/Bad/0"
    assert "my own mistake" in traceback
    write_page(tmp_path / "out")


def test_the_command_leaves_out_what_was_left_out(tmp_path: Path) -> None:
    run_study(STUDY, tmp_path, workers=1, only="σ=0.1/oful/0")
    store = Store(tmp_path)
    manifest = store.manifest()
    manifest.sessions[-1]["command"] = ["/x/bin/voful", "run", "a b.toml", "--only", "*/oful/*"]
    with store.locked():
        store.write_manifest(manifest)
    assert page_data(tmp_path)["repeat"]["command"] == "voful run 'a b.toml'"


def made_up(directory: Path, problems: int, policies: int, replicates: int, points: int) -> None:
    """A results directory of runs that nobody played."""
    study = Study(
        "large",
        tuple(Problem(f"p{k}", {"dim": 2}, 10_000) for k in range(problems)),
        tuple(Contender(f"oful {k}", "oful") for k in range(policies)),
        replicates,
    )
    runs = study.runs()
    n = len(runs) * points
    rng = np.random.default_rng(0)
    steps = np.unique(np.geomspace(1, 10_000, points).round()).astype(int)
    steps = np.concatenate([steps, np.arange(20_000, 20_000 + points - len(steps))])
    repeat: dict[str, list[Any]] = {
        "run": [run.key for run in runs],
        "problem": [run.problem.name for run in runs],
        "policy": [run.contender.name for run in runs],
        "replicate": [run.replicate for run in runs],
    }
    frame = pl.DataFrame(
        {name: np.repeat(np.array(values), points) for name, values in repeat.items()}
    )
    frame = frame.with_columns(
        round=pl.Series(np.tile(steps, len(runs))),
        regret=pl.Series(rng.uniform(size=n).reshape(-1, points).cumsum(axis=1).ravel()),
        sum_variance=pl.lit(1.0),
        covered=pl.lit(True),
        select_time=pl.lit(1e-3),
        update_time=pl.lit(1e-3),
    )
    store = Store(directory)
    with store.locked():
        store.write_manifest(Manifest.of(study))
        store._write_packed(frame)


@pytest.mark.parametrize("shape", [(10, 25, 40), (50, 100, 2) if full() else (25, 40, 2)])
def test_ten_thousand_runs(tmp_path: Path, shape: tuple[int, int, int]) -> None:
    made_up(tmp_path, *shape, 60 if full() else 8)
    started = time.process_time()
    page = write_page(tmp_path)
    assert time.process_time() - started < 60.0
    assert page.stat().st_size < 15e6
    data = embedded(page)
    seeds = {len(cell["seeds"]) for cell in data["curves"]["cells"]}
    assert seeds == {min(shape[2], data["curves"]["most_seeds"])}
    assert data["curves"]["most_seeds"] <= MOST_SEEDS


def test_many_points_are_thinned_and_the_last_one_stays(tmp_path: Path) -> None:
    made_up(tmp_path, 1, 2, 25, 1000)
    curves = page_data(tmp_path)["curves"]
    (steps,) = curves["steps"]
    assert len(steps) == MOST_POINTS
    assert steps[-1] == voful.results(tmp_path)["round"].max()
    assert all(len(cell["seeds"]) == MOST_SEEDS for cell in curves["cells"])
    chosen = [int(seed) for seed in curves["cells"][0]["seeds"]]
    assert chosen[-1] == 24
    assert max(np.diff(chosen)) <= 2


def test_every_width_is_on_the_page(tmp_path: Path) -> None:
    study = Study(
        "many",
        (Problem("p", {"dim": 2}, 1000),),
        (Contender("oful", "oful"),),
        replicates=1,
        record_at=tuple(range(1, 1001)),
    )
    run_study(study, tmp_path, workers=1)
    results = voful.results(tmp_path).filter(pl.col("width").is_not_null())
    assert page_data(tmp_path)["widths"]["steps"] == [results["round"].to_list()]


def test_numbers_are_short() -> None:
    assert short(1 / 3) == 0.33333
    assert short(123456.7) == 123460
    assert isinstance(short(2.0), int)
    assert short(float("nan")) is None
    assert short(float("inf")) is None
    assert short(None) is None


def test_the_reference() -> None:
    assert reference_of(["voful", "oful"]) == "oful"
    assert reference_of(["varlin", "ucrl-vtr"]) == "ucrl-vtr"
    assert reference_of(["mine", "yours"]) == "mine"
