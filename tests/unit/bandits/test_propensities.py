from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import voful
from helpers import make_policy, play_some, sphere
from voful import registry
from voful.bandits.propensities import Lottery
from voful.typing import FloatArray

IDS = [entry.id for entry in registry.entries("bandit")]
SPREADS = [id for id in IDS if make_policy(id)._chooses_by_upper]
DRAWING = [id for id in IDS if type(make_policy(id))._law is not Lottery._law]


def test_who_spreads_and_who_draws() -> None:
    assert {"oful", "betoful", "certified"} <= {*SPREADS}
    assert not {*SPREADS} & {"voful", "lin-ts", "epsilon-greedy", "oful-rare", "suplinucb", "ucb-v"}
    assert {"lin-ts", "epsilon-greedy"} <= {*DRAWING}
    assert not {*DRAWING} & {"oful", "betoful", "voful"}


def rounds(seed: int, n: int = 12) -> list[FloatArray]:
    rng = np.random.default_rng(seed)
    return [sphere(rng, 6, 3) for _ in range(n)]


def learnt(id: str, n: int = 40) -> Any:
    policy = make_policy(id, width_scale=0.3) if id in ("oful", "betoful") else make_policy(id)
    play_some(policy, n)
    return policy


@pytest.mark.parametrize("id", IDS)
def test_a_choice_is_a_draw_from_its_law(id: str) -> None:
    policy = learnt(id)
    mask = np.array([True, True, False, True, True, False])
    for arms in rounds(1, 4):
        for how in ({}, {"floor": 0.1}):
            index, probability, law = policy.choose(arms, mask, **how)
            assert law.shape == (6,)
            assert law.sum() == pytest.approx(1.0, abs=1e-12)
            assert (law >= how.get("floor", 0.0) * mask).all()
            assert (law[~mask] == 0.0).all()
            assert probability == law[index] > 0.0


@pytest.mark.parametrize("id", sorted({*IDS} - {*DRAWING}))
def test_without_options_it_is_select(id: str, tmp_path: Path) -> None:
    """Of a deterministic policy: the same arm, for sure, and no chance is used."""
    policy, twin = learnt(id), learnt(id)
    for arms in rounds(2):
        before = policy._rng.bit_generator.state
        choice, expected = policy.choose(arms), twin.select(arms)
        assert (choice.index, choice.probability) == (expected, 1.0)
        assert policy._rng.bit_generator.state == before
        assert policy.probabilities(arms)[expected] == 1.0
        x = arms[expected]
        told = {"variance": 0.04} if policy.needs_variance else {}
        policy.update(x, 0.1, **told)
        twin.update(x, 0.1, **told)
    for name, array in policy.state().items():
        np.testing.assert_array_equal(array, twin.state()[name], err_msg=name)


@pytest.mark.parametrize("id", SPREADS)
def test_spread_is_inverse_gap_weighting(id: str) -> None:
    policy = learnt(id)
    for arms in rounds(3, 4):
        law = policy.probabilities(arms, spread=0.3)
        u = policy.index(arms)[2]
        i = int(np.argmax(policy.probabilities(arms)))
        allowed = policy.survivors(arms) if id == "certified" else np.ones(6, dtype=bool)
        n = allowed.sum()
        gamma = (n - 1) * math.sqrt(policy.n_observations + 1) / 0.3
        others = allowed & (np.arange(6) != i)
        expected = 1.0 / (n + gamma * np.maximum(0.0, u[i] - u))
        np.testing.assert_allclose(law[others], expected[others], rtol=1e-12)
        assert (law[~allowed] == 0.0).all()
        assert law.sum() == pytest.approx(1.0, abs=1e-12)
        assert law[i] >= law.max() - 1e-12
        if id != "certified":  # the conditional regret of the exploration is at most c / sqrt(t)
            assert (law * (u[i] - u)).sum() <= 0.3 / math.sqrt(policy.n_observations + 1) + 1e-9


@pytest.mark.parametrize("id", sorted({*IDS} - {*SPREADS}))
def test_who_does_not_maximise_upper_bounds_does_not_spread(id: str) -> None:
    with pytest.raises(ValueError, match="spread: got 0.5; expected 0"):
        make_policy(id).choose(rounds(0)[0], spread=0.5)


@pytest.mark.parametrize("id", SPREADS)
def test_who_spreads_maximises_upper_bounds(id: str) -> None:
    """But for `certified`, whose own index ranks."""
    policy = learnt(id)
    for arms in rounds(4):
        if id != "certified":
            u = policy.index(arms)[2]
            assert u[policy.select(arms)] >= u.max() - 1e-6


