"""One thread a run.

As many runs as cores already keep them busy, and sums do not depend on how many threads shared
them. NumPy's libraries read the environment when they are loaded.
"""

from __future__ import annotations

import os

ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}


def is_single() -> bool:
    """Whether this process has one thread, and its libraries will not start more.

    Only such a process may be forked: what another thread has locked would stay locked for ever.
    """
    try:
        threads = len(os.listdir("/proc/self/task"))
    except OSError:  # not Linux
        return False
    return threads == 1 and ONE_THREAD.items() <= os.environ.items()
