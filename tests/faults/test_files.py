"""Crafted files with valid checksums, over every registered id: refused, or played."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from faults import crafted, valid_files
from faults.play_crafted import load, play_agent

import voful
from helpers import full
from voful import MVP, OFUL, VOFUL, FileFormatError, registry
from voful.confidence.standing import OK, STATUS
from voful.mdp.model import MAX_HORIZON, LinearMixtureModel
from voful.mdp.planning import MOST_ROWS
from voful.monitor.watch import NEWS
from voful.persistence import Stateful

N_FILES = 20_000 if full() else 300
SEED = 20


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("valid")
    valid_files.write_all(directory)
    return directory


def outcomes(directory: Path, n: int, *, harm: str = "") -> Iterator[str]:
    """What became of each file; a process that dies is started again behind the file."""
    script = Path(__file__).parent / "play_crafted.py"
    first = 0
    while first < n:
        command = [sys.executable, str(script), str(directory), str(first), str(n), str(SEED)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "VOFUL_HARM": harm}
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        lines = done.stdout.splitlines()
        assert lines, done.stderr
        yield from lines
        if done.returncode:
            yield f"{lines[-1]} wrong: died with {done.returncode}"
        first = int(lines[-1].split()[0]) + 1


def test_crafted_files_are_refused_or_played(files: Path) -> None:
    told = list(outcomes(files, N_FILES))
    assert not [line for line in told if "wrong" in line]
    played = sum(line.endswith("played") for line in told)
    refused = sum(line.endswith("refused") for line in told)
    assert played + refused == N_FILES
    assert played > N_FILES // 20, "nearly all are refused: the changes are too coarse"
    assert refused > N_FILES // 3


def test_the_suite_can_fail(files: Path) -> None:
    """The control: without the invariants, wrong answers, errors or deaths show up."""
    assert any("wrong" in line for line in outcomes(files, 90, harm="invariants"))


@pytest.mark.parametrize("id", [entry.id for entry in registry.entries()])
def test_every_class_with_arrays_states_invariants(id: str, files: Path) -> None:
    """Each class that names arrays says what they must satisfy, in its own body or below it."""
    thing = voful.load(files / f"{id}-0.voful")
    for part in parts(thing):
        for cls in type(part).__mro__:
            assert states_invariants(type(part), cls), f"{cls.__name__} states no _invariants"


def test_a_class_without_invariants_is_found() -> None:
    """The control of the test above."""

    careless = type("Careless", (OFUL,), {"_arrays": ("_chosen", "_more")})
    assert not states_invariants(careless, careless)


def states_invariants(cls: type, home: type) -> bool:
    """Whether the arrays that `home` names are spoken of, by it or by a class that derives."""
    stated = [c for c in cls.__mro__ if "_invariants" in vars(c)]
    return not vars(home).get("_arrays") or any(issubclass(c, home) for c in stated)


def parts(thing: Stateful) -> Iterator[Stateful]:
    yield thing
    for _, part in thing._named_parts():
        yield from parts(part)


# --- what an attack found, each by itself -------------------------------------------------------


def changed(files: Path, name: str, array: str, value: Any) -> Path:
    members = crafted.read((files / name).read_bytes())
    new = members[f"{array}.npy"].copy()
    new[...] = value
    path = files / "changed"
    path.write_bytes(crafted.write({**members, f"{array}.npy": new}))
    return path


@pytest.mark.parametrize(
    ("name", "array", "value"),
    [
        ("bet-vtr-0", "_counter/block", 10**9),
        ("varlin-0", "_counter/block", 10**9),
        ("varlin2-0", "_counter/block", 10**9),
        ("likelihood-ucrl-0", "_counter/block", 10**9),
        ("voful-0", "_outer/_size", 10**9),
        ("oful-0", "confidence_set/blocks", np.nan),
        ("betoful-0", "confidence_set/memory", np.nan),
        ("ucb-v-0", "_table", 10**9),
        ("ucbvi-bf-0", "_plan/actions", -1),
    ],
)
def test_states_out_of_bounds(files: Path, name: str, array: str, value: Any) -> None:
    with pytest.raises(FileFormatError):
        voful.load(changed(files, f"{name}.voful", array, value))


def test_records_that_are_free_are_empty(files: Path) -> None:
    """A new arm would start from what stands there: here with -1 plays, so with a mean of inf."""
    records = voful.load(files / "ucb-v-0.voful").state()["_records"]
    assert not records[-1].any()
    records[-1] = -1.0
    with pytest.raises(FileFormatError, match="nothing behind the records"):
        voful.load(changed(files, "ucb-v-0.voful", "_records", records))


def test_no_news_of_a_set_that_stands(files: Path) -> None:
    """The next update would tell it, and has no words for it."""
    facts = crafted.read((files / "betoful-0.voful").read_bytes())["_standing/facts.npy"].copy()
    assert facts[STATUS] == OK
    facts[NEWS] = 1.0
    with pytest.raises(FileFormatError, match="bad news, if any"):
        voful.load(changed(files, "betoful-0.voful", "_standing/facts", facts))


def header_of(policy: Any, tmp_path: Path) -> tuple[Any, dict[str, Any]]:
    policy.save(tmp_path / "p")
    members = crafted.read((tmp_path / "p").read_bytes())
    return members, members["header.json"]


@pytest.mark.parametrize(
    "change",
    [
        {"dim": 20_000},
        {"dim": 10**9},
        {"seed": {"entropy": 1, "spawn_key": [], "pool_size": 10**8, "n_children_spawned": 0}},
        {
            "seed": {
                "entropy": [1] * 10**5,
                "spawn_key": [],
                "pool_size": 4,
                "n_children_spawned": 0,
            }
        },
    ],
)
def test_short_files_cannot_ask_for_much(tmp_path: Path, change: dict[str, Any]) -> None:
    members, header = header_of(OFUL(3), tmp_path)
    header["config"] |= change
    (tmp_path / "p").write_bytes(crafted.write(members))
    started = time.process_time()
    with pytest.raises(FileFormatError):
        voful.load(tmp_path / "p")
    assert time.process_time() - started < 1.0


def test_voful_asks_before_it_builds(tmp_path: Path) -> None:
    members, header = header_of(VOFUL(2, n_rounds=10), tmp_path)
    header["config"] |= {"dim": 2_000}
    (tmp_path / "p").write_bytes(crafted.write(members))
    with pytest.raises(FileFormatError, match="more than the file holds"):
        voful.load(tmp_path / "p")


def test_compressed_archives_are_refused(tmp_path: Path) -> None:
    OFUL(3).save(tmp_path / "p")
    with zipfile.ZipFile(tmp_path / "p") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(tmp_path / "p", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
        archive.writestr("more.npy", bytes(10**7))
    with pytest.raises(FileFormatError, match="compressed"):
        voful.load(tmp_path / "p")


def test_many_members_are_refused_at_once(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for i in range(20_000):
            archive.writestr(f"{i}.npy", b"")
    (tmp_path / "p").write_bytes(buffer.getvalue())
    started = time.process_time()
    with pytest.raises(FileFormatError, match="20000 members"):
        voful.load(tmp_path / "p")
    assert time.process_time() - started < 0.5


def test_an_array_longer_than_the_file(tmp_path: Path) -> None:
    OFUL(3).save(tmp_path / "p")
    with zipfile.ZipFile(tmp_path / "p") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    head = b"{'descr': '<f8', 'fortran_order': False, 'shape': (400000000,), }"
    head = head.ljust(117) + b"\n"
    members["_chosen.npy"] = b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head
    with zipfile.ZipFile(tmp_path / "p", "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    with pytest.raises(FileFormatError, match="shape"):
        voful.load(tmp_path / "p")


def test_unknown_members_and_fields_are_refused(tmp_path: Path) -> None:
    members, header = header_of(OFUL(3), tmp_path)
    for odd in (
        {**members, "more.npy": np.zeros(3)},
        {**members, "readme.txt": "hello"},
        {**members, "header.json": {**header, "more": 1}},
    ):
        (tmp_path / "p").write_bytes(crafted.write(odd))
        with pytest.raises(FileFormatError):
            voful.load(tmp_path / "p")


def test_rewards_whose_gains_take_turns_for_ever(tmp_path: Path) -> None:
    """The check of a model's rewards ends, whatever the horizon."""
    P = np.zeros((1, 2, 1, 2))
    P[0, 0, 0, 1] = P[0, 1, 0, 0] = 1.0
    started = time.process_time()
    with pytest.raises(ValueError, match="rewards"):
        LinearMixtureModel(P, np.array([[2.1e-12], [0.0]]), 10**12)
    assert time.process_time() - started < 10.0  # with the time to compile


