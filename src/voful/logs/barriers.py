"""BetOFUL in shards: bets on the intervals of one set, which is put together at barriers.

Between barriers a shard bets on its own rows; intervals are those of the latest merged set,
predictions come from the merged ridge sums and its own rows. At a barrier the quadratics of all
shards are added, and all rows are bent again on intervals of the merged set. Every bet is fixed
before its reward in one order of all rows (phase after phase, shard after shard), so the mixture of
the products of all factors is a nonnegative martingale, and the threshold is ln(1/delta) for the
whole delta.

A shard keeps its rows, with the bets as they were placed, in a temporary file: 8 (d + 6) bytes a
row. Bending again is a function of those rows and the merged set alone. So a shard that is lost is
made again from its log files and the merged sets of the barriers, with the same bits.
"""

from __future__ import annotations

import tempfile
import weakref
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from voful.bandits.betoful import BetOFUL
from voful.confidence.betting.merging import (
    absorb,
    add_quadratics,
    add_two_parts,
    bend_apart,
    bet_apart,
    empty_sums,
    improve,
    put_plays,
    put_predictors,
    put_residuals,
    quadratics_of,
)
from voful.confidence.betting.questions import is_empty
from voful.confidence.betting.state import N_RECENT, open_clock, open_latest, open_rules
from voful.logs.checkpoint import Checkpoint, Reached
from voful.logs.files import Shard, rows_of
from voful.logs.merge import check_shape, take_over
from voful.logs.pool import Pool, Task
from voful.logs.rows import RowReader, Rows
from voful.typing import FloatArray
from voful.validation import fail

FIRST_ROWS = 4  # of a shard until the first barrier
GROWTH = 2  # of its rows from barrier to barrier
MOST_REBENDS = 4  # at a barrier
WORTHWHILE = 0.02  # a gain in width after which old rows are bent once more
CHUNK = 1 << 13  # rows that are bent at a time


class Phase(NamedTuple):
    """What a shard hands over at a barrier."""

    free: FloatArray  # quadratics of this phase's rows
    safe: FloatArray  # likewise, none of which bends down
    memory: FloatArray  # the merged block with this shard's predictors and residuals
    gram: FloatArray  # (2, d, d): ridge sums over all of its rows
    response: FloatArray  # (2, d)
    plays: FloatArray  # its latest arms
    rows: dict[str, int]  # learnt of each file, in all
    skipped: Counter[str] | None  # in all
    ended: bool  # whether there are no more


class BarrierShard:
    """One shard: reads its rows phase by phase, and keeps them with their bets."""

    def __init__(self, shard: Shard, policy: BetOFUL, n_plays: int, skip: bool) -> None:
        self._skipped: Counter[str] | None = Counter() if skip else None
        self._source = rows_of(shard, RowReader(policy, self._skipped))
        self._next: tuple[str, Rows] | None = None  # read, and not all of it used
        self._learnt = {piece.path: 0 for piece in shard}
        memory = policy.confidence_set.memory
        d, self._width = policy.dim, policy.dim + len(open_latest(memory).bet)
        self._gram, self._response = np.zeros((2, d, d)), np.zeros((2, d))
        self._plays, self._n_plays = np.empty((0, d)), n_plays
        self._kept = tempfile.TemporaryFile(prefix="voful-shard-")  # noqa: SIM115
        weakref.finalize(self, self._kept.close)
        self._n = 0

    def bet(self, merged: FloatArray, until: int) -> Phase:
        """Bet on rows until the shard has had so many in all."""
        memory, free, safe = merged.copy(), empty_sums(merged), empty_sums(merged)
        open_clock(memory).n[0] = self._n
        self._kept.seek(0, 2)
        for X, rewards in self._take(until - self._n):
            rows = np.empty((len(X), self._width))
            bet_apart(memory, free, safe, self._gram, self._response, X, rewards, rows)
            self._kept.write(rows.tobytes())
            self._plays = np.concatenate([self._plays, X])[-self._n_plays :].copy()
            self._n += len(X)
        return Phase(
            quadratics_of(free),
            quadratics_of(safe),
            memory,
            self._gram.copy(),
            self._response.copy(),
            self._plays,
            dict(self._learnt),
            self._skipped,
            self._peek() is None,
        )

    def bend(self, merged: FloatArray) -> FloatArray:
        """Quadratics of all rows so far, bent on the intervals of the merged set."""
        memory, sums = merged.copy(), empty_sums(merged)  # what comes from Ray is read only
        for rows in self.rows():
            bend_apart(memory, rows, sums)
        return quadratics_of(sums)

    def rows(self) -> Iterator[FloatArray]:
        """What is kept, as a history, some rows at a time."""
        self._kept.seek(0)
        while content := self._kept.read(8 * self._width * CHUNK):
            yield np.frombuffer(content).reshape(-1, self._width).copy()

    def _peek(self) -> tuple[str, Rows] | None:
        """The rows that come next, as many as have been read."""
        while self._next is None or len(self._next[1].rewards) == 0:
            found = next(self._source, None)
            if found is None:
                return None
            self._next = found
        return self._next

    def _take(self, wanted: int) -> Iterator[tuple[FloatArray, FloatArray]]:
        while wanted > 0 and (found := self._peek()) is not None:
            path, rows = found
            n = min(wanted, CHUNK, len(rows.rewards))
            taken, others = rows.cut(n)
            self._next = path, others
            self._learnt[path] += n
            wanted -= n
            yield np.ascontiguousarray(taken.X), np.ascontiguousarray(taken.rewards)


