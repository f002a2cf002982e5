"""Build hooks of the site: the registry's table, and formulas as MathML."""

from __future__ import annotations

import html
import re
from typing import Any

from latex2mathml.converter import convert

from voful.report.terminal.tables import agent_table, bandit_table, registry_markdown

_FORMULA = re.compile(
    r'<(span|div) class="arithmatex">(?:\\\(|\\\[)(.*?)(?:\\\)|\\\])</\1>', re.DOTALL
)


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
