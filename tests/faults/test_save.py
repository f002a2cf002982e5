"""`save` under kills, Ctrl-C and other threads: the file is the old one or the new one."""

from __future__ import annotations

import os
import stat
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from faults.failpoints import at_call, die, interrupt

import voful
import voful.atomic
import voful.persistence
from helpers import count, make_policy, play_some, sphere, teach_one
from voful import OFUL, BetOFUL

PLACES = ("voful/persistence", "voful/atomic", "voful/archive", "zipfile")


def old_and_new(tmp_path: Path) -> tuple[Path, Any]:
    path = tmp_path / "policy"
    old, new = OFUL(3), OFUL(3)
    play_some(old, 5)
    play_some(new, 9)
    old.save(path)
    return path, new


def events(new: Any, path: Path) -> int:
    """How many there are in one call of `save`."""
    with at_call(0, PLACES, die) as seen:
        new.save(path.with_name("other"))
    path.with_name("other").unlink()
    return seen[0]


def test_killed_anywhere(tmp_path: Path) -> None:
    path, new = old_and_new(tmp_path)
    total = events(new, path)
    rounds = set()
    for n in np.linspace(1, total, count(100)).astype(int):
        child = os.fork()
        if child == 0:
            with at_call(int(n), PLACES, die):
                new.save(path)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status)
        rounds.add(voful.load(path).n_observations)
    assert rounds <= {5, 9}
    new.save(path)
    assert os.listdir(tmp_path) == ["policy"], "what the killed left behind is removed"


@pytest.mark.filterwarnings(  # a file that is open when Ctrl-C comes is closed by the collector
    "ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning"
)
def test_interrupted_anywhere(tmp_path: Path) -> None:
    path, new = old_and_new(tmp_path)
    total, points, swallowed = events(new, path), count(500), 0
    for n in np.linspace(1, total, points).astype(int):
        try:
            with at_call(int(n), PLACES, interrupt):
                new.save(path)
        except KeyboardInterrupt:
            assert voful.load(path).n_observations in (5, 9)
        else:  # in the destructor of the archive, where Python lets no exception out
            swallowed += 1
            assert voful.load(path).n_observations == 9
    assert swallowed <= 0.02 * points
    assert os.listdir(tmp_path) == ["policy"]


def test_the_failpoints_reach_the_file(tmp_path: Path) -> None:
    """The control: a save that writes in place is caught."""
    path, _ = old_and_new(tmp_path)
    content = path.read_bytes()
    torn = 0
    for n in range(1, 40):
        child = os.fork()
        if child == 0:
            with at_call(n, ("test_save",), die):
                in_place(path, content)
            os._exit(0)
        os.waitpid(child, 0)
        try:
            voful.load(path)
        except voful.FileFormatError:
            torn += 1
        path.write_bytes(content)
    assert torn


def in_place(path: Path, content: bytes) -> None:
    with open(path, "wb", buffering=0) as file:
        for start in range(0, len(content), 400):
            file.write(content[start : start + 400])


def test_a_private_file_stays_private(tmp_path: Path) -> None:
    path, new = old_and_new(tmp_path)
    for mode in (0o600, 0o640, 0o444):
        path.chmod(mode)
        new.save(path)
        assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_writer_does_not_remove_what_another_writes(tmp_path: Path) -> None:
    path, new = old_and_new(tmp_path)
    with voful.atomic.atomic_file(path) as file:
        file.write(b"half")
        file.flush()
        new.save(path)
        assert len(os.listdir(tmp_path)) == 2
    assert path.read_bytes() == b"half"


@pytest.mark.parametrize("id", ["oful", "betoful", "ucb-v", "voful", "lofav"])
def test_while_another_thread_learns(tmp_path: Path, id: str) -> None:
    """Every file loads, and holds the state between two calls: it continues as if undisturbed."""
    policy = make_policy(id) if id != "betoful" else BetOFUL(3)
    rng = np.random.default_rng(0)
    arms = sphere(rng, 500, 3)
    rewards = 0.1 * rng.standard_normal(500).clip(-1, 1)
    play_some(policy, 1)
    over = threading.Event()

    def learn() -> None:
        for x, y in zip(arms[:490], rewards[:490], strict=True):
            policy.select(arms[:5])
            teach_one(policy, x, y)
        over.set()

    thread = threading.Thread(target=learn)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)  # so that the two take turns often
    try:
        thread.start()
        saved = 0
        while saved == 0 or (not over.is_set() and saved < 40):
            policy.save(tmp_path / str(saved))
            saved += 1
        thread.join()
    finally:
        sys.setswitchinterval(interval)
    for k in range(saved):
        loaded = voful.load(tmp_path / str(k))
        assert 1 <= loaded.n_observations <= 491


def test_a_state_that_never_rests_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control of the test above: a policy in the middle of an update."""
    path, new = old_and_new(tmp_path)
    before = path.read_bytes()
    monkeypatch.setattr(voful.persistence, "TRIES", 3)
    new._turn += 1
    with pytest.raises(RuntimeError, match="another thread"):
        new.save(path)
    assert path.read_bytes() == before


def test_a_state_that_could_not_be_loaded_is_not_written(tmp_path: Path) -> None:
    path, new = old_and_new(tmp_path)
    before = path.read_bytes()
    new.confidence_set.blocks[0, 0] = np.nan
    with pytest.raises(ValueError, match="blocks"):
        new.save(path)
    assert path.read_bytes() == before
