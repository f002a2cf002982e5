"""The commands that read logs: `voful evaluate` and `voful learn`."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer

from voful.cli_output import clear_errors, console, print_table, say

Logs = Annotated[list[Path], typer.Argument(help="CSV, Parquet or NDJSON.", exists=True)]
Backend = Annotated[str, typer.Option(help="local, or ray: shards side by side.")]
Workers = Annotated[int | None, typer.Option(min=1, help="Of Ray; default: one a core.")]
Address = Annotated[str | None, typer.Option(help="Of a running Ray cluster.")]


def evaluate_logs(
    logs: Logs,
    target: Annotated[
        list[str] | None, typer.Option(help="Column of probabilities; may be repeated.")
    ] = None,
    policy: Annotated[
        list[Path] | None, typer.Option(help="A saved policy; may be repeated.", exists=True)
    ] = None,
    reward_range: Annotated[tuple[float, float], typer.Option(help="Low and high.")] = (0.0, 1.0),
    min_propensity: Annotated[float | None, typer.Option(help="Least that any arm had.")] = None,
    against: Annotated[
        str | None, typer.Option(help="Compare with this column, or with what 'logged'.")
    ] = None,
    estimator: Annotated[str, typer.Option(help="snips, ips or dr.")] = "snips",
    failure_prob: Annotated[float, typer.Option(help="Of each interval.")] = 0.05,
    horizon: Annotated[int | None, typer.Option(help="Narrowest after so many rows.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead.")] = False,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave bad rows out.")] = False,
    out: Annotated[Path | None, typer.Option(help="Also write a page here.")] = None,
    backend: Backend = "local",
    workers: Workers = None,
    address: Address = None,
) -> None:
    """Say how good policies would have been, from a log of another's decisions.

    Several files are shards: each is bet on by itself, and wealths multiply.
    """
    from voful.logs.evaluate_files import evaluate_files
    from voful.logs.readers import Skipping
    from voful.report.page.evaluation import write_evaluations
    from voful.report.terminal import evaluation as shown

    how: dict[str, Any] = {"estimator": estimator, "failure_prob": failure_prob, "horizon": horizon}
    how |= {"reward_range": reward_range, "min_propensity": min_propensity, "against": against}
    with clear_errors(logs[0]):
        skipping = Skipping(reward_range, min_propensity) if skip_bad else None
        targets = shown.targets_of(target or [], policy or [])
        if len(logs) == 1 and backend == "local":
            found = shown.read_and_evaluate(logs[0], targets, skipping, console(stderr=True), **how)
        else:
            place = (backend, workers, address)
            found = evaluate_files(logs, targets, skipping=skipping, place=place, **how)
        notes = shown.skipped(skipping)
        if out is not None:
            name = logs[0].name if len(logs) == 1 else f"{logs[0].name} and {len(logs) - 1} more"
            write_evaluations(out, name, found, notes)
    if as_json:
        print(json.dumps({name: one.as_dict() for name, one in found.items()}))
    else:
        print_table(shown.evaluation_table(found, against))
    for line in (*notes, *shown.suspicions(found)):
        say(line, "yellow", stderr=True)
    if out is not None and not as_json:
        print(f"page: {out.resolve().as_uri()}")


def learn_logs(
    logs: Logs,
    policy: Annotated[str, typer.Option(help="Id, as `voful list` names it, or a saved policy.")],
    out: Annotated[Path, typer.Option(help="File for the policy that has learnt.")],
    dim: Annotated[int | None, typer.Option(help="Default: as the first file says.")] = None,
    reward_range: Annotated[
        tuple[float, float] | None, typer.Option(help="Low and high; default: -1 1.")
    ] = None,
    failure_prob: Annotated[float | None, typer.Option(help="Default: 0.05.")] = None,
    param: Annotated[
        list[str] | None, typer.Option(help="NAME=VALUE, of the policy; may be repeated.")
    ] = None,
    refresh: Annotated[
        bool, typer.Option("--refresh", help="Keep all rows in memory, for narrower intervals.")
    ] = False,
    shards: Annotated[
        str | None, typer.Option(help="A number, or 'files': learn side by side.")
    ] = None,
    backend: Backend = "local",
    workers: Workers = None,
    address: Address = None,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave bad rows out.")] = False,
) -> None:
    """Teach a policy the rows of logs; after a kill, the same command goes on."""
    from voful.report.terminal import learning
    from voful.report.terminal.console import left_out

    with clear_errors(out):
        told = learning.arguments(param or [], reward_range, failure_prob, refresh)
        start = learning.policy_of(policy, logs[0], dim, told)
        dealt = learning.shards_of(shards, backend)
        skipped: Counter[str] | None = Counter() if skip_bad else None
        place = {"shards": dealt, "backend": backend, "workers": workers, "address": address}
        learnt = learning.learn_with_bar(
            logs, start, out, console(stderr=True), skipped=skipped, **place
        )
    say(f"{learnt!r}")
    say(f"status: {learnt.status}; written: {out}")
    for line in left_out(skipped, "the guarantee is void"):
        say(line, "yellow", stderr=True)
