"""Ctrl-C that is not lost.

Python raises KeyboardInterrupt wherever it happens to be, also in places whose exceptions nobody
sees (destructors, callbacks around a fork). So it is also written down, and asked for.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType


@dataclass
class Stop:
    """Whether somebody pressed Ctrl-C."""

    asked: bool = False

    def if_asked(self) -> None:
        """KeyboardInterrupt, if so."""
        if self.asked:
            raise KeyboardInterrupt

    def _ask(self, signum: int, frame: FrameType | None) -> None:
        self.asked = True
        raise KeyboardInterrupt


@contextlib.contextmanager
def listening() -> Iterator[Stop]:
    """Write Ctrl-C down, where it means what it means by default, in the main thread."""
    stop = Stop()
    here = threading.current_thread() is threading.main_thread()
    if not here or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield stop
        return
    signal.signal(signal.SIGINT, stop._ask)
    try:
        yield stop
        stop.if_asked()
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