def learn_at_barriers(
    pool: Pool,
    shards: Sequence[Shard],
    policy: Any,
    reader: RowReader,
    kept: Checkpoint,
    reached: Reached | None,
    on_rows: Callable[[int], None],
) -> tuple[BetOFUL, dict[str, int]]:
    """What `policy`, which has learnt nothing, is after all rows; and how many of each file."""
    check_shape(policy)
    if policy.n_observations:
        raise fail("policy", policy.n_observations, "a BetOFUL that has learnt no rows, for shards")
    if policy.refresh:
        raise fail("policy: refresh", True, "False with shards: rows stay with them")
    learner: BetOFUL = BetOFUL.from_config(policy.config())  # type: ignore[assignment]
    start = learner.confidence_set.memory
    skip, n_plays = reader.skipped is not None, -(-N_RECENT // len(shards))
    pool.start([Task(BarrierShard, (shard, policy, n_plays, skip)) for shard in shards])
    journal: list[FloatArray] = [] if reached is None else list(reached.arrays["merged"])
    merged, phases = start.copy(), []
    for number, before in enumerate(journal):  # the bets that an earlier process has placed
        phases = pool.call("bet", before, _barrier(number), changes=True)
    if reached is not None:
        merged = reached.arrays["now"].copy()
    n = _count(phases)
    on_rows(n)
    while not (phases and all(phase.ended for phase in phases)):
        journal.append(merged)
        phases = pool.call("bet", merged, _barrier(len(journal) - 1), changes=True)
        merged = _put_together(merged, start, phases)
        _bend_again(pool, merged)
        on_rows(_count(phases) - n)
        n = _count(phases)
        if kept.due():
            kept.write((), {}, None, {"merged": np.array(journal), "now": merged})
    if n == 0:
        return learner, _rows_of_files(phases)
    take_over(learner, merged, n)
    learner._rng.bit_generator.state = policy._rng.bit_generator.state
    if reader.skipped is not None:
        for phase in phases:
            reader.skipped.update(phase.skipped)
    if is_empty(merged):
        learner.confidence_set.warn_empty()
    return learner, _rows_of_files(phases)


def _barrier(number: int) -> int:
    """Rows of a shard, in all, at this barrier."""
    return int(FIRST_ROWS * GROWTH**number)


def _rows_of_files(phases: Sequence[Phase]) -> dict[str, int]:
    learnt: Counter[str] = Counter()
    for phase in phases:
        learnt.update(phase.rows)
    return learnt


def _count(phases: Sequence[Phase]) -> int:
    return sum(sum(phase.rows.values()) for phase in phases)


def _put_together(merged: FloatArray, start: FloatArray, phases: Sequence[Phase]) -> FloatArray:
    """The merged set with the rows of this phase; predictors and residuals of all."""
    memory = merged.copy()
    clock = open_clock(memory)
    clock.n[0] = _count(phases)
    clock.emptied[0] = max(float(open_clock(phase.memory).emptied[0]) for phase in phases)
    used = [phase for phase in phases if len(phase.plays)]
    if not used:
        return memory
    put_plays(memory, [phase.plays for phase in used])
    free, safe = memory.copy(), memory.copy()
    add_quadratics(free, [phase.free for phase in phases])
    add_quadratics(safe, [phase.safe for phase in phases])
    absorb(memory, free, safe)
    d = len(open_rules(memory).theta0)
    gram, response = np.zeros((1, 2, d, d)), np.zeros((1, 2, d))
    for phase in phases:
        add_two_parts(gram, phase.gram[None])
        add_two_parts(response, phase.response[None])
    put_predictors(memory, start, gram[0].sum(axis=0), response[0].sum(axis=0))
    put_residuals(
        memory, [phase.memory for phase in used], [sum(phase.rows.values()) for phase in used]
    )
    open_latest(memory).places[:] = open_latest(used[0].memory).places
    return memory


def _bend_again(pool: Pool, merged: FloatArray) -> None:
    """Bend all rows on the merged set, as long as that makes it notably thinner."""
    if is_empty(merged):
        return
    price: Any = open_rules(merged).price
    for _ in range(MOST_REBENDS):
        bent = merged.copy()
        quadratics_of(bent)[:] = 0.0
        quadratics_of(bent)[-2 * len(price) :: 2] = price  # kappa, first parts
        add_quadratics(bent, pool.call("bend", merged))
        if improve(merged, bent) < WORTHWHILE:
            return
