"""Kernels on disk are a convenience: what goes wrong with their files must not stop a policy."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from typing import Any

from voful import notice


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
            place = getattr(cache, "cache_path", "the folder of its kernels")
            notice.cannot_keep(f"{place} {what} ({type(error).__name__})")
            return None

    return guarded
