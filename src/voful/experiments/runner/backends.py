"""Where runs are played: processes of this machine, or a Ray cluster."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from multiprocessing.connection import Connection, wait
from typing import Any, Literal, Protocol

from voful import validation
from voful.clusters import connect, import_ray
from voful.experiments.play.execute import Outcome, attempt, rehearse
from voful.experiments.runner.threads import ONE_THREAD
from voful.experiments.study.run import Run

BackendName = Literal["processes", "ray"]
BACKENDS: tuple[BackendName, ...] = ("processes", "ray")


class Backend(Protocol):
    """Plays runs; the runner decides which, and what to do about failures."""

    def open(self, rehearsal: Sequence[Run]) -> list[str | None]:
        """Get ready; what is wrong with each run of the rehearsal, None if nothing."""

    def has_room(self) -> bool:
        """Whether another run may be started now."""

    def start(self, run: Run) -> None:
        """Start a run."""

    def next_finished(self) -> tuple[Run, Outcome]:
        """Wait for the next of the started runs."""

    def close(self) -> None:
        """Stop everything at once."""


def make_backend(
    name: str = "processes", workers: int | None = None, address: str | None = None
) -> Backend:
    """The backend of a name.

    Parameters
    ----------
    name
        "processes" or "ray".
    workers
        Runs at a time; None: one for each core.
    address
        Of a running Ray cluster; None: Ray starts a local one.
    """
    validation.choice("backend", name, BACKENDS)
    workers = None if workers is None else validation.positive_int("workers", workers)
    if name == "ray":
        return RayCluster(workers, address)
    if address is not None:
        raise validation.fail("address", address, 'None unless backend = "ray"')
    return Processes(workers)


# --- processes --------------------------------------------------------------------------------


class Processes:
    """Workers on this machine; a worker that dies takes only its run with it.

    `worker` has the other side: a host, which is a new interpreter, and the workers it forks.
    """

    def __init__(self, workers: int | None = None) -> None:
        self._size = workers or os.cpu_count() or 1
        self._hosts: list[subprocess.Popen[bytes]] = []
        # All there ever were: Ctrl-C may come when a worker is neither idle nor busy.
        self._connections: list[Connection] = []
        self._idle: list[Connection] = []
        self._busy: dict[Connection, Run] = {}

    def open(self, rehearsal: Sequence[Run]) -> list[str | None]:
        """Let a host rehearse and fork the workers."""
        return self._launch(self._size, rehearsal)

    def has_room(self) -> bool:
        """Whether a worker is idle."""
        return bool(self._idle)

    def start(self, run: Run) -> None:
        """Give the run to a worker."""
        worker = self._idle.pop()
        self._busy[worker] = run
        with contextlib.suppress(OSError):  # dead: `next_finished` will find it closed
            worker.send(run)

    def next_finished(self) -> tuple[Run, Outcome]:
        """Wait for a worker."""
        worker = wait(list(self._busy))[0]
        assert isinstance(worker, Connection)
        run = self._busy.pop(worker)
        try:
            outcome: Outcome = worker.recv()
        except (EOFError, OSError):
            worker.close()
            self._launch(1, ())
            text = "The worker process died: killed, out of memory, or a crash in compiled code."
            return run, Outcome(None, text)
        self._idle.append(worker)
        return run, outcome

    def close(self) -> None:
        """Workers end when their connection does."""
        for connection in self._connections:
            connection.close()
        self._connections.clear()
        self._idle.clear()
        self._busy.clear()
        for host in self._hosts:
            host.wait()
        self._hosts.clear()

    def _launch(self, n: int, rehearsal: Sequence[Run]) -> list[str | None]:
        """Start a host, let it rehearse, and then fork n more workers."""
        pairs = [socket.socketpair() for _ in range(n + 1)]
        control, *workers = opened = [Connection(ours.detach()) for ours, _ in pairs]
        self._connections += opened
        host = _new_host([theirs.fileno() for _, theirs in pairs])
        self._hosts.append(host)
        for _, theirs in pairs:
            theirs.close()
        self._idle += workers
        try:
            with control:
                control.send(list(rehearsal))
                mistakes: list[str | None] = control.recv()
                control.send(None)
        except (EOFError, OSError):
            raise RuntimeError(
                f"worker processes do not start: {sys.executable} exited with {host.wait()}"
            ) from None
        except BaseException:  # it would compile to the end
            host.terminate()
            raise
        return mistakes


def _new_host(sockets: list[int]) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-P", "-m", "voful.experiments.runner.worker", *map(str, sockets)]
    path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
    # Quiet: the display of the command says that kernels are compiled.
    environment = {**os.environ, **ONE_THREAD, "PYTHONPATH": path, "VOFUL_QUIET": "1"}
    return subprocess.Popen(command, pass_fds=sockets, env=environment, stdin=subprocess.DEVNULL)


# --- Ray --------------------------------------------------------------------------------------


class RayCluster:
    """A Ray cluster; a run whose node dies is played again on another one."""

    retries = 3  # by Ray itself, before the runner hears of a loss

    def __init__(self, workers: int | None = None, address: str | None = None) -> None:
        self._ray = import_ray()
        self._workers = workers
        self._address = address
        self._busy: dict[Any, Run] = {}
        self._ours = False

    def open(self, rehearsal: Sequence[Run]) -> list[str | None]:
        """Connect to the cluster, or start a local one."""
        ray = self._ray
        self._ours = connect(ray, self._workers, self._address)
        self._attempt = ray.remote(num_cpus=1, max_retries=self.retries)(attempt)
        mistakes: list[str | None] = ray.get(ray.remote(num_cpus=1)(rehearse).remote(rehearsal))
        return mistakes

    def has_room(self) -> bool:
        """Two runs a core, so that none waits for the driver."""
        cores = int(self._ray.cluster_resources().get("CPU", 1))
        return len(self._busy) < (self._workers or 2 * cores)

    def start(self, run: Run) -> None:
        """Submit a run."""
        self._busy[self._attempt.remote(run)] = run

    def next_finished(self) -> tuple[Run, Outcome]:
        """Wait for a task."""
        (task, *_), _ = self._ray.wait(list(self._busy), num_returns=1)
        run = self._busy.pop(task)
        try:
            return run, self._ray.get(task)
        except self._ray.exceptions.RayError as error:
            return run, Outcome(None, f"Ray could not play the run: {error}", lost=True)

    def close(self) -> None:
        """Cancel what is under way, and leave."""
        for task in self._busy:
            self._ray.cancel(task, force=True)
        self._busy.clear()
        if self._ours:
            self._ray.shutdown()
