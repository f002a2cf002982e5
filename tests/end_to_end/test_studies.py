"""Studies as people run them: killed, interrupted, twice at once, on a full disk."""

from __future__ import annotations

import os
import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
from inline import inline
from typer.testing import CliRunner, Result

import voful
from helpers import full
from voful.cli import app
from voful.experiments.runner.runner import run_study
from voful.experiments.store.checked_files import name_of
from voful.experiments.store.store import Store
from voful.experiments.study.run import Run
from voful.experiments.study.study import read_study

TIMES = ["select_time", "update_time"]
KILLS = 20 if full() else 2  # tests/faults/test_kills.py kills at every kind of call

LOGGING = """
import os
from voful import OFUL

class Logged(OFUL):
    def __init__(self, dim, log, seed=0):
        super().__init__(dim)
        with open(log, "a") as file:
            file.write(f"{seed.entropy}\\n")
"""


def write_study(directory: Path, *, rounds: int = 1000, replicates: int = 16) -> Path:
    """A study whose runs leave a line in DIR/log whenever they begin."""
    (directory / "logging.py").write_text(LOGGING)
    path = directory / "study.toml"
    path.write_text(
        f'name = "study"\nrounds = {rounds}\nreplicates = {replicates}\n'
        f"[[policy]]\nid = 'logging.py:Logged'\nlog = '{directory / 'log'}'\n"
        '[[policy]]\nid = "oful"\n'
        '[[problem]]\nname = "d={dim}"\ndim = { grid = [2, 3] }\n'
    )
    return path


def start(study: Path, out: Path, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "voful", "run", str(study), "--out", str(out), *options]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )


def typed(*arguments: str) -> Result:
    """A command in this process, for what is not about processes: to start one takes seconds."""
    with inline():
        return CliRunner().invoke(app, arguments)


def finish(process: subprocess.Popen[str]) -> str:
    output, _ = process.communicate(timeout=300)
    return output


def fingerprints(out: Path) -> dict[str, tuple[int, int]]:
    return {
        path.name: (path.stat().st_ino, path.stat().st_mtime_ns)
        for path in (out / "runs").glob("*.parquet")
    }


def begun(study: Path) -> list[str]:
    log = study.parent / "log"
    return log.read_text().splitlines() if log.exists() else []


def seed_of(run: Run) -> str:
    return str(run.policy_seed().entropy)


def wait_until_stored(process: subprocess.Popen[str], out: Path, n: int) -> None:
    deadline = time.monotonic() + 120
    while len(list((out / "runs").glob("*.parquet"))) < n and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_kills_change_nothing(tmp_path: Path) -> None:
    """Exactly the results of an undisturbed study; no file torn, nothing stored played again."""
    (tmp_path / "calm").mkdir()
    (tmp_path / "killed").mkdir()
    # So long that 20 kills leave something to play.
    rounds, replicates = (2000, 16) if full() else (1000, 8)
    calm = write_study(tmp_path / "calm", rounds=rounds, replicates=replicates)
    study = write_study(tmp_path / "killed", rounds=rounds, replicates=replicates)
    runs = 4 * replicates
    with inline():
        assert run_study(read_study(calm), tmp_path / "calm" / "out").played == runs

    out = tmp_path / "killed" / "out"
    logged = {seed_of(run): run.key for run in read_study(study).runs() if run.contender.code}
    moments = random.Random(0)
    kills = 0
    while kills < KILLS:
        stored = fingerprints(out)
        seen = len(begun(study))
        process = start(study, out, "--workers", "2")
        # Some die while they start, the others after up to three more results.
        more = kills % 4
        if more:
            wait_until_stored(process, out, len(stored) + more)
        time.sleep(moments.uniform(0.0, 0.8 if more == 0 else 0.03))
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()
        kills += process.returncode == -signal.SIGKILL
        now = fingerprints(out)
        assert stored.items() <= now.items(), "a stored run was written again"
        assert all(len(pl.read_parquet(out / "runs" / name)) for name in now), "torn"
        again = {logged[line] for line in begun(study)[seen:]}
        kept = {name_of(out / name) for name in stored}
        assert not again & kept, "a stored run was played again"
        assert len(now) < runs, "the study ended before the last kill"

    assert typed("run", str(study), "--out", str(out)).exit_code == 0
    assert len(Store(out).keys()) == runs
    undisturbed = voful.results(tmp_path / "calm" / "out")
    # The log's place is a parameter of the policy, so keys differ; seeds and numbers do not.
    assert voful.results(out).drop(TIMES).equals(undisturbed.drop(TIMES))
    assert not list(out.rglob("*.tmp"))
    repeated = typed("run", str(study), "--out", str(out))
    assert f"nothing to do: all {runs} runs are stored" in repeated.output


