from __future__ import annotations

import json
import os
import stat
import zipfile
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import voful
from helpers import play_some
from voful import OFUL, FileFormatError, persistence


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    policy = OFUL(3)
    play_some(policy, 20)
    policy.save(tmp_path / "policy.voful")
    return tmp_path / "policy.voful"


def rewrite(path: Path, **changes: object) -> None:
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(members["header.json"]) | changes
    members["header.json"] = json.dumps(header).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def test_the_file_is_arrays_and_json(saved: Path) -> None:
    with zipfile.ZipFile(saved) as archive:
        header = json.loads(archive.read("header.json"))
        assert header["class"] == "OFUL"
        assert header["config"]["dim"] == 3
        arrays = [name for name in archive.namelist() if name.endswith(".npy")]
    assert "confidence_set/blocks.npy" in arrays
    np.load(saved, allow_pickle=False)["confidence_set/blocks"]


def test_every_flipped_byte_is_noticed_or_harmless(saved: Path) -> None:
    """Refused in one voice, or (in fields of the archive that nobody reads) the same policy."""
    original = {name: a.tobytes() for name, a in voful.load(saved).state().items()}
    content = saved.read_bytes()
    for position in range(0, len(content), 11):
        damaged = bytearray(content)
        damaged[position] ^= 0x41
        saved.write_bytes(damaged)
        try:
            state = voful.load(saved).state()
        except FileFormatError:
            continue
        assert {name: a.tobytes() for name, a in state.items()} == original


@pytest.mark.parametrize(
    "changes",
    [{"class": [1]}, {"class": None}, {"config": None}, {"config": [1]}, {"format_version": 1.5},
     {"format_version": True}, {"rng": "x"}, {"rng": {}}],
)  # fmt: skip
def test_damaged_headers(saved: Path, changes: dict[str, object]) -> None:
    rewrite(saved, **changes)
    with pytest.raises(FileFormatError):
        voful.load(saved)


def test_a_link_stays_a_link(saved: Path) -> None:
    link = saved.parent / "link"
    link.symlink_to(saved)
    OFUL(3).save(link)
    assert link.is_symlink()
    assert voful.load(saved).n_observations == 0


def test_a_failed_restore_changes_nothing() -> None:
    policy, other = OFUL(3), OFUL(3)
    play_some(other, 5)
    state = other.state() | {"confidence_set/blocks": np.zeros(3)}
    with pytest.raises(ValueError, match="blocks"):
        policy.restore(state)
    np.testing.assert_array_equal(policy.confidence_set.precision, np.eye(3))


def test_parts_may_be_sequences() -> None:
    class Layer(persistence.Stateful):
        _arrays = ("values",)

        def __init__(self) -> None:
            self.values = np.zeros(2)

    class Layered(persistence.Stateful):
        _parts = ("layers",)

        def __init__(self) -> None:
            self.layers = [Layer(), Layer()]

    full, empty = Layered(), Layered()
    full.layers[1].values[:] = 3.0
    assert sorted(full.state()) == ["layers/0/values", "layers/1/values"]
    empty.restore(full.state())
    np.testing.assert_array_equal(empty.layers[1].values, [3.0, 3.0])


def test_no_file_is_left_behind_and_mode_is_ordinary(saved: Path) -> None:
    assert os.listdir(saved.parent) == [saved.name]
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(saved.stat().st_mode) == 0o666 & ~umask


