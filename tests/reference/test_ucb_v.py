from __future__ import annotations

import numpy as np
import pytest

from helpers import sphere
from reference.literal_ucb_v import LiteralUCBV
from voful import UCBV


@pytest.mark.parametrize("n_arms", [5, 90])
def test_same_choices_and_bounds_as_the_literal_algorithm(n_arms: int) -> None:
    """Arms come and go; those that come back are recognised."""
    rng = np.random.default_rng(3)
    fast = UCBV(3, reward_range=(0.0, 2.0), exploration=1.1, range_weight=0.5)
    slow = LiteralUCBV(2.0, 1.1, 0.5)
    everything = sphere(rng, n_arms, 3)
    scales = rng.uniform(0.0, 1.0, n_arms)
    for _ in range(400):
        present = rng.permutation(n_arms)[: n_arms // 2 + 1]
        arms = everything[present]
        choice = fast.select(arms)
        assert choice == slow.select(arms)
        reward = 1.0 + scales[present[choice]] * rng.uniform(-1.0, 1.0)
        fast.update(arms[choice], reward)
        slow.update(arms[choice], reward)
    upper = [slow.index(x) for x in everything]
    known = np.isfinite(upper)
    assert fast.n_known_arms == known.sum()
    np.testing.assert_allclose(fast.index(everything)[2][known], np.array(upper)[known])
