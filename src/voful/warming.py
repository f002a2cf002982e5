"""Compile algorithms before they are needed: for images, for CI, before a demo."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from itertools import pairwise
from multiprocessing import get_context
from time import perf_counter
from typing import Any

import numpy as np

from voful import registry
from voful.bandits.base import CompiledPolicy
from voful.confidence.outline import outline
from voful.confidence.rule import rule_of
from voful.envs import LinearBandit, ctgoal, ctqueue, linear_bandit
from voful.experiments.play.compiled_loop import can_play, play_compiled
from voful.experiments.play.episodes import play_episodes
from voful.experiments.play.loop import play
from voful.typing import FloatArray

ROUNDS = 150  # until every kernel of every policy has been called
EPISODES = 30
DIMS = (2, 12)  # above ten VOFUL has other cuts


def warm(id: str, *, studies: bool = False) -> None:
    """Compile the kernels of an algorithm and keep them on disk, for every process to come.

    Everything that its public methods call; takes about a second where it is done already. In an
    image: ``RUN voful warm betoful``.

    Parameters
    ----------
    id
        As ``voful list`` names it.
    studies
        Whether to compile also the loop in which studies play whole runs.
    """
    entry = registry.lookup(id)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of so little data nothing is claimed
        if entry.kind == "bandit":
            _warm_policy(id, studies)
        else:
            _warm_agent(id)


def warm_plays(id: str) -> None:
    """Compile what a bandit policy needs to be played and drawn in the plane, and no more."""
    _play(id, dim=2)


def _play(id: str, dim: int) -> tuple[Any, LinearBandit]:
    """A policy after some rounds in the Python loop, and its environment."""
    env = _bandit(dim)
    policy = registry.create(id, dim, n_rounds=2 * ROUNDS)
    for _ in play(policy, env, ROUNDS, pass_variance=policy.needs_variance):
        pass
    if policy.confidence_set is not None and dim == 2:
        outline(policy.confidence_set)  # the theatre of reports
    return policy, env


def _bandit(dim: int) -> LinearBandit:
    return linear_bandit(dim=dim, n_arms=2 * dim, theta_norm=0.5, sigma=0.1, seed=0)


def _warm_policy(id: str, studies: bool) -> None:
    for dim in DIMS:
        policy, env = _play(id, dim)
        _ask(policy, env.arms, dim)
        fresh, unplayed = registry.create(id, dim, n_rounds=ROUNDS), _bandit(dim)
        if studies and can_play(fresh, unplayed, ROUNDS):
            play_compiled(fresh, unplayed, ROUNDS)


def _ask(policy: Any, arms: FloatArray, dim: int) -> None:
    """What else a policy can be asked, and batches."""
    policy.predict(arms)
    policy.index(arms)
    policy.select(arms, mask=np.ones(len(arms), dtype=np.bool_))
    if policy._takes_pending:
        policy.select(arms, pending=arms[:2])
    if (Theta := policy.confidence_set) is not None:
        Theta.support(arms)
        Theta.interval(arms)
        Theta.contains(np.zeros(dim))
    told = {"variances": np.full(len(arms), 0.01)} if policy.needs_variance else {}
    policy.partial_fit(arms, np.zeros(len(arms)), **told)
    if isinstance(policy, CompiledPolicy):
        respond = rule_of(policy._state).respond  # to an alarm, which did not come
        if respond is not None:
            respond(*policy._state)


def _warm_agent(id: str) -> None:
    for env in (ctgoal(16, seed=0), ctqueue(16, seed=0)):
        agent = registry.create(id, env.model, n_episodes=2 * EPISODES)
        for _ in play_episodes(agent, env, EPISODES):
            pass
        states, actions, lengths = env.rollout(env.optimal_actions, 1)
        agent.update(states[0, : lengths[0] + 1], actions[0, : lengths[0]])
        agent.plan()
        if (Theta := agent.confidence_set) is not None:
            Theta.interval(np.eye(env.model.dim))
            Theta.contains(np.full(env.model.dim, 1.0 / env.model.dim))


def warm_all(
    ids: Sequence[str], task: Callable[[str], None] = warm, workers: int | None = None
) -> Iterator[tuple[str, float]]:
    """A task for each of several ids, on all cores: ids as they are done, with their seconds.

    Starts processes, so a script calls it under ``if __name__ == "__main__"``.
    """
    # Ids of one file share kernels: two processes would compile them twice.
    files: dict[str, list[str]] = {}
    for id in ids:
        files.setdefault(registry.lookup(id).location.split(":")[0], []).append(id)
    processes = min(workers or os.cpu_count() or 1, len(files))
    with _hushed(), ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        longest_first = sorted(files.values(), key=lambda group: _haste(group[0]))
        for done in as_completed([pool.submit(_timed, task, group) for group in longest_first]):
            yield from done.result()


@contextmanager
def _hushed() -> Iterator[None]:
    """Processes that are started in here say nothing: the caller shows progress."""
    before = os.environ.get("VOFUL_QUIET", "")
    os.environ["VOFUL_QUIET"] = "1"
    try:
        yield
    finally:
        os.environ["VOFUL_QUIET"] = before


def _haste(id: str) -> int:
    """What takes longest first, so that no core waits for it in the end."""
    slow = ("voful", "betoful", "bet-vtr", "certified")
    return slow.index(id) if id in slow else len(slow)


def _timed(task: Callable[[str], None], ids: Sequence[str]) -> list[tuple[str, float]]:
    times = [perf_counter()]
    for id in ids:
        task(id)
        times.append(perf_counter())
    return [(id, after - before) for id, (before, after) in zip(ids, pairwise(times), strict=True)]
