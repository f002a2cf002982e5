from __future__ import annotations

import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from voful.envs import FAMILIES, GymnasiumMixture, ctgoal, from_gymnasium, mixture_family
from voful.envs.gym import GymnasiumMDP
from voful.envs.mixture.toy_text import END, START, Label


def latest(name: str, **params: Any) -> Any:
    """The newest version of an environment that this Gymnasium has."""
    versions = [id for id in gymnasium.registry if id.startswith(name + "-v")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return gymnasium.make(max(versions, key=lambda id: int(id.rsplit("v")[-1])), **params)


@pytest.fixture(scope="module")
def lake() -> GymnasiumMixture:
    envs = [latest("FrozenLake", is_slippery=slippery) for slippery in (False, True)]
    return from_gymnasium(envs, horizon=40)


# --- a linear mixture MDP as a Gymnasium environment ---------------------------------------------


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_passes_the_check_of_gymnasium(family: str) -> None:
    check_env(GymnasiumMDP(mixture_family(family, horizon=24)))


def test_episodes_end_as_the_model_says() -> None:
    mdp = ctgoal(64)
    env = GymnasiumMDP(mdp)
    ends = set()
    totals = []
    for seed in range(300):
        state, info = env.reset(seed=seed)
        assert state == 0
        assert info == {"steps_to_go": 64}
        total, terminated, truncated = 0.0, False, False
        while not (terminated or truncated):
            action = mdp.optimal_actions[info["steps_to_go"], state]
            state, reward, terminated, truncated, info = env.step(action)
            total += float(reward)
            assert terminated == (state == 6)
            assert truncated == (info["steps_to_go"] == 0)
        ends.add((terminated, truncated))
        totals.append(total)
    assert (True, False) in ends
    assert (False, True) in ends
    assert np.mean(totals) == pytest.approx(mdp.optimal_value, abs=0.1)
    if truncated:
        with pytest.raises(RuntimeError, match="call reset first"):
            env.step(np.int64(0))


def test_wrong_actions() -> None:
    env = GymnasiumMDP(ctgoal(16))
    with pytest.raises(RuntimeError, match="call reset first"):
        env.step(np.int64(0))
    env.reset()
    for action in (3, -1, 0.5, "a"):
        with pytest.raises(ValueError, match="action: got"):
            env.step(action)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="mdp"):
        GymnasiumMDP(ctgoal(16).model)  # type: ignore[arg-type]


# --- Gymnasium's tables as a linear mixture model ------------------------------------------------


def literal_optimum(env: Any, horizon: int) -> float:
    """Largest expected return of the environment's own table, by plain backward induction."""
    P, start = env.unwrapped.P, env.unwrapped.initial_state_distrib
    V = np.zeros(len(P))
    for _ in range(horizon):
        V = np.array([
            max(sum(p * (r + (0.0 if done else V[t])) for p, t, r, done in P[s][a]) for a in P[s])
            for s in P
        ])  # fmt: skip
    return float(start @ V)


@pytest.mark.parametrize(
    ("name", "params", "horizon"),
    [
        ("FrozenLake", {"is_slippery": True}, 60),
        ("FrozenLake", {"is_slippery": False}, 6),
        ("FrozenLake", {"map_name": "8x8"}, 30),
        ("CliffWalking", {}, 20),
        ("CliffWalking", {}, 11),
        ("Taxi", {}, 15),
    ],
)
def test_values_are_those_of_the_environment(name: str, params: Any, horizon: int) -> None:
    env = latest(name, **params)
    mixture = from_gymnasium(env, horizon)
    value = mixture.mdp([1.0]).optimal_value
    assert 0.0 <= value <= 1.0 + 1e-9
    assert mixture.original_return(value) == pytest.approx(literal_optimum(env, horizon), abs=1e-9)


def test_rewards_are_moved_into_the_state(lake: GymnasiumMixture) -> None:
    assert lake.model.dim == 2
    assert lake.model.horizon == 41
    assert (lake.shift, lake.scale, lake.steps) == (0.0, 1.0, 40)
    assert lake.labels[0] == Label(0, None, False)
    assert START not in lake.labels
    goal = lake.state(15, 1.0, True)
    end = lake.labels.index(END)
    assert lake.model.rewards[goal, 0] == 1.0
    assert lake.model.rewards.sum() == 4.0
    assert lake.model.base_models[0, goal, 0, end] == 1.0
    np.testing.assert_array_equal(np.flatnonzero(lake.model.absorbing), [end])
    # FrozenLake's action 2 is "right": as meant, or one of three directions
    here, right = lake.state(0), lake.state(1, 0.0)
    assert lake.model.base_models[0, here, 2, right] == 1.0
    assert lake.model.base_models[1, here, 2, right] == pytest.approx(1 / 3)


