"""Who is measured: every registered policy, and OFUL written by hand in three ways."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from time import process_time
from typing import Any

import numpy as np

from voful import registry
from voful.bench.data import Data
from voful.compiled import kernel
from voful.experiments.play.compiled_loop import can_play, play_compiled
from voful.typing import BanditPolicy, FloatArray, IntArray

REFERENCE = "lean NumPy OFUL"
BY_ROUND = "Numba OFUL, a call a round"
WHOLE_LOOP = "Numba OFUL, whole loop"
CONFIDENCE = 2.0 * math.log(20.0)  # of the hand-written OFULs: failure_prob = 0.05


@dataclass(frozen=True)
class Timed:
    """One run.

    Attributes
    ----------
    clock
        CPU time at the start and at the end of each quarter of the rounds.
    played
        The arms; empty where the loop does not tell.
    state_bytes
        Size of what is remembered at the end, as `save` would write it; None: not known.
    """

    clock: list[float]
    played: list[int]
    state_bytes: int | None = None


Play = Callable[[Data, int], Timed]
"""Plays the first n rounds of the data, from a fresh start."""


def quarters(n_rounds: int) -> Iterator[tuple[int, int]]:
    """(first, end) of four parts, the first and the last of equal length."""
    ends = [0, n_rounds // 4, n_rounds // 2, n_rounds - n_rounds // 4, n_rounds]
    return pairwise(ends)


# --- through the public API -------------------------------------------------------------------


def public_api(
    policy: BanditPolicy, data: Data, n_rounds: int, tell_variance: bool = False
) -> Timed:
    """`select` and `update`, round by round; some must be told the variance of the noise."""
    arms, rewards, variances = data.arms, data.rewards, data.variances
    clock, played = [process_time()], []
    for first, end in quarters(n_rounds):
        for row in rewards[first:end]:
            i = policy.select(arms)
            if tell_variance:
                policy.update(arms[i], row[i], variance=variances[i])
            else:
                policy.update(arms[i], row[i])
            played.append(i)
        clock.append(process_time())
    return Timed(clock, played, state_bytes(policy))


def state_bytes(policy: Any) -> int:
    """Bytes of the arrays that a saved policy consists of."""
    return sum(array.nbytes for array in policy.state().values())


def through_api(id: str) -> Play:
    """A registered policy."""

    def play_all(data: Data, n_rounds: int) -> Timed:
        policy = registry.create(id, data.env.dim, n_rounds=n_rounds)
        return public_api(policy, data, n_rounds, registry.lookup(id).needs_variance)

    return play_all


# --- whole runs in compiled code --------------------------------------------------------------


def compiled_contenders(data: Data, ids: list[str]) -> dict[str, Play]:
    """Policies whose whole run is one compiled loop.

    The loop generates the rewards itself and keeps the sums of a study: this is what a run of a
    study costs.
    """
    return {
        f"{id}, whole run": through_loop(id)
        for id in ids
        if can_play(registry.create(id, data.env.dim, n_rounds=8), data.env, 8)
    }


def through_loop(id: str) -> Play:
    """A registered policy, played by the compiled loop of studies."""

    def play_all(data: Data, n_rounds: int) -> Timed:
        policy = registry.create(id, data.env.dim, n_rounds=n_rounds)
        marks = sorted({end for _, end in quarters(n_rounds) if end > 0})
        started = process_time()
        records = play_compiled(policy, data.env, n_rounds, record_at=marks, check_every=n_rounds)
        spent = process_time() - started
        # The loop's own clock says how the time is spread over the quarters.
        times = zip(records["select_time"], records["update_time"], strict=True)
        shares = [select + update for select, update in times]
        clock = [0.0, *(spent * share / shares[-1] for share in shares)]
        return Timed(clock, [], state_bytes(policy))

    return play_all


# --- OFUL by hand -----------------------------------------------------------------------------


def lean_numpy_oful(data: Data, n_rounds: int) -> Timed:
    """OFUL as one would write it in NumPy: Sherman-Morrison, no checks, no contract."""
    arms, rewards = data.arms, data.rewards
    d = arms.shape[1]
    inverse, response, center, log_det = np.eye(d), np.zeros(d), np.zeros(d), 0.0
    clock, played = [process_time()], []
    for first, end in quarters(n_rounds):
        for row in rewards[first:end]:
            radius = math.sqrt(log_det + CONFIDENCE) + 1.0
            widths = np.sqrt(np.einsum("ij,ij->i", arms @ inverse, arms))
            i = int(np.argmax(arms @ center + radius * widths))
            x = arms[i]
            v = inverse @ x
            growth = float(x @ v)
            inverse -= np.outer(v, v / (1.0 + growth))
            log_det += math.log1p(growth)
            response += row[i] * x
            center = inverse @ response
            played.append(i)
        clock.append(process_time())
    return Timed(clock, played, 8 * (d * d + 2 * d + 1))


@kernel
def hand_select(
    arms: FloatArray, inverse: FloatArray, center: FloatArray, log_det: FloatArray
) -> int:
    """argmax of <x, center> + radius |x|_inverse."""
    n, d = arms.shape
    radius = math.sqrt(log_det[0] + CONFIDENCE) + 1.0
    best, choice = -math.inf, 0
    for a in range(n):
        mean = square = 0.0
        for i in range(d):
            entry = 0.0
            for j in range(d):
                entry += inverse[i, j] * arms[a, j]
            square += entry * arms[a, i]
            mean += center[i] * arms[a, i]
        index = mean + radius * math.sqrt(square)
        if index > best:
            best, choice = index, a
    return choice


@kernel
def hand_update(
    x: FloatArray,
    reward: float,
    inverse: FloatArray,
    response: FloatArray,
    center: FloatArray,
    log_det: FloatArray,
) -> None:
    """Sherman-Morrison."""
    d = x.shape[0]
    v = np.zeros(d)
    growth = 0.0
    for i in range(d):
        for j in range(d):
            v[i] += inverse[i, j] * x[j]
        growth += v[i] * x[i]
    log_det[0] += math.log1p(growth)
    for i in range(d):
        response[i] += reward * x[i]
    for i in range(d):
        center[i] = 0.0
        for j in range(d):
            inverse[i, j] -= v[i] * (v[j] / (1.0 + growth))
            center[i] += inverse[i, j] * response[j]


@kernel
def hand_rounds(
    arms: FloatArray,
    table: FloatArray,
    inverse: FloatArray,
    response: FloatArray,
    center: FloatArray,
    log_det: FloatArray,
    played: IntArray,
) -> None:
    """Rounds without a look at Python."""
    for t in range(table.shape[0]):
        i = hand_select(arms, inverse, center, log_det)
        hand_update(arms[i], table[t, i], inverse, response, center, log_det)
        played[t] = i


def numba_oful_by_round(data: Data, n_rounds: int) -> Timed:
    """OFUL by hand in Numba, two calls a round: what Python's calls alone leave."""
    arms, rewards = data.arms, data.rewards
    d = arms.shape[1]
    inverse, response, center, log_det = np.eye(d), np.zeros(d), np.zeros(d), np.zeros(1)
    clock, played = [process_time()], []
    for first, end in quarters(n_rounds):
        for row in rewards[first:end]:
            i = hand_select(arms, inverse, center, log_det)
            hand_update(arms[i], row[i], inverse, response, center, log_det)
            played.append(i)
        clock.append(process_time())
    return Timed(clock, played, 8 * (d * d + 2 * d + 1))


def numba_oful_whole_loop(data: Data, n_rounds: int) -> Timed:
    """OFUL by hand in Numba, one call a quarter of the run."""
    d = data.arms.shape[1]
    state = np.eye(d), np.zeros(d), np.zeros(d), np.zeros(1)
    played = np.empty(n_rounds, dtype=np.int64)
    table = data.table
    clock = [process_time()]
    for first, end in quarters(n_rounds):
        hand_rounds(data.arms, table[first:end], *state, played[first:end])
        clock.append(process_time())
    return Timed(clock, played.tolist(), 8 * (d * d + 2 * d + 1))


# --- all of them ------------------------------------------------------------------------------


def contenders(data: Data, ids: list[str] | None = None) -> dict[str, Play]:
    """The references, then the registered policies (or those of `ids`), then compiled runs."""
    ids = [entry.id for entry in registry.entries("bandit")] if ids is None else ids
    return {
        REFERENCE: lean_numpy_oful,
        BY_ROUND: numba_oful_by_round,
        WHOLE_LOOP: numba_oful_whole_loop,
        **{id: through_api(id) for id in ids},
        **compiled_contenders(data, ids),
    }
