"""Build hooks of the site: what follows from the registry, and formulas as MathML."""

from __future__ import annotations

import html
import re
from inspect import getdoc
from typing import Any

from latex2mathml.converter import convert
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from voful import registry
from voful.report.terminal.tables import agent_table, bandit_table, registry_markdown

_FORMULA = re.compile(
    r'<(span|div) class="arithmatex">(?:\\\(|\\\[)(.*?)(?:\\\)|\\\])</\1>', re.DOTALL
)


def algorithm_pages(kind: registry.Kind) -> dict[str, registry.Entry]:
    """The page of each file with algorithms, and the first of them."""
    pages: dict[str, registry.Entry] = {}
    for entry in registry.entries(kind):
        pages.setdefault(f"algorithms/{entry.module.rpartition('.')[2]}.md", entry)
    return pages


def on_config(config: MkDocsConfig) -> None:
    """Put the pages of the algorithms into the navigation."""
    assert config.nav is not None
    (algorithms,) = (part["Algorithms"] for part in config.nav if "Algorithms" in part)
    algorithms += [
        {"Linear bandits": [*algorithm_pages("bandit")]},
        {"Linear mixture MDPs": [*algorithm_pages("episodic"), "algorithms/value_targets.md"]},
    ]


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Make those pages that nobody has written yet, from the docstring."""
    for kind in registry.KINDS:
        for page, entry in algorithm_pages(kind).items():
            if files.get_file_from_path(page) is None:
                text = f"# {entry.name}\n\nId `{entry.id}`.\n\n```text\n{getdoc(entry.cls)}\n```\n"
                files.append(File.generated(config, page, content=text))


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put the registry's tables where a page asks for them."""
    tables = {
        "registry": registry_markdown,
        "registry: bandits": bandit_table,
        "registry: agents": agent_table,
    }
    for name, table in tables.items():
        if (place := f"<!-- {name} -->") in markdown:
            markdown = markdown.replace(place, table())
    return markdown


def on_page_content(content: str, **_: Any) -> str:
    """Turn arithmatex's formulas into MathML, so that no script has to."""
    return _FORMULA.sub(_mathml, content)


def _mathml(match: re.Match[str]) -> str:
    display = "block" if match[1] == "div" else "inline"
    formula = html.unescape(match[2])
    mathml = str(convert(formula, display=display))
    if "\\" in mathml:  # a command that the converter does not know is passed through
        raise ValueError(f"cannot render the formula {formula!r}")
    return mathml
