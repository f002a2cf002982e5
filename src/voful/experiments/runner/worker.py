"""The processes that play: one host imports the library and forks the workers.

``python -m voful.experiments.runner.worker CONTROL WORKER...`` gets inherited sockets by number.
The host rehearses the runs that come over CONTROL, so that imports and kernels are loaded once and
shared, answers, and forks one worker for each further socket. A worker plays the runs that come
over its socket, and ends at once when the other end is gone, however that came about.
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
import sys
import threading
from multiprocessing.connection import Connection

from voful.experiments.play.execute import attempt, rehearse


def main(control: int, sockets: list[int]) -> None:
    """Rehearse, fork, wait."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what Ctrl-C means
    os.dup2(2, 1)  # what a user's code prints must not mix with the output of the command
    with Connection(control) as parent, contextlib.suppress(EOFError, OSError):
        parent.send(rehearse(parent.recv()))
        parent.recv()  # go on
        gc.freeze()  # workers share what is loaded, and need not look through it for garbage
        for socket in sockets:
            if os.fork() == 0:
                parent.close()
                for other in sockets:
                    if other != socket:
                        os.close(other)
                serve(socket)
    for socket in sockets:
        os.close(socket)
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()


def serve(socket: int) -> None:
    """Play what comes until nothing comes any more; never returns."""
    threading.Thread(target=_end_with, args=(socket,), daemon=True).start()
    try:
        with Connection(socket) as parent:
            while True:
                parent.send(attempt(parent.recv()))
    except (EOFError, OSError):
        os._exit(0)
    finally:
        os._exit(1)


def _end_with(socket: int) -> None:
    hang_up = select.poll()
    hang_up.register(socket, 0)
    hang_up.poll()
    os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]), [int(argument) for argument in sys.argv[2:]])
