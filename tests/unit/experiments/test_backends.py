from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Never

import polars as pl
import pytest
from inline import inline

import voful
from voful.experiments.runner.backends import Processes
from voful.experiments.runner.runner import run_study
from voful.experiments.runner.threads import ONE_THREAD
from voful.experiments.study.run import Contender, Problem
from voful.experiments.study.study import Study, parse_study

# Twice, the second time by a process whose children the system forgets.
PLAY = """
import signal
import sys
from voful.experiments.runner.runner import run_study
from voful.experiments.study.study import parse_study

for out in sys.argv[2:]:
    summary = run_study(parse_study(sys.argv[1]), out, workers=2)
    print(summary.played, *summary.failed)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
"""

STUDY = """
name = "test"
rounds = 300
replicates = 8
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


def test_a_new_process_plays_the_same(tmp_path: Path) -> None:
    """Also one whose children the system forgets."""
    command = [sys.executable, "-c", PLAY, STUDY.format(id="oful")]
    command += [str(tmp_path / "other"), str(tmp_path / "forgetful")]
    done = subprocess.run(command, env=os.environ | ONE_THREAD, capture_output=True, text=True)
    assert done.stdout == "8\n8\n", done.stderr
    declared = Study("test", (Problem("a", {"dim": 2}, 300),), (Contender("oful", "oful"),), 8)
    with inline():
        run_study(declared, tmp_path / "ours")
    ours, *theirs = (
        voful.results(tmp_path / name).drop(pl.selectors.contains("time"))
        for name in ("ours", "other", "forgetful")
    )
    assert all(ours.equals(their) for their in theirs)


def test_a_death_costs_one_run(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(DIES)
    study = parse_study(STUDY.format(id=f"{tmp_path}/own.py:Dies"))
    done = run_study(study, tmp_path / "out", workers=2)
    assert (done.played, done.failed) == (7, ("a/Dies/7",))


def hangs(signum: int, frame: object) -> Never:
    raise TimeoutError("workers live on")


class Interrupted(dict[Any, Any]):
    """Ctrl-C when a run is written down, or crossed out."""

    def __setitem__(self, key: object, value: object) -> Never:
        raise KeyboardInterrupt

    def pop(self, *of: object) -> Never:
        super().pop(*of)
        raise KeyboardInterrupt


@pytest.mark.parametrize("finished", [False, True])
def test_ctrl_c_never_leaves_a_worker_behind(finished: bool) -> None:
    """The worker is neither idle nor busy then, and the traceback keeps its connection open."""
    (run, *_) = parse_study(STUDY.format(id="oful")).runs()
    players = Processes(1)
    players.open([run])
    if finished:
        players.start(run)
    players._busy = Interrupted(players._busy)
    before = signal.signal(signal.SIGALRM, hangs)
    try:
        with pytest.raises(KeyboardInterrupt) as stopped:
            players.next_finished() if finished else players.start(run)
        signal.alarm(60)
        players.close()
        assert stopped.tb is not None
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


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
    study = parse_study(STUDY.format(id=f"{tmp_path}/own.py:Reads"))
    assert run_study(study, tmp_path / "out", workers=2).played == 8
