"""What is missing of a study, and how to repeat it."""

from __future__ import annotations

import shlex
from pathlib import PurePath
from typing import Any

from voful.experiments.store.manifest import Manifest
from voful.report.statistics.played import Played

MOST_FAILURES = 40  # tracebacks on the page
LONGEST = 4000  # characters of one


def what_is_missing(played: Played, places: dict[str, dict[str, int]]) -> dict[str, Any]:
    """Counts of declared, stored and failed runs, and tracebacks; cells only where some lack."""
    manifest, stored, known = played.manifest, played.store.keys(), played.store.failures()
    failures = {key: known[key] for key in manifest.runs if key in known}
    return {
        "declared": len(manifest.runs),
        "stored": len(stored & manifest.runs.keys()),
        "failed": len(failures),
        "foreign": len(stored - manifest.runs.keys()),
        "cells": [
            [places["problem"][problem], places["policy"][policy], *counts]
            for problem, policy, *counts in played.missing.iter_rows()
        ],
        "failures": [
            ["/".join(map(str, manifest.label(key))), failure["traceback"].rstrip()[-LONGEST:]]
            for key, failure in list(failures.items())[:MOST_FAILURES]
        ],
    }


def how_to_repeat(manifest: Manifest) -> dict[str, Any]:
    """The study's text, the command, and each session's versions and machine."""
    told = ("started", "runs", "backend", "workers", "commit", "platform")
    sessions = [
        {name: session.get(name) for name in told}
        | {"versions": {k: v for k, v in session["versions"].items() if v is not None}}
        for session in manifest.sessions
    ]
    commands = (_command(session["command"]) for session in reversed(manifest.sessions))
    usual = "voful run STUDY.toml" if manifest.text else "voful demo"
    command = next(filter(None, commands), usual)
    return {"text": manifest.text, "command": command, "sessions": sessions}


def _command(arguments: list[str]) -> str | None:
    """As typed, for all runs; None where a script of the user's called us."""
    program, *rest = arguments or [""]
    if PurePath(program).name not in ("voful", "__main__.py"):
        return None
    if "--only" in rest:
        place = rest.index("--only")
        rest = rest[:place] + rest[place + 2 :]
    return shlex.join(["voful", *(word for word in rest if not word.startswith("--only="))])
