from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from mdp_helpers import Counter
from voful import registry
from voful.envs import LinearMixtureMDP, ctgoal, mortal
from voful.experiments.play.episodes import play_episodes
from voful.mdp.planning import OptimisticPlan
from voful.typing import EpisodicAgent


class Stubborn:
    """Always plays action 0 and believes it is worth `belief`; counts what it is told."""

    confidence_set = None

    def __init__(self, env: LinearMixtureMDP, belief: float = 1.0, episodes: int = 7) -> None:
        model = env.model
        self.episodes = 0
        self.steps = 0
        self._plan = OptimisticPlan(
            np.full((1, model.n_states), belief),
            np.zeros((1, model.n_states), dtype=np.int64),
            horizon=model.horizon,
            initial_state=model.initial_state,
            episodes=episodes,
        )

    def plan(self) -> OptimisticPlan:
        return self._plan

    def update(self, states: Any, actions: Any) -> None:
        raise AssertionError("not used by the loop")

    def update_many(self, states: Any, actions: Any, lengths: Any) -> None:
        self.episodes += len(lengths)
        self.steps += int(lengths.sum())


def test_regret_is_that_of_the_plan() -> None:
    env = mortal(64)
    agent = Stubborn(env)
    assert isinstance(agent, EpisodicAgent)
    gap = env.optimal_value - env.policy_value([[0] * 7])
    records = list(play_episodes(agent, env, 100, record_at=[1, 10, 100]))
    assert [record.episode for record in records] == [1, 10, 100]
    assert [record.regret for record in records] == pytest.approx([gap, 10 * gap, 100 * gap])
    assert records[-1].plan_value == pytest.approx(env.optimal_value - gap)
    assert records[-1].optimistic_value == 1.0
    assert records[-1].plans == 1
    assert records[-1].in_set is None
    assert records[-1].covered is None
    assert records[-1].optimistic
    assert agent.episodes == env.episode == 100
    twin = mortal(64)
    assert agent.steps == twin.rollout([[0] * 7], 100).lengths.sum()


def test_a_plan_below_the_optimum_is_remembered() -> None:
    env = mortal(64)
    record = list(play_episodes(Stubborn(env, belief=0.1), env, 5))[-1]
    assert not record.optimistic


@pytest.mark.parametrize("record_at", [range(1, 801), [37, 155, 250, 300, 333, 800]])
def test_records_do_not_change_the_run(record_at: Sequence[int]) -> None:
    def last(record_at: Sequence[int]) -> Any:
        agent = Counter(ctgoal(32).model, n_episodes=800)
        record = list(play_episodes(agent, ctgoal(32), 800, record_at=record_at))[-1]
        return record.regret, record.plans, record.plan_value, agent.counts.tobytes()

    some, alone = last(record_at), last([800])
    assert some[0] == pytest.approx(alone[0], rel=1e-12)
    assert some[1:] == alone[1:]


@pytest.mark.parametrize("entry", list(registry.entries("episodic")), ids=lambda entry: entry.id)
def test_widths_do_not_change_the_run(entry: registry.Entry) -> None:
    def last(record_at: list[int]) -> Any:
        agent = registry.create(entry.id, ctgoal(16).model, n_episodes=16)
        record = list(play_episodes(agent, ctgoal(16), 16, record_at=record_at))[-1]
        return agent, record.plans, record.plan_value, record.in_set, record.width

    agent, *every = last([1, 2, 4, 8, 16])
    assert tuple(every) == last([16])[1:]
    width = every[-1]
    if agent.confidence_set is None:
        assert width is None
    else:
        assert 0.0 < width < np.inf


def test_coverage_remembers_an_exit() -> None:
    env = ctgoal(32, theta_star=[0.0, 0.0, 1.0])
    records = list(play_episodes(Counter(env.model, n_episodes=40), env, 40))
    assert records[0].episode == 1
    assert not records[0].in_set  # the corners move inwards with the first episode
    assert not records[-1].covered
    middle = ctgoal(32, theta_star=[1 / 3, 1 / 3, 1 / 3])
    assert Counter(middle.model).confidence_set.contains(env.theta_star)


def test_fewer_episodes_than_the_agent_is_ready_for() -> None:
    env = ctgoal(32)
    agent = Counter(env.model, n_episodes=800)
    list(play_episodes(agent, env, 30))
    assert agent.episodes_learnt == 30
    list(play_episodes(agent, env, 50))
    assert agent.episodes_learnt == 80


def test_time_is_counted() -> None:
    env = ctgoal(256)
    records = list(play_episodes(Counter(env.model, n_episodes=60), env, 60, record_at=[20, 60]))
    first, last = records
    for name in ("plan_time", "update_time", "simulate_time"):
        assert 0 <= getattr(first, name) <= getattr(last, name)
        assert getattr(last, name) > 0


@pytest.mark.parametrize(
    "bad",
    [
        {"n_episodes": 0},
        {"n_episodes": 5, "record_at": [6]},
        {"n_episodes": 5, "record_at": [0]},
        {"n_episodes": 5, "record_at": ["a"]},
    ],
)
def test_bad_arguments(bad: dict[str, Any]) -> None:
    env = ctgoal(16)
    with pytest.raises((ValueError, TypeError), match="n_episodes|record_at"):
        play_episodes(Stubborn(env), env, **bad)  # at once, not at the first record
