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


@dataclass(frozen=True)
class Speed:
    """CPU time of one contender.

    Attributes
    ----------
    name
        Registry id, or the reference's name.
    microseconds
        Median CPU time of select + update, a round.
    ratio
        `microseconds` over the reference's, measured in the same process; below 1 is faster.
    growth
        CPU time of the last quarter of the rounds over that of the first quarter.
    """

    name: str
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
    marks = [n_rounds // 4, n_rounds - n_rounds // 4, n_rounds]

    def through_api(id: str) -> Callable[[FloatArray], Timed]:
        return lambda rewards: public_api(
            registry.create(id, dim, n_rounds=n_rounds), arms, rewards, marks
        )

    contenders: dict[str, Callable[[FloatArray], Timed]] = {
        REFERENCE: lambda rewards: lean_numpy_oful(arms, rewards, marks)
    }
    contenders |= {
        entry.id: through_api(entry.id)
        for entry in registry.entries("bandit")
        if not entry.needs_variance
    }
    for play_all in contenders.values():  # compile and warm up
        play_all(rewards[:64])
    runs: dict[str, list[list[float]]] = {name: [] for name in contenders}
    for _ in range(repetitions):
        for name, play_all in contenders.items():
            runs[name].append(play_all(rewards).clock)
    totals = {
        name: median(times[-1] - times[0] for times in measured) for name, measured in runs.items()
    }
    return [
        Speed(
            name,
            1e6 * totals[name] / n_rounds,
            totals[name] / totals[REFERENCE],
            median((t[-1] - t[-2]) / (t[1] - t[0]) for t in measured),
        )
        for name, measured in runs.items()
    ]
