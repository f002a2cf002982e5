"""What is there of a study, and what is not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from voful.experiments.store.store import Store
from voful.report.statistics.missing import runs_by_cell
from voful.report.terminal.console import and_failed


def state_of(directory: str | Path) -> Iterator[str]:
    """The state of a results directory, also while it is being written, line by line.

    How many runs are stored of the study as last declared, for each problem and policy too; stored
    runs of an earlier form of it; each session that played some; tracebacks of failures.
    """
    store = Store(directory)
    manifest, keys = store.manifest(), store.keys()
    failures = {key: f for key, f in store.failures().items() if key in manifest.runs}
    declared, stored, failed = (
        runs_by_cell(manifest, some) for some in (manifest.runs, keys, failures)
    )
    total = f"{manifest.name}: {stored.total()} of {declared.total()} runs stored"
    yield total + and_failed(len(failures))
    for cell, n in declared.items():
        yield f"  {'/'.join(cell)}: {stored[cell]} of {n}{and_failed(failed[cell])}"
    if foreign := len(keys - manifest.runs.keys()):
        yield f"{foreign} stored runs are of an earlier form of the study or the library"
    for session in manifest.sessions:
        yield (
            f"played {session['runs']} runs from {session['started']} on {session['machine']} "
            f"({session['backend']}, voful {session['versions']['voful']}, "
            f"commit {session['commit'] or 'unknown'})"
        )
    for key, failure in failures.items():
        label = "/".join(map(str, manifest.label(key)))
        yield f"failed: {label}\n{failure['traceback'].rstrip()}"
