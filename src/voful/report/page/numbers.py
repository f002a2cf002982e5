"""Numbers as the page carries them: short, and never NaN."""

from __future__ import annotations

import math
from typing import Any

DIGITS = 5  # significant ones; the page shows fewer


def short(value: float | None) -> float | int | None:
    """A number with `DIGITS` significant digits, an integer where it is one; None if undefined."""
    if value is None or not math.isfinite(value):
        return None
    rounded = float(f"{value:.{DIGITS}g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded


def shorts(values: Any) -> list[float | int | None]:
    """`short` of each."""
    return [short(value) for value in values]
