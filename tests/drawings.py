"""Figures that nobody looks at."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

from voful.report.figures import panels


@contextmanager
def unrendered() -> Iterator[None]:
    """Reports that are made in here have all their files, but the pictures are blank.

    Layout and rendering take seconds a report; for tests of which files there are and what is said.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Figure, "savefig", _savefig)
        patch.setattr(panels, "_fix_layout", lambda figure: None)
        yield


def _savefig(figure: Figure, path: str, **options: Any) -> None:
    Path(path).write_text("blank")
