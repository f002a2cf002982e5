from __future__ import annotations

import numpy as np
import pytest

from helpers import sphere
from reference.literal_certified import LiteralCertifiedUCB
from voful import CertifiedUCB


@pytest.mark.parametrize(
    ("sigma", "y_range", "F", "changing"),
    [(0.0, (-1.0, 1.0), 1.0, False), (0.3, (-1.0, 1.5), 1.0, True), (0.6, (-2.0, 2.0), 3.0, False)],
)
def test_certified_ucb_agrees_with_the_literal_one(
    sigma: float, y_range: tuple[float, float], F: float, changing: bool
) -> None:
    """Same choices, index, ends, ledger and interventions of the net, round by round."""
    rng = np.random.default_rng(6)
    fast = CertifiedUCB(3, failure_prob=0.1, reward_range=y_range, theta_norm=0.8, feature_norm=F)
    slow = LiteralCertifiedUCB(3, 0.1, y_range, rho=0.8, F=F)
    theta_star = np.array([0.4, -0.2, 0.1]) / F
    fixed = sphere(rng, 6, 3, F)
    for _ in range(250):
        arms = sphere(rng, 6, 3, F) if changing else fixed
        np.testing.assert_allclose(fast.scores(arms), slow.index(arms), rtol=1e-7, atol=1e-9)
        ours, theirs = fast.confidence_set.interval(arms), slow.ends(arms)
        np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-9)
        i = fast.select(arms)
        assert i == slow.select(arms)
        assert fast.ledger == pytest.approx(slow.ledger, rel=1e-7)
        y = float(arms[i] @ theta_star + sigma * rng.uniform(-1, 1))
        fast.update(arms[i], y)
        slow.update(arms[i], y)
    assert fast.overruled == slow.net
    assert len(np.flatnonzero(fast.survivors(fixed))) >= 1
