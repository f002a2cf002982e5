"""Episodes per second of the agents for linear mixture MDPs, and where the time goes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import process_time
from typing import Any

from voful import registry
from voful.envs import LinearMixtureMDP
from voful.envs.mixture.families import ctrandom
from voful.experiments.play.episodes import EpisodeRecord, play_episodes
from voful.typing import ConfidenceSet, EpisodicAgent, Plan

BASE: Mapping[str, int] = {"horizon": 40, "n_states": 10, "n_actions": 3, "dim": 3, "episodes": 500}
CHANGES: tuple[Mapping[str, int], ...] = (
    {},
    {"horizon": 160},
    {"n_states": 40},
    {"dim": 6},
    {"episodes": 2_000},
)
SECONDS = 0.3  # that an agent may take for one size; else it plays fewer episodes


@dataclass(frozen=True)
class AgentSpeed:
    """CPU time of one agent on one problem; the simulator's is left out.

    Attributes
    ----------
    name
        Registry id.
    horizon, pairs, dim
        H, S A and d of the problem.
    episodes
        How many were played (fewer than wanted where an agent is slow).
    episodes_per_second
        Episodes over seconds of `plan` and the updates.
    plans
        How many plans were made.
    plan_milliseconds
        A call of `plan` that made one; calls that keep the plan are in `plan_share`.
    update_microseconds
        The updates, an episode.
    plan_share
        Share of the time that plans take.
    """

    name: str
    horizon: int
    pairs: int
    dim: int
    episodes: int
    episodes_per_second: float
    plans: int
    plan_milliseconds: float
    update_microseconds: float
    plan_share: float


def measure_episodic(
    *,
    ids: Sequence[str] | None = None,
    base: Mapping[str, int] = BASE,
    changes: Sequence[Mapping[str, int]] = CHANGES,
    seconds: float = SECONDS,
) -> list[AgentSpeed]:
    """Every registered agent (or those of `ids`) on random problems: one size, then others."""
    ids = [entry.id for entry in registry.entries("episodic")] if ids is None else ids
    sizes = [{**base, **change} for change in changes]
    return [measure_agent(id, size, seconds) for id in ids for size in sizes]


def measure_agent(id: str, size: Mapping[str, int], seconds: float) -> AgentSpeed:
    """One agent on one problem; a pilot says how many episodes are affordable."""
    problem: dict[str, Any] = dict(size)
    wanted = problem.pop("episodes")
    env = ctrandom(**problem, seed=0)
    n_episodes = min(wanted, 20)
    run(id, env, n_episodes)  # compiles
    while True:
        last, making = run(id, env, n_episodes)
        affordable = int(n_episodes * seconds / max(agent_time(last), 1e-9))
        if n_episodes == wanted or affordable < 2 * n_episodes:
            break
        n_episodes = min(wanted, affordable, 8 * n_episodes)
    spent = max(agent_time(last), 1e-9)
    return AgentSpeed(
        name=id,
        horizon=env.model.horizon,
        pairs=env.model.n_states * env.model.n_actions,
        dim=env.model.dim,
        episodes=n_episodes,
        episodes_per_second=n_episodes / spent,
        plans=last.plans,
        plan_milliseconds=1e3 * making / last.plans,
        update_microseconds=1e6 * last.update_time / n_episodes,
        plan_share=last.plan_time / spent,
    )


class Timed:
    """An agent, and the CPU time of those calls of `plan` that made one."""

    def __init__(self, agent: EpisodicAgent) -> None:
        self.agent = agent
        self.update, self.update_many = agent.update, agent.update_many
        self.latest: Plan | None = None
        self.seconds = 0.0

    @property
    def confidence_set(self) -> ConfidenceSet | None:
        """The agent's."""
        return self.agent.confidence_set

    def plan(self) -> Plan:
        """The agent's."""
        started = process_time()
        plan = self.agent.plan()
        if plan is not self.latest:
            self.seconds += process_time() - started
            self.latest = plan
        return plan


def run(id: str, env: LinearMixtureMDP, n_episodes: int) -> tuple[EpisodeRecord, float]:
    """The record after the last episode, and seconds that plans took to make."""
    agent = Timed(registry.create(id, env.model, n_episodes=n_episodes))
    *_, last = play_episodes(agent, env, n_episodes, record_at=[n_episodes])
    return last, agent.seconds


def agent_time(record: EpisodeRecord) -> float:
    """Seconds of CPU time in the agent."""
    return record.plan_time + record.update_time
