"""How good another policy would have been, and whether it would have been better."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from voful import validation
from voful.logs.evaluation import Evaluation, Recorder
from voful.logs.evaluator import ROWS, Evaluator
from voful.logs.log import Log, pieces
from voful.logs.targets import Target, rows_of
from voful.typing import FloatArray, Path

if TYPE_CHECKING:
    from voful.logs.readers import Skipping

Checkpoints = int | npt.ArrayLike | None
Piece = tuple[Log, list[FloatArray]]
DENSITY = 1.1  # of the checkpoints, if nobody asks for others


def evaluate(
    log: Log | Path,
    target: Target,
    *,
    estimator: str = "snips",
    failure_prob: float = 0.05,
    reward_range: tuple[float, float] = (0.0, 1.0),
    min_propensity: float | None = None,
    horizon: int | None = None,
    checkpoints: Checkpoints = None,
    learn: bool = False,
) -> Evaluation:
    """How good the target would have been in place of the policy that logged.

    Parameters
    ----------
    log
        A `Log`, or the path of a CSV, Parquet or NDJSON file, which is read piece by piece.
    target
        (n,) probabilities of the logged actions, (n, n_arms) of all arms, a Policy as it is now, or
        a function of a row's arms; of a file also the name of a column. It must not have
        learnt from these rows: that voids the guarantee.
    estimator
        "snips" (default), "ips" or "dr", see `Evaluator`.
    failure_prob
        The interval holds the value at all times with probability at least 1 - failure_prob.
    reward_range
        (low, high); a reward outside is an error, never clipped.
    min_propensity
        What every arm's propensity was at least, where not all of them are logged: narrower.
    horizon
        The number of rows after which the interval shall be narrowest; it is true always.
    checkpoints
        Row counts at which `trajectory` looks, or how many looks; default: about 24 a decade.
    learn
        The target is a policy, of which a copy learns each row after it has said its probabilities:
        the value of a policy that learns from what another one plays.
    """
    return _evaluate(
        *(log, target, None, None, checkpoints, learn),
        estimator=estimator,
        failure_prob=failure_prob,
        reward_range=reward_range,
        min_propensity=min_propensity,
        horizon=horizon,
    )


def compare(
    log: Log | Path,
    target: Target,
    baseline: Target = None,
    *,
    estimator: str = "snips",
    failure_prob: float = 0.05,
    reward_range: tuple[float, float] = (0.0, 1.0),
    min_propensity: float | None = None,
    horizon: int | None = None,
    checkpoints: Checkpoints = None,
) -> Evaluation:
    """How much better the target would have been than the baseline, or than the logging policy.

    Stop as soon as `lower` is above 0: the interval of the difference is true at all times.

    Parameters
    ----------
    baseline
        As `target`, probabilities of all arms (then `target` needs all of them too); None: the
        policy that logged, for which probabilities of the logged actions suffice.
    """
    versus = "logged" if baseline is None else "baseline"
    return _evaluate(
        *(log, target, baseline, versus, checkpoints, False),
        estimator=estimator,
        failure_prob=failure_prob,
        reward_range=reward_range,
        min_propensity=min_propensity,
        horizon=horizon,
    )


def _evaluate(
    log: Log | Path,
    target: Target,
    baseline: Target,
    versus: str | None,
    checkpoints: Checkpoints,
    learn: bool,
    **how: Any,
) -> Evaluation:
    targets = {"target": target} | ({} if baseline is None else {"baseline": baseline})
    if isinstance(log, Log):
        found, due = _of_log(log, targets, learn), looks(checkpoints, len(log))
    elif isinstance(log, str | os.PathLike):
        from voful.logs.readers import pieces_of

        found, due = pieces_of(log, targets, learn), looks(checkpoints, None)
    else:
        raise validation.fail_type("log", log, "a voful.Log or the path of a file")
    recorder: Recorder | None = None
    for piece, laws in found:
        if recorder is None:
            recorder = Recorder(new_evaluator(piece, laws, versus, **how))
        look_along(recorder, piece, laws, due)
    if recorder is None:
        raise validation.fail("log", log, "at least one row")
    return recorder.evaluation()


def evaluate_file(
    path: Path,
    targets: Mapping[str, Target],
    *,
    against: str | None = None,
    skipping: Skipping | None = None,
    on_rows: Callable[[int], None] = lambda rows: None,
    **how: Any,
) -> dict[str, Evaluation]:
    """Several targets in one pass over a file, each with an interval of its own.

    Parameters
    ----------
    path, targets
        The file, and by name: columns of it, policies or functions.
    against
        Their differences to this column's policy, or to the one that "logged"; None: their values.
    skipping
        Leaves bad rows out; None: they are errors.
    on_rows
        Told how many rows were read, after each piece.
    how
        Of the `Evaluator`.
    """
    recorders = record_file(path, targets, against, skipping, on_rows, **how)
    if not recorders:
        raise validation.fail("log", str(path), "at least one row that can be used")
    found = (recorder.evaluation() for recorder in recorders)
    return dict(zip(targets, found, strict=True))


def record_file(
    path: Path,
    targets: Mapping[str, Target],
    against: str | None,
    skipping: Skipping | None,
    on_rows: Callable[[int], None],
    **how: Any,
) -> list[Recorder]:
    """A recorder for each target after a file's rows; none where there is no row."""
    from voful.logs.readers import pieces_of

    logged = against == "logged"
    asked = {**targets} if against is None or logged else {**targets, "baseline": against}
    versus = None if against is None else "logged" if logged else "baseline"
    recorders: list[Recorder] = []
    due = looks(None, None)
    for piece, laws in pieces_of(path, asked, skipping=skipping):
        own, base = laws[: len(targets)], laws[len(targets) :]
        if not recorders:
            recorders = [Recorder(new_evaluator(piece, [law], versus, **how)) for law in own]
        for recorder, law in zip(recorders, own, strict=True):
            look_along(recorder, piece, [law, *base], due)
        on_rows(len(piece))
    return recorders


