"""Plays what is missing of a study, and stores it."""

from __future__ import annotations

import contextlib
import fnmatch
import os
import platform
import subprocess
import sys
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Protocol

import voful
from voful import validation
from voful.experiments.play.execute import Outcome, shortened
from voful.experiments.runner.backends import Backend, make_backend
from voful.experiments.runner.interrupts import Stop, listening
from voful.experiments.store.manifest import Manifest
from voful.experiments.store.store import PACK_AT, Store
from voful.experiments.study.run import Run
from voful.experiments.study.study import Study

MOST_LOSSES = 5
"""So often a run may be lost with the machine that played it, before it counts as a failure."""


class Observer(Protocol):
    """Is told what happens."""

    def started(self, pending: Sequence[Run], stored: int) -> None:
        """So many runs are to be played, so many are there already."""
        return

    def ready(self) -> None:
        """Workers are up, kernels are loaded (or compiled, the first time): runs begin."""
        return

    def finished(self, run: Run, outcome: Outcome) -> None:
        """A run is stored."""
        return

    def failed(self, run: Run, error: str, *, again: bool) -> None:
        """A run failed, and will be played again or not."""
        return


class Silent(Observer):
    """The observer that does nothing."""


@dataclass(frozen=True)
class Summary:
    """What a call of `run_study` did.

    Attributes
    ----------
    stored
        Runs that were there already.
    played
        Runs that were played and stored now.
    failed
        Labels of runs that failed twice.
    foreign
        Stored runs that the study does not declare (any more): earlier parameters or code.
    damaged
        Files that were not as they had been written, where they are now; their runs were played
        again.
    loop_time
        Seconds of CPU in the loops.
    """

    stored: int
    played: int
    failed: tuple[str, ...]
    foreign: int
    loop_time: float
    damaged: tuple[str, ...] = ()


def run_study(
    study: Study,
    out: str | Path,
    *,
    workers: int | None = None,
    backend: str = "processes",
    address: str | None = None,
    only: str | None = None,
    observer: Observer | None = None,
) -> Summary:
    """Play every run of a study that `out` does not hold yet; `voful.results(out)` reads them.

    Parameters
    ----------
    study
        What to play.
    out
        Directory of the results; one call at a time may write there.
    workers
        Runs at a time; None: one for each core.
    backend, address
        "processes", or "ray" with the address of a running cluster (None: a local one).
    only
        Pattern (as in a shell) of the labels problem/policy/replicate of the runs to play.
    observer
        Is told of every finished and failed run.

    Raises
    ------
    ValueError
        Arguments of a problem or a policy are wrong; nothing was played.
    OSError
        Results could not be written; those stored before are intact.
    """
    players = make_backend(backend, workers, address)
    observer = observer or Silent()
    manifest = Manifest.of(study)
    wanted = _wanted(study, only)
    store = Store(out)
    with store.locked(), listening() as stop:
        if store.has_manifest():
            manifest.sessions = store.manifest().sessions
        keys = store.keys()
        foreign = len(keys - manifest.runs.keys())
        pending = [run for run in wanted if run.key not in keys]
        if pending:
            manifest.sessions.append(_session(backend, workers, len(pending)))
        store.write_manifest(manifest)
        stored = len(wanted) - len(pending)
        observer.started(pending, stored)
        if not pending:
            return Summary(stored, 0, (), foreign, 0.0, tuple(store.damaged))
        stop.if_asked()
        with contextlib.closing(players):
            played, failed, loop_time = _play(pending, store, players, observer, stop)
        damaged = tuple(store.damaged)
        return Summary(stored, played, tuple(failed), foreign, loop_time, damaged)


def _wanted(study: Study, only: str | None) -> list[Run]:
    runs = study.runs()
    if only is None:
        return runs
    matching = [run for run in runs if fnmatch.fnmatchcase(run.label, only)]
    if not matching:
        allowed = f"a pattern of problem/policy/replicate, such as '*/{runs[0].contender.name}/*'"
        raise validation.fail("only", only, f"{allowed}; there is {runs[0].label!r}")
    return matching


def _play(
    pending: list[Run], store: Store, players: Backend, observer: Observer, stop: Stop
) -> tuple[int, list[str], float]:
    waiting = deque(pending)
    under_way = played = 0
    loop_time = 0.0
    tried: set[str] = set()
    lost: Counter[str] = Counter()
    failed: list[str] = []
    loose = PACK_AT  # unknown: look at the first opportunity
    _check_rehearsal(pending, players)
    observer.ready()
    while waiting or under_way:
        stop.if_asked()
        while waiting and players.has_room():
            players.start(waiting.popleft())
            under_way += 1
        run, outcome = players.next_finished()
        under_way -= 1
        if waiting and players.has_room():  # before the disk: nobody waits for it
            players.start(waiting.popleft())
            under_way += 1
        if outcome.columns is not None:
            store.add(run, outcome.columns, outcome.snapshots)
            played += 1
            loop_time += outcome.loop_time
            observer.finished(run, outcome)
            loose += 1
            if loose >= PACK_AT:
                loose = store.pack(PACK_AT)
            continue
        error = shortened(outcome.error or "")
        lost[run.key] += outcome.lost
        if outcome.lost and lost[run.key] <= MOST_LOSSES:
            observer.failed(run, error, again=True)
            waiting.append(run)
            continue
        again = run.key not in tried
        observer.failed(run, error, again=again)
        if again:
            tried.add(run.key)
            waiting.append(run)
        else:
            store.add_failure(run.key, {"run": run.label, "traceback": error})
            failed.append(run.label)
    return played, failed, loop_time


def _check_rehearsal(pending: Sequence[Run], players: Backend) -> None:
    """Every problem and every policy once: mistakes in their arguments end the study here.

    Code of the user's own is not rehearsed: it may do things that must not be done twice.
    """
    rehearsal: list[Run] = []
    problems: set[str] = set()
    policies: set[str] = set()
    for run in pending:
        own_code = run.problem.code or run.contender.code
        new = run.problem.name not in problems or run.contender.name not in policies
        if new and not own_code:
            problems.add(run.problem.name)
            policies.add(run.contender.name)
            rehearsal.append(run)
    for run, mistake in zip(rehearsal, players.open(rehearsal), strict=True):
        if mistake is not None:
            raise ValueError(f"{run.problem.name}/{run.contender.name}: {mistake}")


def _session(backend: str, workers: int | None, n_runs: int) -> dict[str, Any]:
    system = os.uname()  # what `platform` asks in a process of its own
    return {
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "runs": n_runs,
        "backend": backend,
        "workers": workers or os.cpu_count(),
        "machine": system.nodename,
        "platform": f"{system.sysname}-{system.release}-{system.machine}",
        "processor": system.machine,
        "cores": os.cpu_count(),
        "commit": _commit(),
        "versions": {
            "voful": voful.__version__,
            "python": platform.python_version(),
            **{name: _version(name) for name in ("numpy", "numba", "scipy", "polars", "ray")},
        },
        "command": sys.argv,
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _commit() -> str | None:
    """Commit of the directory that the study was started from; marked if files had changed."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        found = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return found.stdout.strip() or None
