"""What README and docs show is true: code runs, links lead somewhere."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest
from drawings import unrendered
from inline import inline
from typer.testing import CliRunner

from voful.cli import app

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def code_blocks(page: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)


def files(page: Path) -> dict[str, str]:
    """Blocks with a title are files."""
    titled = re.findall(r'```\w+ title="([^"]+)"\n(.*?)```', page.read_text(), re.DOTALL)
    return dict(titled)


def commands(page: Path) -> list[str]:
    return re.findall(r"```sh\n(.*?)```", page.read_text(), re.DOTALL)


def type_in(line: str) -> None:
    """A command of `voful`, in this process; one of them in its own: test_studies.py."""
    program, *arguments = shlex.split(line, comments=True)
    assert program == "voful"
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, (line, done.output, done.exception)


@pytest.mark.parametrize(
    "page", [page for page in PAGES if code_blocks(page)], ids=lambda page: page.name
)
def test_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All blocks of a page run in one namespace, top to bottom, after its files and commands.

    Studies in this process, and figures that nobody looks at: other tests are about these.
    """
    monkeypatch.chdir(tmp_path)
    for name, content in files(page).items():
        Path(name).write_text(content)
    typed = "\n".join(commands(page)).splitlines() if files(page) else []
    with inline(), unrendered(), contextlib.redirect_stdout(io.StringIO()):
        for line in filter(None, typed):
            type_in(line)
        exec("\n".join(code_blocks(page)), {"__name__": "example"})


def test_readme_is_short_and_its_commands_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two screens of 50 lines before the links. Who runs what: see below."""
    text = (ROOT / "README.md").read_text()
    assert text.partition("## Where to read on")[0].count("\n") <= 100
    typed = [
        line.partition("#")[0].strip()
        for block in commands(ROOT / "README.md")
        for line in block.splitlines()
    ]
    assert "make demo" in (ROOT / ".ci" / "run").read_text()
    elsewhere = {"make demo", "pip install ."}  # .ci/run; test_wheel.py
    assert elsewhere < {*typed}
    (tmp_path / "studies").symlink_to(ROOT / "studies")
    monkeypatch.chdir(tmp_path)
    with inline(), unrendered():
        for command in typed:
            if command not in elsewhere:
                type_in(command)
    for name in re.findall(r"`voful (list|warm \w+)`", text):
        assert name in ("list", "warm betoful")  # tests/unit/test_cli.py and test_warming.py


def test_the_tutorial_keeps_its_promise() -> None:
    """Twenty lines, without the commands and the blank ones."""
    page = ROOT / "docs" / "howto" / "compare.md"
    lines = [line for text in files(page).values() for line in text.splitlines() if line.strip()]
    assert len(lines) <= 20


def test_relative_links_lead_somewhere() -> None:
    for page in [*PAGES, ROOT / "CONTRIBUTING.md"]:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
            # Tutorials' pages are made of their scripts, by `make docs`.
            source = re.sub(r"tutorials/(?:index|(\w+))\.rst$", r"gallery/\1", target)
            exists = (page.parent / source).exists() or (page.parent / f"{source}.py").exists()
            assert exists, f"{page.name}: {target}"