@pytest.mark.parametrize("id", [entry.id for entry in registry.entries("episodic")])
def test_horizons_that_nobody_can_wait_for(files: Path, id: str) -> None:
    """A file asks for steps whose values never rest: refused, or plans of a bounded size."""
    for horizon in (10**6, 10**9, 10**12, 10**15):
        members = crafted.read((files / f"{id}-0.voful").read_bytes())
        members["header.json"]["config"]["model"]["horizon"] = horizon
        rewards = members["config/model/rewards.npy"]
        members["config/model/rewards.npy"] = np.full_like(rewards, 1.0 / horizon)
        (files / "changed").write_bytes(crafted.write(members))
        with contextlib.suppress(FileFormatError):
            agent = load(files / "changed", None)  # within its limits of time and memory
            assert horizon <= MAX_HORIZON
            started = time.process_time()
            play_agent(agent)
            assert time.process_time() - started < 10.0
            plan = type(agent)(**agent.config()).plan()  # the file's own plan may stand on
            assert len(plan.values) <= MOST_ROWS + 1
            assert plan.value >= 1.0 - 1e-6 or not agent.optimistic


def test_episodes_that_cannot_be_completed() -> None:
    model = LinearMixtureModel(np.ones((1, 1, 1, 1)), np.zeros((1, 1)), 10**9)
    with pytest.raises(ValueError, match="horizon"):
        MVP(model, n_episodes=3, known_absorbing=False)
    MVP(model, n_episodes=3).update([0], [])  # the control: what is known need not be played


def test_counts_under_which_a_tangent_is_vertical(files: Path) -> None:
    members = crafted.read((files / "likelihood-ucrl-1.voful").read_bytes())
    counts = members["_counter/counts.npy"].copy()
    counts.reshape(-1)[29] = 10**6
    (files / "changed").write_bytes(crafted.write({**members, "_counter/counts.npy": counts}))
    play_agent(voful.load(files / "changed"))


def test_a_text_in_a_header_does_not_reach_the_terminal(tmp_path: Path) -> None:
    members, header = header_of(OFUL(3), tmp_path)
    header["config"]["ridge"] = "\x1b[31mred"
    header["class"] = "\x1b]0;title\x07"
    (tmp_path / "p").write_bytes(crafted.write(members))
    with pytest.raises(FileFormatError) as refused:
        voful.load(tmp_path / "p")
    assert str(refused.value).isprintable()
    assert json.dumps(header)
