"""Where shards are worked on: in this process, or by actors of a Ray cluster.

A task is an object made of a class and its arguments; every call goes to all tasks, and answers
come in the tasks' order. So results do not depend on how many workers there are. A task whose
worker is lost is made again elsewhere, and goes through the calls that have changed it.
"""

# Light on purpose: an actor sets how many threads it may use before the rest is imported.

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

from voful.clusters import connect, import_ray

THREADS = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}
ALONE = {**THREADS, "POLARS_MAX_THREADS": "1", "VOFUL_QUIET": "1"}


class Task(NamedTuple):
    """What makes an object to work with."""

    cls: type
    arguments: tuple[Any, ...]

    def made(self) -> Any:
        """The object."""
        return self.cls(*self.arguments)


class Pool:
    """Tasks in this process, one after the other."""

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def start(self, tasks: Sequence[Task]) -> None:
        """Make the tasks."""
        self._made = [task.made() for task in tasks]

    def call(self, method: str, *arguments: Any, changes: bool = False) -> list[Any]:
        """What each task answers; `changes`: a task that is made again goes through it too."""
        return [getattr(made, method)(*arguments) for made in self._made]

    def close(self) -> None:
        """Let the tasks go."""
        self._made = []


def make_pool(backend: str, workers: int | None = None, address: str | None = None) -> Pool:
    """The pool of a name: "local" or "ray"."""
    if backend == "ray":
        return RayPool(workers, address)
    if workers is not None or address is not None:
        from voful.validation import fail

        raise fail("workers", workers if address is None else address, 'None unless backend="ray"')
    return Pool()


class RayPool(Pool):
    """Tasks dealt to actors; those of a lost actor go to the others."""

    def __init__(self, workers: int | None, address: str | None) -> None:
        self._ray = import_ray()
        self._workers, self._address = workers, address
        self._ours = False
        self._hosts: list[Any] = []
        self._home: list[int] = []  # of each task, among the hosts
        self._journal: list[Any] = []

    def start(self, tasks: Sequence[Task]) -> None:
        """Connect, start the actors, and let them make the tasks."""
        ray = self._ray
        self._ours = connect(ray, self._workers, self._address)
        cores = int(ray.cluster_resources().get("CPU", 1))
        self._tasks = [ray.put(task) for task in tasks]
        n = max(1, min(self._workers or cores, len(tasks)))
        self._hosts = [self._new_host() for _ in range(n)]
        self._home = [i % n for i in range(len(tasks))]
        self._finish([self._begin(i) for i in range(len(tasks))], self._begin)

    def call(self, method: str, *arguments: Any, changes: bool = False) -> list[Any]:
        """See `Pool.call`."""
        told = self._ray.put((method, arguments))
        pending = [self._host_of(i).call.remote(i, told) for i in range(len(self._tasks))]
        answers = self._finish(pending, lambda i: self._host_of(i).call.remote(i, told))
        if changes:
            self._journal.append(told)
        return answers

    def close(self) -> None:
        """End the actors, and leave a cluster that was started here."""
        for host in self._hosts:
            self._ray.kill(host)
        self._hosts = []
        if self._ours:
            self._ray.shutdown()

    def _new_host(self) -> Any:
        actor = self._ray.remote(num_cpus=1, scheduling_strategy="SPREAD")(Host)
        return actor.remote()

    def _host_of(self, task: int) -> Any:
        return self._hosts[self._home[task]]

    def _begin(self, task: int) -> Any:
        return self._host_of(task).make.remote(task, self._tasks[task], self._journal)

    def _finish(self, pending: list[Any], again: Any) -> list[Any]:
        """Answers in the order of tasks; what is lost is asked again, of another actor."""
        answers: list[Any] = [None] * len(pending)
        left = dict(enumerate(pending))
        while left:
            for task, reference in list(left.items()):
                try:
                    answers[task] = self._ray.get(reference)
                    del left[task]
                except self._ray.exceptions.RayTaskError as error:
                    raise error.cause from None
                except self._ray.exceptions.RayError:
                    # All of them: what has answered already is made anew from before this call.
                    left |= {i: again(i) for i in self._move(self._home[task])}
                    break
        return answers

    def _move(self, lost: int) -> list[int]:
        """Make the tasks of a lost actor again, by those that are left; returns which."""
        moved = [i for i, home in enumerate(self._home) if home == lost]
        alive = sorted(set(self._home) - {lost})
        if not alive:
            self._hosts.append(self._new_host())
            alive = [len(self._hosts) - 1]
        for k, task in enumerate(moved):
            self._home[task] = alive[k % len(alive)]
            self._begin(task)
        return moved


class Host:
    """An actor: tasks by number."""

    def __init__(self) -> None:
        os.environ.update(ALONE)
        self._made: dict[int, Any] = {}

    def make(self, number: int, task: Task, journal: list[Any]) -> None:
        """Make a task, and let it go through what has happened."""
        import ray

        self._made[number] = made = task.made()
        for method, arguments in ray.get(journal):
            getattr(made, method)(*arguments)

    def call(self, number: int, told: tuple[str, tuple[Any, ...]]) -> Any:
        """Let a task work."""
        method, arguments = told
        return getattr(self._made[number], method)(*arguments)
