"""A new algorithm is one file and one line of the table, in a copy of the library."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COPIED = ("docs", "pyproject.toml", "src", "tests", "tools")
LINE = 'toy,bandits.toy:Toy,,not needed,anytime,"Nobody, never",none proved,A d\n'
STUDY = """
name = "toys"
rounds = 20
replicates = 2
policy = [{ id = "toy" }]
problem = [{ name = "one", dim = 2, sigma = 0.1 }]
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library with the toy; what is compiled of the library serves the copy too."""
    root = tmp_path_factory.mktemp("copy")
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("*.pyc"))
        else:
            shutil.copy(ROOT / name, root)
    shutil.copy(Path(__file__).with_name("toy.py"), root / "src" / "voful" / "bandits")
    with (root / "src" / "voful" / "algorithms.csv").open("a") as table:
        table.write(LINE)
    return root


def python(copy: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=copy,
        env=os.environ | {"PYTHONPATH": str(copy / "src")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_names_and_list(copy: Path) -> None:
    code = """
import sys, voful
print(voful.Toy is voful.bandits.Toy, voful.Toy.__module__, voful.Toy(2))
from voful.__main__ import main
sys.argv[1:] = ["list"]
main()
"""
    first, *_, last = python(copy, "-c", code).splitlines()
    assert first.startswith("True voful.bandits.toy Toy(dim=2")
    assert last == "toy\tbandit\tNobody, never\tnone proved\t-\tanytime\tA d"


def test_study(copy: Path) -> None:
    (copy / "toys.toml").write_text(STUDY)
    python(copy, "-m", "voful", "run", "toys.toml", "--workers", "1")
    assert "2 of 2 runs stored" in python(copy, "-m", "voful", "show", "out/toys")


def test_conformance(copy: Path) -> None:
    suite = "tests/conformance/test_policies.py"
    python(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", suite, "-k", "[toy")


def test_stubs(copy: Path) -> None:
    python(copy, "tools/derive.py")
    wanted = "from voful.bandits.toy import Toy as Toy\n"
    assert wanted in (copy / "src" / "voful" / "__init__.pyi").read_text()
    assert wanted in (copy / "src" / "voful" / "bandits" / "__init__.pyi").read_text()


def test_docs(copy: Path) -> None:
    """Navigation, table and reference; that such pages build is what `make docs` shows."""
    code = """
import sys; sys.path.insert(0, "docs/extensions")
from pathlib import Path
import api_pages, markdown_pages
print(markdown_pages.navigation("bandit"), markdown_pages.bandit_table())
api_pages.write_pages(Path("docs"))
print("with a page of its own")
page = Path("docs/algorithms/toy.md")
page.write_text("# Toy\\n")
print(markdown_pages.navigation("bandit"))
page.unlink()
"""
    without, _, told = python(copy, "-c", code).partition("with a page of its own")
    assert "\n/reference/api/voful.Toy\n" in without
    assert "\ntoy\n" not in without
    assert "| `toy` |" in without
    page = copy / "docs" / "reference" / "api" / "voful.Toy.rst"
    assert ".. autoclass:: voful.Toy\n" in page.read_text()
    assert "\ntoy\n" in told
