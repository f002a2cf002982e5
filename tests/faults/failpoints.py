"""A failpoint at every call: something happens at the n-th call or return in some files."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any


@contextlib.contextmanager
def at_call(n: int, places: tuple[str, ...], happens: Callable[[], None]) -> Iterator[list[int]]:
    """Let it happen at event n of functions in files whose path holds one of `places`.

    Events are calls and returns, also of built-in functions, so before and after each system call.
    Yields a list whose one number counts the events.
    """
    seen = [0]

    def watch(frame: FrameType, event: str, argument: Any) -> None:
        if any(place in frame.f_code.co_filename for place in places):
            seen[0] += 1
            if seen[0] == n:
                happens()

    sys.setprofile(watch)
    try:
        yield seen
    finally:
        sys.setprofile(None)


def die() -> None:
    """As by kill -9."""
    os.kill(os.getpid(), signal.SIGKILL)


def interrupt() -> None:
    """As by Ctrl-C."""
    signal.raise_signal(signal.SIGINT)
