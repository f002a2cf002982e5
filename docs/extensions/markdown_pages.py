"""What Markdown pages leave open: the tables and the navigation that follow from the registry."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from sphinx.application import Sphinx

from voful import registry
from voful.report.terminal.tables import agent_table, bandit_table

DOCS = Path(__file__).parents[1]
_TITLED = re.compile(r'^```(\w+) title="([^"]+)"$', re.MULTILINE)


def algorithm_pages(kind: registry.Kind) -> Iterator[str]:
    """A page for each file with algorithms; until somebody has written it, the reference's."""
    for entry in registry.entries(kind):
        page = entry.module.rpartition(".")[2]
        written = (DOCS / "algorithms" / f"{page}.md").exists()
        yield page if written else f"/reference/api/voful.{entry.name}"


def navigation(kind: registry.Kind, *more: str) -> str:
    """Those pages as a part of the navigation."""
    caption = {"bandit": "Linear bandits", "episodic": "Linear mixture MDPs"}[kind]
    pages = "\n".join(dict.fromkeys([*algorithm_pages(kind), *more]))
    return f"```{{toctree}}\n:caption: {caption}\n:hidden:\n\n{pages}\n```"


PLACES: dict[str, Callable[[], str]] = {
    "registry: bandits": bandit_table,
    "registry: agents": agent_table,
    "pages: bandits": lambda: navigation("bandit"),
    "pages: agents": lambda: navigation("episodic", "value_targets"),
}


def fill(app: Sphinx, page: str, source: list[str]) -> None:
    """Put them where a page asks for them, and show the names of files above their text."""
    text = source[0]
    for name, made in PLACES.items():
        if (place := f"<!-- {name} -->") in text:
            text = text.replace(place, made())
    source[0] = _TITLED.sub(r"```{code-block} \1\n:caption: \2\n", text)


def setup(app: Sphinx) -> dict[str, bool]:
    """Hear of every page as it is read."""
    app.connect("source-read", fill)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
