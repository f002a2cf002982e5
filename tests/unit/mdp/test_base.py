from __future__ import annotations

import copy
import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import voful
from mdp_helpers import Counter, random_model, random_walk, signed_model
from voful import PosteriorMixture, VARLin, VARLin2, registry
from voful.envs import LinearMixtureMDP
from voful.mdp.base import NEWS, Agent, epoch_length
from voful.mdp.model import LinearMixtureModel
from voful.mdp.planning import OptimisticPlan
from voful.typing import EpisodicAgent

MODEL = random_model(1, horizon=8)


def state_of(agent: Counter) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in agent.state().items()}


def teach(agent: Agent, n: int, seed: int = 0) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(n):
        agent.plan()
        agent.update(*random_walk(agent.model, rng))


def test_epochs_grow_and_end_with_the_last_episode() -> None:
    assert [epoch_length(k, 1000) for k in (0, 9, 63, 64, 400, 999)] == [1, 1, 1, 2, 5, 1]
    assert epoch_length(998, 1000) == 2
    assert epoch_length(1000, 1000) == 1


def test_a_plan_lasts_for_its_episodes() -> None:
    K = 200
    agent = Counter(MODEL, n_episodes=K)
    assert isinstance(agent, EpisodicAgent)
    rng = np.random.default_rng(0)
    before: OptimisticPlan | None = None
    kept = 0
    while agent.episodes_learnt < K:
        known, learnt = agent._known[0], agent.episodes_learnt
        news = before is None or agent._information() > known + NEWS
        plan = agent.plan()
        assert 1 <= plan.episodes <= K - learnt
        if plan is before:
            kept += 1
            assert not news
        else:
            assert plan.episodes == epoch_length(learnt, K)
            assert before is None or news or before.episodes > K - learnt
        for _ in range(plan.episodes):
            assert agent.plan() is plan
            agent.update(*random_walk(MODEL, rng))
        before = plan
    assert agent.episodes_learnt == K
    assert kept > 10
    assert agent.plan() is not before  # the plan from everything
    assert agent.plan().episodes == 1


def test_plans_are_renewed_ever_more_rarely() -> None:
    """Some log(K) / NEWS plans, whatever the number of episodes."""
    agent = Counter(MODEL, n_episodes=3000)
    env = LinearMixtureMDP(MODEL, np.ones(3) / 3, seed=4)
    while agent.episodes_learnt < 3000:
        plan = agent.plan()
        agent.update_many(*env.rollout(plan.actions, plan.episodes))
    assert agent.plans_made < (np.log(3000) + 3.0) / NEWS


@pytest.mark.parametrize("id", ["varlin", "likelihood-ucrl", "bet-vtr", "posterior-mixture"])
def test_information_is_in_the_counts(id: str) -> None:
    """It never falls, also when a set has learnt the counts; most comes with the first steps."""
    agent = registry.create(id, MODEL, n_episodes=40)
    rng = np.random.default_rng(2)
    seen = [agent._information()]
    for _ in range(40):
        agent.plan()
        agent.update(*random_walk(MODEL, rng))
        seen.append(agent._information())
    assert seen[0] == 0.0
    assert (np.diff(seen) >= 0.0).all()
    assert seen[10] > 0.5 * seen[40]


@pytest.mark.parametrize("model", [MODEL, signed_model(3)])
def test_information_is_the_determinant_of_scores(model: LinearMixtureModel) -> None:
    agent = VARLin(model, n_episodes=40)
    rng = np.random.default_rng(2)
    for _ in range(30):
        agent.plan()
        agent.update(*random_walk(model, rng))
    counter = agent._counter
    assert counter.cleared.any()
    p = model.probabilities.reshape(-1, model.dim)
    size = np.abs(p).mean(axis=1, keepdims=True)
    scores = p / np.where(size > 0.0, size, 1.0)
    scores -= scores.mean(axis=1, keepdims=True)
    n = (counter.cleared + counter.counts.sum(axis=0)).reshape(-1)
    for factor in (1, 10**11):  # so many that the matrix is singular to working precision
        matrix = np.eye(model.dim) + (scores.T * (factor * n)) @ scores
        counter.counts *= factor
        counter.cleared *= factor
        found, expected = agent._information(), np.linalg.slogdet(matrix)[1] / model.dim
        assert found == pytest.approx(expected) if factor == 1 else found > expected - 1e-6


@pytest.mark.parametrize("known_absorbing", [False, True])
def test_information_of_a_table(known_absorbing: bool) -> None:
    agent = voful.UCBVI(MODEL, n_episodes=9, known_absorbing=known_absorbing)
    teach(agent, 9)
    visits = agent._counts.sum(axis=2)
    assert agent._information() == pytest.approx(float(np.log1p(visits).mean()))


def test_update_plans_first_and_never_again() -> None:
    agent = Counter(MODEL)
    rng = np.random.default_rng(0)
    for _ in range(5):
        agent.update(*random_walk(MODEL, rng))
    assert agent.plans_made == 1
    agent.plan()
    assert agent.plans_made == 2


