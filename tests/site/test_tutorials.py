"""The tutorials ran while the site was built: all of them, each in time, with figures."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

GALLERY = Path(__file__).parents[2] / "docs" / "gallery"
SCRIPTS = sorted(GALLERY.glob("plot_*.py"))
SECONDS = 20.0


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_tutorial(script: Path, request: pytest.FixtureRequest) -> None:
    site: Path = request.config.getoption("--site")
    page = (site / "tutorials" / f"{script.stem}.html").read_text()
    assert f"sphx_glr_{script.stem}_001" in page, "no figure"
    cases = ElementTree.parse(site / "tutorials.xml").getroot().iter("testcase")
    times = {case.attrib["file"]: case for case in cases}
    (case,) = (case for file, case in times.items() if file.endswith(f"{script.stem}.py"))
    assert not list(case), "did not run"
    assert float(case.attrib["time"]) <= SECONDS
