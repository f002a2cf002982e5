"""The level of a model check, with the mean known: the worst case that its theorem allows.

Power of each count: .99 against 3 times the level (200 runs); with --full (2,000) .99 against 1.5.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest

from helpers import assert_exit_rate, count
from voful.envs.bandit import noise
from voful.monitor.check import take_round
from voful.monitor.evidence import BETS_AT, EVIDENCE_SIZE, STAKES
from voful.typing import FloatArray

LEVEL, ROUNDS = 0.1, 2000
LAWS = {
    "gaussian 0.1": (noise.GAUSSIAN, 0.1),
    "gaussian 0.3": (noise.GAUSSIAN, 0.3),
    "binary": (noise.BERNOULLI, 0.0),
    "rare positive": (noise.RARE_POSITIVE, 0.1),
    "rare negative": (noise.RARE_NEGATIVE, 0.1),
    "adversary": (noise.ADVERSARY, 0.3),
}


def count_alarms(kind: int, sigma: float, means: FloatArray, u: FloatArray, off: float) -> int:
    """How many of the runs alarm; the interval is the mean plus `off`.

    The adversary bets boldly: rare jumps towards where there is more evidence.
    """
    found, nothing = 0, np.empty(0)
    for run in range(u.shape[0]):
        evidence, mean, middle = np.zeros(EVIDENCE_SIZE), means[run], BETS_AT + STAKES
        for t in range(u.shape[1]):
            law = kind
            if kind == noise.ADVERSARY:
                up = evidence[BETS_AT:middle].sum() >= evidence[middle:].sum()
                law = noise.RARE_POSITIVE if up else noise.RARE_NEGATIVE
            y = noise.reward(law, mean, sigma, -1.0, 1.0, u[run, t])
            end = mean + off
            if take_round(evidence, -1.0, 1.0, end, end, y, True, nothing) >= 1.0 / LEVEL:
                found += 1
                break
    return found


alarms: Any = numba.njit(error_model="numpy")(count_alarms)


def drawn(runs: int, law: int) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng([98_000, law])
    return rng.uniform(-0.5, 0.5, runs), rng.random((runs, ROUNDS))


@pytest.mark.parametrize("law", LAWS)
def test_false_alarms_keep_the_level(law: str) -> None:
    runs, (kind, sigma) = count(2000), LAWS[law]
    assert_exit_rate(alarms(kind, sigma, *drawn(runs, kind), 0.0), runs, LEVEL)


@pytest.mark.parametrize("off", [0.05, -0.05])
def test_control_an_interval_beside_the_mean_alarms(off: float) -> None:
    runs = 50
    assert alarms(noise.GAUSSIAN, 0.1, *drawn(runs, 99), off) == runs
