"""What a person is told: warnings, and why they wait for kernels.

That kernels are being compiled, or cannot be kept on disk, goes to the logger ``voful``, which
writes to standard error unless the program has set up `logging` otherwise. ``VOFUL_QUIET=1``
silences both.
"""

from __future__ import annotations

import logging
import os
import sys
import time
import warnings
from functools import cache
from threading import Timer
from types import FrameType
from typing import Any

from numba.core import event

PATIENCE = 1.0  # seconds of compiling before anything is said
_LOG = logging.getLogger("voful")
# Seconds on a machine of 2024, one core; others take less than ten.
_ABOUT = {"BetOFUL": 30, "BetVTR": 30, "VOFUL": 50, "VOFUL2": 50}


def warn(message: str, category: type[Warning] = RuntimeWarning) -> None:
    """Warn of the line that called this library, however far inside it is noticed."""
    level, frame = 1, sys._getframe(1)
    while _is_ours(frame) and frame.f_back is not None:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level + 1)


def _is_ours(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).split(".")[0] == "voful"


def _quiet() -> bool:
    return os.environ.get("VOFUL_QUIET", "") not in ("", "0")


@cache  # once a process
def cannot_keep(why: str) -> None:
    """Say why kernels are not kept on disk."""
    if not _quiet():
        _LOG.warning(
            "voful: %s, so every process compiles anew what it uses; "
            "set NUMBA_CACHE_DIR to a folder that can be written to",
            why,
        )


class _Watch(event.Listener):
    """Adds up the time that each algorithm's kernels take, and speaks up while one is compiled."""

    def __init__(self) -> None:
        self._spent: dict[str, float] = {}
        self._name = ""
        self._depth = 0  # kernels that are compiled inside of kernels
        self._began = 0.0
        self._timer: Timer | None = None

    def on_start(self, event: Any) -> None:
        self._depth += 1
        if self._depth > 1 or not event.data["dispatcher"].py_func.__module__.startswith("voful"):
            return
        self._name, self._began = _for_whom(), time.monotonic()
        left = PATIENCE - self._spent.get(self._name, 0.0)
        if self._name not in _said and not _quiet():
            self._timer = Timer(max(left, 0.0), _say, (self._name,))
            self._timer.daemon = True
            self._timer.start()

    def on_end(self, event: Any) -> None:
        self._depth -= 1
        if self._depth == 0 and self._name:
            if self._timer is not None:
                self._timer.cancel()
            spent = time.monotonic() - self._began
            self._spent[self._name] = self._spent.get(self._name, 0.0) + spent
            self._name, self._timer = "", None


_said: set[str] = set()


def _say(name: str) -> None:
    _said.add(name)
    seconds = f"about {_ABOUT[name]} s" if name in _ABOUT else "some seconds"
    somebody_waits = hasattr(sys, "ps1") or sys.stderr.isatty()
    _LOG.log(
        logging.WARNING if somebody_waits else logging.INFO,
        "voful: compiling %s for this machine, once, %s",
        name,
        seconds,
    )


def _for_whom() -> str:
    """The class of the outermost policy or agent that is at work, for the person who called it."""
    name = "kernels"
    frame: Any = sys._getframe()
    while frame is not None:
        if _is_ours(frame):
            cls = type(frame.f_locals.get("self", frame.f_locals.get("policy")))
            if hasattr(cls, "select") or hasattr(cls, "plan"):
                name = cls.__name__
        frame = frame.f_back
    return name


event.register("numba:compile", _Watch())  # type: ignore[no-untyped-call]
