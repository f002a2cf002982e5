"""The tutorials ran while the site was built: all of them, each in time, with figures."""

from __future__ import annotations

from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
SCRIPTS = sorted((DOCS / "gallery").glob("plot_*.py"))
SECONDS = 20.0  # of CPU, with kernels on disk: `make test` compiles them


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_tutorial(script: Path, request: pytest.FixtureRequest) -> None:
    site: Path = request.config.getoption("--site")
    page = (site / "tutorials" / f"{script.stem}.html").read_text()
    assert f"sphx_glr_{script.stem}_001" in page, "no figure"
    taken = DOCS / "tutorials" / f"{script.stem}.seconds"
    assert 0.0 < float(taken.read_text()) <= SECONDS
