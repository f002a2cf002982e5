from __future__ import annotations

import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from voful.experiments.study import sources
from voful.experiments.study.study import parse_study
from voful.experiments.study.user_code import find

OWN = """
from voful import OFUL

class Mine(OFUL):
    '''A policy of my own.'''

    scale = 2.0  # wide

    def __init__(self, dim, *, seed=0):
        super().__init__(dim, seed=seed)
"""

STUDY = """
name = "test"
rounds = 300
replicates = 2
[[problem]]
name = "a"
dim = 2
[[policy]]
id = {ids}
"""


def keys(ids: str) -> set[str]:
    return {run.key for run in parse_study(STUDY.format(ids=ids)).runs()}


def test_words_about_the_users_code_keep_the_key_and_code_moves_it(tmp_path: Path) -> None:
    own = tmp_path / "own.py"
    id = f'"{own}:Mine"'
    own.write_text(OWN)
    before = keys(id)
    for old, new in (
        ("A policy of my own", "Something else"),
        ("  # wide", "  # wider than wide"),
        ("\nclass", "\n\n# The class\nclass"),
        ("    '''A policy of my own.'''\n", ""),
    ):
        own.write_text(OWN.replace(old, new))
        assert keys(id) == before, new
    for old, new in (
        ("2.0", "3.0"),
        ("2.0", "None"),
        ("seed=seed", "seed=0"),
        ("Mine(OFUL)", "Mine(OFUL, object)"),
    ):
        own.write_text(OWN.replace(old, new))
        assert not keys(id) & before, new


def test_what_is_no_python_counts_by_its_bytes(tmp_path: Path) -> None:
    digests = set()
    for text in ("def (", "def (  # why"):
        (tmp_path / "own.py").write_text(text)
        digests.add(find("own.py:Mine", tmp_path).digest)
    assert len(digests) == 2


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the library's text, to be changed."""
    root = tmp_path / "voful"
    shutil.copytree(sources.ROOT, root, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(sources, "ROOT", root)
    monkeypatch.setattr(sources, "_read", lambda path: read(path, path.stat().st_mtime_ns))
    yield root
    sources.library_digest.cache_clear()


@cache
def read(path: Path, changed: int) -> tuple[str, list[Path]]:
    """As the library does, but a file that has changed again."""
    return READ(path)


READ = sources._read.__wrapped__


def test_a_key_moves_with_the_modules_that_a_run_executes(library: Path) -> None:
    every = {"oful", "betoful", "epsilon-greedy"}

    def keys_now() -> dict[str, set[str]]:
        sources.library_digest.cache_clear()
        return {id: keys(f'"{id}"') for id in every}

    before = keys_now()

    def changed(file: str, added: str) -> set[str]:
        """The ids whose runs have other keys once a file has another line."""
        path = library / file
        text = path.read_text()
        path.write_text(text + added)
        after = keys_now()
        path.write_text(text)
        return {id for id in every if before[id] != after[id]}

    assert changed("bandits/betoful.py", "\nMORE = 1\n") == {"betoful"}
    assert changed("bandits/betoful.py", '\n"""More words."""  # and more\n') == set()
    assert changed("confidence/betting/round.py", "\nMORE = 1\n") == {"betoful"}
    assert changed("envs/bandit/noise.py", "\nMORE = 1\n") == every
    assert changed("experiments/play/loop.py", "\nMORE = 1\n") == every
    assert changed("experiments/store/store.py", "\nMORE = 1\n") == set()
    assert changed("envs/mixture/families.py", "\nMORE = 1\n") == set()
    assert changed("registry.py", "\nMORE = 1\n") == set()
    assert keys_now() == before
