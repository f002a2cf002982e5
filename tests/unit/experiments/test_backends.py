from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import polars as pl
import pytest

import voful
from voful.experiments.run import Contender, Problem
from voful.experiments.runner import run_study
from voful.experiments.study import Study
from voful.experiments.threads import ONE_THREAD, is_single

FORK = """
import sys
from voful.experiments import backends
from voful.experiments.runner import run_study
from voful.experiments.study import parse_study

def refuse(sockets):
    raise AssertionError("a new interpreter")

if sys.platform == "linux":  # elsewhere it is right
    backends._new_host = refuse
summary = run_study(parse_study(sys.argv[1]), sys.argv[2], workers=2)
assert "polars" not in sys.modules, "its threads would forbid a fork"
print(summary.played, *summary.failed)
"""

STUDY = """
name = "test"
rounds = 300
replicates = 20
[[problem]]
name = "a"
dim = 2
[[policy]]
id = "{id}"
"""

DIES = """
import os
from voful import OFUL

class Dies(OFUL):
    def __init__(self, dim, *, seed=0):
        super().__init__(dim, seed=seed)

    def update(self, x, reward, *, variance=None):
        if self.seed.entropy[1] == 7:
            os.kill(os.getpid(), 9)
        super().update(x, reward)
"""


def forked(text: str, out: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", FORK, text, str(out)],
        env=os.environ | ONE_THREAD,
        capture_output=True,
        text=True,
    )


def test_a_forked_host_plays_the_same(tmp_path: Path) -> None:
    done = forked(STUDY.format(id="oful"), tmp_path / "forked")
    assert done.stdout == "20\n", done.stderr
    declared = Study("test", (Problem("a", {"dim": 2}, 300),), (Contender("oful", "oful"),), 20)
    run_study(declared, tmp_path / "new", workers=2)
    ours, theirs = (
        voful.results(tmp_path / name).drop(pl.selectors.contains("time"))
        for name in ("forked", "new")
    )
    assert ours.equals(theirs)


def test_a_death_costs_one_run_although_others_wait_behind_it(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(DIES)
    done = forked(STUDY.format(id=f"{tmp_path}/own.py:Dies"), tmp_path / "out")
    assert done.stdout == "19 a/Dies/7\n", done.stderr


def test_threads_forbid_a_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ONE_THREAD.items():
        monkeypatch.setenv(name, value)
    end = threading.Event()
    other = threading.Thread(target=end.wait)
    other.start()
    assert not is_single()
    end.set()
    other.join()
    monkeypatch.setattr("os.listdir", lambda path: ["1"])
    assert is_single()
    monkeypatch.delenv("OMP_NUM_THREADS")
    assert not is_single()
