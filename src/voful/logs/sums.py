"""Ridge policies in shards: every shard learns by itself, and sums add."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from voful.bandits.base import Policy
from voful.logs.files import Shard, rows_of
from voful.logs.merge import merge
from voful.logs.pool import Pool, Task
from voful.logs.rows import RowReader


class SumShard:
    """One shard of a policy whose state is sums over rows."""

    def __init__(self, shard: Shard, policy: Policy, skip: bool) -> None:
        self._shard, self._policy = shard, copy.deepcopy(policy)  # Ray's are read only
        self._skipped: Counter[str] | None = Counter() if skip else None

    def learn(self) -> tuple[Policy, dict[str, int], Counter[str] | None]:
        """(the policy of these rows, how many of each file, what was left out)."""
        learnt: dict[str, int] = {piece.path: 0 for piece in self._shard}
        for path, rows in rows_of(self._shard, RowReader(self._policy, self._skipped)):
            rows.teach(self._policy)
            learnt[path] += len(rows.rewards)
        return self._policy, learnt, self._skipped


def learn_sums(
    pool: Pool,
    shards: Sequence[Shard],
    policy: Policy,
    reader: RowReader,
    on_rows: Callable[[int], None],
) -> tuple[Any, dict[str, int]]:
    """What `policy` is after all rows, and how many of each file there were."""
    fresh = type(policy).from_config(copy.deepcopy(policy.config()))
    skip = reader.skipped is not None
    pool.start([Task(SumShard, (shard, fresh, skip)) for shard in shards])
    learnt: Counter[str] = Counter()
    parts = [copy.deepcopy(policy)]
    for part, rows, skipped in pool.call("learn"):
        parts.append(part)
        learnt.update(rows)
        if reader.skipped is not None:
            reader.skipped.update(skipped)
        on_rows(sum(rows.values()))
    return merge(parts), learnt
