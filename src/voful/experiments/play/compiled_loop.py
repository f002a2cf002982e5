"""The loop of `loop.play` in compiled code, for the library's own policies and linear bandits.

One call plays the rounds up to the next width, thousands of them where arms do not change: the
policy's rule (`voful.confidence.rule`) and the environment's in turn. It breaks off where a policy
responds to an alarm. Regret, variances and coverage have the same bits as in the Python loop, which
remains for everything else: code of the user's own, noise that reacts to the policy's set, VOFUL,
and runs whose input a policy would refuse.

Time is that of the loop as a whole, the environment's share (a few per cent) included, split
between `select_time` and `update_time` as measured in every eighth round.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numba import types
from numba.core import config

from voful.bandits.base import CompiledPolicy
from voful.compiled import kernel, part
from voful.confidence.base import BallSet
from voful.confidence.rule import REFRESH, RESPOND, addresses, finish, rule_of
from voful.envs.bandit.linear_bandit import Block, LinearBandit
from voful.envs.bandit.noise import ADVERSARY, reward_and_variance
from voful.envs.bandit.streams import BLOCK_ROUNDS
from voful.experiments.play.loop import (
    GATHER_EVERY,
    AlarmRounds,
    Columns,
    doubling,
    recording_points,
    width_of,
)
from voful.typing import BoolArray, FloatArray, IntArray
from voful.validation import NO_MASK

# Columns of what a run has summed up, and of its records.
REGRET, SUM_VARIANCE, SELECT_TIME, UPDATE_TIME = range(4)
IN_SET, COVERED = range(2)

# --- time inside kernels ----------------------------------------------------------------------

CLOCK: Final = time.CLOCK_MONOTONIC
SAMPLE_EVERY: Final = 8  # a look at the clock costs as much as a tenth of a round

_clock_gettime: Any = types.ExternalFunction("clock_gettime", types.int32(types.int32, types.uintp))


@part
def now(timespec: IntArray) -> float:
    """Seconds; `timespec` is scratch of length 2."""
    _clock_gettime(CLOCK, timespec.ctypes.data)
    return float(timespec[0] + 1e-9 * timespec[1])


@part
def attribute_time(sums: FloatArray, sampled: FloatArray, seconds: float) -> None:
    """Split seconds between select and update as in the rounds that were timed."""
    both = sampled[0] + sampled[1]
    share = sampled[0] / both if both > 0.0 else 0.5
    sums[SELECT_TIME] += share * seconds
    sums[UPDATE_TIME] += (1.0 - share) * seconds


# --- the rounds -------------------------------------------------------------------------------


@kernel
def play_rounds(
    choose: Any,
    observe: Any,
    holds: Any,
    draw: Any,
    refresh: Any,
    state: Any,
    rng: np.random.Generator,
    block: Block,
    best: FloatArray,
    uniforms: FloatArray,
    fixed_variances: FloatArray,
    kind: int,
    ends: tuple[float, float],
    clip: tuple[float, float],
    mask: BoolArray,
    in_ball: bool,
    first: int,
    last: int,
    learnt: int,
    i: int,
    points: IntArray,
    done: int,
    check_every: int,
    sums: FloatArray,
    truths: BoolArray,
    sampled: FloatArray,
    records: FloatArray,
    record_truths: BoolArray,
) -> tuple[int, int, int, int]:
    """Rounds first + 1 .. last: (points recorded, rounds played, the last arm, what is due).

    All in one block where arms change. A round to which the policy has to respond is learnt, but
    not recorded: the next call begins with it, one round more `learnt` than played.
    """
    timespec = np.empty(2, dtype=np.int64)
    changes = block.arms.shape[0] > 1
    fixed = fixed_variances.shape[0] > 0
    counted = now(timespec)
    for t in range(first, last):
        row = t % BLOCK_ROUNDS if changes else 0
        if t >= learnt:
            arms = block.arms[row]
            timed = t % SAMPLE_EVERY == 0
            started = now(timespec) if timed else 0.0
            if draw is not None:
                draw(*state, rng, arms, mask)
            i = choose(*state, arms, mask)
            if i < 0:  # the set is empty
                i = ~i
            chosen = now(timespec) if timed else 0.0
            mean = block.means[row, i]
            y, variance = reward_and_variance(
                kind,
                mean,
                block.sigmas[row, i],
                ends[0],
                ends[1],
                uniforms[t - first],
                fixed_variances[i] if fixed else -1.0,
            )
            due = observe(*state, arms[i], min(max(y, clip[0]), clip[1]), variance)
            sums[REGRET] += best[row] - mean
            sums[SUM_VARIANCE] += variance
            if refresh is not None:
                if due & RESPOND:
                    attribute_time(sums, sampled, now(timespec) - counted)
                    return done, t, i, due
                if due & REFRESH:
                    refresh(state[0], state[1])
            if timed:
                sampled[0] += chosen - started
                sampled[1] += now(timespec) - chosen
        recording = done < points.shape[0] and points[done] == t + 1
        if holds is not None:
            if recording or (t + 1) % check_every == 0:
                theta_star = block.thetas[row if block.thetas.shape[0] > 1 else 0]
                truths[IN_SET] = in_ball and holds(*state, theta_star)
                truths[COVERED] = truths[COVERED] and truths[IN_SET]
        if recording:
            moment = now(timespec)
            attribute_time(sums, sampled, moment - counted)
            counted = moment
            for k in range(sums.shape[0]):
                records[done, k] = sums[k]
            for k in range(truths.shape[0]):
                record_truths[done, k] = truths[k]
            done += 1
    attribute_time(sums, sampled, now(timespec) - counted)
    return done, last, i, 0


# --- a run ------------------------------------------------------------------------------------

LONGEST: Final = 1 << 14  # rounds in one call, which no signal interrupts,
MOST_WORK: Final = 1 << 25  # and multiplications of arms with matrices


def can_play(policy: object, env: object, n_rounds: int) -> bool:
    """Whether `play_compiled` gives what `loop.play` would.

    Only classes that name their rule themselves: one that derives from them may do otherwise.
    """
    if not (isinstance(policy, CompiledPolicy) and "_rule" in vars(type(policy))):
        return False
    if config.DISABLE_JIT:  # type: ignore[attr-defined]  # the kernels ask the system for the time
        return False
    if type(env) is not LinearBandit or env.noise.kind == ADVERSARY or env.round != 0:
        return False
    if getattr(policy, "on_change", None) == "raise":  # in the very round
        return False
    if policy._learns_in_python:
        return False
    space, (lo, hi) = policy._space, env.reward_range
    if env.dim != space.dim or not space.accepts_range(lo, hi):
        return False
    return space.n_rounds is None or policy.n_observations + n_rounds <= space.n_rounds


def play_compiled(
    policy: CompiledPolicy,
    env: LinearBandit,
    n_rounds: int,
    *,
    record_at: Sequence[int] | None = None,
    check_every: int = 1,
) -> Columns:
    """The records of `loop.play`, where `can_play`; the environment stays at its first round."""
    points = recording_points(n_rounds, record_at)
    space, Theta = policy._space, policy.confidence_set
    sums, sampled = np.zeros(UPDATE_TIME + 1), np.zeros(2)
    truths = np.ones(COVERED + 1, dtype=np.bool_)
    records = np.zeros((len(points), len(sums)))
    record_truths = np.zeros((len(points), len(truths)), dtype=np.bool_)
    has_set = Theta is not None
    when = np.array(points, dtype=np.int64)
    clip = space.reward_limits
    measured = doubling(points)
    fixed_variances = env.variances if not env.rounds_differ else np.empty(0)
    widths: list[float | None] = [None] * len(points)
    done = drawn_to = choice = 0
    blocks = env.blocks(n_rounds)
    longest = BLOCK_ROUNDS if env.rounds_differ else longest_call(env.n_arms, env.dim)
    alarms = AlarmRounds(policy)
    if alarms.may_come:
        longest = min(longest, GATHER_EVERY)
    policy._lineage = policy._lineage.begun()
    for first, last in _stretches(n_rounds, longest, measured):
        if first == 0 or (env.rounds_differ and first % BLOCK_ROUNDS == 0):
            block = next(blocks)
            space.arms(block.arms.reshape(-1, space.dim))
            in_ball = isinstance(Theta, BallSet) and all(map(Theta.in_ball, block.thetas))
        if first == 0:
            rule = addresses(policy._state, policy._rng, block.arms[0], NO_MASK)
        if last > drawn_to:
            drawn_from, drawn_to = first, min(first + LONGEST, n_rounds)
            uniforms = env.uniforms(drawn_from, drawn_to)
        policy._reserve(last - first, len(block.arms) * env.n_arms)
        played = learnt = first
        while played < last:
            done, played, choice, due = play_rounds(
                *rule,
                tuple(policy._state),
                policy._rng,
                block,
                block.means.max(axis=1),
                uniforms[played - drawn_from : last - drawn_from],
                fixed_variances,
                env.noise.kind,
                env.reward_range,
                clip,
                NO_MASK,
                in_ball,
                played,
                last,
                learnt,
                choice,
                when,
                done,
                check_every,
                sums,
                truths,
                sampled,
                records,
                record_truths,
            )
            learnt = played + 1
            finish(rule_of(policy._state), due, policy._state)
        policy._tell_news()
        alarms.gather()
        if Theta is not None and not truths[IN_SET]:
            Theta.answers_nothing()
        if last in measured:
            row = (last - 1) % BLOCK_ROUNDS if len(block.arms) > 1 else 0
            widths[done - 1] = width_of(policy, block.arms[row], choice)
    nothing = [None] * len(points)
    return {
        "round": list(points),
        "regret": records[:, REGRET].tolist(),
        "sum_variance": records[:, SUM_VARIANCE].tolist(),
        "in_set": record_truths[:, IN_SET].tolist() if has_set else nothing,
        "covered": record_truths[:, COVERED].tolist() if has_set else nothing,
        "width": widths,
        "alarms": np.searchsorted(alarms.rounds, when, side="right").tolist(),
        "select_time": records[:, SELECT_TIME].tolist(),
        "update_time": records[:, UPDATE_TIME].tolist(),
    }


def longest_call(n_arms: int, dim: int) -> int:
    """Rounds in one call: some tenths of a second, whatever the size of the problem."""
    return max(BLOCK_ROUNDS, min(LONGEST, MOST_WORK // (n_arms * dim * dim)))


def _stretches(n_rounds: int, longest: int, stops: Collection[int]) -> Iterator[tuple[int, int]]:
    """first and last of stretches that end at the multiples of `longest`, and at the stops."""
    ends = {*range(longest, n_rounds, longest), *stops, n_rounds}
    return pairwise((0, *sorted(ends)))