def new_evaluator(
    log: Log, laws: Sequence[FloatArray], versus: str | None, **how: Any
) -> Evaluator:
    """An evaluator for logs such as this one."""
    if how["estimator"] == "dr":
        features = log.arms if log.contexts is None else log.contexts
        if features is None:
            raise validation.fail("arms", None, "a Log with arms or contexts: dr needs them")
        how["dim"] = features.shape[-1]
        if log.contexts is not None:
            how["n_models"] = laws[0].shape[1] if laws[0].ndim == 2 else 1
    return Evaluator(versus=versus, **how)


def look_along(
    recorder: Recorder, log: Log, laws: Sequence[FloatArray], due: Callable[[int], int]
) -> None:
    """Bet on rows, and look at every row count that is due."""
    evaluator, start = recorder.evaluator, 0
    evaluator.check(log, *laws)
    while start < len(log):
        goal = due(evaluator.n)
        stop = min(len(log), start + goal - evaluator.n)
        rows = slice(start, stop)
        evaluator.bet(log[rows], *(law[rows] for law in laws))
        if evaluator.n == goal:
            recorder.look()
        start = stop


def _of_log(log: Log, targets: Mapping[str, Target], learn: bool) -> Iterator[Piece]:
    asked = [rows_of(name, target, len(log), learn) for name, target in targets.items()]
    for rows in pieces(len(log), ROWS):
        part = log[rows]
        yield part, [ask(part, rows) for ask in asked]


def looks(checkpoints: Checkpoints, n: int | None) -> Callable[[int], int]:
    """The function that says which row count comes next to look at, after so many rows."""
    if checkpoints is None:
        return lambda rows: max(rows + 1, math.floor(DENSITY * rows))
    if isinstance(checkpoints, int | np.integer):
        wanted = validation.positive_int("checkpoints", checkpoints)
        if n is None:
            raise validation.fail(
                "checkpoints", wanted, "row counts: a file does not say its length"
            )
        grid = np.unique(np.ceil(np.linspace(0.0, n, wanted + 1)).astype(np.int64)[1:])
    else:
        grid = validation.integer_array("checkpoints", checkpoints, 1, "whole numbers >= 1")
        grid = np.unique(grid)
        if len(grid) and grid[0] < 1:
            raise validation.fail("checkpoints", int(grid[0]), "whole numbers >= 1")

    def due(rows: int) -> int:
        place = int(np.searchsorted(grid, rows, side="right"))
        return int(grid[place]) if place < len(grid) else 2**62

    return due
