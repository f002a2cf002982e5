"""The one way in which this library compiles a function."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, Literal, ParamSpec, TypeVar, cast

import numba
from numba.extending import register_jitable
from numba.np import linalg as numba_linalg

P = ParamSpec("P")
R = TypeVar("R")


def _spare_scipy() -> None:
    """Keep Numba from importing scipy.linalg only to note that it is there.

    That takes a quarter of the time until a first kernel runs. Kernels that need BLAS or LAPACK
    ask again, and get it.
    """
    ask = getattr(numba_linalg, "ensure_blas", None)
    if ask is None:
        return
    numba_linalg.ensure_blas = lambda: None
    try:
        arraymath: Any = import_module("numba.np.arraymath")
        arraymath.ensure_blas = ask
    finally:
        numba_linalg.ensure_blas = ask


_spare_scipy()


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile with Numba, cached on disk, compiled at the first call.

    No fastmath: floating-point order is as written, so that a batch gives the same bits as
    one call a row, and a loaded policy continues exactly.
    """
    return _compiled(function, inline="never")


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """As `kernel`, but written into the kernels that call it: no call, no arrays handed over."""
    return _compiled(function, inline="always")


def _compiled(function: Callable[P, R], inline: Literal["never", "always"]) -> Callable[P, R]:
    try:
        compiled = numba.njit(cache=True, error_model="numpy", inline=inline)(function)
    except RuntimeError:  # neither the package's folder nor a home can be written to
        compiled = numba.njit(error_model="numpy", inline=inline)(function)
    _stamp(compiled)
    return cast(Callable[P, R], compiled)


def _stamp(compiled: Any) -> None:
    """Let the kernel's place on disk depend on every source.

    Numba asks whether the kernel's own file has changed, not those of the kernels that it calls:
    old code would run on.
    """
    file: Any = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if hasattr(file, "_source_stamp"):
        file._source_stamp = (file._source_stamp, _sources())


@cache
def _sources() -> str:
    """A digest of name, time and size of every file with kernels, or with what they call."""
    root = os.path.dirname(__file__)
    found = []
    for folder, inner, names in os.walk(root):
        inner[:] = [name for name in inner if name not in ("__pycache__", "report", "checks")]
        for name in names:
            if name.endswith(".py") and name not in ("cli.py", "__main__.py"):
                path = os.path.join(folder, name)
                state = os.stat(path)
                found.append((os.path.relpath(path, root), state.st_mtime_ns, state.st_size))
    return hashlib.sha256(repr(sorted(found)).encode()).hexdigest()[:16]


def shared(function: Callable[P, R]) -> Callable[P, R]:
    """A formula that both sides need: plain Python when Python calls it, compiled in kernels."""
    return register_jitable(function)
