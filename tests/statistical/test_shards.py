"""Sets that are learnt in shards hold theta*, and those that must not be merged would lose it."""

from __future__ import annotations

import numpy as np
import pytest
from scale import LAWS, barrier_exits, merge_exits, served

from helpers import assert_covers, assert_exit_rate, coverage_runs, full, most_exits

DELTA = 0.1


def test_barriers_hold_theta_and_the_proofs_inequality() -> None:
    """Q(theta*) <= ln M in every run in which theta* is in the set."""

    def left(law: str, run: int) -> bool:
        found = barrier_exits(law, 1, first=run)
        assert found.worst <= 1e-9
        return found.exits > 0

    assert_covers(left, LAWS, DELTA)


def test_merged_sets_hold_theta() -> None:
    runs = 500 if full() else coverage_runs(DELTA)
    assert_exit_rate(merge_exits(runs, m=4, rows=60, twice=False), runs, DELTA)


@pytest.mark.filterwarnings("ignore:.* is empty:RuntimeWarning")  # nothing fits, rightly
def test_rows_that_count_twice_would_lose_theta() -> None:
    """What lineages are for: the same rows in 64 shards, without their names."""
    runs, exits = coverage_runs(DELTA), 0
    for run in range(runs):
        exits += merge_exits(1, m=64, rows=400, twice=True, first=run)
        if exits > most_exits(runs, DELTA):  # the runs that are left cannot change that
            return
    pytest.fail(f"theta* left the set in {exits} of {runs} runs only")


def test_servers_that_meet_have_less_regret() -> None:
    """At most .6 of that of servers that never do; every set holds theta*."""
    seeds = range(20 if full() else 1)
    alone, together = ([served(seed, meet, rounds=600) for seed in seeds] for meet in (None, 25))
    assert np.mean([r for r, _ in together]) <= 0.6 * np.mean([r for r, _ in alone])
    assert sum(not held for _, held in together) <= 0.2 * len(seeds)
