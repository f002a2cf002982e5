"""Formulas become MathML while the site is built: pages need neither scripts nor a network."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx


def mathml(formula: str, display: str) -> str:
    """The formula as MathML; what the converter does not know is an error, not passed through."""
    made = str(convert(formula, display=display))
    if "\\" in made:
        raise ValueError(f"cannot render the formula {formula!r}")
    return made


def inline(translator: Any, node: nodes.math) -> None:
    """A formula within a line."""
    translator.body.append(mathml(node.astext(), "inline"))
    raise nodes.SkipNode


def block(translator: Any, node: nodes.math_block) -> None:
    """A formula on lines of its own, which may be wider than a phone."""
    translator.body.append(f'<div class="math-block">{mathml(node.astext(), "block")}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer, which conf.py chooses."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
