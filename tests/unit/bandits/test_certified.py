from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import voful
from helpers import play_some, sphere
from voful import CertifiedUCB, Guarded


def test_it_is_its_own_index_under_guard() -> None:
    """`Guarded` with the scores of a twin plays the same arms with the same ledger."""

    class Index:
        def __init__(self) -> None:
            self.twin = CertifiedUCB(3)

        def scores(self, arms: Any) -> Any:
            return self.twin.scores(arms)

        def update(self, x: Any, reward: float) -> None:
            self.twin.update(x, reward)

    policy, guarded = CertifiedUCB(3), Guarded(3, heuristic=Index())
    X, _ = play_some(policy, 150, seed=5, noise=0.3)
    np.testing.assert_array_equal(X, play_some(guarded, 150, seed=5, noise=0.3)[0])
    assert guarded.ledger == pytest.approx(policy.ledger, rel=1e-9)


def test_the_ledger_survives_save_and_load_in_mid_run(tmp_path: Path) -> None:
    policy = CertifiedUCB(3, reward_range=(-1, 2), feature_norm=2.0, theta_norm=0.9, refresh=False)
    play_some(policy, 70)
    policy.save(tmp_path / "p")
    loaded = voful.load(tmp_path / "p")
    assert loaded.ledger == policy.ledger > 0.0
    X, _ = play_some(policy, 70, seed=2)
    np.testing.assert_array_equal(X, play_some(loaded, 70, seed=2)[0])
    assert loaded.ledger == policy.ledger
    arms = sphere(np.random.default_rng(1), 9, 3)
    np.testing.assert_array_equal(loaded.scores(arms), policy.scores(arms))


def test_without_noise_the_best_arm_is_certified() -> None:
    arms, theta, regret = np.eye(2), np.array([0.5, -0.4]), 0.0
    policy = CertifiedUCB(2)
    for _ in range(4000):
        i = policy.select(arms)
        policy.update(arms[i], float(theta[i]))
        regret += 0.5 - theta[i]
    assert regret <= policy.ledger < math.inf
    assert policy.best_arm(arms) == (0, True)
    np.testing.assert_array_equal(policy.survivors(arms), [True, False])
    before = policy.ledger
    assert policy.select(arms) == 0
    assert policy.ledger == before


def test_scores_are_there_for_other_rules() -> None:
    policy = CertifiedUCB(3)
    play_some(policy, 60)
    arms = sphere(np.random.default_rng(1), 8, 3)
    before = {name: array.tobytes() for name, array in policy.state().items()}
    scores = policy.scores(arms)
    assert scores.shape == (8,)
    assert (scores >= policy.predict(arms)).all()
    capped = np.minimum(scores, policy.confidence_set.support(arms))
    assert {name: array.tobytes() for name, array in policy.state().items()} == before
    assert policy.select(arms) == int(np.argmax(np.where(policy.survivors(arms), capped, -np.inf)))
    with pytest.raises(ValueError, match=r"arms\[0\]: got"):
        policy.scores(2.0 * np.eye(3))


def test_an_empty_set_leaves_the_index_to_decide() -> None:
    policy = CertifiedUCB(2, on_change=None)
    play_some(policy, 20)
    policy.confidence_set.betting.views().Theta.rad[0] = -1.0
    arms = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])
    with pytest.warns(RuntimeWarning, match="is empty"):
        choice = policy.select(arms)
    assert choice == int(np.argmax(policy.scores(arms)))
    assert policy.select(arms, mask=[True, True, False]) != 2
    assert policy.ledger == math.inf
    assert policy.best_arm(arms)[1] is False
    policy.update(arms[choice], 0.1)
    assert policy.n_observations == 21


def test_no_arm_and_tiny_arms_are_finite() -> None:
    policy = CertifiedUCB(2, on_change=None)
    for _ in range(30):
        i = policy.select(np.array([[0.0, 0.0], [1e-160, 0.0]]))
        policy.update([[0.0, 0.0], [1e-160, 0.0]][i], 0.5)
    assert np.isfinite(policy.index(np.eye(2))).all()
    assert all(np.isfinite(array).all() for array in policy.state().values())


@pytest.mark.parametrize(
    "bad",
    [{"dim": 0}, {"failure_prob": 1.0}, {"reward_range": None}, {"reward_range": (1, 1)},
     {"theta_norm": 0.0}, {"theta_norm": 1e9}, {"feature_norm": -1}, {"refresh": None},
     {"seed": "a"}],
)  # fmt: skip
def test_bad_arguments_are_named(bad: dict[str, Any]) -> None:
    (name,) = bad
    with pytest.raises((ValueError, TypeError), match=f"{name}: got"):
        CertifiedUCB(**{"dim": 2, **bad})
