"""What is missing of a study, and how to repeat it."""

from __future__ import annotations

import shlex
from pathlib import PurePath
from typing import Any

import polars as pl

from voful.experiments.store.manifest import Manifest
from voful.experiments.store.store import Store
from voful.report.statistics.missing import missing

MOST_FAILURES = 40  # tracebacks on the page
LONGEST = 4000  # characters of one


def what_is_missing(
    store: Store,
    manifest: Manifest,
    results: pl.DataFrame,
    places: dict[str, dict[str, int]],
) -> dict[str, Any]:
    """Counts of declared, stored and failed runs, and tracebacks; cells only where some lack."""
    stored, known = store.keys(), store.failures()
    failures = {key: known[key] for key in manifest.runs if key in known}
    return {
        "declared": len(manifest.runs),
        "stored": len(stored & manifest.runs.keys()),
        "failed": len(failures),
        "foreign": len(stored - manifest.runs.keys()),
        "cells": [
            [places["problem"][problem], places["policy"][policy], *counts]
            for problem, policy, *counts in missing(results, manifest, failures).iter_rows()
        ],
        "failures": [
            ["/".join(map(str, manifest.label(key))), failure["traceback"].rstrip()[-LONGEST:]]
            for key, failure in list(failures.items())[:MOST_FAILURES]
        ],
    }


def how_to_repeat(manifest: Manifest) -> dict[str, Any]:
    """The study's text, the command, and each session's versions and machine."""
    sessions = [
        {
            "started": session["started"],
            "runs": session["runs"],
            "backend": session["backend"],
            "workers": session["workers"],
            "commit": session["commit"],
            "platform": session.get("platform"),
            "versions": {k: v for k, v in session["versions"].items() if v is not None},
        }
        for session in manifest.sessions
    ]
    commands = (_command(session["command"]) for session in reversed(manifest.sessions))
    command = next((command for command in commands if command), None)
    if command is None:
        command = "voful run STUDY.toml" if manifest.text else "voful demo"
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
