"""Words in which classes state what their arrays must satisfy; see `Stateful._invariants`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np

Invariants: TypeAlias = Iterator[tuple[str, bool]]
"""(what must hold, whether it does), in an order in which a line may rely on those before."""

MOST = 2.0**53
"""Whole numbers up to here are exact as floats."""

SLACK = 1e-6
"""Relative, for what rounding may have moved: the invariants guard against nonsense."""


def between(values: Any, low: Any, high: Any) -> bool:
    """Whether all numbers are in [low, high], up to rounding."""
    array = np.asarray(values)
    slack = SLACK * (1.0 + np.maximum(np.abs(low), np.abs(high)))
    return bool(((array >= low - slack) & (array <= high + slack)).all())


def whole(values: Any, least: float = 0, most: float = MOST) -> bool:
    """Whether all numbers are whole and in [least, most]."""
    array = np.asarray(values)
    return bool(((array >= least) & (array <= most) & (array == np.floor(array))).all())
