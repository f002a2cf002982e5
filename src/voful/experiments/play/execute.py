"""Plays one run, in whatever process: run -> columns of its results."""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from time import process_time
from typing import Any, NamedTuple

from voful import registry, validation
from voful.envs import FAMILIES as MIXTURE_FAMILIES
from voful.envs import RealBandit, linear_bandit
from voful.experiments.play.columns import typed
from voful.experiments.play.compiled_loop import can_play, play_compiled
from voful.experiments.play.episodes import EpisodeRecord, play_episodes
from voful.experiments.play.loop import CHECK_EVERY, Columns, Record, play
from voful.experiments.play.snapshots import DIM, Album
from voful.experiments.study.run import LINEAR_BANDIT, REAL, Run
from voful.registry import Kind

FAMILIES: Mapping[Kind, Mapping[str, Callable[..., Any]]] = {
    "bandit": {LINEAR_BANDIT: linear_bandit, REAL: RealBandit},
    "episodic": MIXTURE_FAMILIES,
}
"""What a study may name as a problem's family; each takes plain values and a seed."""


LONGEST_ERROR = 20_000  # characters of a traceback that are kept


@dataclass(frozen=True)
class Outcome:
    """What became of one attempt to play a run.

    Attributes
    ----------
    columns
        The results; None after a failure.
    error
        The traceback of a failure; else None.
    loop_time
        Seconds of CPU in the loop.
    snapshots
        Pictures on the way, where the run takes any.
    lost
        Whether the machine failed, not the run: a node of a cluster that is gone.
    """

    columns: Columns | None
    error: str | None = None
    loop_time: float = 0.0
    snapshots: Columns | None = None
    lost: bool = False


class Ready(NamedTuple):
    """A run that is set up."""

    play: Callable[[], Columns]
    album: Album | None = None


def attempt(run: Run) -> Outcome:
    """Play a run; whatever it raises is part of the outcome."""
    try:
        ready = PREPARE[run.problem.kind](run)
        started = process_time()
        columns = typed(ready.play())
        loop_time = process_time() - started
        snapshots = None if ready.album is None else ready.album.columns
        return Outcome(columns, loop_time=loop_time, snapshots=snapshots)
    except BaseException:  # also SystemExit and the like in a user's code
        return Outcome(None, shortened(traceback.format_exc()))


def shortened(text: str, most: int = LONGEST_ERROR) -> str:
    """The first and the last lines of what may be megabytes."""
    if len(text) <= most:
        return text
    return f"{text[: most // 4]}\n[... {len(text) - most} characters ...]\n{text[-3 * most // 4 :]}"


def rehearse(runs: Sequence[Run]) -> list[str | None]:
    """Build both sides of each run and play a first round.

    Returns, for each run, what is wrong with its arguments, or None. Kernels that this loads are
    there for every process forked afterwards.
    """
    return [_rehearse(run) for run in runs]


def _rehearse(run: Run) -> str | None:
    try:
        ready = PREPARE[run.problem.kind](run, first_only=True)
    except Exception as error:
        return str(error)
    with contextlib.suppress(Exception):  # the run itself will say it
        ready.play()
    return None


def _columns(played: Iterator[Record | EpisodeRecord]) -> Columns:
    records = list(played)
    names = [column.name for column in fields(records[0])]
    return {name: [getattr(record, name) for record in records] for name in names}


def build_environment(run: Run) -> Any:
    """The environment of a run."""
    problem = run.problem
    families = FAMILIES[problem.kind]
    family = families[problem.family] if problem.code is None else problem.code.load()
    offered = {"seed": run.environment_seed()}
    return registry.build(family, offered=offered, **problem.params)


def policy_class(run: Run) -> tuple[Callable[..., Any], dict[str, Any]]:
    """Class of the contender, and its arguments as registered and declared."""
    contender = run.contender
    if contender.code is not None:
        return contender.code.load(), dict(contender.params)
    entry = registry.lookup(contender.id)
    return entry.cls, {**entry.params, **contender.params}


def prepare_bandit(run: Run, *, first_only: bool = False) -> Ready:
    """A bandit and its policy, ready to play."""
    env = build_environment(run)
    cls, params = policy_class(run)
    offered = {
        "reward_range": env.reward_range,
        "n_rounds": run.problem.length,
        "seed": run.policy_seed(),
    }
    if (norm := getattr(env, "feature_norm", None)) is not None:
        offered["feature_norm"] = norm
    policy = registry.build(cls, env.dim, offered=offered, **params)
    n_rounds = 1 if first_only else run.problem.length
    records: dict[str, Any] = {
        "record_at": None if first_only else run.record_at,
        "check_every": CHECK_EVERY,
    }
    album = None
    if run.snapshots and env.dim == DIM and not first_only:
        album = Album(policy, env.theta_star, n_rounds, run.snapshots)
    if run.compiled and album is None and can_play(policy, env, n_rounds):
        return Ready(partial(play_compiled, policy, env, n_rounds, **records))
    told = bool(getattr(policy, "needs_variance", False))
    if told and isinstance(env, RealBandit):
        name, allowed = run.contender.name, "a policy that need not be told variances, on real data"
        raise validation.fail("policy", name, allowed)
    played = play(policy, env, n_rounds, pass_variance=told, watcher=album, **records)
    return Ready(partial(_columns, played), album)


def prepare_episodes(run: Run, *, first_only: bool = False) -> Ready:
    """A linear mixture MDP and its agent, ready to play."""
    env = build_environment(run)
    cls, params = policy_class(run)
    offered = {"n_episodes": run.problem.length, "seed": run.policy_seed()}
    agent = registry.build(cls, env.model, offered=offered, **params)
    n_episodes, record_at = (1, None) if first_only else (run.problem.length, run.record_at)
    return Ready(partial(_columns, play_episodes(agent, env, n_episodes, record_at=record_at)))


PREPARE: Mapping[Kind, Callable[..., Ready]] = {
    "bandit": prepare_bandit,
    "episodic": prepare_episodes,
}
"""How each kind of run is set up."""
