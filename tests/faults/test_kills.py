"""A study killed or interrupted at failpoints: its results are those of an undisturbed one."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl

import voful
from helpers import full

KILLS, INTERRUPTS = (100, 50) if full() else (3, 2)

STUDY = """
name = "killed"
rounds = 20
replicates = 4
problem = [{ name = "p", dim = 2 }]
policy = [{ id = "oful" }, { id = "ucb-v" }, { id = "epsilon-greedy" }]
"""


def play(how: str, study: Path, out: Path, n: int) -> subprocess.CompletedProcess[str]:
    script = Path(__file__).parent / "play_study.py"
    command = [sys.executable, str(script), how, str(study), str(out), str(n)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)


def declared(tmp_path: Path) -> Path:
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    return path


def events(done: subprocess.CompletedProcess[str]) -> int:
    found = re.search(r"events: (\d+)", done.stdout)
    assert found, done.stderr
    return int(found[1])


def numbers(out: Path) -> pl.DataFrame:
    frame = voful.results(out)
    return frame.drop([name for name in frame.columns if "time" in name])


def test_killed_at_failpoints(tmp_path: Path) -> None:
    """Each kill hits a new directory or one that kills have left; all end as the calm one."""
    study = declared(tmp_path)
    total = events(play("calm", study, tmp_path / "calm", 0))
    calm = numbers(tmp_path / "calm")
    for k, n in enumerate(np.linspace(1, total - 1, KILLS).astype(int)):
        out = tmp_path / f"out-{k % 5}"
        died = play("kill", study, out, int(n))
        assert died.returncode in (-9, 0), died.stderr  # 0: what was left took fewer events
        if (out / "manifest.json").exists():
            stored = numbers(out)  # readable at any time, each row as in the calm one
            assert stored.join(calm, on=stored.columns, how="anti", nulls_equal=True).is_empty()
    for k in range(min(5, KILLS)):
        play("calm", study, tmp_path / f"out-{k}", 0)
        assert numbers(tmp_path / f"out-{k}").equals(calm)
        assert not list((tmp_path / f"out-{k}").rglob("*.tmp"))


def test_interrupted_at_failpoints(tmp_path: Path) -> None:
    """Ctrl-C: exit code 130 and a message; the same command goes on."""
    study, out = declared(tmp_path), tmp_path / "out"
    total = events(play("interrupt", study, tmp_path / "calm", 0))
    for n in np.linspace(1, 0.9 * total, INTERRUPTS).astype(int):
        stopped = play("interrupt", study, out / str(n), int(n))
        assert stopped.returncode == 130, (n, stopped.returncode, stopped.stderr[-500:])
        assert "stopped; what is stored is kept" in stopped.stderr + stopped.stdout
    assert play("interrupt", study, out / str(n), 0).returncode == 0
    assert numbers(out / str(n)).equals(numbers(tmp_path / "calm"))