def test_the_value_falls_with_the_slip(lake: GymnasiumMixture) -> None:
    values = [lake.mdp([1 - w, w]).optimal_value for w in (0.0, 0.25, 0.5, 1.0)]
    assert values[0] == 1.0
    assert values == sorted(values, reverse=True)


def test_a_random_first_observation_takes_a_step() -> None:
    taxi = from_gymnasium([latest("Taxi"), latest("Taxi", is_rainy=True)], horizon=10)
    assert taxi.labels[0] == START
    assert taxi.model.horizon == 12
    assert taxi.model.n_successors[0, 0] == 300
    assert taxi.shift == 10.0
    # an end pays the shift: a short episode gains nothing and loses nothing
    assert taxi.model.rewards[taxi.labels.index(END), 0] == pytest.approx(10.0 / taxi.scale)
    assert not taxi.model.absorbing.any()


def play(env: Any, mixture: GymnasiumMixture, policy: Any, seed: int) -> Any:
    observation, _ = env.reset(seed=seed)
    observations, actions, rewards = [observation], [], []
    late = 1 if START in mixture.labels else 0
    state, terminated = mixture.state(observation), False
    for h in range(mixture.steps + 1):
        n = mixture.model.horizon - late - h
        actions.append(int(policy[min(n, len(policy) - 1), state]))
        observation, reward, terminated, _, _ = env.step(actions[-1])
        observations.append(observation)
        rewards.append(reward)
        if terminated:
            break
        state = mixture.state(observation, reward)
    return observations, actions, rewards, terminated


@pytest.mark.parametrize(("name", "horizon"), [("FrozenLake", 30), ("CliffWalking", 14)])
def test_episodes_of_gymnasium_are_trajectories(name: str, horizon: int) -> None:
    env = latest(name).unwrapped
    mixture = from_gymnasium(env, horizon)
    policy = mixture.mdp([1.0]).optimal_actions
    totals = []
    for seed in range(60):
        observations, actions, rewards, terminated = play(env, mixture, policy, seed)
        states, taken = mixture.trajectory(observations, actions, rewards, terminated)
        total = sum(mixture.model.rewards[s, a] for s, a in zip(states, taken, strict=False))
        paid = rewards if terminated else rewards[:-1]
        assert mixture.original_return(total) == pytest.approx(sum(paid), abs=1e-9)
        totals.append(total)
    value = mixture.mdp([1.0]).policy_value(policy)
    assert np.mean(totals) == pytest.approx(value, abs=3 * np.std(totals) / 60**0.5 + 1e-9)


def test_a_taxi_ride_is_a_trajectory() -> None:
    env = latest("Taxi").unwrapped
    mixture = from_gymnasium(env, 25)
    states, _ = mixture.trajectory(*play(env, mixture, mixture.mdp([1.0]).optimal_actions, 3))
    assert mixture.labels[states[0]] == START
    assert mixture.labels[states[-1]] == END


def test_the_time_limit_is_the_default_horizon() -> None:
    assert from_gymnasium(latest("FrozenLake")).steps == 100
    with pytest.raises(ValueError, match="horizon: got None"):
        from_gymnasium(latest("FrozenLake").unwrapped.__class__())


@pytest.mark.parametrize("bad", [[], None, "FrozenLake-v1", [3], latest("CartPole")])
def test_bad_environments(bad: Any) -> None:
    with pytest.raises((ValueError, TypeError), match="envs"):
        from_gymnasium(bad, 10)


def test_environments_must_agree() -> None:
    with pytest.raises(ValueError, match="the same states and actions"):
        from_gymnasium([latest("FrozenLake"), latest("CliffWalking")], 10)
    with pytest.raises(ValueError, match="horizon"):
        from_gymnasium(latest("FrozenLake"), 0)


def test_what_no_table_allows(lake: GymnasiumMixture) -> None:
    for observation, reward, terminated in ((3, 1.0, False), (99, 0.0, False), (15, 0.0, True)):
        with pytest.raises(ValueError, match="some table allows"):
            lake.state(observation, reward, terminated)
    with pytest.raises(ValueError, match="an end in state"):
        lake.trajectory([0, 0], [0], [0.0], False)
