"""Choices while rewards are still to come."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import voful
from helpers import make_policy, play_some, sphere
from voful import registry
from voful.confidence.betting.pending import foreseen, gathered
from voful.typing import FloatArray

TAKE_IT = ("betoful", "betoful-cr", "certified")
REFUSE = [
    e.id for e in registry.entries("bandit") if e.name not in ("BetOFUL", "CertifiedUCB")
]  # fmt: skip


def made(id: str, **more: Any) -> Any:
    return (
        voful.BetOFUL(3, bet="mixed+cr", **more) if id == "betoful-cr" else make_policy(id, **more)
    )


def learnt(id: str, n: int = 60, **more: Any) -> Any:
    policy = made(id, **more)
    play_some(policy, n)
    return policy


def arms_and_pending(m: int, seed: int = 3) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(seed)
    arms = sphere(rng, 6, 3)
    return arms, np.ascontiguousarray(arms[rng.integers(0, 6, m)])


@pytest.mark.parametrize("id", REFUSE)
def test_others_refuse_it_in_one_sentence(id: str) -> None:
    policy = make_policy(id)
    arms, pending = arms_and_pending(2)
    for ask in (policy.select, policy.choose):
        with pytest.raises(
            ValueError, match=r"(?s)^pending: got .*; expected nothing: \w+ is not told"
        ):
            ask(arms, pending=pending)


@pytest.mark.parametrize("m", [1, 3, 4, 9, 100])
def test_gathered_rows_have_the_same_sum_of_squares(m: int) -> None:
    _, pending = arms_and_pending(m)
    rows = gathered(pending)
    assert len(rows) <= max(m, 3)
    assert (m > 3) <= (len(rows) == 3)
    np.testing.assert_allclose(rows.T @ rows, pending.T @ pending, rtol=1e-12, atol=1e-12)


def test_arms_in_a_plane_are_gathered_too() -> None:
    pending = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]] * 4)
    rows = gathered(pending)
    np.testing.assert_allclose(rows.T @ rows, np.diag([4.0, 0.0, 4.0]), atol=1e-15)


def literal(policy: Any, arms: FloatArray, pending: FloatArray) -> FloatArray:
    """u_h as it is defined."""
    Theta, rules = policy.confidence_set.views().Theta, policy.confidence_set.views().rules
    n, d = policy.n_observations, policy.dim
    P, upper, lower = pending.T @ pending, np.full(len(arms), np.inf), np.full(len(arms), -np.inf)
    for e in range(len(Theta.rad)):
        A = Theta.A[e].sum(axis=0)
        M = A + Theta.lam[e] * np.eye(d)
        c = max(np.trace(A) / n, 0.25 / rules.half**2) if n else 0.25 / rules.half**2
        for K, sign, ends in ((M, -1.0, lower), (M + c * P, 1.0, upper)):
            width = np.sqrt(
                Theta.rad[e] * np.einsum("ij,ij->i", arms, np.linalg.solve(K, arms.T).T)
            )
            best = np.minimum if sign > 0 else np.maximum
            best(ends, arms @ Theta.center[e] + sign * width, out=ends)
    return np.asarray(np.maximum(upper, lower))


@pytest.mark.parametrize("n", [0, 5, 300])
@pytest.mark.parametrize("m", [1, 3, 50])
def test_it_plays_the_largest_u_h(n: int, m: int) -> None:
    policy = learnt("betoful", n)
    for seed in range(20):
        arms, pending = arms_and_pending(m, seed)
        u = literal(policy, arms, pending)
        mask = np.arange(6) != np.argmax(u)
        assert u[policy.select(arms, pending=pending)] == pytest.approx(u.max(), abs=1e-8)
        masked = policy.select(arms, mask, pending=pending)
        assert u[masked] == pytest.approx(u[mask].max(), abs=1e-8)


@pytest.mark.parametrize("id", TAKE_IT)
def test_nothing_pending_is_a_plain_choice(id: str) -> None:
    policy, twin = learnt(id), learnt(id)
    for seed in range(10):
        arms, _ = arms_and_pending(0, seed)
        assert policy.select(arms, pending=np.empty((0, 3))) == twin.select(arms)


@pytest.mark.parametrize("id", TAKE_IT)
def test_many_of_one_arm_move_the_choice_elsewhere(id: str) -> None:
    """And nothing is learnt from it: set, answers and later choices are as before."""
    policy = learnt(id, 5)
    arms, _ = arms_and_pending(0)
    first = policy.select(arms)
    before = policy.index(arms)
    assert policy.select(arms, pending=np.tile(arms[first], (500, 1))) != first
    assert policy.select(arms) == first
    for now, then in zip(policy.index(arms), before, strict=True):
        assert (now == then).all()
    assert policy._pending is None


@pytest.mark.parametrize("id", TAKE_IT)
def test_a_certified_loser_is_never_played(id: str) -> None:
    policy = learnt(id, 400, **({} if id == "betoful-cr" else {"theta_norm": 1.0}))
    for seed in range(30):
        arms, pending = arms_and_pending(200, seed)
        lower, upper = policy.confidence_set.interval(arms)
        assert upper[policy.select(arms, pending=pending)] >= lower.max() - 1e-9


@pytest.mark.parametrize("id", TAKE_IT)
def test_several_and_with_probabilities(id: str) -> None:
    policy = learnt(id)
    arms, pending = arms_and_pending(30)
    chosen = policy.select(arms, k=3, pending=pending)
    assert len(set(chosen.tolist())) == 3
    twin = copy.deepcopy(policy)
    law = policy.probabilities(arms, floor=0.1, pending=pending)
    assert law.sum() == pytest.approx(1.0)
    assert int(np.argmax(law)) == twin.select(arms, pending=pending) == chosen[0]
    assert policy.choose(arms, pending=pending).index == chosen[0]
    with pytest.raises(ValueError, match="spread: got 1.0; expected 0 where arms are pending"):
        policy.choose(arms, spread=1.0, pending=pending)


@pytest.mark.parametrize("bad", [np.ones((2, 2)), np.full((1, 3), np.nan), np.full((1, 3), 2.0)])
def test_bad_pending_is_refused(bad: FloatArray) -> None:
    policy = learnt("betoful")
    arms, _ = arms_and_pending(0)
    with pytest.raises(ValueError, match=r"^pending"):
        policy.select(arms, pending=bad)
    assert policy._pending is None
    assert policy._turn % 2 == 0


def test_an_empty_set_goes_by_its_estimate() -> None:
    policy = learnt("betoful", on_change=None)
    policy.confidence_set.views().clock.emptied[0] = 1.0
    arms, pending = arms_and_pending(10)
    with pytest.warns(RuntimeWarning, match="empty"):
        choice = policy.select(arms, pending=pending)
    assert choice == int(np.argmax(policy.predict(arms)))


def test_the_ledger_counts_choices_with_pending_arms_too() -> None:
    policy = learnt("certified", 5)
    arms, pending = arms_and_pending(10)
    before = policy.ledger
    policy.select(arms, pending=pending)
    assert policy.ledger > before


def test_foreseen_is_the_whitener_of_the_sum() -> None:
    _, pending = arms_and_pending(7)
    W = foreseen(np.eye(3), gathered(pending), 0.7)
    np.testing.assert_allclose(W @ W.T, np.linalg.inv(np.eye(3) + 0.7 * pending.T @ pending))
