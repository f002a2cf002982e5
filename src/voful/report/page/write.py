"""Data, style and scripts become one file."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from voful.atomic import atomic_file
from voful.report.page.data import page_data
from voful.report.statistics.played import Played

SCRIPTS = ("base.js", "axes.js", "charts.js", "tables.js", "theatre.js", "page.js")


def write_page(study: str | Path | Played) -> Path:
    """Write DIR/report.html, the page of a results directory; returns its path.

    The file holds its data, style and scripts, and asks the network for nothing.
    """
    played = study if isinstance(study, Played) else Played(study)
    data = page_data(played)
    title = f"{data['name']} · voful report"
    return fill_page(played.page, data, title, "voful report", SCRIPTS)


def fill_page(
    path: Path, data: dict[str, Any], title: str, command: str, scripts: Sequence[str]
) -> Path:
    """Write one file that holds data, style and scripts; returns its path."""

    def read(name: str) -> str:
        return (files("voful.report.page") / name).read_text(encoding="utf-8")

    # "<" would let a study's text end the element that holds it.
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    filled = {
        "title": html.escape(title),
        "command": html.escape(command),
        "style": read("page.css"),
        "data": text.replace("<", "\\u003c"),
        "script": "\n".join(map(read, scripts)),
    }
    page = re.sub(r"\{\{(\w+)\}\}", lambda place: filled[place[1]], read("template.html"))
    with atomic_file(path) as file:
        file.write(page.encode("utf-8", "replace"))
    return path