def test_no_more_than_n_episodes() -> None:
    agent = Counter(MODEL, n_episodes=3)
    teach(agent, 2)
    env = LinearMixtureMDP(MODEL, np.ones(3) / 3)
    two = env.rollout(agent.plan().actions, 2)
    before = state_of(agent)
    with pytest.raises(RuntimeError, match="n_episodes = 3, 2 episodes learnt: cannot learn 2"):
        agent.update_many(*two)
    assert state_of(agent) == before
    agent.update_many(*env.rollout(agent.plan().actions, 1))
    with pytest.raises(RuntimeError, match="cannot learn 1 more"):
        agent.update(*random_walk(MODEL, np.random.default_rng(0)))
    assert agent.episodes_learnt == 3


def test_many_are_as_one_by_one() -> None:
    env = LinearMixtureMDP(MODEL, np.ones(3) / 3, seed=4)
    one, many = Counter(MODEL), Counter(MODEL)
    states, actions, lengths = env.rollout(one.plan().actions, 30)
    states[np.arange(states.shape[1]) > lengths[:, np.newaxis]] = -7  # is not read
    assert lengths.min() < lengths.max()
    for path, taken, length in zip(states, actions, lengths, strict=True):
        one.update(path[: length + 1], taken[:length])
    many.update_many(states, actions, lengths)
    assert state_of(one) == state_of(many)
    many.update_many(states[:0], actions[:0], lengths[:0])
    assert state_of(one) == state_of(many)


BAD = [
    ([0, 9], [0], "states"),
    ([0, 4], [5], "actions"),
    ([0.5, 4.0], [0], "states"),
    ([1, 4], [0], "initial_state"),
    ([0, 0], [0], "an end in state 0"),
    ([0, 0, 0], [0], "states"),
]


@pytest.mark.parametrize(("states", "actions", "message"), BAD)
def test_bad_trajectories_change_nothing(states: Any, actions: Any, message: str) -> None:
    agent = Counter(MODEL)
    before = state_of(agent)
    with pytest.raises((ValueError, TypeError), match=message):
        agent.update(states, actions)
    with pytest.raises((ValueError, TypeError)):
        agent.update_many([states], [actions], [len(actions)])
    assert state_of(agent) == before
    assert agent.plans_made == 0


@pytest.mark.parametrize(
    ("params", "error"),
    [
        ({"n_episodes": 0}, ValueError),
        ({"n_episodes": 2.0}, TypeError),
        ({"failure_prob": 0.0}, ValueError),
        ({"failure_prob": 1.5}, ValueError),
        ({"seed": -1}, ValueError),
        ({"seed": "a"}, TypeError),
    ],
)
def test_bad_arguments(params: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error, match=next(iter(params))):
        Counter(MODEL, **params)


def test_arguments_are_those_declared() -> None:
    """A plain value in a subclass hides an argument; the docstring lists what is left."""
    varlin, varlin2 = (list(inspect.signature(cls).parameters) for cls in (VARLin, VARLin2))
    assert varlin[:4] == ["model", "n_episodes", "failure_prob", "constants"]
    assert varlin[-1] == "seed"
    assert varlin2 == [name for name in varlin if name != "constants"]
    assert "failure_prob\n    delta" in (VARLin2.__doc__ or "")
    assert "constants\n    " not in (VARLin2.__doc__ or "")
    with pytest.raises(TypeError, match="constants"):
        VARLin2(MODEL, n_episodes=5, constants="mgf")
    assert "failure_prob" not in inspect.signature(PosteriorMixture).parameters


def test_the_model_must_be_one() -> None:
    with pytest.raises(TypeError, match="model: got"):
        Counter(np.ones(3))  # type: ignore[arg-type]


@pytest.mark.parametrize("taught", [0, 1, 27])
def test_a_loaded_agent_continues_exactly(taught: int, tmp_path: Path) -> None:
    agent = Counter(MODEL, seed=np.random.SeedSequence(3))
    teach(agent, taught)
    agent.save(tmp_path / "agent")
    loaded = voful.load(tmp_path / "agent", cls=Counter)
    twin = copy.deepcopy(agent)
    assert repr(loaded) == repr(agent) == repr(twin)
    for name in ("successors", "n_successors", "probabilities", "rewards"):
        np.testing.assert_array_equal(getattr(loaded.model, name), getattr(MODEL, name))
    assert state_of(loaded) == state_of(twin) == state_of(agent)
    teach(agent, 20, seed=9)
    for other in (loaded, twin):
        teach(other, 20, seed=9)
        assert state_of(other) == state_of(agent)
    assert agent._rng.random() == loaded._rng.random()


def test_a_copy_is_apart() -> None:
    agent = Counter(MODEL)
    teach(agent, 3)
    before = state_of(agent)
    teach(copy.deepcopy(agent), 10)
    assert state_of(agent) == before


def test_repr() -> None:
    agent = Counter(MODEL)
    teach(agent, 2)
    assert repr(agent).startswith("Counter(model=LinearMixtureModel(dim=3, n_states=5")
    assert repr(agent).endswith("after 2 episodes")
