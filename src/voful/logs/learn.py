"""Learning from logs: one policy from rows in frames and files, on one machine or on many."""

from __future__ import annotations

import copy
import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import polars as pl

from voful.bandits.base import Policy
from voful.bandits.betoful import BetOFUL
from voful.lineage import Lineage
from voful.logs.checkpoint import Checkpoint, Reached, fingerprint, packed
from voful.logs.files import LogFile, Shard, check_files, deal, naming, open_files
from voful.logs.log import Log
from voful.logs.merge import RIDGES
from voful.logs.readers import ROWS, frames_of
from voful.logs.rows import RowReader, Rows, rows_of_log
from voful.typing import Path
from voful.validation import choice, fail, fail_type

BACKENDS = ("local", "ray")
Told = Callable[[int], None]


def learn(
    logs: Any,
    policy: Policy,
    *,
    shards: int | str | None = None,
    backend: str = "local",
    workers: int | None = None,
    address: str | None = None,
    skipped: Counter[str] | None = None,
    checkpoint: Path | None = None,
    on_rows: Told = lambda rows: None,
) -> Any:
    """A copy of the policy that has learnt the rows of logs, in their order.

    Memory does not grow with the rows (of BetOFUL and CertifiedUCB with refresh=False, which forget
    them).

    Parameters
    ----------
    logs
        Paths of Parquet, CSV or NDJSON files, read piece by piece; or a frame of Polars or pandas,
        a `Log`, or several of them, one after the other. Columns: reward, and x (the features of
        the arm played), or action with arms or context; variance for policies that are told it.
    policy
        What is to learn; it stays as it is.
    shards
        None (default): one learner for all rows, the narrowest intervals. A number or "files":
        rows of files are dealt into so many shards (or one for each file), which learn side by
        side. Of BetOFUL they bet on the intervals of one set, which is put together at barriers;
        its guarantee is the same, and it is about as narrow. Of ridge policies sums add. The
        result depends on files and `shards`, never on workers or the backend.
    backend, workers, address
        "local": this process. "ray": so many actors (default: one a core) of the cluster at
        `address`, of the one that is connected, or of a local one. A lost node's shards are learnt
        again by others. Every node must see the files under the same paths.
    skipped
        Counts the rows that are left out, by reason; None: a bad row is an error, and nothing is
        learnt. Where the reward decides which rows are left out, the guarantee is void.
    checkpoint
        A file to go on from after a kill: the same call again gives the same bits. Remove it once
        the result is saved.
    on_rows
        Told how many rows were learnt, after each piece.

    Raises
    ------
    ValueError
        Before anything is learnt: where a file has another dimension, where its rewards leave the
        range (Parquet), where it comes twice, or where the policy has learnt it already. Later: on
        a bad row, which is named.
    """
    if not isinstance(policy, Policy):
        raise fail_type("policy", policy, "a policy")
    choice("backend", backend, BACKENDS)
    if shards is None and (backend != "local" or workers is not None or address is not None):
        raise fail("shards", None, 'a number or "files", where there is a backend or workers')
    reader = RowReader(policy, skipped)
    given = _several(logs)
    if not isinstance(given, list) or not all(isinstance(one, str | os.PathLike) for one in given):
        if shards is not None or checkpoint is not None:
            raise fail("logs", type(logs).__name__, "paths of files, with shards or a checkpoint")
        return _learn_frames(given, copy.deepcopy(policy), reader, on_rows)
    files = open_files(given)
    known = policy.lineage
    for file in files:
        if file.digest in known:
            raise fail("logs", file.path, "rows that the policy has not learnt yet")
    check_files(files, reader)
    how = {"skip": skipped is not None, "shards": shards}
    kept = Checkpoint(checkpoint, fingerprint(files, policy, **how))
    reached = kept.reached()
    if reached is not None and skipped is not None:
        skipped.update(reached.skipped)
    try:
        if shards is None:
            return _learn_files(files, policy, reader, kept, reached, on_rows)
        dealt, place = deal(files, shards), (backend, workers, address)
        return _learn_shards(files, dealt, place, policy, reader, kept, reached, on_rows)
    except (ValueError, TypeError, RuntimeError):
        kept.remove()  # a bad row: nothing is left behind
        raise


