"""Where runs are played: processes of this machine, or a Ray cluster."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import socket
import subprocess
import sys
import traceback
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from multiprocessing.connection import Connection, wait
from typing import Any, Literal, NamedTuple, Protocol

from voful import validation
from voful.experiments.play.execute import Outcome, attempt, rehearse
from voful.experiments.runner import worker as host_process
from voful.experiments.runner.threads import ONE_THREAD, is_single
from voful.experiments.study.run import Run

BackendName = Literal["processes", "ray"]
BACKENDS: tuple[BackendName, ...] = ("processes", "ray")

SMALL = 4096  # bytes of a run that any socket takes at once
SHORT = 0.05  # seconds: a run so short that its worker gets the next one before it ends


class Backend(Protocol):
    """Plays runs; the runner decides which, and what to do about failures."""

    def launch(self, own_code: bool) -> None:
        """Start what takes time to start, before the caller starts threads.

        own_code: some runs are of the user's own code.
        """

    def open(self, rehearsal: Sequence[Run]) -> list[str | None]:
        """Get ready; what is wrong with each run of the rehearsal, None if nothing."""

    def has_room(self, run: Run) -> bool:
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
        self._hosts: list[Host] = []
        self._control: Connection | None = None
        self._given: dict[Connection, deque[Run]] = {}  # to each worker, oldest first
        self._short: set[tuple[str, str]] = set()  # cells whose runs are sent one ahead
        self._large: set[tuple[str, str]] = set()  # cells whose runs never are
        self._may_fork = False
        self._rehearsing = False

    def launch(self, own_code: bool) -> None:
        """Start the host and its workers."""
        # A copy would share the files and connections that the user's modules opened on import.
        self._may_fork = not own_code
        self._launch(self._size)

    def open(self, rehearsal: Sequence[Run]) -> list[str | None]:
        """Let the host rehearse and fork the workers."""
        if self._control is None:
            self.launch(own_code=True)
        return self._rehearse(rehearsal)

    def has_room(self, run: Run) -> bool:
        """Whether a worker is idle, or will be so soon that this run should be there."""
        return self._worker_for(run) is not None

    def start(self, run: Run) -> None:
        """Give the run to a worker."""
        worker = self._worker_for(run) or next(iter(self._given))
        self._given[worker].append(run)
        text = pickle.dumps(run)
        if len(text) >= SMALL:
            # It might wait in a full socket for a worker that waits for us.
            self._large.add(_cell(run))
        with contextlib.suppress(OSError):  # dead: `next_finished` will find it closed
            worker.send_bytes(text)

    def _worker_for(self, run: Run) -> Connection | None:
        """An idle one; for a short run also one that plays a short run and has no other."""
        for worker, runs in self._given.items():
            if not runs:
                return worker
        if not self._is_short(run):
            return None
        for worker, runs in self._given.items():
            if len(runs) == 1 and self._is_short(runs[0]):
                return worker
        return None

    def _is_short(self, run: Run) -> bool:
        return _cell(run) in self._short

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
            cell = _cell(run)
            if outcome.loop_time < SHORT and cell not in self._large:
                self._short.add(cell)
            else:
                self._short.discard(cell)
        return run, outcome

    def close(self) -> None:
        """Workers end when their connection does."""
        if self._control is not None:
            self._control.close()
            self._control = None
        for worker in self._given:
            worker.close()
        self._given.clear()
        for host in self._hosts:
            if self._rehearsing:  # it would compile to the end
                host.terminate()
            host.wait()
        self._hosts.clear()

    def _launch(self, n: int) -> None:
        """Start a host that will fork n more workers."""
        pairs = [socket.socketpair() for _ in range(n + 1)]
        theirs = [end.fileno() for _, end in pairs]
        fork = self._may_fork and is_single()
        self._hosts.append(_forked_host(theirs) if fork else _new_host(theirs))
        for _, end in pairs:
            end.close()
        self._control, *workers = (Connection(end.detach()) for end, _ in pairs)
        self._given |= {worker: deque() for worker in workers}

    def _rehearse(self, rehearsal: Sequence[Run]) -> list[str | None]:
        """Let the latest host rehearse, and then fork its workers."""
        assert self._control is not None
        with self._control as control:
            self._control = None
            self._rehearsing = True
            try:
                control.send(list(rehearsal))
                mistakes: list[str | None] = control.recv()
                control.send(None)
                self._rehearsing = False
            except (EOFError, OSError):
                raise RuntimeError(
                    f"worker processes do not start: {sys.executable} exited with "
                    f"{self._hosts.pop().wait()}"
                ) from None
        return mistakes


def _cell(run: Run) -> tuple[str, str]:
    return run.problem.name, run.contender.name


class Host(NamedTuple):
    """A process that forks workers: how to wait for its end (and status), and how to end it."""

    wait: Callable[[], int]
    terminate: Callable[[], None]


def _new_host(sockets: list[int]) -> Host:
    """A new interpreter."""
    command = [sys.executable, "-P", "-m", "voful.experiments.runner.worker", *map(str, sockets)]
    path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
    environment = {**os.environ, **ONE_THREAD, "PYTHONPATH": path}
    host = subprocess.Popen(command, pass_fds=sockets, env=environment, stdin=subprocess.DEVNULL)
    return Host(host.wait, host.terminate)


def _forked_host(sockets: list[int]) -> Host:
    """A copy of this process, which has imported everything."""
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
    return Host(partial(_status, pid), partial(_terminate, pid))


def _status(pid: int) -> int:
    try:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    except ChildProcessError:  # whoever started us lets the system forget ended processes
        return 0


def _terminate(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)


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

    def launch(self, own_code: bool) -> None:
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

    def has_room(self, run: Run) -> bool:
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
