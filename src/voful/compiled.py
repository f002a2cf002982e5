"""The one way in which this library compiles a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

import numba

P = ParamSpec("P")
R = TypeVar("R")


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile with Numba, cached on disk, compiled at the first call.

    No fastmath: floating-point order is as written, so that a batch gives the same bits as
    one call a row, and a loaded policy continues exactly.
    """
    try:
        compiled = numba.njit(cache=True, error_model="numpy")(function)
    except RuntimeError:  # neither the package's folder nor a home can be written to
        compiled = numba.njit(error_model="numpy")(function)
    return cast(Callable[P, R], compiled)
