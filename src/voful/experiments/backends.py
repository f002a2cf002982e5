"""Where runs are played: processes of this machine, or a Ray cluster."""

from __future__ import annotations

import contextlib
import os
import pickle
import socket
import subprocess
import sys
import traceback
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from multiprocessing.connection import Connection, wait
from typing import Any, Literal, Protocol

from voful import validation
from voful.experiments import worker as host_process
from voful.experiments.execute import Outcome, attempt, rehearse
from voful.experiments.run import Run
from voful.experiments.threads import ONE_THREAD, is_single

BackendName = Literal["processes", "ray"]
BACKENDS: tuple[BackendName, ...] = ("processes", "ray")

SHORT = 0.05  # seconds: a run so short that its worker gets the next one before it ends


class Backend(Protocol):
    """Plays runs; the runner decides which, and what to do about failures."""

    def launch(self) -> None:
        """Start what takes time to start, before the caller starts threads."""

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
    """Workers on this machine; a worker that dies takes only its run with it."""

    def __init__(self, workers: int | None = None) -> None:
        self._size = workers or os.cpu_count() or 1
        self._hosts: list[Callable[[], object]] = []  # each waits for the end of one
        self._control: Connection | None = None
        self._given: dict[Connection, deque[Run]] = {}  # to each worker, oldest first
        self._ahead = 1  # how many runs a worker may have

    def launch(self) -> None:
        """Start the host and its workers."""
        self._launch(self._size)

    def open(self, rehearsal: Sequence[Run]) -> list[str | None]:
        """Let the host rehearse and fork the workers."""
        if self._control is None:
            self.launch()
        return self._rehearse(rehearsal)

    def has_room(self) -> bool:
        """Whether a worker is idle, or will be so soon that its next run should be there."""
        return min(map(len, self._given.values())) < self._ahead

    def start(self, run: Run) -> None:
        """Give the run to the worker with the fewest."""
        worker = min(self._given, key=lambda worker: len(self._given[worker]))
        self._given[worker].append(run)
        with contextlib.suppress(OSError):  # dead: `next_finished` will find it closed
            worker.send_bytes(pickle.dumps(run))

    def next_finished(self) -> tuple[Run, Outcome]:
        """Wait for a worker."""
        worker = wait([worker for worker, runs in self._given.items() if runs])[0]
        assert isinstance(worker, Connection)
        run = self._given[worker].popleft()
        try:
            outcome: Outcome = pickle.loads(worker.recv_bytes())
        except (EOFError, OSError):
            worker.close()
            not_begun = self._given.pop(worker)
            self._launch(1)
            self._rehearse(())
            for innocent in not_begun:
                self.start(innocent)
            text = "The worker process died: killed, out of memory, or a crash in compiled code."
            return run, Outcome(None, text)
        if outcome.columns is not None:
            self._ahead = 2 if outcome.loop_time < SHORT else 1
        return run, outcome

    def close(self) -> None:
        """Workers end when their connection does."""
        if self._control is not None:
            self._control.close()
            self._control = None
        for worker in self._given:
            worker.close()
        self._given.clear()
        for wait_for_host in self._hosts:
            wait_for_host()
        self._hosts.clear()

    def _launch(self, n: int) -> None:
        """Start a host that will fork n more workers."""
        pairs = [socket.socketpair() for _ in range(n + 1)]
        theirs = [end.fileno() for _, end in pairs]
        self._hosts.append(_forked_host(theirs) if is_single() else _new_host(theirs))
        for _, end in pairs:
            end.close()
        self._control, *workers = (Connection(end.detach()) for end, _ in pairs)
        self._given |= {worker: deque() for worker in workers}

    def _rehearse(self, rehearsal: Sequence[Run]) -> list[str | None]:
        """Let the latest host rehearse, and then fork its workers."""
        assert self._control is not None
        with self._control as control:
            self._control = None
            try:
                control.send(list(rehearsal))
                mistakes: list[str | None] = control.recv()
                control.send(None)
            except (EOFError, OSError):
                raise RuntimeError(
                    f"worker processes do not start: {sys.executable} exited with "
                    f"{self._hosts.pop()()}"
                ) from None
        return mistakes


def _new_host(sockets: list[int]) -> Callable[[], object]:
    """A new interpreter; returns how to wait for its end."""
    command = [sys.executable, "-P", "-m", "voful.experiments.worker", *map(str, sockets)]
    path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
    environment = {**os.environ, **ONE_THREAD, "PYTHONPATH": path}
    host = subprocess.Popen(command, pass_fds=sockets, env=environment, stdin=subprocess.DEVNULL)
    return host.wait


def _forked_host(sockets: list[int]) -> Callable[[], object]:
    """A copy of this process, which has imported everything; returns how to wait for its end."""
    for stream in filter(None, (sys.stdout, sys.stderr)):
        stream.flush()  # else the copy might print it again
    pid = os.fork()
    if pid == 0:
        try:
            host_process.keep_open(sockets)
            host_process.main(sockets[0], sockets[1:])
            os._exit(0)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)
    return partial(os.waitpid, pid, 0)


# --- Ray --------------------------------------------------------------------------------------


class RayCluster:
    """A Ray cluster; a run whose node dies is played again on another one."""

    def __init__(self, workers: int | None = None, address: str | None = None) -> None:
        try:
            import ray
        except ImportError:
            raise ValueError(
                "backend: got 'ray', which is not installed; expected pip install 'voful[ray]'"
            ) from None
        self._ray: Any = ray
        self._workers = workers
        self._address = address
        self._busy: dict[Any, Run] = {}
        self._ours = False

    def launch(self) -> None:
        """Nothing: Ray has threads of its own."""

    def open(self, rehearsal: Sequence[Run]) -> list[str | None]:
        """Connect to the cluster, or start a local one."""
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        ray = self._ray
        if not ray.is_initialized():
            local = {} if self._address else {"num_cpus": self._workers, "include_dashboard": False}
            ray.init(address=self._address or "local", log_to_driver=False, **local)
            self._ours = True
        self._attempt = ray.remote(num_cpus=1, max_retries=3)(attempt)
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
            return run, Outcome(None, f"Ray could not play the run: {error}")

    def close(self) -> None:
        """Cancel what is under way, and leave."""
        for task in self._busy:
            self._ray.cancel(task, force=True)
        self._busy.clear()
        if self._ours:
            self._ray.shutdown()
