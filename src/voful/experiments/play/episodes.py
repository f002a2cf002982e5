"""Plays an agent against a linear mixture MDP: the only place where its regret is computed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import process_time

import numpy as np

from voful import validation
from voful.envs.mixture.linear_mixture import LinearMixtureMDP
from voful.experiments.play.loop import doubling, holds, recording_points
from voful.typing import EpisodicAgent, Plan

OPTIMISM_SLACK = 1e-9
"""What rounding may take from an optimistic value."""


@dataclass(frozen=True, slots=True)
class EpisodeRecord:
    """The state of a run after `episode` episodes.

    Attributes
    ----------
    episode
        Episodes played, 1-based.
    regret
        Sum over the episodes of (optimal value - value of the plan that was followed), exact.
    plan_value, optimistic_value
        True value of the latest plan, and what the agent believed it to be at best.
    plans
        How many plans were made.
    in_set
        Whether theta* is in the agent's set now; None for agents without a set.
    covered
        Whether theta* was in the set at every check so far (at every plan and every record); None
        for agents without a set.
    width
        Largest extent of the agent's set over the d weights, max_i (sup theta_i - inf theta_i);
        None for agents without a set, and between the points of `loop.doubling`.
    optimistic
        Whether every plan so far had an optimistic value that is at least the optimal value.
    plan_time, update_time, simulate_time
        Seconds of CPU time in the agent's `plan`, in its updates, and in the environment so far.
    """

    episode: int
    regret: float
    plan_value: float
    optimistic_value: float
    plans: int
    in_set: bool | None
    covered: bool | None
    width: float | None
    optimistic: bool
    plan_time: float
    update_time: float
    simulate_time: float


def play_episodes(
    agent: EpisodicAgent,
    env: LinearMixtureMDP,
    n_episodes: int,
    *,
    record_at: Sequence[int] | None = None,
) -> Iterator[EpisodeRecord]:
    """Play `n_episodes` and yield a record at each recording point.

    Episodes that follow one plan are played in one compiled call and learnt in one.

    Parameters
    ----------
    agent, env
        The two sides; neither knows the other.
    n_episodes
        How many episodes to play.
    record_at
        Episodes to record, increasing; default: log-spaced, the last episode included.
    """
    n_episodes = validation.positive_int("n_episodes", n_episodes)
    points = recording_points(n_episodes, record_at, "episodes")
    return _play(agent, env, n_episodes, set(points))


def _play(
    agent: EpisodicAgent, env: LinearMixtureMDP, n_episodes: int, points: set[int]
) -> Iterator[EpisodeRecord]:
    best = env.optimal_value
    measured = doubling(points)
    regret = value = plan_time = update_time = simulate_time = 0.0
    episode = plans = renewal = 0
    in_set = covered = _contains(agent, env)
    optimistic = True
    latest: Plan | None = None
    for stop in sorted(points | {n_episodes}):
        while episode < stop:
            started = process_time()
            plan = agent.plan()
            plan_time += process_time() - started
            if plan is not latest:
                latest, plans, renewal = plan, plans + 1, episode
                value = env.policy_value(plan.actions)
                optimistic = optimistic and plan.value >= best - OPTIMISM_SLACK
                covered = covered and _contains(agent, env)
            if episode == renewal:  # a recording point within a plan must not lengthen it
                renewal += plan.episodes
            n = min(renewal, stop) - episode
            started = process_time()
            for batch in env.rollouts(plan.actions, n):
                simulated = process_time()
                agent.update_many(*batch)
                simulate_time += simulated - started
                started = process_time()
                update_time += started - simulated
            episode += n
            regret += n * (best - value)
        if stop in points and latest is not None:
            in_set = _contains(agent, env)
            covered = covered and in_set
            yield EpisodeRecord(
                episode=episode,
                regret=regret,
                plan_value=value,
                optimistic_value=latest.value,
                plans=plans,
                in_set=in_set,
                covered=covered,
                width=_width(agent, env) if episode in measured else None,
                optimistic=optimistic,
                plan_time=plan_time,
                update_time=update_time,
                simulate_time=simulate_time,
            )


def _contains(agent: EpisodicAgent, env: LinearMixtureMDP) -> bool | None:
    Theta = agent.confidence_set
    return None if Theta is None else holds(Theta, env.theta_star)


def _width(agent: EpisodicAgent, env: LinearMixtureMDP) -> float | None:
    Theta = agent.confidence_set
    if Theta is None or not hasattr(Theta, "interval") or getattr(Theta, "is_empty", False):
        return None
    lower, upper = Theta.interval(np.eye(len(env.theta_star)))
    return float(np.max(upper - lower))
