"""A new machine: what is said while kernels are compiled, and where they may be kept."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOTICE = "voful: compiling kernels for this machine, once, some seconds"

# A compilation of more than a second, as Numba tells its listeners of it.
SLOW = """
import time
from types import SimpleNamespace
from numba.core import event
import voful.compiled
function = SimpleNamespace(__module__="voful.bandits.slow")
kernel = SimpleNamespace(py_func=function)
for _ in range(2):
    with event.trigger_event("numba:compile", data={"dispatcher": kernel}):
        time.sleep(1.3 if "slow" in MODE else 0.2)
"""
# Whoever has no patience is told of everything that is compiled, on fast machines too.
REAL = """
import numpy, voful, voful.notice
voful.notice.PATIENCE = 0.0
voful.EpsilonGreedy(2).select(numpy.eye(2))
"""


def run(code: str, environment: dict[str, str] | None = None, *, terminal: bool = True) -> str:
    """Standard error of a process, which is a terminal or a pipe."""
    ours, theirs = pty.openpty() if terminal else os.pipe()
    with open(ours, "rb", buffering=0) as reader:
        process = subprocess.Popen(
            [sys.executable, "-c", code], stderr=theirs, env={**os.environ, **(environment or {})}
        )
        os.close(theirs)
        said = b""
        while True:
            try:
                piece = reader.read(1000)
            except OSError:  # so ends a terminal
                break
            if not piece:
                break
            said += piece
        assert process.wait() == 0, said.decode()
    return said.decode()


def slow(mode: str = "slow") -> str:
    return SLOW.replace("MODE", repr(mode))


def test_who_waits_is_told_once_and_nobody_else() -> None:
    silenced = "import logging; logging.getLogger('voful').setLevel(logging.ERROR)\n"
    configured = "import logging; logging.basicConfig(level=logging.INFO)\n"
    with ThreadPoolExecutor() as at_once:  # what they do is sleep
        said = {
            "a terminal": at_once.submit(run, slow()),
            "a pipe that logs": at_once.submit(run, configured + slow(), terminal=False),
            "a pipe": at_once.submit(run, slow(), terminal=False),
            "less than a second": at_once.submit(run, slow("quick")),
            "VOFUL_QUIET": at_once.submit(run, slow(), {"VOFUL_QUIET": "1"}),
            "logging": at_once.submit(run, silenced + slow()),
        }
    heard = {where: words.result().splitlines() for where, words in said.items()}
    assert heard == {where: [] for where in said} | {
        "a terminal": [NOTICE],
        "a pipe that logs": [f"INFO:voful:{NOTICE}"],
    }


def test_an_empty_cache_is_filled_with_a_notice_and_then_without(tmp_path: Path) -> None:
    there = {"NUMBA_CACHE_DIR": str(tmp_path)}
    assert run(REAL, there).startswith("voful: compiling EpsilonGreedy for this machine, once")
    assert run(REAL, there) == ""


@pytest.fixture
def nowhere(tmp_path: Path) -> dict[str, str]:
    """An installation and a home where nothing can be written, not even by root.

    Files stand where folders would have to be made.
    """
    copy = tmp_path / "voful"
    shutil.copytree(ROOT / "src" / "voful", copy, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in (copy, *(path for path in copy.rglob("*") if path.is_dir())):
        (folder / "__pycache__").write_text("")
    home = tmp_path / "no home"
    home.write_text("")
    places = {"PYTHONPATH": str(tmp_path), "HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")}
    return {**places, "NUMBA_CACHE_DIR": ""}


def test_a_read_only_machine_is_told_once_what_to_do(nowhere: dict[str, str]) -> None:
    check = "import os; assert voful.__file__.startswith(os.environ['PYTHONPATH'])"
    said = run(REAL + check, nowhere, terminal=False)
    assert said.count("NUMBA_CACHE_DIR") == 1
    assert len(said.splitlines()) == 1


def test_kernels_of_an_other_place_serve_it(nowhere: dict[str, str], tmp_path: Path) -> None:
    there = {**nowhere, "NUMBA_CACHE_DIR": str(tmp_path / "kernels")}
    assert run("import voful.bandits.oful", there, terminal=False) == ""


RACE = """
import sys
import numpy as np
from racing import total

kinds = {kind: np.arange(5, dtype=kind) for kind in ("f8", "f4", "i8", "i4")}
first = sys.argv[1]
sys.stdin.readline()  # all at once
for kind in (first, *kinds):
    assert total(kinds[kind]) == 10 and type(total(kinds[kind])) is not bool, kind
"""
RACING = """
from voful.compiled import kernel

@kernel
def total(x):
    sum = x[0]
    for i in range(1, x.shape[0]):
        sum += x[i]
    return sum
"""


def test_four_processes_may_fill_an_empty_cache_at_once(tmp_path: Path) -> None:
    """Each begins with a signature of its own, so that all would like to be file number 1."""
    (tmp_path / "racing.py").write_text(RACING)
    path = os.pathsep.join([str(tmp_path), str(ROOT / "src")])
    environment = os.environ | {"PYTHONPATH": path, "NUMBA_CACHE_DIR": str(tmp_path / "kernels")}
    for _ in range(2):  # the second time from the cache
        processes = [
            subprocess.Popen(
                [sys.executable, "-c", RACE, kind], env=environment, stdin=subprocess.PIPE
            )
            for kind in ("f8", "f4", "i8", "i4")
        ]
        for process in processes:
            process.communicate(b"go\n")
        assert [process.returncode for process in processes] == [0, 0, 0, 0]
    names = [path.name for path in (tmp_path / "kernels").rglob("*.nbc")]
    assert len(names) == len({*names}) >= 4
