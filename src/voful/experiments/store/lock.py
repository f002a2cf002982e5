"""One writer at a time in a results directory."""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
from collections.abc import Iterator
from pathlib import Path


class LockedError(RuntimeError):
    """Another process is writing there."""


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of a file, or raise; the system frees it when the process ends, even killed."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    with os.fdopen(handle, "r+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = file.read().strip() or "unknown"
            raise LockedError(
                f"{path.parent}: another voful is writing there ({holder}); "
                "wait for it or choose another directory"
            ) from None
        file.truncate(0)
        file.write(f"process {os.getpid()} on {socket.gethostname()}\n")
        file.flush()
        yield
