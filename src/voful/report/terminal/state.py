"""What is there of a study, and what is not."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from voful.experiments.store.store import Store


@dataclass(frozen=True)
class State:
    """Of a results directory.

    Attributes
    ----------
    name
        Of the study.
    declared, stored
        Numbers of runs; only those of the study as last declared count as stored.
    foreign
        Stored runs of an earlier form of the study, or of the library.
    cells
        One line for each problem and policy.
    sessions
        One line for each time that runs were played.
    failures
        problem/policy/replicate -> traceback.
    """

    name: str
    declared: int
    stored: int
    foreign: int
    cells: tuple[str, ...]
    sessions: tuple[str, ...]
    failures: dict[str, str]


def state_of(directory: str | Path) -> State:
    """The state of a results directory, also while it is being written."""
    store = Store(directory)
    manifest, keys = store.manifest(), store.keys()
    failures = {key: f for key, f in store.failures().items() if key in manifest.runs}
    counts = [
        Counter(manifest.label(key)[:2] for key in some)
        for some in (manifest.runs, keys & manifest.runs.keys(), failures)
    ]
    declared, stored, failed = counts
    cells = []
    for problem, policy in declared:
        line = f"{problem}/{policy}: {stored[problem, policy]} of {declared[problem, policy]}"
        n_failed = failed[problem, policy]
        cells.append(f"{line}, {n_failed} failed" if n_failed else line)
    return State(
        name=manifest.name,
        declared=len(manifest.runs),
        stored=len(keys & manifest.runs.keys()),
        foreign=len(keys - manifest.runs.keys()),
        cells=tuple(cells),
        sessions=tuple(
            f"played {session['runs']} runs from {session['started']} on {session['machine']} "
            f"({session['backend']}, voful {session['versions']['voful']}, "
            f"commit {session['commit'] or 'unknown'})"
            for session in manifest.sessions
        ),
        failures={
            "/".join(map(str, manifest.label(key))): failure["traceback"].rstrip()
            for key, failure in failures.items()
        },
    )
