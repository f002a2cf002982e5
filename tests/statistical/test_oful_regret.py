from __future__ import annotations

from typing import Any

import numpy as np

from helpers import count, last_record
from voful import OFUL
from voful.envs import linear_bandit


def mean_regret(rounds: int, **params: Any) -> float:
    finals = []
    for run in range(max(4, count(20))):
        env = linear_bandit(dim=3, sigma=0.3, seed=np.random.SeedSequence([5, run]))
        last = last_record(OFUL(3, **params), env, rounds)
        finals.append(last.regret)
    return float(np.mean(finals))


def test_regret_grows_like_the_square_root_at_most() -> None:
    """Theorem 3 of the paper: d sqrt(K log): 16 times the rounds, at most ~4 times log-ish."""
    assert mean_regret(8000) <= 5.0 * mean_regret(500)


def test_rare_switching_costs_a_constant_factor() -> None:
    """Theorem 4: sqrt(1 + C) for determinant growth 1 + C."""
    assert mean_regret(2000, det_growth=1.0) <= 1.6 * mean_regret(2000)
