"""With NUMBA_DISABLE_JIT=1 (`make test-plain`) the same checks play fewer rounds."""

from __future__ import annotations

from numba.core import config

from voful.checks import AgentSubject, Subject

if config.DISABLE_JIT:  # type: ignore[attr-defined]
    Subject.first, Subject.future = 8, 3
    AgentSubject.first, AgentSubject.future = 6, 2
