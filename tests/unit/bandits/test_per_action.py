"""One model per action: it is so many sets, choices, files, and input that is refused."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import voful
from helpers import assert_condemned, assert_exit_rate, coverage_runs, sphere
from voful import BetOFUL, PerAction
from voful.monitor import ModelAlarm
from voful.typing import BoolArray

K, D = 4, 3


def play(policy: PerAction, rounds: int, seed: int = 0) -> list[int]:
    rng = np.random.default_rng(seed)
    thetas = sphere(np.random.default_rng(9), K, D, 0.5)
    actions = []
    for context, noise in zip(sphere(rng, rounds, D), rng.uniform(-0.1, 0.1, rounds), strict=True):
        actions.append(policy.select(context))
        policy.update(context, actions[-1], float(thetas[actions[-1]] @ context + noise))
    return actions


def everything(policy: PerAction) -> dict[str, Any]:
    return {name: array.tobytes() for name, array in policy.state().items()}


def test_it_is_a_betting_set_for_each_action() -> None:
    policy = PerAction(K, D, failure_prob=0.1)
    literal = [BetOFUL(D, failure_prob=0.1 / K) for _ in range(K)]
    rng = np.random.default_rng(2)
    for context in sphere(rng, 150, D):
        upper = [model.confidence_set.support(context[None])[0] for model in literal]
        action = policy.select(context)
        assert upper[action] >= max(upper) - 1e-9
        mean, low, high = policy.index(context)
        ends = [model.index(context[None]) for model in literal]
        np.testing.assert_array_equal(np.array([mean, low, high]), np.array(ends)[:, :, 0].T)
        reward = float(0.5 * context[action % D] + rng.uniform(-0.1, 0.1))
        policy.update(context, action, reward)
        literal[action].update(context, reward)
    assert policy.n_observations == 150
    assert policy.statuses == tuple(model.status for model in literal)
    np.testing.assert_array_equal(policy.predict([context])[0], policy.index(context)[0])


def test_a_row_for_each_action() -> None:
    policy = PerAction(K, D)
    play(policy, 60)
    context = sphere(np.random.default_rng(1), 1, D)[0]
    rows = np.tile(context, (K, 1))
    assert policy.select(rows) == policy.select(context)
    rows[policy.select(context)] *= 0.0  # nothing to hope for there
    action = policy.select(rows)
    assert action != policy.select(context)
    twin = copy.deepcopy(policy)
    policy.update(rows, action, 0.1)
    twin.update(rows[action], action, 0.1)
    assert everything(policy) == everything(twin)


def test_it_learns_which_action_is_best_where() -> None:
    policy = PerAction(K, D)
    play(policy, 1500)
    thetas = sphere(np.random.default_rng(9), K, D, 0.5)
    contexts = sphere(np.random.default_rng(77), 200, D)
    means = contexts @ thetas.T
    chosen = policy.select_many(contexts)
    assert (means.max(axis=1) - means[np.arange(200), chosen]).mean() < 0.01
    np.testing.assert_array_equal(chosen, [policy.select(context) for context in contexts])


def test_masks() -> None:
    policy = PerAction(K, D)
    play(policy, 50)
    for context in sphere(np.random.default_rng(3), 20, D):
        mask = np.ones(K, dtype=np.bool_)
        mask[policy.select(context)] = False
        assert mask[policy.select(context, mask)]
        assert policy.select_many([context], [mask])[0] == policy.select(context, mask)


def test_choices_with_probabilities() -> None:
    policy = PerAction(K, D, seed=4)
    play(policy, 40)
    context = sphere(np.random.default_rng(3), 1, D)[0]
    sure = policy.choose(context)
    assert (sure.index, sure.probability) == (policy.select(context), 1.0)
    law = policy.probabilities(context, floor=0.1)
    np.testing.assert_allclose(law, 0.1 + 0.6 * (np.arange(K) == sure.index))
    spread = policy.probabilities(context, spread=5.0)
    assert spread.argmax() == sure.index
    assert (spread > 0.0).all()
    drawn = [policy.choose(context, floor=0.2).index for _ in range(300)]
    assert set(drawn) == set(range(K))
    mask = np.array([True, True, False, False])
    assert policy.probabilities(context, mask, floor=0.5).tolist() == [0.5, 0.5, 0.0, 0.0]


def test_a_batch_is_as_one_by_one() -> None:
    rng = np.random.default_rng(5)
    contexts, actions = sphere(rng, 90, D), rng.integers(0, K, 90)
    rewards = rng.uniform(-0.5, 0.5, 90)
    batch, single = PerAction(K, D), PerAction(K, D)
    batch.partial_fit(contexts, actions, rewards)
    for row in zip(contexts, actions, rewards, strict=True):
        single.update(*row)
    assert everything(batch) == everything(single)
    assert batch.select_many(contexts).tolist() == single.select_many(contexts).tolist()


@pytest.mark.parametrize("bet", ["mixed", "product"])
def test_saved_copied_and_pickled_policies_go_on_bit_for_bit(tmp_path: Path, bet: str) -> None:
    policy = PerAction(K, D, bet=bet, seed=np.random.SeedSequence(3))
    play(policy, 70)
    policy.choose(np.zeros(D), floor=0.1)
    policy.save(tmp_path / "policy.voful")
    others = [
        voful.load(tmp_path / "policy.voful"),
        copy.deepcopy(policy),
        pickle.loads(pickle.dumps(policy)),
    ]
    expected = play(policy, 80, seed=6), policy.choose(np.zeros(D), floor=0.2).index
    for other in others:
        assert isinstance(other, PerAction)
        assert (play(other, 80, seed=6), other.choose(np.zeros(D), floor=0.2).index) == expected
        assert everything(other) == everything(policy)


def contradict(policy: PerAction, wrong: int) -> None:
    for t in range(240):
        action = t % K
        good = 0.9 if t % 8 < K else 0.8  # |theta| <= .1 cannot pay that
        policy.update(np.eye(D)[0], action, good if action == wrong else 0.0)


def test_a_wrong_model_is_not_certain() -> None:
    policy = PerAction(K, D, theta_norm=0.1)
    with pytest.warns(RuntimeWarning, match="is refuted"):
        contradict(policy, 2)
    assert policy.statuses == ("ok", "ok", "refuted", "ok")
    assert policy.status == "refuted"
    assert policy.models[2].status_since > 0
    mean, lower, upper = policy.index(np.eye(D)[0])
    assert (lower[2], upper[2]) == (-1.0, 1.0)
    assert upper[0] < 0.5
    assert mean[2] == pytest.approx(0.85, abs=0.1)
    assert policy.select(np.eye(D)[0]) == 2  # its estimate decides, and it is the best
    assert policy.select(-np.eye(D)[0]) != 2


def test_an_alarm_that_raises_leaves_a_policy_that_goes_on() -> None:
    policy = PerAction(K, D, theta_norm=0.1, on_change="raise")
    with pytest.raises(ModelAlarm):
        contradict(policy, 1)
    learnt = policy.n_observations
    assert policy.statuses[1] in ("refuted", "empty")
    before = policy._fronts[1].copy()
    for _ in range(40):  # it still learns, and shows it
        policy.update(np.eye(D)[0], 1, 0.8)
    assert not np.array_equal(policy._fronts[1], before)
    assert (policy.index(np.eye(D)[0])[2][1], policy.status) == (1.0, policy.statuses[1])
    assert policy.n_observations == learnt + 40


BAD: list[tuple[str, tuple[Any, ...], str]] = [
    ("select", ([0.1, 0.2],), "context: got an array of shape"),
    ("select", ([0.1, 0.2, np.nan],), "context"),
    ("select", ([3.0, 0.0, 0.0],), "context.*norm <= 1"),
    ("select", (np.zeros((K + 1, D)),), r"context: got an array of shape.*\(4, 3\)"),
    ("select", ([0.0] * D, [True]), "mask"),
    ("select", ([0.0] * D, [False] * K), "mask"),
    ("update", ([0.0] * D, K, 0.0), "action: got 4"),
    ("update", ([0.0] * D, True, 0.0), "action"),
    ("update", ([0.0] * D, 0.0, 0.0), "action"),
    ("update", ([0.0] * D, 0, 2.0), "reward: got 2"),
    ("update", ([0.0] * D, 0, np.nan), "reward"),
    ("partial_fit", ([[0.0] * D], [0, 1], [0.0]), "actions"),
    ("partial_fit", ([[0.0] * D], [K], [0.0]), "actions.*from 0 to 3"),
    ("partial_fit", ([[0.0] * D], [0.5], [0.0]), "actions"),
    ("partial_fit", ([[2.0] * D], [0], [0.0]), "contexts"),
    ("partial_fit", ([[0.0] * D], [0], [5.0]), "rewards"),
    ("select_many", ([[0.0] * D], [None, None]), "masks"),
]


@pytest.mark.parametrize(("method", "arguments", "message"), BAD)
def test_bad_input_is_named_and_changes_nothing(
    method: str, arguments: tuple[Any, ...], message: str
) -> None:
    policy = PerAction(K, D)
    before = everything(policy)
    with pytest.raises((ValueError, TypeError), match=message):
        getattr(policy, method)(*arguments)
    assert everything(policy) == before


def test_arguments_are_checked_and_shown() -> None:
    for wrong in ({"n_actions": 0}, {"dim": 0}, {"bet": "mixed+cr"}, {"theta_norm": -1.0}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            PerAction(**{"n_actions": K, "dim": D, **wrong})  # type: ignore[arg-type]
    ample = PerAction(2, 3, reward_range=(0.0, 1.0), theta_norm=None).models[1].confidence_set
    assert ample.theta_norm == 500.0
    assert repr(PerAction(2, 3)).startswith("PerAction(n_actions=2, dim=3, failure_prob=0.05")
    with pytest.raises(ValueError, match="floor"):
        PerAction(K, D).choose(np.zeros(D), floor=0.5)


DELTA = 0.3


def left(run: int, width_scale: float = 1.0) -> BoolArray:
    """Which of three parameters were seen to leave their sets; rewards are +-1."""
    rng = np.random.default_rng([71, run])
    thetas, contexts = sphere(rng, 3, 2, 0.5), sphere(rng, 120, 2)
    policy = PerAction(3, 2, failure_prob=DELTA, width_scale=width_scale)
    out = np.zeros(3, dtype=np.bool_)
    for t, (context, u) in enumerate(zip(contexts, rng.random(120), strict=True)):
        action = policy.select(context)
        mean = float(thetas[action] @ context)
        policy.update(context, action, 1.0 if u < 0.5 + 0.5 * mean else -1.0)
        if t % 8 == 7:
            sets = [model.confidence_set for model in policy.models]
            out |= [not Theta.contains(theta) for Theta, theta in zip(sets, thetas, strict=True)]
    return out


def test_every_parameter_stays_in_its_set() -> None:
    runs = coverage_runs(DELTA / 3)
    found = np.array([left(run) for run in range(runs)])
    assert_exit_rate(int(found.any(axis=1).sum()), runs, DELTA)
    for action in range(3):
        assert_exit_rate(int(found[:, action].sum()), runs, DELTA / 3)
    assert_condemned(lambda run: bool(left(run, width_scale=0.1).any()), DELTA)
