"""`voful learn`: make the policy, read logs with a bar, say what was left out."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from voful import registry
from voful.bandits.base import Policy
from voful.logs.files import first_rows, naming, open_files
from voful.logs.learn import learn
from voful.logs.readers import A_LIST, column_of
from voful.validation import fail, fail_type


def arguments(
    given: Sequence[str],
    reward_range: tuple[float, float] | None,
    failure_prob: float | None,
    refresh: bool,
) -> dict[str, Any]:
    """The policy's arguments, from NAME=VALUE (VALUE in JSON, or a word) and the options."""
    told: dict[str, Any] = {}
    for text in given:
        name, separator, value = text.partition("=")
        if not separator or not name.isidentifier():
            raise fail("--param", text, "NAME=VALUE")
        try:
            told[name] = json.loads(value)
        except ValueError:
            told[name] = value
    if reward_range is not None:
        told["reward_range"] = tuple(reward_range)
    if failure_prob is not None:
        told["failure_prob"] = failure_prob
    if refresh:
        told["refresh"] = True
    return told


def policy_of(named: str, log: Path, dim: int | None, told: dict[str, Any]) -> Policy:
    """The policy of an id, or a saved one that goes on, whose arguments must be these."""
    if os.path.isfile(named):
        saved = registry.load(named)
        if not isinstance(saved, Policy):
            raise fail_type("--policy", saved, "an id, or a file that a policy's `save` wrote")
        config = saved.config()
        for name, value in (told | ({} if dim is None else {"dim": dim})).items():
            if name not in config or not np.array_equal(config[name], value):
                raise fail(name, value, f"{config.get(name)}, as {named} says")
        return saved
    entry = registry.lookup(named)
    if entry.kind != "bandit":
        raise fail("--policy", named, "a bandit policy")
    cls: Any = entry.cls
    accepted = registry.keywords(cls) or ()
    # Constant memory, unless asked: kept rounds take 8 (d + 6) bytes each.
    told = ({"refresh": False} if "refresh" in accepted else {}) | told
    for name, taken in signature(cls).parameters.items():
        if taken.default is Parameter.empty and name not in {"dim", *told, *entry.params}:
            raise fail("--param", [*told], f"{name}=VALUE too, which {named} needs")
    made: Policy = registry.create(named, dim or dimension_of(log), **told)
    return made


def dimension_of(log: Path) -> int:
    """Features of an arm in a file."""
    with naming(os.fspath(log)):
        frame = first_rows(os.fspath(log))
        for name in ("x", "arms"):
            if name in frame.columns and len(frame):
                if shape := np.shape(column_of(frame, name)[0]):
                    return int(shape[-1])
                raise fail(name, frame[name][0], A_LIST)
        wanted = "a row with a column 'x' or 'arms', or --dim for a column 'context'"
        raise fail("columns", list(frame.columns), wanted)


def shards_of(text: str | None, backend: str) -> int | str | None:
    """What --shards says; Ray has one for each file, unless told."""
    if text is None:
        return "files" if backend == "ray" else None
    return int(text) if text.isdigit() else text


def learn_with_bar(
    logs: Sequence[Path], policy: Policy, out: Path, bar_on: Console, **how: Any
) -> Policy:
    """Learn with a bar on a terminal, and write the policy; a file beside it for kills."""
    totals = [file.rows for file in open_files(logs)]
    total = None if None in totals else sum(rows or 0 for rows in totals)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=bar_on, disable=not bar_on.is_terminal) as bar:
        shown, rows = bar.add_task("reading", total=total), 0

        def on_rows(n: int) -> None:
            nonlocal rows
            rows += n
            bar.update(shown, completed=rows, description=f"{rows:,} rows")

        checkpoint = out.with_name(out.name + ".part")
        learnt: Policy = learn(list(logs), policy, checkpoint=checkpoint, on_rows=on_rows, **how)
        learnt.save(out)
        checkpoint.unlink(missing_ok=True)
    return learnt
