"""D-LinUCB on a problem that does not change: theta* stays in its set in 1 - delta of the runs.

Power of the count (level 1e-4): of 300 runs (--full) a set that loses theta* in a quarter of them
is condemned with probability 0.99; of 30 runs, one that does in 6 of 10.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from helpers import assert_exit_rate, count, last_record
from voful import DLinUCB
from voful.envs import linear_bandit

DELTA, RUNS, ROUNDS, SIGMA = 0.1, 300, 300, 0.4


def exits(runs: int, **params: Any) -> int:
    """In how many runs theta* left the set; arms alternate between fixed and redrawn."""
    left = 0
    for run in range(runs):
        seed = np.random.SeedSequence([20, run])
        env = linear_bandit(dim=3, redraw=run % 2 == 0, noise="two_point", sigma=SIGMA, seed=seed)
        policy = DLinUCB(3, n_rounds=ROUNDS, noise_scale=SIGMA, failure_prob=DELTA, **params)
        left += not last_record(policy, env, ROUNDS).covered
    return left


@pytest.mark.parametrize("discount", [None, 0.9])
def test_theta_that_does_not_change_is_covered(discount: float | None) -> None:
    runs = count(RUNS)
    assert_exit_rate(exits(runs, discount=discount), runs, DELTA)


def test_the_test_can_fail() -> None:
    """With a fifth of the radius the same count condemns the set."""
    with pytest.raises(AssertionError, match="left the set"):
        assert_exit_rate(exits(30, width_scale=0.2), 30, DELTA)
