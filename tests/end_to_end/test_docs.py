"""What README and docs show is true: code runs, tables are the registry's."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

from voful.report.tables import registry_markdown

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def code_blocks(page: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)


@pytest.mark.parametrize(
    "page", [page for page in PAGES if code_blocks(page)], ids=lambda page: page.name
)
def test_examples_run(page: Path) -> None:
    """All blocks of a page run in one namespace, top to bottom."""
    with contextlib.redirect_stdout(io.StringIO()):
        exec("\n".join(code_blocks(page)), {"__name__": "example"})


def test_readme_has_the_registrys_table() -> None:
    table = re.search(
        r"<!-- registry -->\n(.*?)<!-- /registry -->", PAGES[0].read_text(), re.DOTALL
    )
    assert table is not None
    assert table[1] == registry_markdown(), "run: voful list --markdown"


def test_relative_links_lead_somewhere() -> None:
    for page in [*PAGES, ROOT / "CONTRIBUTING.md"]:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
