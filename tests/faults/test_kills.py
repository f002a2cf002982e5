"""A study killed or interrupted at failpoints: its results are those of an undisturbed one."""

from __future__ import annotations

import json
import os
import re
import select
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pytest

import voful
from helpers import full

KILLS, INTERRUPTS = (100, 50) if full() else (6, 2)
MOST_SECONDS = 120  # a run that hangs is a failure
DIRECTORIES = 5 if full() else 2  # which kills hit in turn

STUDY = """
name = "killed"
rounds = 20
replicates = 4
problem = [{ name = "p", dim = 2 }]
policy = [{ id = "oful" }, { id = "ucb-v" }, { id = "epsilon-greedy" }]
"""


class Played(NamedTuple):
    returncode: int
    said: str


class Host:
    """`play_study.py`, which plays in forks of itself."""

    def __init__(self) -> None:
        script = Path(__file__).parent / "play_study.py"
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = subprocess.Popen(
            [sys.executable, str(script)], text=True, env=environment, **pipes
        )

    def play(self, how: str, study: Path, out: Path, n: int) -> Played:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(json.dumps([how, str(study), str(out), n]) + "\n")
        self.process.stdin.flush()
        if not select.select([self.process.stdout], [], [], MOST_SECONDS)[0]:
            self.process.kill()
            raise TimeoutError(f"{how} at event {n}: not over after {MOST_SECONDS} s")
        return Played(*json.loads(self.process.stdout.readline()))


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    started = Host()
    with started.process:
        yield started


def declared(tmp_path: Path) -> Path:
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    return path


def events(done: Played) -> int:
    found = re.search(r"events: (\d+)", done.said)
    assert found, done.said
    return int(found[1])


def numbers(out: Path) -> pl.DataFrame:
    frame = voful.results(out)
    return frame.drop([name for name in frame.columns if "time" in name])


def test_killed_at_failpoints(host: Host, tmp_path: Path) -> None:
    """Each kill hits a new directory or one that kills have left; all end as the calm one."""
    study = declared(tmp_path)
    total = events(host.play("calm", study, tmp_path / "calm", 0))
    calm = numbers(tmp_path / "calm")
    for k, n in enumerate(np.linspace(1, total - 1, KILLS).astype(int)):
        out = tmp_path / f"out-{k % DIRECTORIES}"
        died = host.play("kill", study, out, int(n))
        assert died.returncode in (-9, 0), died.said  # 0: what was left took fewer events
        if (out / "manifest.json").exists():
            stored = numbers(out)  # readable at any time, each row as in the calm one
            assert stored.join(calm, on=stored.columns, how="anti", nulls_equal=True).is_empty()
    for k in range(DIRECTORIES):
        host.play("calm", study, tmp_path / f"out-{k}", 0)
        assert numbers(tmp_path / f"out-{k}").equals(calm)
        assert not list((tmp_path / f"out-{k}").rglob("*.tmp"))


def test_interrupted_at_failpoints(host: Host, tmp_path: Path) -> None:
    """Ctrl-C: exit code 130 and a message; the same command goes on."""
    study, out = declared(tmp_path), tmp_path / "out"
    total = events(host.play("interrupt", study, tmp_path / "calm", 0))
    for n in np.linspace(1, 0.9 * total, INTERRUPTS).astype(int):
        stopped = host.play("interrupt", study, out / str(n), int(n))
        assert stopped.returncode == 130, (n, stopped.returncode, stopped.said[-500:])
        assert "stopped; what is stored is kept" in stopped.said
    assert host.play("interrupt", study, out / str(n), 0).returncode == 0
    assert numbers(out / str(n)).equals(numbers(tmp_path / "calm"))
