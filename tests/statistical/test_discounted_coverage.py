"""D-LinUCB on a problem that does not change: theta* stays in its set in 1 - delta of the runs.

Power of each count: .81 against 3 failure_prob (77 runs); with --full (308) .90 against 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from helpers import assert_condemned, assert_exit_rate, coverage_runs, last_record
from voful import DLinUCB
from voful.envs import linear_bandit

DELTA, ROUNDS, SIGMA = 0.1, 300, 0.4


def left(run: int, **params: Any) -> bool:
    """Whether theta* left the set in a run; arms alternate between fixed and redrawn."""
    seed = np.random.SeedSequence([20, run])
    env = linear_bandit(dim=3, redraw=run % 2 == 0, noise="two_point", sigma=SIGMA, seed=seed)
    policy = DLinUCB(3, n_rounds=ROUNDS, noise_scale=SIGMA, failure_prob=DELTA, **params)
    return not last_record(policy, env, ROUNDS).covered


@pytest.mark.parametrize("discount", [None, 0.9])
def test_theta_that_does_not_change_is_covered(discount: float | None) -> None:
    runs = coverage_runs(DELTA)
    assert_exit_rate(sum(left(run, discount=discount) for run in range(runs)), runs, DELTA)


def test_the_test_can_fail() -> None:
    """With a fifth of the radius in 3 delta of the runs the same count condemns the set."""
    assert_condemned(lambda run: left(run, width_scale=0.2), DELTA)
