"""The same study on a Ray cluster of two nodes, one of which dies."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from inline import inline

import voful
from helpers import sphere
from voful import BetOFUL
from voful.experiments.play.execute import Outcome
from voful.experiments.runner import runner
from voful.experiments.runner.backends import RayCluster
from voful.experiments.runner.runner import Silent, run_study
from voful.experiments.study.run import Run
from voful.experiments.study.study import parse_study
from voful.logs.evaluate_files import evaluate_files

pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own

TIMES = ["select_time", "update_time"]

MINE = """
import os
from voful import OFUL

class Mine(OFUL):
    pass

class Mortal(OFUL):
    def __init__(self, dim, log, seed=0):
        super().__init__(dim)
        self.log = log

    def select(self, arms, mask=None):
        with open(self.log, "a") as file:
            file.write("x")
        if os.path.getsize(self.log) <= 3:
            os.kill(os.getpid(), 9)
        return super().select(arms, mask)

class Broken(OFUL):
    def update(self, x, reward, *, variance=None):
        raise ArithmeticError("on every node")
"""

STUDY = """
name = "anywhere"
rounds = 500
replicates = 6
[[policy]]
id = "oful"
[[policy]]
id = "mine.py:Mine"
[[problem]]
name = "d={dim}"
dim = { grid = [2, 3] }
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    # Else a driver takes 127.0.0.1 for the address of the network card, where no node listens.
    os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
    from ray.cluster_utils import Cluster

    here = {"num_cpus": 1, "node_ip_address": "127.0.0.1", "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=here)
    yield cluster
    cluster.shutdown()


@pytest.fixture(scope="module")
def joined(cluster: Any) -> Iterator[Any]:
    """The cluster with this process in it: to join takes seconds, and new workers each time.

    For tests that are not about that; `test_a_node_dies_and_the_numbers_stay` joins by itself.
    """
    import ray

    ray.init(address=cluster.address, log_to_driver=False)
    yield cluster
    ray.shutdown()


@pytest.fixture(scope="module")
def second(joined: Any) -> Any:
    """A second node; the last test that asks for it kills it."""
    node = joined.add_node(num_cpus=1, node_ip_address="127.0.0.1")
    joined.wait_for_nodes()
    return node


class Saboteur(Silent):
    """Kills a node after so many results."""

    def __init__(self, cluster: Any, node: Any, after: int) -> None:
        self.cluster, self.node, self.after = cluster, node, after
        self.done = 0

    def started(self, pending: Sequence[Run], stored: int) -> None:
        self.pending = len(pending)

    def finished(self, run: Run, outcome: Outcome) -> None:
        self.done += 1
        if self.done == self.after:
            self.cluster.remove_node(self.node, allow_graceful=False)


def test_a_node_dies_and_the_numbers_stay(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = cluster.add_node(num_cpus=2, node_ip_address="127.0.0.1")
    cluster.wait_for_nodes()
    (tmp_path / "mine.py").write_text(MINE)
    study = parse_study(STUDY, tmp_path)
    (tmp_path / "mine.py").unlink()  # nodes need no file: the code travels with the run
    with inline():
        run_study(study, tmp_path / "here")
    monkeypatch.setattr(RayCluster, "retries", 0)  # what is lost comes back to the runner
    saboteur = Saboteur(cluster, second, after=6)
    summary = run_study(
        study, tmp_path / "ray", backend="ray", address=cluster.address, observer=saboteur
    )
    assert saboteur.pending == saboteur.done == summary.played == 24
    assert summary.failed == ()
    assert len(cluster.worker_nodes) == 0
    here, there = voful.results(tmp_path / "here"), voful.results(tmp_path / "ray")
    assert here.drop(TIMES).equals(there.drop(TIMES))
    assert (here.filter(pl.col("round") == 500)["regret"] > 0).all()


def test_a_run_that_is_lost_again_and_again(
    joined: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three workers die with it, the fourth plays it; the control: a loss counts as a failure."""
    monkeypatch.setattr(RayCluster, "retries", 0)
    (tmp_path / "mine.py").write_text(MINE)
    policy = f"id = 'mine.py:Mortal'\nlog = '{tmp_path / 'log'}'"
    study = parse_study(
        f'name = "lost"\nrounds = 10\nreplicates = 1\n[[policy]]\n{policy}\n'
        '[[problem]]\nname = "p"\ndim = 2\n',
        tmp_path,
    )
    summary = run_study(study, tmp_path / "out", backend="ray", address=joined.address)
    assert (summary.played, summary.failed) == (1, ())
    assert (tmp_path / "log").stat().st_size == 3 + 10
    (tmp_path / "log").unlink()
    monkeypatch.setattr(runner, "MOST_LOSSES", 0)
    summary = run_study(study, tmp_path / "before", backend="ray", address=joined.address)
    assert (summary.played, summary.failed) == (0, ("p/Mortal/0",))


def test_failures_on_ray_are_recorded(joined: Any, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MINE)
    text = STUDY.replace("mine.py:Mine", "mine.py:Broken").replace(
        "replicates = 6", "replicates = 1"
    )
    study = parse_study(text, tmp_path)
    summary = run_study(study, tmp_path / "out", backend="ray", address=joined.address)
    assert sorted(summary.failed) == ["d=2/Broken/0", "d=3/Broken/0"]
    assert summary.played == 2
    wrong = parse_study(STUDY.replace("mine.py:Mine", "losan") + "sigma = -1.0\n")
    with pytest.raises(ValueError, match="sigma: got -1"):
        run_study(wrong, tmp_path / "wrong", backend="ray", address=joined.address)


def test_a_local_cluster_from_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MINE)
    (tmp_path / "study.toml").write_text(STUDY.replace("replicates = 6", "replicates = 1"))
    command = [sys.executable, "-m", "voful", "run", str(tmp_path / "study.toml")]
    command += ["--out", str(tmp_path / "out"), "--backend", "ray", "--workers", "1"]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "4/4 runs" in output
    assert voful.results(tmp_path / "out")["policy"].n_unique() == 2


def test_evaluation_in_shards_on_ray(joined: Any, second: Any, tmp_path: Path) -> None:
    rng, paths = np.random.default_rng(0), []
    for number in range(3):
        p = rng.dirichlet(np.ones(2), 200)
        a = (rng.random(200) > p[:, 0]).astype(int)
        table = {"action": a, "reward": rng.random(200), "propensities": p, "new": p[:, ::-1]}
        paths.append(tmp_path / f"{number}.parquet")
        pl.DataFrame(table).write_parquet(paths[-1])
    pl.concat([pl.read_parquet(path) for path in paths]).write_parquet(tmp_path / "all.parquet")
    how: Any = {"estimator": "ips", "failure_prob": 0.05, "reward_range": (0.0, 1.0)}
    how |= {"min_propensity": None, "horizon": None}
    place = ("ray", 2, joined.address)
    found = evaluate_files(paths, {"new": "new"}, place=place, **how)["new"]
    one = voful.evaluate(tmp_path / "all.parquet", "new", estimator="ips")
    assert (found.lower, found.upper) == pytest.approx((one.lower, one.upper), abs=1e-12)
    assert found.n == 600


def test_shards_learn_on_nodes_of_which_one_dies(joined: Any, second: Any, tmp_path: Path) -> None:
    """The same bits as in this process; the second node dies between two barriers."""
    rng, paths = np.random.default_rng(0), []
    for number in range(4):
        X = sphere(rng, 600, 3)
        y = X @ [0.3, -0.2, 0.1] + 0.1 * rng.choice([-1.0, 1.0], 600)
        paths.append(tmp_path / f"{number}.parquet")
        pl.DataFrame({"x": X, "reward": y}).write_parquet(paths[-1])
    policy = BetOFUL(3, refresh=False)
    rows: list[int] = []
    here = voful.learn(paths, policy, shards="files")

    def on_rows(n: int) -> None:
        if sum(rows) < 500 <= sum(rows) + n:
            joined.remove_node(second, allow_graceful=False)
        rows.append(n)

    place: Any = {"shards": "files", "backend": "ray", "address": joined.address}
    there = voful.learn(paths, policy, on_rows=on_rows, **place)
    assert sum(rows) == 2400
    assert len(joined.worker_nodes) == 0
    for name, array in here.state().items():
        np.testing.assert_array_equal(array, there.state()[name])
    assert here.lineage == there.lineage
    with pytest.raises(ValueError, match=r"reward.0.: got"):
        voful.learn(paths, BetOFUL(3, refresh=False, reward_range=(0.9, 1.0)), **place)
