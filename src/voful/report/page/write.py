"""Data, style and scripts become one file."""

from __future__ import annotations

import html
import json
import re
from importlib.resources import files
from pathlib import Path

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

    def read(name: str) -> str:
        return (files("voful.report.page") / name).read_text(encoding="utf-8")

    # "<" would let a study's text end the element that holds it.
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    filled = {
        "title": html.escape(f"{data['name']} · voful report"),
        "style": read("page.css"),
        "data": text.replace("<", "\\u003c"),
        "script": "\n".join(map(read, SCRIPTS)),
    }
    page = re.sub(r"\{\{(\w+)\}\}", lambda place: filled[place[1]], read("template.html"))
    with atomic_file(played.page) as file:
        file.write(page.encode("utf-8", "replace"))
    return played.page
