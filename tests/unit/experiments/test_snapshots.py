from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from inline import inline

import voful
from voful.experiments.play.loop import log_spaced
from voful.experiments.runner.runner import run_study
from voful.experiments.store.merge import merge_results
from voful.experiments.store.store import Store
from voful.experiments.study.run import Contender, Problem
from voful.experiments.study.study import Study, parse_study

POLICIES = ("oful", "voful", "betoful", "lin-ts", "epsilon-greedy", "lofav", "save")
N_ROUNDS = 60


def study(snapshots: int, policies: tuple[str, ...] = POLICIES) -> Study:
    return Study(
        "plane",
        (
            Problem("flat", {"dim": 2, "sigma": 0.1, "n_arms": 5, "redraw": True}, N_ROUNDS),
            Problem("deep", {"dim": 3, "sigma": 0.1}, N_ROUNDS),
        ),
        tuple(Contender(policy, policy) for policy in policies),
        replicates=2,
        snapshots=snapshots,
    )


@pytest.fixture(autouse=True, scope="module")
def in_this_process() -> Iterator[None]:
    with inline():
        yield


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("plane")
    run_study(study(8), out, workers=1)
    return out


def test_results_are_the_same_with_and_without(played: Path, tmp_path: Path) -> None:
    run_study(study(0), tmp_path, workers=1)
    measured = pl.selectors.contains("time")
    assert voful.results(tmp_path).drop(measured).equals(voful.results(played).drop(measured))
    assert not (tmp_path / "snapshots").exists()
    assert Store(tmp_path).snapshots().is_empty()


def test_the_first_replicate_in_the_plane_is_watched(played: Path) -> None:
    snapshots = Store(played).snapshots()
    assert len(list((played / "snapshots").iterdir())) == len(POLICIES)
    assert snapshots["problem"].unique().to_list() == ["flat"]
    assert snapshots["replicate"].unique().to_list() == [0]
    assert snapshots["policy"].unique(maintain_order=True).to_list() == list(POLICIES)
    for (policy,), run in snapshots.group_by("policy"):
        assert run["round"].to_list() == list(log_spaced(N_ROUNDS, 8))
        first = run.row(0, named=True)
        assert first["regret"] == 0.0
        assert len(first["arms"]) == 10
        assert 0 <= first["choice"] < 5
        has_set = policy != "epsilon-greedy"
        assert all(bool(polygons) == has_set for polygons in run["polygons"].to_list())
        assert (run["center"].null_count() == 0) == has_set


def test_a_picture_is_of_before_the_reward(played: Path) -> None:
    watched = Store(played).snapshots().filter(pl.col("policy") == "oful")
    results = voful.results(played).filter(
        (pl.col("policy") == "oful") & (pl.col("problem") == "flat") & (pl.col("replicate") == 0)
    )
    after = dict(zip(results["round"], results["regret"], strict=True))
    for row in watched.iter_rows(named=True):
        arms = np.reshape(row["arms"], (-1, 2))
        means = arms @ row["theta_star"]
        gap = means.max() - means[row["choice"]]
        if row["round"] in after:
            assert row["regret"] + gap == pytest.approx(after[row["round"]])
    assert len(after.keys() & set(watched["round"])) >= 5


def test_keys_of_runs_without_snapshots_do_not_change() -> None:
    plain = {run.label: run.key for run in study(0).runs()}
    other = {run.label: run.key for run in study(8).runs()}
    changed = {label for label, key in plain.items() if other[label] != key}
    assert changed == {f"flat/{policy}/0" for policy in POLICIES}


def test_snapshots_survive_packing_and_merging(tmp_path: Path) -> None:
    small = study(4, ("oful", "losan"))
    run_study(small, tmp_path / "a", workers=1, only="*/oful/*")
    run_study(small, tmp_path / "b", workers=1, only="*/losan/*")
    merge_results(tmp_path / "a", tmp_path / "b")
    store = Store(tmp_path / "a")
    with store.locked():
        store.pack(at_least=1)
    assert store.snapshots()["policy"].n_unique() == 2
    assert voful.results(tmp_path / "a")["replicate"].n_unique() == 2


def test_snapshots_of_a_study_that_changed_are_not_shown(tmp_path: Path) -> None:
    run_study(study(4, ("oful",)), tmp_path, workers=1)
    run_study(study(5, ("oful",)), tmp_path, workers=1)
    rounds = Store(tmp_path).snapshots()["round"].to_list()
    assert rounds == list(log_spaced(N_ROUNDS, 5))


TEXT = """
name = "s"
rounds = 20
replicates = 1
snapshots = 3
policy = [{ id = "oful" }]
problem = [{ name = "a", dim = 2 }]
"""


def test_a_file_may_ask_for_them() -> None:
    assert parse_study(TEXT).snapshots == 3
    assert parse_study(TEXT.replace("snapshots = 3\n", "")).snapshots == 0


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("snapshots = 3", "snapshots = -1", "snapshots: got -1; expected a whole number >= 0"),
        ("snapshots = 3", 'snapshots = "all"', "snapshots: got 'all'"),
        ("dim = 2", "dim = 3", "snapshots: got 3; expected 0 in a study without a bandit"),
    ],
)
def test_mistakes_are_named(old: str, new: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_study(TEXT.replace(old, new))