def test_epsilon_greedy_is_exact() -> None:
    policy = voful.EpsilonGreedy(3, epsilon=0.3)
    play_some(policy, 30)
    mask = np.array([True, False, True, True, True, True])
    arms = rounds(5)[0]
    law = policy.probabilities(arms, mask)
    best = np.argmax(np.where(mask, policy.predict(arms), -np.inf))
    np.testing.assert_allclose(law, 0.7 * (np.arange(6) == best) + 0.3 * mask / 5, atol=1e-15)
    drawn = np.bincount([policy.choose(arms, mask).index for _ in range(3000)], minlength=6)
    assert np.abs(drawn / 3000 - law).max() < 0.04  # four standard errors


def test_thompson_sampling_votes() -> None:
    policy = voful.LinTS(3)
    play_some(policy, 30)
    arms = rounds(6)[0]
    choice = policy.choose(arms, draws=50)
    assert np.allclose(choice.probabilities * 50, np.round(choice.probabilities * 50))
    with pytest.raises(TypeError, match="without draws"):
        policy.probabilities(arms)
    chosen = np.bincount([policy.select(arms) for _ in range(4000)], minlength=6) / 4000
    laws = np.mean([policy.choose(arms, draws=16).probabilities for _ in range(250)], axis=0)
    drawn = [policy.choose(arms, draws=4).index for _ in range(4000)]
    assert np.abs(laws - chosen).max() < 0.045  # four standard errors of a difference
    assert np.abs(np.bincount(drawn, minlength=6) / 4000 - chosen).max() < 0.045


def test_bad_options() -> None:
    policy, arms = voful.OFUL(3), rounds(0)[0]
    for how, message in (
        ({"floor": 0.2}, "floor: got 0.2; expected a number from 0 to 1/6"),
        ({"floor": -0.1}, "floor"),
        ({"floor": math.nan}, "floor"),
        ({"spread": -1.0}, "spread: got -1.0; expected a number >= 0"),
        ({"draws": 0}, "draws"),
    ):
        with pytest.raises(ValueError, match=message):
            policy.choose(arms, **how)
    with pytest.raises(ValueError, match="pending: got .*; expected nothing: OFUL is not told it"):
        policy.select(arms, pending=arms[:1])


def test_the_ledger_has_the_arm_that_was_drawn() -> None:
    """A choice away from the plan costs what that arm may cost."""
    policy = voful.CertifiedUCB(3)
    play_some(policy, 60)
    for arms in rounds(7, 30):
        _, lower, upper = policy.index(arms)
        before = policy.ledger
        i = policy.choose(arms, floor=1.0 / 6.0).index
        others = np.delete(upper, i).max()
        gap = min(max(min(others, 1.0) - max(lower[i], -1.0), 0.0), 2.0)
        assert policy.ledger - before >= gap - 1e-9


def test_probabilities_do_not_touch_the_ledger() -> None:
    policy = voful.CertifiedUCB(3)
    play_some(policy, 20)
    before = policy.ledger
    policy.probabilities(rounds(8)[0], spread=1.0)
    assert policy.ledger == before


@pytest.mark.parametrize("id", ["oful", "betoful", "linucb", "save", "certified"])
def test_k_arms_at_once(id: str) -> None:
    policy = learnt(id)
    mask = np.array([True, True, True, True, True, False])
    for arms in rounds(9, 5):
        chosen = policy.select(arms, mask, k=3)
        assert chosen.dtype == np.int64
        assert len({*chosen}) == 3
        assert mask[chosen].all()
        if id != "certified":
            u = np.where(mask, policy.index(arms)[2], -np.inf)
            assert sorted(u[chosen]) == pytest.approx(sorted(u)[-3:], abs=1e-6)
    for k in (0, 6):
        with pytest.raises(ValueError, match="k"):
            policy.select(rounds(0)[0], mask, k=k)


def test_k_arms_of_one_draw() -> None:
    policy, twin = voful.LinTS(3), voful.LinTS(3)
    arms = rounds(10)[0]
    chosen = policy.select(arms, k=6)
    twin.select(arms)
    assert policy._rng.bit_generator.state == twin._rng.bit_generator.state
    assert sorted(chosen) == list(range(6))


def test_many_choices_of_one_state() -> None:
    policy = learnt("betoful")
    sets = [*rounds(11, 3), rounds(12)[0][:2]]
    masks = [None, None, np.array([False] * 5 + [True]), None]
    chosen = policy.select_many(sets, masks)
    assert chosen.tolist() == [policy.select(a, m) for a, m in zip(sets, masks, strict=True)]
    assert policy.select_many([]).shape == (0,)
    with pytest.raises(ValueError, match="masks"):
        policy.select_many(sets, [None])


def test_a_saved_policy_draws_on(tmp_path: Path) -> None:
    policy = learnt("lin-ts")
    policy.choose(rounds(0)[0])
    policy.save(tmp_path / "p")
    twin = voful.load(tmp_path / "p")
    for arms in rounds(13):
        for one, other in zip(policy.choose(arms), twin.choose(arms), strict=True):
            np.testing.assert_array_equal(one, other)
