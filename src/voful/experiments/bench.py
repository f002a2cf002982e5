"""Rounds per second through the public API, next to a lean NumPy loop in the same process."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import process_time
from typing import NamedTuple

import numpy as np

from voful import registry
from voful.typing import BanditPolicy, FloatArray

REFERENCE = "lean NumPy OFUL"
SECONDS = 10.0  # of one repetition, for the algorithms that cost milliseconds a round


@dataclass(frozen=True)
class Speed:
    """CPU time of one contender.

    Attributes
    ----------
    name
        Registry id, or the reference's name.
    rounds
        Rounds of each repetition.
    microseconds
        Median CPU time of select + update, a round.
    ratio
        `microseconds` over the reference's, measured in the same process; below 1 is faster.
    growth
        CPU time of the last quarter of the rounds over that of the first quarter.
    """

    name: str
    rounds: int
    microseconds: float
    ratio: float
    growth: float


class Timed(NamedTuple):
    """CPU clock at the start and at each mark, and the arms played."""

    clock: list[float]
    played: list[int]


def lean_numpy_oful(arms: FloatArray, rewards: FloatArray, marks: list[int]) -> Timed:
    """OFUL as one would write it by hand: Sherman-Morrison, no checks, no contract."""
    d = arms.shape[1]
    inverse, response, center, log_det = np.eye(d), np.zeros(d), np.zeros(d), 0.0
    confidence = 2.0 * math.log(20.0)
    clock, played = [process_time()], []
    for k, reward in enumerate(rewards.tolist(), 1):
        radius = math.sqrt(log_det + confidence) + 1.0
        widths = np.sqrt(np.einsum("ij,ij->i", arms @ inverse, arms))
        i = int(np.argmax(arms @ center + radius * widths))
        x = arms[i]
        v = inverse @ x
        growth = float(x @ v)
        inverse -= np.outer(v, v / (1.0 + growth))
        log_det += math.log1p(growth)
        response += reward * x
        center = inverse @ response
        played.append(i)
        if k in marks:
            clock.append(process_time())
    return Timed(clock, played)


def public_api(
    policy: BanditPolicy, arms: FloatArray, rewards: FloatArray, marks: list[int]
) -> Timed:
    """The same loop through `select` and `update`."""
    clock, played = [process_time()], []
    for k, reward in enumerate(rewards.tolist(), 1):
        i = policy.select(arms)
        policy.update(arms[i], reward)
        played.append(i)
        if k in marks:
            clock.append(process_time())
    return Timed(clock, played)


def measure(
    *, dim: int = 10, n_arms: int = 20, n_rounds: int = 20_000, repetitions: int = 5
) -> list[Speed]:
    """Interleaved repetitions, medians of CPU time; the reference comes first."""
    rng = np.random.default_rng(0)
    arms = rng.standard_normal((n_arms, dim))
    arms /= np.linalg.norm(arms, axis=1, keepdims=True)
    rewards = rng.uniform(-1.0, 1.0, n_rounds)

    def through_api(id: str) -> Callable[[FloatArray], Timed]:
        def play_all(rewards: FloatArray) -> Timed:
            policy = registry.create(id, dim, n_rounds=len(rewards))
            return public_api(policy, arms, rewards, _marks(len(rewards)))

        return play_all

    contenders: dict[str, Callable[[FloatArray], Timed]] = {
        REFERENCE: lambda rewards: lean_numpy_oful(arms, rewards, _marks(len(rewards)))
    }
    contenders |= {
        entry.id: through_api(entry.id)
        for entry in registry.entries("bandit")
        if not entry.needs_variance
    }
    for play_all in contenders.values():  # compile and warm up
        play_all(rewards[:64])
    lengths = {name: _affordable(play_all, rewards) for name, play_all in contenders.items()}
    runs: dict[str, list[list[float]]] = {name: [] for name in contenders}
    for _ in range(repetitions):
        for name, play_all in contenders.items():
            runs[name].append(play_all(rewards[: lengths[name]]).clock)
    per_round = {
        name: median(clock[-1] - clock[0] for clock in measured) / lengths[name]
        for name, measured in runs.items()
    }
    return [
        Speed(
            name,
            lengths[name],
            1e6 * per_round[name],
            per_round[name] / per_round[REFERENCE],
            median((t[-1] - t[-2]) / (t[1] - t[0]) for t in measured),
        )
        for name, measured in runs.items()
    ]


def _marks(n_rounds: int) -> list[int]:
    return [n_rounds // 4, n_rounds - n_rounds // 4, n_rounds]


def _affordable(play_all: Callable[[FloatArray], Timed], rewards: FloatArray) -> int:
    """As many rounds as fit into about SECONDS, judged by a pilot."""
    pilot = min(256, len(rewards))
    clock = play_all(rewards[:pilot]).clock
    return max(pilot, min(len(rewards), int(pilot * SECONDS / (clock[-1] - clock[0]))))
