from __future__ import annotations

import warnings

import numpy as np
import pytest

from reference.literal_check import LiteralCheck, LiteralGuard
from voful import BetOFUL
from voful.confidence import BettingEllipsoid
from voful.monitor import ModelCheck
from voful.validation import ObservationSpace


@pytest.mark.parametrize("run_length", [None, 1e6])
@pytest.mark.parametrize("challengers", [0, 2])
def test_the_statistic_is_that_of_the_definition(
    run_length: float | None, challengers: int
) -> None:
    rng = np.random.default_rng(3)
    fast = ModelCheck((-1.0, 2.0), run_length=run_length, challengers=challengers)
    slow = LiteralCheck(-1.0, 2.0, run_length is not None)
    for _ in range(60):
        lower, upper = np.sort(rng.uniform(-1.5, 2.5, 2)).tolist()
        y, guesses = rng.uniform(-1.0, 2.0), rng.uniform(-1.2, 2.2, challengers).tolist()
        upper = max(upper, -0.9)
        lower = min(lower, 1.9)
        fast.update(lower, upper, y, predictions=guesses)
        slow.update(lower, upper, y, guesses)
        assert fast.statistic == pytest.approx(slow.statistic, rel=1e-9)


def test_guarded_restarts_are_those_of_the_definition() -> None:
    """A world that fits, then has the same mean along x and -x, then fits again."""
    rng = np.random.default_rng(1)
    space = ObservationSpace(2, 1.0, (-1.0, 1.0))
    slow = LiteralGuard(lambda: BettingEllipsoid(space, failure_prob=0.05), 100, 0.05)
    fast = BetOFUL(2)
    seen = set()
    for t in range(1100):
        x = rng.standard_normal(2)
        x /= np.linalg.norm(x)
        mean = 0.8 * x[0]
        if 200 <= t < 700:
            x, mean = np.array([1.0 if t % 2 else -1.0, 0.0]), 0.8
        y = float(np.clip(mean + 0.02 * rng.standard_normal(), -1.0, 1.0))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fast.update(x, y)
            slow.update(x, y)
            status = fast.status
        assert (status == "refuted") == slow.refuted
        assert [(alarm.round, alarm.cause) for alarm in fast.alarms] == slow.alarms
        seen.add(status)
        if slow.refuted:
            np.testing.assert_allclose(
                fast.confidence_set.views().predictors.theta, slow.ridges, atol=1e-9
            )
        else:
            np.testing.assert_array_equal(fast.confidence_set.memory, slow.set.memory)
    assert {"ok", "refuted"} <= seen
    assert len(slow.alarms) >= 4
    assert fast.n_observations == 1100
