"""Kernels on disk are a convenience: what goes wrong with their files must not stop a policy."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Callable
from typing import Any

_HOW = (
    "kernels are compiled again in every process (half a minute for some policies); set "
    "NUMBA_CACHE_DIR to a folder that can be written to"
)
_warned: set[str] = set()


def warn_uncached(why: str) -> None:
    """Say once why kernels are not kept."""
    if why not in _warned:
        _warned.add(why)
        warnings.warn(f"compiled kernels are not kept: {why}; {_HOW}", RuntimeWarning, stacklevel=2)


def forgive(compiled: Any) -> None:
    """Let a kernel go on, compiled for this process only, when its cache cannot be read or written.

    A full disk, a folder that became read-only, a truncated or foreign index: Numba would raise
    OSError or UnpicklingError from whatever called the kernel. An index that cannot be read is
    removed, so that the next process finds it whole again.
    """
    cache: Any = getattr(compiled, "_cache", None)
    if not hasattr(cache, "load_overload") or not hasattr(cache, "save_overload"):
        return
    cache.load_overload = _guarded(cache.load_overload, cache, "cannot be read")
    cache.save_overload = _guarded(cache.save_overload, cache, "cannot be written")


def _guarded(access: Callable[..., Any], cache: Any, what: str) -> Callable[..., Any]:
    def guarded(*args: Any) -> Any:
        try:
            return access(*args)
        except Exception as error:
            index = getattr(getattr(cache, "_cache_file", None), "_index_path", None)
            if index is not None and not isinstance(error, OSError):
                with contextlib.suppress(OSError):
                    os.unlink(index)
            place = getattr(cache, "cache_path", "their folder")
            warn_uncached(f"{place} {what} ({type(error).__name__})")
            return None

    return guarded