def _several(logs: Any) -> Iterable[Any]:
    if isinstance(logs, str | os.PathLike | Log | pl.DataFrame) or hasattr(logs, "columns"):
        return [logs]
    if isinstance(logs, list | tuple):
        return list(logs)
    if hasattr(logs, "__iter__"):
        found: Iterable[Any] = logs
        return found
    raise fail_type("logs", logs, "paths of files, frames or Logs")


def _learn_frames(given: Iterable[Any], policy: Policy, reader: RowReader, on_rows: Told) -> Policy:
    """Frames and logs, one after the other; each is a source of its own."""
    for number, one in enumerate(given):
        if isinstance(one, Log):
            pieces: Iterable[Rows] = rows_of_log(one, reader)
        elif hasattr(one, "columns"):
            pieces = (
                reader.read(one[start : start + ROWS], start) for start in range(0, len(one), ROWS)
            )
        else:
            raise fail_type(f"logs[{number}]", one, "a frame or a Log (paths: all of them)")
        with naming(f"logs[{number}]"):
            for rows in pieces:
                rows.teach(policy)
                on_rows(len(rows.rewards))
    return policy


def _learn_files(
    files: Sequence[LogFile],
    policy: Policy,
    reader: RowReader,
    kept: Checkpoint,
    reached: Reached | None,
    on_rows: Told,
) -> Policy:
    """One learner, file after file."""
    before, learner = policy._lineage, copy.deepcopy(policy)
    learnt, (start, first) = {file.digest: 0 for file in files}, (0, 0)
    if reached is not None:
        start, first = reached.place
        learner, learnt = reached.policy(type(policy)), reached.rows
        on_rows(sum(learnt.values()))
    for number, file in enumerate(files[start:], start=start):
        begin = first if number == start else 0
        for frame_number, frame in enumerate(frames_of(file.path, begin), start=begin):
            with naming(file.path):
                rows = reader.read(frame, frame_number * ROWS)
            rows.teach(learner)
            learner._lineage = before
            learnt[file.digest] += len(rows.rewards)
            on_rows(len(rows.rewards))
            if kept.due():
                kept.write((number, frame_number + 1), learnt, reader.skipped, packed(learner))
    learner._lineage = with_files(before, learnt)
    return learner


def with_files(before: Lineage, learnt: dict[str, int]) -> Lineage:
    """The lineage of what has learnt so many rows of files too."""
    return before._replace(sources={**before.sources, **learnt})


def _learn_shards(
    files: Sequence[LogFile],
    dealt: Sequence[Shard],
    place: tuple[str, int | None, str | None],
    policy: Policy,
    reader: RowReader,
    kept: Checkpoint,
    reached: Reached | None,
    on_rows: Told,
) -> Any:
    """Shards side by side, by sums or with barriers."""
    from voful.logs.barriers import learn_at_barriers
    from voful.logs.pool import make_pool
    from voful.logs.sums import learn_sums

    ridge = isinstance(policy, RIDGES)
    if not ridge and not isinstance(policy, BetOFUL):
        names = ", ".join(cls.__name__ for cls in RIDGES)
        raise fail_type("policy", policy, f"with shards BetOFUL or {names}")
    with make_pool(*place) as pool:
        if ridge:
            learner, learnt = learn_sums(pool, dealt, policy, reader, on_rows)
        else:
            learner, learnt = learn_at_barriers(pool, dealt, policy, reader, kept, reached, on_rows)
    named = {file.digest: learnt[file.path] for file in files}
    learner._lineage = with_files(policy._lineage, named)
    return learner
