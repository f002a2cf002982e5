from __future__ import annotations

import numpy as np
import pytest

from helpers import sphere
from reference.literal_save import LiteralSAVE
from voful import SAVE

THETA_STAR = np.array([0.5, -0.3])


@pytest.mark.parametrize("constants", ["tight", "paper"])
def test_same_choices_layers_and_radii_as_the_literal_algorithm(constants: str) -> None:
    """The layer found when the reward comes is the one in which the arm was played.

    Rounds of tiny arms lead into deep layers at once, where the residuals are trusted.
    """
    rng = np.random.default_rng(2)
    fast = SAVE(2, n_rounds=100_000, failure_prob=0.1, constants=constants)
    slow = LiteralSAVE(2, 100_000, R=2.0, delta=0.1, paper=constants == "paper")
    assert fast.n_layers == slow.L
    for _ in range(200):
        arms = sphere(rng, 5, 2) * rng.uniform(0.2, 1.0, (5, 1)) * rng.choice([1.0, 0.01, 1e-5])
        choice, ell = slow.select(arms)
        assert fast.select(arms) == choice
        reward = float(arms[choice] @ THETA_STAR + rng.uniform(-0.1, 0.1))
        counts = fast.confidence_set.counts
        fast.update(arms[choice], reward)
        slow.update(arms[choice], reward, ell)
        assert ell > 0
        assert np.flatnonzero(fast.confidence_set.counts - counts).tolist() == [ell - 1]
    Theta = fast.confidence_set
    assert np.flatnonzero(Theta.counts).tolist()[-1] >= 8
    for ell, beta in slow.beta.items():
        Sigma, theta_hat = slow.matrices(ell)
        np.testing.assert_allclose(Theta.parts[ell - 1].precision, Sigma, rtol=1e-9, atol=1e-13)
        np.testing.assert_allclose(Theta.parts[ell - 1].center, theta_hat, rtol=1e-9, atol=1e-9)
        assert Theta.radii[ell - 1] == pytest.approx(beta, rel=1e-9)


def test_arms_that_need_no_exploration() -> None:
    """All norms below alpha: exploit, and no layer learns, as in the paper."""
    fast = SAVE(2, n_rounds=100)
    slow = LiteralSAVE(2, 100, R=2.0, delta=0.05, paper=False)
    tiny = 1e-12 * np.eye(2)
    assert fast.select(tiny) == slow.select(tiny)[0]
    assert slow.select(tiny)[1] == 0
    fast.update(tiny[0], 0.5)
    assert fast.n_observations == 1
    assert not fast.confidence_set.counts.any()


def test_in_rounds_of_exploitation_a_later_layer_may_learn() -> None:
    """Where the paper discards a reward, and the only place where the layers differ from it."""
    fast = SAVE(2, n_rounds=100)
    slow = LiteralSAVE(2, 100, R=2.0, delta=0.05, paper=False)
    small = 2e-4 * np.eye(2)  # 2 |x| <= alpha = 5e-4 in the first layer
    assert slow.select(small)[1] == 0
    fast.update(small[fast.select(small)], 0.5)
    (layer,) = np.flatnonzero(fast.confidence_set.counts)
    assert 2e-4 * 4.0 ** (layer + 1) > 1.0
