"""Every registered bandit passes the checks that users get, and what only the library promises."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba.core import config

import voful
from helpers import make_policy, members, play_some, sphere, teach
from voful import registry
from voful.checks import CHECKS, NotApplicable, Subject

IDS = [entry.id for entry in registry.entries("bandit")]
pytestmark = pytest.mark.parametrize("id", IDS)


def expected_to_apply(check: str, policy: Any) -> bool:
    if check in ("check_support", "check_interval", "check_bad_questions"):
        return policy.confidence_set is not None
    if check == "check_probabilities":
        return not isinstance(policy, voful.LinTS)
    if check == "check_variances":
        return bool(policy.needs_variance)
    return check != "check_rounds_limit" or hasattr(policy, "n_rounds")


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_check(id: str, check: Any) -> None:
    policy = make_policy(id)
    try:
        check(Subject(policy))
    except NotApplicable:
        assert not expected_to_apply(check.__name__, policy)
    else:
        assert expected_to_apply(check.__name__, policy)


def test_other_ranges_and_dimensions(id: str) -> None:
    """Clicks with an intercept, in one dimension and in five; a trained policy is left alone."""
    plain = config.DISABLE_JIT  # type: ignore[attr-defined]  # VOFUL's cuts take minutes then
    for dim, learnt in ((1, 0), (2, 4) if plain else (5, 20)):
        policy = make_policy(id, dim, reward_range=(0.0, 1.0))
        X = sphere(np.random.default_rng(0), learnt, dim)
        teach(policy, X, np.linspace(0.0, 1.0, learnt))
        before = {name: array.tobytes() for name, array in policy.state().items()}
        voful.checks.check_policy(policy)
        assert {name: array.tobytes() for name, array in policy.state().items()} == before
        assert policy.n_observations == learnt


def test_same_seed_same_choices(id: str) -> None:
    one, two = make_policy(id, seed=4), make_policy(id, seed=4)
    np.testing.assert_array_equal(play_some(one, 40)[0], play_some(two, 40)[0])


def test_the_library_knows_its_own_files(id: str, tmp_path: Path) -> None:
    policy = make_policy(id)
    play_some(policy, 37)
    policy.save(tmp_path / "p")
    loaded = voful.load(tmp_path / "p")
    assert type(loaded) is type(policy)
    np.testing.assert_array_equal(
        play_some(policy, 50, seed=9)[0], play_some(loaded, 50, seed=9)[0]
    )


@pytest.mark.parametrize(
    ("method", "arguments", "named"),
    [("select", [np.empty((0, 3))], "arms"), ("select", [2.0 * np.eye(3)], r"arms\[0\]"),
     ("index", [None], "arms"), ("select", [np.eye(3), [True]], "mask"),
     ("update", [[1, 0], 0.0], "x"), ("update", [[1, 0, 0], 1.5], "reward"),
     ("partial_fit", [[[1, 1, 1]], [0.0]], r"X\[0\]"),
     ("partial_fit", [[[1, 0, 0]], [1.5]], r"rewards\[0\]")],
)  # fmt: skip
def test_errors_name_the_argument(id: str, method: str, arguments: Any, named: str) -> None:
    with pytest.raises((ValueError, TypeError), match=f"^{named}: got .*; expected "):
        getattr(make_policy(id), method)(*arguments)


def test_the_set_has_members_to_check(id: str) -> None:
    policy = make_policy(id)
    play_some(policy, 60)
    Theta = policy.confidence_set
    if Theta is not None:
        assert members(Theta, np.random.default_rng(1))
        assert type(Theta).__name__ in repr(Theta)


def test_repr_names_the_class_and_its_arguments(id: str) -> None:
    policy = make_policy(id)
    assert repr(policy).startswith(f"{type(policy).__name__}(dim=3")
    assert "failure_prob=" in repr(policy) or policy.confidence_set is None