def test_a_failed_save_keeps_the_old_file(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = saved.read_bytes()

    def full_disk(*args: object, **kwargs: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(np.lib.format, "write_array", full_disk)
    with pytest.raises(OSError, match="No space left"):
        OFUL(3).save(saved)
    assert saved.read_bytes() == before
    assert os.listdir(saved.parent) == [saved.name]


@pytest.mark.parametrize("kept", [0, 1, 100, 0.5, 0.9, 0.999])
def test_truncated_files(saved: Path, kept: float) -> None:
    content = saved.read_bytes()
    saved.write_bytes(content[: int(kept * len(content)) if kept < 1 else int(kept)])
    with pytest.raises(FileFormatError, match="not a voful file"):
        voful.load(saved)


def test_flipped_bytes_never_give_a_wrong_policy(saved: Path) -> None:
    content = saved.read_bytes()
    with zipfile.ZipFile(saved) as archive:
        spans = [(i.header_offset, i.header_offset + 30 + i.file_size) for i in archive.infolist()]
    for start, end in spans:
        middle = (start + end) // 2 + 20
        damaged = bytearray(content)
        damaged[middle] ^= 0xFF
        saved.write_bytes(damaged)
        with pytest.raises(FileFormatError):
            voful.load(saved)


def test_foreign_files(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("hello")
    archive = tmp_path / "other.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("header.json", '{"format": "other", "format_version": 1}')
    bare = tmp_path / "bare.npz"
    np.savez(bare, a=np.zeros(3))
    for path in (text, archive, bare):
        with pytest.raises(FileFormatError, match="not a voful file"):
            voful.load(path)
    with pytest.raises(FileNotFoundError):
        voful.load(tmp_path / "absent")


def test_an_older_format_says_so(saved: Path) -> None:
    rewrite(saved, format_version=1)
    with pytest.raises(FileFormatError, match=r"written by voful 0\.1 .* or learn it anew$"):
        voful.load(saved)


def test_a_newer_format_says_so(saved: Path) -> None:
    rewrite(saved, format_version=persistence.FORMAT_VERSION + 1)
    with pytest.raises(FileFormatError, match="written by a newer voful"):
        voful.load(saved)


def test_unknown_class_and_wrong_class(saved: Path) -> None:
    class Mine(OFUL):
        pass

    rewrite(saved, **{"class": "Mine"})
    with pytest.raises(FileFormatError, match="pass its class as cls="):
        voful.load(saved)
    assert isinstance(voful.load(saved, cls=Mine), Mine)
    with pytest.raises(FileFormatError, match="holds a Mine, not a OFUL"):
        voful.load(saved, cls=OFUL)


def test_wrong_arrays(saved: Path) -> None:
    rewrite(saved, config={"dim": 3})
    assert voful.load(saved).n_observations == 20
    rewrite(saved, config={"dim": "three"})
    with pytest.raises(FileFormatError, match="not a voful file, or a damaged one"):
        voful.load(saved)
    rewrite(saved, config={"dim": 4})
    with pytest.raises(FileFormatError, match="not a voful file, or a damaged one"):
        voful.load(saved)


def test_seed_sequences_survive(tmp_path: Path) -> None:
    OFUL(2, seed=np.int64(3)).save(tmp_path / "numpy")  # type: ignore[arg-type]
    assert voful.load(tmp_path / "numpy").seed == 3
    child = np.random.SeedSequence(np.int64(3)).spawn(2)[1]
    child.spawn(1)
    policy = OFUL(2, seed=child)
    policy._rng.random(5)
    policy.save(tmp_path / "p")
    loaded = voful.load(tmp_path / "p")
    assert loaded.seed.state == child.state
    assert loaded._rng.random() == policy._rng.random()


class Box(persistence.Persistent):
    """Holds another object as an argument, which holds an array and a further one."""

    def __init__(self, content: np.ndarray[Any, Any], size: float = 1.0) -> None:
        self.content = np.asarray(content)
        self.size = size


class Shelf(persistence.Persistent):
    _arguments: ClassVar = {"box": Box}

    def __init__(self, box: Box, name: str = "a") -> None:
        self.box = box
        self.name = name


class Room(persistence.Persistent):
    _arguments: ClassVar = {"shelf": Shelf}
    _arrays = ("count",)

    def __init__(self, shelf: Shelf, levels: np.ndarray[Any, Any], seed: Any = 0) -> None:
        self.shelf = shelf
        self.levels = np.asarray(levels)
        self.seed = seed
        self.count = np.zeros(1)


def test_arguments_that_are_objects_are_stored_along(tmp_path: Path) -> None:
    content = np.array([0.1, np.pi, 1e-300])
    seed = np.random.SeedSequence(5)
    room = Room(Shelf(Box(content, 2.5), "top"), np.arange(6).reshape(2, 3), seed)
    room.count += 7
    persistence.save(room, tmp_path / "room")
    with zipfile.ZipFile(tmp_path / "room") as archive:
        header = json.loads(archive.read("header.json"))
        assert header["config"]["shelf"] == {"box": {"size": 2.5}, "name": "top"}
        assert "config/shelf/box/content.npy" in archive.namelist()
        assert "config/levels.npy" in archive.namelist()
    loaded = persistence.load(tmp_path / "room", lambda name: Room)
    assert loaded.shelf.box.content.tobytes() == content.tobytes()
    assert loaded.shelf.box.size == 2.5
    assert loaded.shelf.name == "top"
    np.testing.assert_array_equal(loaded.levels, room.levels)
    assert loaded.seed.state == seed.state
    assert loaded.count[0] == 7
    rewrite(tmp_path / "room", config={"levels": [1], "seed": 0})
    with pytest.raises(FileFormatError, match="not a voful file, or a damaged one"):
        persistence.load(tmp_path / "room", lambda name: Room)