def test_workers_die_with_their_study(tmp_path: Path) -> None:
    study = write_study(tmp_path, rounds=10**7)
    process = start(study, tmp_path / "out", "--workers", "2")
    deadline = time.monotonic() + 120
    while not begun(study):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.kill()
    process.communicate()
    while members(process.pid):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def members(session: int) -> list[int]:
    """Living processes of a session."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                state, _, _, sid = (entry / "stat").read_text().rpartition(")")[2].split()[:4]
            except (OSError, ValueError):
                continue
            if int(sid) == session and state != "Z":
                found.append(int(entry.name))
    return found


def test_two_at_once_never_mix(tmp_path: Path) -> None:
    study, out = write_study(tmp_path, rounds=20_000, replicates=4), tmp_path / "out"
    first = start(study, out, "--workers", "1")
    wait_until_stored(first, out, 1)
    second = typed("run", str(study), "--out", str(out))
    assert second.exit_code == 1
    assert f"another voful is writing there (process {first.pid} " in second.output
    assert "16/16 runs" in finish(first)
    assert first.returncode == 0
    assert len(begun(study)) == 8


def test_ctrl_c_stops_cleanly(tmp_path: Path) -> None:
    study, out = write_study(tmp_path, rounds=5000), tmp_path / "out"
    process = start(study, out, "--workers", "2")
    wait_until_stored(process, out, 2)
    os.killpg(process.pid, signal.SIGINT)
    message = finish(process)
    assert process.returncode == 130
    assert "the same command goes on" in message
    assert "Traceback" not in message
    assert not members(process.pid)
    assert 2 <= len(Store(out).keys()) < 64
    assert len(voful.results(out)) > 0


def test_a_full_disk_says_so(tmp_path: Path) -> None:
    """A limit on the size of files stands for the disk: the manifest fits, then nothing does."""
    study, out = write_study(tmp_path, replicates=1), tmp_path / "out"
    assert typed("run", str(study), "--out", str(out), "--only", "d=2/oful/0").exit_code == 0
    before = fingerprints(out)
    command = [sys.executable, "-m", "voful", "run", str(study), "--out", str(out)]

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # an error instead of the end
        resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))

    environment = {**os.environ, "NUMBA_CACHE_DIR": "", "PYTHONDONTWRITEBYTECODE": "1"}
    failed = subprocess.run(
        command, capture_output=True, text=True, preexec_fn=limit, env=environment
    )
    assert failed.returncode == 1, failed.stdout + failed.stderr
    assert "3 runs to play" in failed.stdout
    assert "File too large; results stored before are intact" in failed.stderr
    assert "Traceback" not in failed.stderr
    assert fingerprints(out).items() >= before.items()
    assert not list((out / "runs").glob("*.tmp"))
    assert "3/3 runs" in typed("run", str(study), "--out", str(out)).output
    assert len(Store(out).keys()) == 4


@pytest.mark.parametrize("place", ["file/out", "/proc/out"])
def test_a_directory_that_cannot_be_written(tmp_path: Path, place: str) -> None:
    study = write_study(tmp_path)
    (tmp_path / "file").write_text("in the way")
    refused = typed("run", str(study), "--out", str(tmp_path / place))
    assert refused.exit_code == 1
    assert isinstance(refused.exception, SystemExit), "a traceback, in a process of its own"
    assert place in refused.output
    assert begun(study) == []


def test_failures_are_shown_and_change_the_exit_code(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from voful import OFUL\n"
        "class Mine(OFUL):\n"
        "    def update(self, x, reward, *, variance=None):\n"
        "        raise ArithmeticError('my own mistake')\n"
    )
    study, out = tmp_path / "study.toml", tmp_path / "out"
    study.write_text(
        'name = "study"\nrounds = 50\nreplicates = 2\n[[policy]]\nid = "mine.py:Mine"\n'
        '[[policy]]\nid = "oful"\n[[problem]]\nname = "a"\ndim = 2\n'
    )
    failed = typed("run", str(study), "--out", str(out))
    message = failed.output
    assert failed.exit_code == 1
    assert "a/Mine/0 failed, trying once more" in message
    assert "a/Mine/0 failed again, given up" in message
    assert "2 runs failed twice" in message
    shown = typed("show", str(out)).output
    assert "study: 2 of 4 runs stored, 2 failed" in shown
    assert "a/Mine: 0 of 2, 2 failed" in shown
    assert "a/oful: 2 of 2" in shown
    assert 'mine.py", line 4' in shown
    assert "ArithmeticError: my own mistake" in shown
