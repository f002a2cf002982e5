"""theta* stays in OFUL's set at all times in at least 1 - failure_prob of the runs.

Power of each count: .81 against a set that leaves in 3 failure_prob of the runs (77 runs); with
--full (308) .90 against 2 failure_prob.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from helpers import assert_condemned, assert_exit_rate, coverage_runs, full, last_record
from voful import OFUL
from voful.envs import linear_bandit

LAWS = [
    "gaussian", "two_point", "rare_positive", "rare_negative", "bernoulli", "heteroscedastic",
    "adversary",
]  # fmt: skip
DELTA, ROUNDS = 0.1, 300 if full() else 200


def left(law: str, run: int, **params: Any) -> bool:
    """Whether theta* left the set in a run; arms alternate between fixed and redrawn."""
    seed = np.random.SeedSequence([17, run])
    common: dict[str, Any] = {"dim": 2 + run % 4, "n_arms": 8, "redraw": run % 2 == 0}
    if law == "heteroscedastic":
        env = linear_bandit(sigma_low=0.02, sigma_high=0.5, seed=seed, **common)
    else:
        env = linear_bandit(noise=law, sigma=0.4, seed=seed, **common)
    return not last_record(OFUL(env.dim, failure_prob=DELTA, **params), env, ROUNDS).covered


@pytest.mark.parametrize("law", LAWS)
def test_oful_covers(law: str) -> None:
    runs = coverage_runs(DELTA)
    assert_exit_rate(sum(left(law, run) for run in range(runs)), runs, DELTA)


def test_the_test_can_fail() -> None:
    """With a tenth of the radius in 3 delta of the runs the same count condemns the set."""
    assert_condemned(lambda run: left("two_point", run, width_scale=0.1), DELTA)
