from __future__ import annotations

import numpy as np

from helpers import sphere
from voful import OFUL, registry
from voful.experiments.bench import REFERENCE, lean_numpy_oful, measure, public_api


def test_the_reference_is_the_same_algorithm() -> None:
    """The lean loop is a fair opponent: it plays the same arms, so the ratio compares like."""
    rng = np.random.default_rng(0)
    arms, rewards = sphere(rng, 8, 3), rng.uniform(-1, 1, 200)
    arms *= rng.uniform(0.5, 1.0, (8, 1))  # no ties
    lean = lean_numpy_oful(arms, rewards, [200])
    ours = public_api(OFUL(3), arms, rewards, [200])
    assert ours.played == lean.played
    assert len(ours.clock) == len(lean.clock) == 2


def test_measure_reports_every_policy() -> None:
    speeds = measure(dim=2, n_arms=3, n_rounds=64, repetitions=1)
    assert [speed.name for speed in speeds] == [
        REFERENCE,
        *(entry.id for entry in registry.entries("bandit") if not entry.needs_variance),
    ]
    assert speeds[0].ratio == 1.0
    assert all(speed.microseconds > 0 and speed.growth > 0 for speed in speeds)
