"""Plays a policy against an environment: where regret is computed (compiled_loop: the same)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from time import perf_counter
from typing import Any, Protocol

import numpy as np

from voful import validation
from voful.bandits.base import CompiledPolicy
from voful.envs.bandit.linear_bandit import Feedback
from voful.typing import BanditPolicy, ConfidenceSet, FloatArray

Columns = dict[str, list[Any]]
"""The records of a run, field by field."""


@dataclass(frozen=True, slots=True)
class Record:
    """The state of a run after `round` rounds.

    Attributes
    ----------
    round
        Rounds played, 1-based.
    regret
        Sum over the rounds of (best mean - mean of the played arm): pseudo-regret. On real data:
        of (reward of the reference - reward), which may be negative.
    sum_variance
        Sum of the true variances of the noise of the played arms.
    in_set
        Whether theta* is in the policy's set now; None for policies without a set, and on real
        data, where nobody knows theta*.
    covered
        Whether theta* was in the set at every check so far; None as above.
    width
        Upper minus lower bound of the played arm's mean, by all that is learnt; None for policies
        without bounds, and between the points of `doubling`.
    alarms
        Alarms of the policy so far (`AlarmRounds`); 0 for policies that do not look at themselves.
    select_time, update_time
        Seconds spent in the policy's `select` and `update` so far; see `compiled_loop` for what
        that means there.
    """

    round: int
    regret: float
    sum_variance: float
    in_set: bool | None
    covered: bool | None
    width: float | None
    alarms: int
    select_time: float
    update_time: float


class AlarmRounds:
    """The rounds of a run in which the policy raised an alarm, however many.

    The policy remembers the latest 64. At most three come in 50 rounds (`voful.monitor.watch`), so
    `gather` misses none if it is called every `GATHER_EVERY` rounds.
    """

    def __init__(self, policy: Any) -> None:
        # A policy of the user's own may call anything `alarms`.
        self.may_come = isinstance(policy, CompiledPolicy) and hasattr(policy, "alarms")
        self._policy = policy
        self._before: int = policy.n_observations if self.may_come else 0
        self.rounds: list[int] = []

    def gather(self) -> int:
        """Take up what is new; the number of alarms so far."""
        if self.may_come:
            known = self._before + (self.rounds[-1] if self.rounds else 0)
            new = [alarm.round for alarm in self._policy.alarms if alarm.round > known]
            self.rounds += [round - self._before for round in new]
        return len(self.rounds)


class Environment(Protocol):
    """What a problem must tell."""

    @property
    def arms(self) -> FloatArray:
        """Of the current round, (n_arms, dim)."""

    @property
    def optimal_value(self) -> float:
        """What regret is measured against in the current round."""

    @property
    def theta_star(self) -> FloatArray | None:
        """The parameter of the current round; None where nobody knows it."""

    def pull(self, index: int, confidence_set: ConfidenceSet | None = None) -> Feedback:
        """Play an arm and go on to the next round."""


class Watcher(Protocol):
    """Looks on at some rounds, after the choice and before the reward."""

    rounds: frozenset[int]

    def take(self, round: int, arms: FloatArray, choice: int, regret: float) -> None:
        """Round, its arms, the chosen one, and the regret of the rounds before."""


@cache
def log_spaced(n_rounds: int, n_points: int = 60) -> tuple[int, ...]:
    """About n_points recording points from 1 to n_rounds, evenly spaced in the logarithm."""
    return tuple(np.unique(np.geomspace(1, n_rounds, n_points).round().astype(int)).tolist())


def doubling(points: Iterable[int], factor: int = 2) -> frozenset[int]:
    """Of the recording points the last, and going back each that is `factor` times earlier.

    Widths are measured at these: one may cost as much as many rounds.
    """
    taken: list[int] = []
    for point in sorted(points, reverse=True):
        if not taken or factor * point <= taken[-1]:
            taken.append(point)
    return frozenset(taken)


CHECK_EVERY = 10  # rounds of a study between two looks whether theta* is in the set

GATHER_EVERY = 768  # rounds: see `AlarmRounds`

COSTLY_FACTOR = 8
"""Between two widths of a set whose `interval` is costly: one may take as long as 500 rounds."""


def play(
    policy: BanditPolicy,
    env: Environment,
    n_rounds: int,
    *,
    record_at: Sequence[int] | None = None,
    pass_variance: bool = False,
    check_every: int = 1,
    watcher: Watcher | None = None,
) -> Iterator[Record]:
    """Play `n_rounds` and yield a record at each recording point.

    Parameters
    ----------
    policy, env
        The two sides; neither knows the other.
    n_rounds
        How many rounds to play.
    record_at
        Rounds to record, increasing; default: log-spaced, the last round included.
    pass_variance
        Whether `update` gets the true variance (for policies that declare it in the registry).
    check_every
        theta* in the set is checked every so many rounds, and at recording points.
    watcher
        Is shown the rounds that it names; what it does is not counted as the policy's time.
    """
    n_rounds = validation.positive_int("n_rounds", n_rounds)
    check_every = validation.positive_int("check_every", check_every)
    points = frozenset(recording_points(n_rounds, record_at))
    return _play(policy, env, n_rounds, points, pass_variance, check_every, watcher)


def recording_points(
    n: int, record_at: Sequence[int] | None, steps: str = "rounds"
) -> tuple[int, ...]:
    """Rounds (or episodes) to record, increasing; None: log-spaced."""
    if record_at is None:
        return log_spaced(n)
    points = sorted({validation.positive_int("record_at", point) for point in record_at})
    if points and points[-1] > n:
        raise validation.fail("record_at", points[-1], f"{steps} from 1 to n_{steps} = {n}")
    return tuple(points)


def _play(
    policy: BanditPolicy,
    env: Environment,
    n_rounds: int,
    points: frozenset[int],
    pass_variance: bool,
    check_every: int,
    watcher: Watcher | None,
) -> Iterator[Record]:
    costly = getattr(policy.confidence_set, "costly", False)
    measured = doubling(points, COSTLY_FACTOR) if costly else doubling(points)
    regret = sum_variance = select_time = update_time = 0.0
    checked = policy.confidence_set is not None and env.theta_star is not None
    covered: bool | None = True if checked else None
    in_set = covered
    alarms = AlarmRounds(policy)
    for round in range(1, n_rounds + 1):
        arms = env.arms
        best, theta_star = env.optimal_value, env.theta_star
        started = perf_counter()
        choice = policy.select(arms)
        select_time += perf_counter() - started
        if watcher is not None and round in watcher.rounds:
            watcher.take(round, arms, choice, regret)
        feedback = env.pull(choice, policy.confidence_set)
        started = perf_counter()
        if pass_variance:
            policy.update(arms[choice], feedback.reward, variance=feedback.variance)
        else:
            policy.update(arms[choice], feedback.reward)
        update_time += perf_counter() - started
        regret += best - feedback.mean
        sum_variance += feedback.variance
        recording = round in points
        if theta_star is not None and checked and (recording or round % check_every == 0):
            in_set = holds(policy.confidence_set, theta_star)
            covered = bool(covered and in_set)
        if round % GATHER_EVERY == 0:
            alarms.gather()
        if recording:
            yield Record(
                round,
                regret,
                sum_variance,
                in_set,
                covered,
                width_of(policy, arms, choice) if round in measured else None,
                alarms.gather(),
                select_time,
                update_time,
            )


def holds(Theta: Any, theta: FloatArray) -> bool:
    """Whether a set, perhaps of the user's own, contains theta; TypeError where it cannot say."""
    answer = Theta.contains(theta)
    if isinstance(answer, np.ndarray) and answer.ndim == 0:
        answer = answer[()]
    return validation.boolean("confidence_set.contains", answer)


def width_of(policy: BanditPolicy, arms: FloatArray, choice: int) -> float | None:
    """By the set; policies without one may bound single arms. Neither changes the policy."""
    Theta = policy.confidence_set
    if Theta is not None:
        if not hasattr(Theta, "interval"):  # `contains` is enough for a set of the user's own
            return None
        lower, upper = Theta.interval(arms[choice : choice + 1])
        return _positive(upper[0] - lower[0])
    if (index := getattr(policy, "index", None)) is None:
        return None
    _, lower, upper = index(arms)
    return _positive(upper[choice] - lower[choice])


def _positive(width: float) -> float | None:
    """A point estimate bounds nothing, nor does an empty set where the range is not known."""
    return float(width) if 0.0 < width < math.inf else None
