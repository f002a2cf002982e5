"""What an empty or refuted set answers, for every registered policy and agent."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import voful
from helpers import teach
from voful import registry
from voful.typing import FloatArray

ASKED = np.array([[1.0, 0.0], [0.0, 0.5], [0.3, 0.4]])

# How narrow the widths must be for rewards that turn over to leave nothing; None: cannot be empty.
ONE_ELLIPSOID = None  # its centre is always a member
NARROWED = {
    "betoful": 1.0,
    "certified": 1.0,
    "confidence-ball": ONE_ELLIPSOID,
    "d-linucb": ONE_ELLIPSOID,
    "cr-betoful": 1.0,  # by a ball that is too small, see `driven`
    "faury": ONE_ELLIPSOID,
    "faury-paper": ONE_ELLIPSOID,
    "lin-ts": ONE_ELLIPSOID,
    "lin-ts-paper": ONE_ELLIPSOID,
    "lofav": 1.0,
    "lofav-paper": 1.0,
    "losan": ONE_ELLIPSOID,
    "oful": ONE_ELLIPSOID,
    "oful-rare": ONE_ELLIPSOID,
    "save": 0.05,
    "save-paper": 1e-3,
    "voful": 1.0,
    "voful-paper": 0.05,
    "voful2": 1e-3,
    "weighted-oful": ONE_ELLIPSOID,
    "weighted-oful-paper": ONE_ELLIPSOID,
    "weighted-oful-plus": ONE_ELLIPSOID,
    "weighted-oful-plus-oful": 1.0,
    "weighted-oful-plus-paper": ONE_ELLIPSOID,
}
WITHOUT_A_SET = {
    entry.id
    for entry in registry.entries("bandit")
    if registry.create(entry.id, 2, n_rounds=10).confidence_set is None
}


def driven(id: str, width_scale: float | None) -> Any:
    """After 500 rounds at 0.9 along both axes, 500 at -0.9: no parameter fits."""
    params: dict[str, Any] = {}
    if id in ("betoful", "certified"):
        params["on_change"] = None  # no alarm: only the set
    if id == "cr-betoful":
        params["theta_norm"] = 0.1
    elif width_scale not in (None, 1.0):
        params["width_scale"] = width_scale
    policy = registry.create(id, 2, n_rounds=2000, **params)
    rewards = np.repeat([0.9, 0.9 if id == "cr-betoful" else -0.9], 500)
    teach(policy, np.tile(np.eye(2), (500, 1)), rewards, variance=0.01)
    return policy


@pytest.mark.parametrize("id", [entry.id for entry in registry.entries("bandit")])
def test_every_bandit_is_asked(id: str) -> None:
    """A new one with a set is put into NARROWED."""
    assert (id in NARROWED) != (id in WITHOUT_A_SET)


def test_the_table_has_no_other_bandit() -> None:
    assert {*NARROWED} <= {entry.id for entry in registry.entries("bandit")}


@pytest.mark.parametrize("id", sorted(WITHOUT_A_SET))
def test_a_policy_without_a_set_is_ok(id: str) -> None:
    policy = registry.create(id, 2, n_rounds=10)
    assert policy.confidence_set is None
    assert (policy.status, policy.status_since) == ("ok", 0)


@pytest.mark.parametrize("id", [id for id, narrowed in NARROWED.items() if narrowed is None])
def test_one_ellipsoid_is_never_empty(id: str) -> None:
    policy = driven(id, None)
    lower, upper = policy.confidence_set.interval(ASKED)
    assert (lower < upper).all()
    assert not policy.confidence_set.is_empty


@pytest.mark.parametrize("id", [id for id, narrowed in NARROWED.items() if narrowed is not None])
def test_an_empty_set_answers_the_reward_range(id: str, tmp_path: Path) -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        policy = driven(id, NARROWED[id])
        Theta = policy.confidence_set
        lower, upper = Theta.interval(ASKED)
        support, (mean, low, high) = Theta.support(ASKED), policy.index(ASKED)
        assert not Theta.contains(Theta.center)
        policy.select(ASKED)
    assert "is empty" in str(told[0].message)
    np.testing.assert_array_equal((lower, upper), [-np.ones(3), np.ones(3)])
    in_ball = getattr(policy, "theta_norm", 1.0) * np.linalg.norm(ASKED, axis=1)
    np.testing.assert_allclose(support, np.minimum(1.0, in_ball))
    assert policy.status == "empty"
    assert len(told) == 1
    np.testing.assert_array_equal((low, high), (lower, upper))
    assert (np.abs(mean) <= 1.0).all()
    assert np.isfinite(Theta.center).all()
    assert 0 < (since := policy.status_since) <= 1000
    policy.save(tmp_path / "p")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        twin = voful.load(tmp_path / "p")
        teach(twin, ASKED[:1], [0.1], variance=0.01)
        assert (twin.status, twin.status_since) == ("empty", since)
        np.testing.assert_array_equal(twin.confidence_set.interval(ASKED)[0], lower)


@pytest.mark.filterwarnings("ignore:.* is empty")
def test_an_empty_set_of_unbounded_rewards_answers_finite_numbers() -> None:
    """Those that rewards must lie between."""
    policy: Any = registry.create("lofav", 2, n_rounds=1000, reward_range=None, noise_bound=1.0)
    policy.partial_fit(np.tile(np.eye(2), (500, 1)), np.repeat([9.0, -9.0], 500))
    assert policy.status == "empty"
    lower, upper = policy.confidence_set.interval(ASKED)
    np.testing.assert_array_equal((lower, upper), [np.full(3, -1e100), np.full(3, 1e100)])
    _, low, high = policy.index(ASKED)
    np.testing.assert_array_equal((low, high), (lower, upper))


def test_the_edge_of_the_ball_is_told_and_may_be_left() -> None:
    policy = voful.OFUL(2, theta_norm=0.5)
    assert policy.status == "ok"
    policy.partial_fit(np.tile([[1.0, 0.0]], (50, 1)), np.full(50, 0.9))
    with pytest.warns(RuntimeWarning, match="OFUL is edge: .*theta_norm may be too small"):
        assert policy.status == "edge"
    assert policy.status_since == 50
    lower, upper = policy.confidence_set.interval(ASKED)
    assert (upper - lower < 2.0).any()  # its intervals still count
    policy.partial_fit(np.tile([[1.0, 0.0]], (200, 1)), np.zeros(200))
    assert (policy.status, policy.status_since) == ("ok", 0)


# --- agents -------------------------------------------------------------------------------------

NARROWED_AGENTS = {
    "bet-vtr": 0.01,
    "hf-ucrl-vtr-plus": 0.01,
    "hf-ucrl-vtr-plus-paper": None,  # one ellipsoid, printed without the domain
    "likelihood-ucrl": None,  # the maximum-likelihood estimate is always a member
    "ucrl-vtr": 0.01,
    "ucrl-vtr-plus": 0.01,
    "ucrl-vtr-plus-paper": None,
    "varlin": 1.0,
    "varlin-mgf": 1.0,
    "varlin-paper": 0.01,
    "varlin2": 1.0,
}
WITHOUT_WEIGHTS = {
    "mvp",
    "mvp-paper",
    "mvp-sharp",
    "posterior-mixture",
    "ucbvi-bf",
    "ucbvi-ch",
}


def surprised(id: str, width_scale: float | None) -> Any:
    """Both base models say that the state rarely changes; it always does."""
    P = np.zeros((2, 2, 2, 2))
    for i, p in enumerate((0.3, 0.4)):
        P[i, 0, :, 1] = P[i, 1, :, 0] = p
        P[i, 0, :, 0] = P[i, 1, :, 1] = 1.0 - p
    model = voful.LinearMixtureModel(P, [[0.0, 0.0], [0.25, 0.25]], 4)
    params: dict[str, Any] = {} if width_scale in (None, 1.0) else {"width_scale": width_scale}
    agent = registry.create(id, model, n_episodes=400, **params)
    for _ in range(300):
        agent.plan()
        agent.update([0, 1, 0, 1, 0], [0, 0, 0, 0])
    agent.plan()
    return agent


@pytest.mark.parametrize("id", [entry.id for entry in registry.entries("episodic")])
def test_every_agent_is_asked(id: str) -> None:
    """A new one is put into NARROWED_AGENTS, or into WITHOUT_WEIGHTS where it learns no weights."""
    assert (id in NARROWED_AGENTS) != (id in WITHOUT_WEIGHTS)


def test_the_table_has_no_other_agent() -> None:
    known = {*NARROWED_AGENTS, *WITHOUT_WEIGHTS}
    assert known <= {entry.id for entry in registry.entries("episodic")}


MIXED: FloatArray = np.array([[0.0, 1.0], [0.5, 0.2]])


@pytest.mark.parametrize("id", [id for id, narrowed in NARROWED_AGENTS.items() if narrowed])
@pytest.mark.filterwarnings("ignore:.*(is empty|would have left nothing):RuntimeWarning")
def test_a_mixture_that_fits_nothing_answers_the_simplex(id: str) -> None:
    agent = surprised(id, NARROWED_AGENTS[id])
    lower, upper = agent.confidence_set.interval(MIXED)
    np.testing.assert_array_equal(lower, [0.0, 0.2])
    np.testing.assert_array_equal(upper, [1.0, 0.5])
    np.testing.assert_array_equal(agent.confidence_set.support(MIXED), upper)
    assert not agent.confidence_set.contains([0.5, 0.5])
    with pytest.warns(RuntimeWarning, match="is (empty|refuted): "):
        assert agent.status in ("empty", "refuted")
    assert agent.status_since == 300


@pytest.mark.parametrize("id", [id for id, narrowed in NARROWED_AGENTS.items() if not narrowed])
def test_a_set_about_an_estimate_is_never_empty(id: str) -> None:
    agent = surprised(id, None)
    assert (agent.status, agent.status_since) == ("ok", 0)
    assert not agent.confidence_set.is_empty
