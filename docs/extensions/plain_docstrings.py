"""Docstrings are plain text with formulas such as |x|_V and theta*; Sphinx expects its markup."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from sphinx.application import Sphinx

_LITERAL = re.compile(r"(``[^`]+``|`[^`]+`)")
_MARKUP = re.compile(r"[*|\\]|(?<=\w)_(?!\w)")
_RULE = re.compile(r"-+$")
FIELDS = {"Parameters", "Attributes", "Returns", "Yields", "Raises"}  # name, indented meaning


def escape(line: str) -> str:
    """The line as reST that shows it as it is; what stands in backticks is code."""
    pieces = _LITERAL.split(line)
    pieces[::2] = [_MARKUP.sub(lambda found: "\\" + found[0], piece) for piece in pieces[::2]]
    pieces[1::2] = [f"``{piece.strip('`')}``" for piece in pieces[1::2]]
    return "".join(pieces)


def plain(lines: list[str]) -> Iterator[str]:
    """All lines; blocks that are indented outside of lists of parameters are formulas or code."""
    fields = references = literal = False
    for number, line in enumerate(lines):
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if line and _RULE.match(following):
            fields, references, literal = line in FIELDS, line == "References", False
        if references:
            yield from ("", escape(line)) if line.startswith("[") else (escape(line.strip()),)
            continue
        indented = line.startswith("    ") and not fields
        after_blank = number > 0 and not lines[number - 1].strip()
        if indented and after_blank and not literal:
            literal = True
            yield from ("::", "")
        elif line and not indented:
            literal = False
        yield line if literal or _RULE.match(line) else escape(line)


def rewrite(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Before napoleon finds the sections."""
    lines[:] = list(plain(lines))


def setup(app: Sphinx) -> dict[str, bool]:
    """Hear of every docstring, first."""
    app.connect("autodoc-process-docstring", rewrite, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
