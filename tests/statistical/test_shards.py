"""Sets that are learnt in shards hold theta*, and those that must not be merged would lose it."""

from __future__ import annotations

import numpy as np
import pytest
from scale import LAWS, barrier_exits, merge_exits, served

from helpers import assert_exit_rate, count, full

DELTA = 0.1


@pytest.mark.parametrize("law", LAWS)
def test_barriers_hold_theta_and_the_proofs_inequality(law: str) -> None:
    """1,000 runs in all; Q(theta*) <= ln M wherever theta* is in the set."""
    found = barrier_exits(law, count(200))
    assert_exit_rate(found.exits, found.runs, DELTA)
    assert found.worst <= 1e-9


def test_merged_sets_hold_theta() -> None:
    runs = count(500)
    assert_exit_rate(merge_exits(runs, m=4, rows=60, twice=False), runs, DELTA)


def test_rows_that_count_twice_would_lose_theta() -> None:
    """The control, and what lineages are for: the same rows in 16 shards, without their names."""
    exits = merge_exits(40, m=16, rows=60, twice=True)
    with pytest.raises(AssertionError):
        assert_exit_rate(exits, 40, DELTA)


def test_servers_that_meet_have_less_regret() -> None:
    """At most .6 of that of servers that never do; every set holds theta*."""
    seeds = range(20 if full() else 1)
    alone, together = ([served(seed, meet, rounds=600) for seed in seeds] for meet in (None, 25))
    assert np.mean([r for r, _ in together]) <= 0.6 * np.mean([r for r, _ in alone])
    assert_exit_rate(sum(not held for _, held in together), len(seeds), 0.05)
