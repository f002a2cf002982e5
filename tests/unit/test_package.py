from __future__ import annotations

import subprocess
import sys

import voful


def test_public_names_exist() -> None:
    for name in voful.__all__:
        assert getattr(voful, name) is not None


def test_import_is_light() -> None:
    """Importing the library loads no plotting, data-frame or command-line package."""
    heavy = (
        "matplotlib",
        "polars",
        "typer",
        "scipy.stats",
        "plotly",
        "pydantic",
        "ray",
        "gymnasium",
    )
    code = f"import sys, voful; print([m for m in {heavy!r} if m in sys.modules])"
    output = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert output.stdout.strip() == "[]"
