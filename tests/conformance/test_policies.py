"""Every registered bandit keeps the public contract."""

from __future__ import annotations

import copy
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import voful
from helpers import make_policy, members, play_some, sphere, teach, teach_one
from voful import registry
from voful.typing import BanditPolicy, ConfidenceSet

IDS = [entry.id for entry in registry.entries("bandit")]
pytestmark = pytest.mark.parametrize("id", IDS)


def fingerprint(policy: Any) -> dict[str, bytes]:
    state = {name: array.tobytes() for name, array in policy.state().items()}
    return state | {"rng": str(policy._rng.bit_generator.state).encode()}


def test_protocols(id: str) -> None:
    policy = make_policy(id)
    assert isinstance(policy, BanditPolicy)
    assert policy.dim == 3
    if policy.confidence_set is not None:
        assert isinstance(policy.confidence_set, ConfidenceSet)


def test_select_returns_an_int_in_range_and_does_not_learn(id: str) -> None:
    policy = make_policy(id)
    play_some(policy, 10)
    arms = sphere(np.random.default_rng(0), 4, 3)
    before = policy.n_observations
    choice = policy.select(arms)
    assert type(choice) is int
    assert 0 <= choice < 4
    assert policy.n_observations == before


def test_mask(id: str) -> None:
    policy = make_policy(id)
    play_some(policy, 10)
    arms = sphere(np.random.default_rng(0), 6, 3)
    for allowed in range(6):
        mask = np.arange(6) == allowed
        assert policy.select(arms, mask=mask) == allowed
    twin = copy.deepcopy(policy)  # a randomised policy draws anew at each call
    assert policy.select(arms, mask=np.ones(6, dtype=bool)) == twin.select(arms)


def test_same_seed_same_choices(id: str) -> None:
    one, two = make_policy(id, seed=4), make_policy(id, seed=4)
    np.testing.assert_array_equal(play_some(one, 40)[0], play_some(two, 40)[0])
    assert fingerprint(one) == fingerprint(two)


def test_batch_equals_one_by_one(id: str) -> None:
    one, batch = make_policy(id), make_policy(id)
    X, y = play_some(make_policy(id), 60)
    for x, reward in zip(X, y, strict=True):
        teach_one(one, x, reward)
    teach(batch, X[:25], y[:25])
    teach(batch, np.empty((0, 3)), [])
    teach(batch, X[25:], y[25:])
    assert fingerprint(one) == fingerprint(batch)


def test_save_load_continues_bit_for_bit(id: str, tmp_path: Path) -> None:
    policy = make_policy(id)
    play_some(policy, 37)
    policy.save(tmp_path / "p")
    loaded = voful.load(tmp_path / "p")
    assert type(loaded) is type(policy)
    assert repr(loaded) == repr(policy)
    assert fingerprint(loaded) == fingerprint(policy)
    np.testing.assert_array_equal(
        play_some(policy, 50, seed=9)[0], play_some(loaded, 50, seed=9)[0]
    )
    assert fingerprint(loaded) == fingerprint(policy)


def test_deepcopy_is_independent(id: str) -> None:
    policy = make_policy(id)
    play_some(policy, 12)
    clone = copy.deepcopy(policy)
    before = fingerprint(policy)
    first = play_some(clone, 20, seed=3)[0]
    assert fingerprint(policy) == before
    np.testing.assert_array_equal(first, play_some(policy, 20, seed=3)[0])


BAD_ARMS: list[Any] = [
    np.empty((0, 3)), np.zeros((2, 4)), np.zeros(3), np.full((2, 3), math.nan),
    np.full((2, 3), math.inf), 2.0 * np.eye(3), None, "arms", [[1.0], [1.0, 2.0]],
]  # fmt: skip


@pytest.mark.parametrize("arms", BAD_ARMS, ids=range(len(BAD_ARMS)))
def test_bad_arms_change_nothing(id: str, arms: Any) -> None:
    policy = make_policy(id)
    play_some(policy, 5)
    before = fingerprint(policy)
    for call in (policy.select, policy.index):
        with pytest.raises((ValueError, TypeError), match="arms"):
            call(arms)
    assert fingerprint(policy) == before


@pytest.mark.parametrize(
    ("x", "reward"),
    [([1, 0, 0], 1.5), ([1, 0, 0], math.nan), ([1, 0, 0], math.inf), ([1, 0, 0], "a"),
     ([1, 0, 0], None), ([1, 0], 0.0), ([1, 1, 1], 0.0), ([math.nan, 0, 0], 0.0), (None, 0.0)],
)  # fmt: skip
def test_bad_updates_change_nothing(id: str, x: Any, reward: Any) -> None:
    policy = make_policy(id)
    play_some(policy, 5)
    before = fingerprint(policy)
    with pytest.raises((ValueError, TypeError), match="x|reward"):
        teach_one(policy, x, reward)
    with pytest.raises((ValueError, TypeError), match="X|reward"):
        teach(policy, [[0.0, 1.0, 0.0], x], [0.5, reward])
    assert fingerprint(policy) == before


def test_index_and_predict(id: str) -> None:
    policy = make_policy(id)
    play_some(policy, 30)
    arms = sphere(np.random.default_rng(0), 5, 3)
    mean, lower, upper = policy.index(arms)
    assert mean.shape == lower.shape == upper.shape == (5,)
    assert (lower <= upper).all()
    assert policy.predict(arms).shape == (5,)
    assert np.isfinite([mean, lower, upper, policy.predict(arms)]).all()


def test_the_set_bounds_its_members(id: str) -> None:
    policy = make_policy(id)
    play_some(policy, 60)
    Theta = policy.confidence_set
    if Theta is None:
        return
    X = sphere(np.random.default_rng(2), 30, 3)
    inside = members(Theta, np.random.default_rng(1))
    assert inside
    lower, upper = Theta.interval(X)
    np.testing.assert_array_equal(upper, Theta.support(X))
    for theta in inside:
        assert (X @ theta <= upper + 1e-8).all()
        assert (X @ theta >= lower - 1e-8).all()
    assert Theta.center.shape == (3,)
    for bad in ([0.0, 0.0], [math.nan, 0.0, 0.0], None):
        with pytest.raises((ValueError, TypeError), match="theta"):
            Theta.contains(bad)
    assert not Theta.contains(np.full(3, 10.0))
    assert type(Theta).__name__ in repr(Theta)


def test_inputs_in_any_form(id: str) -> None:
    plain, odd = make_policy(id), make_policy(id)
    X, y = play_some(make_policy(id), 20)
    frozen = X.copy()
    frozen.flags.writeable = False
    for k in range(20):
        teach_one(plain, X[k], y[k])
        x = np.asfortranarray(frozen)[k] if k % 2 else X[k].tolist()
        teach_one(odd, x, np.float64(y[k]))
    assert fingerprint(plain) == fingerprint(odd)
    arms = sphere(np.random.default_rng(0), 6, 3)
    frozen_arms = arms.copy()
    frozen_arms.flags.writeable = False
    forms = (arms, np.asfortranarray(arms), frozen_arms, arms.tolist())
    choices = {copy.deepcopy(plain).select(form) for form in forms}
    assert len(choices) == 1


def test_repr_names_the_class_and_its_arguments(id: str) -> None:
    policy = make_policy(id)
    assert repr(policy).startswith(f"{type(policy).__name__}(dim=3")
    assert "failure_prob=" in repr(policy) or policy.confidence_set is None
