from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections import deque
from multiprocessing import Pipe
from pathlib import Path

import polars as pl
import pytest

import voful
from voful.experiments.runner.backends import Processes
from voful.experiments.runner.runner import run_study
from voful.experiments.runner.threads import ONE_THREAD, is_single
from voful.experiments.study.run import Contender, Problem, Run
from voful.experiments.study.study import Study

FORK = """
import sys
from voful.experiments import backends
from voful.experiments.runner.runner import run_study
from voful.experiments.study.study import parse_study

def refuse(sockets):
    raise AssertionError(sys.argv[3])

if sys.platform == "linux":  # elsewhere there is nothing to choose
    setattr(backends, sys.argv[3], refuse)
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


def forked(
    text: str, out: Path, refused: str = "_new_host", before: str = ""
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", before + FORK, text, str(out), refused],
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
    text = STUDY.format(id=f"{tmp_path}/own.py:Dies")
    done = forked(text, tmp_path / "out", refused="_forked_host")
    assert done.stdout == "19 a/Dies/7\n", done.stderr


def test_code_of_the_users_own_keeps_its_open_files(tmp_path: Path) -> None:
    (tmp_path / "numbers.txt").write_text("1\n" * 1000)
    opens = f"""
from voful import OFUL
FILE = open("{tmp_path}/numbers.txt")

class Reads(OFUL):
    def update(self, x, reward, *, variance=None):
        FILE.seek(0)
        assert FILE.readline() == "1\\n"
        super().update(x, reward)
"""
    (tmp_path / "own.py").write_text(opens)
    text = STUDY.format(id=f"{tmp_path}/own.py:Reads")
    done = forked(text, tmp_path / "out", refused="_forked_host")
    assert done.stdout == "20\n", done.stderr


def test_a_host_that_the_system_forgets(tmp_path: Path) -> None:
    ignore = "import signal\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
    done = forked(STUDY.format(id="oful"), tmp_path / "out", before=ignore)
    assert done.stdout == "20\n", done.stderr


def test_only_short_runs_are_sent_ahead() -> None:
    short, long = (
        Run(Problem("a", {"dim": 2}, 9), Contender(name, "oful"), 0, 0) for name in ("s", "l")
    )
    players = Processes(2)
    ours, theirs = Pipe()
    players._given = {ours: deque()}
    players._short = {("a", "s")}
    assert players.has_room(long)
    players._given[ours].append(long)
    assert not players.has_room(short)
    players._given[ours][0] = short
    assert players.has_room(short)
    assert not players.has_room(long)
    players._given[ours].append(short)
    assert not players.has_room(short)
    ours.close()
    theirs.close()


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
