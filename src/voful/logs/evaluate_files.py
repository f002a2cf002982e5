"""Evaluation in shards: every file is bet on by itself, and log-wealths of fixed bets add.

Exactly those of one pass for "ips" and against the policy that logged. The predictions of "snips"
and "dr" come from each shard's own past: valid, not the bits of one pass.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from voful.logs.evaluate import record_file
from voful.logs.evaluation import Evaluation, Recorder
from voful.logs.evaluator import Evaluator
from voful.logs.files import naming, open_files
from voful.logs.merge import merge
from voful.logs.pool import Task, make_pool
from voful.logs.readers import Skipping
from voful.logs.targets import Target
from voful.typing import Path
from voful.validation import fail


class EvaluationShard:
    """One file, and who is evaluated."""

    def __init__(
        self, path: str, targets: Mapping[str, Target], against: str | None, skip: Any, how: Any
    ) -> None:
        self._path, self._targets, self._against = path, targets, against
        self._skipping = None if skip is None else Skipping(*skip)
        self._how = how

    def evaluate(self) -> tuple[list[Evaluator], Counter[str]]:
        """(an evaluator for each target, what was left out)."""
        with naming(self._path):
            found = record_file(
                self._path,
                self._targets,
                self._against,
                self._skipping,
                lambda rows: None,
                **self._how,
            )
        reasons = Counter() if self._skipping is None else self._skipping.reasons
        return [recorder.evaluator for recorder in found], reasons


def evaluate_files(
    paths: Sequence[Path],
    targets: Mapping[str, Target],
    *,
    against: str | None = None,
    skipping: Skipping | None = None,
    place: tuple[str, int | None, str | None] = ("local", None, None),
    **how: Any,
) -> dict[str, Evaluation]:
    """Several targets on several files, each with an interval of its own.

    Parameters
    ----------
    paths, targets, against, skipping, how
        See `evaluate_file`.
    place
        Backend ("local" or "ray"), workers, and the address of a Ray cluster.
    """
    files = open_files(paths)
    skip = None if skipping is None else (skipping._range, skipping._least)
    with make_pool(*place) as pool:
        pool.start(
            [Task(EvaluationShard, (file.path, targets, against, skip, how)) for file in files]
        )
        answers = pool.call("evaluate")
    if skipping is not None:
        for _, reasons in answers:
            skipping.reasons.update(reasons)
    parts = [found for found, _ in answers if found]
    if not parts:
        raise fail("logs", [file.path for file in files], "at least one row that can be used")
    evaluations = {}
    for number, name in enumerate(targets):
        own = [found[number] for found in parts]
        recorder = Recorder(merge(own) if len(own) > 1 else copy.deepcopy(own[0]))
        evaluations[name] = recorder.evaluation()
    return evaluations
