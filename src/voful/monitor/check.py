"""ModelCheck: whether means lie in the intervals that a model gives for them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

import numpy as np

from voful import persistence, validation
from voful.archive import Arrays
from voful.compiled import kernel
from voful.invariants import Invariants, between, whole
from voful.monitor.evidence import (
    BETS_AT,
    EVIDENCE_SIZE,
    LARGEST,
    ROUNDS,
    STATISTIC,
    WEIGHT,
    mean_of_bets,
    weigh_round,
)
from voful.parameters import Declared, parameter
from voful.typing import FloatArray, Path

MOST_CHALLENGERS: Final = 1000
FIRST_SPREAD: Final = 0.05  # of a challenger's squared residual, over h^2
SPREAD_STEP: Final = 0.02
TRACE: Final = 512  # points that `plot` shows at most


@kernel
def take_round(
    evidence: FloatArray,
    low: float,
    high: float,
    lower: float,
    upper: float,
    reward: float,
    level: bool,
    predictions: FloatArray,
) -> float:
    """One round of a check: the statistic after it."""
    lower, upper = min(max(lower, low), high), min(max(upper, low), high)
    weight = weigh_round(evidence, low, high, lower, upper, reward, level)
    mean, n = mean_of_bets(evidence), predictions.shape[0]
    if n > 0:
        challenged = 0.0
        for i in range(n):
            at = EVIDENCE_SIZE + 2 * i
            g, s2 = min(max(predictions[i], low), high), evidence[at + 1]
            factor = 1.0
            if g > upper:  # lambda = (g - u) / 2 (s^2 + (g - u)^2), capped at .9 / (u - lo)
                gap, room = g - upper, max(upper - low, 1e-12 * (high - low))
                factor += min(0.5 * gap / (s2 + gap * gap), 0.9 / room) * (reward - upper)
            elif g < lower:
                gap, room = lower - g, max(high - lower, 1e-12 * (high - low))
                factor += min(0.5 * gap / (s2 + gap * gap), 0.9 / room) * (lower - reward)
            evidence[at] = min((evidence[at] + weight) * factor, LARGEST)
            evidence[at + 1] += SPREAD_STEP * ((reward - g) ** 2 - s2)
            challenged += evidence[at] / n
        mean = 0.5 * mean + 0.5 * challenged
    evidence[STATISTIC] = (1.0 - evidence[WEIGHT] if level else 0.0) + mean
    return float(evidence[STATISTIC])


class ModelCheck(Declared):
    """An alarm for intervals that stop to hold: beside anybody's model, with a stated level.

    In each round the model gives an interval [l, u] for the mean of the reward, then the reward y
    comes. Sixteen bets say that the mean lies outside: with c = .9, .45, ..., .9/128

        A <- (A + w_t)(1 + c (y - u)/(u - lo)),   A <- (A + w_t)(1 + c (l - y)/(hi - l)),

    and the statistic is N = 1 - sum w + mean A. If every mean E[y_t | past] lies in its interval,
    with probability at least 1 - delta for all t at once, then the probability of an alarm, ever,
    is at most failure_prob + delta, whatever the noise: until a mean leaves its interval N is a
    nonnegative supermartingale from 1, and by Ville's inequality it reaches 1/failure_prob with
    probability at most failure_prob. An interval without a point (lower > upper) is an alarm too.

    With `run_length=B` every bet has weight 1, the statistic is mean A, and the expected number of
    rounds until a false alarm is at least B: a check that never tires (Shiryaev-Roberts).

    Challengers are predictions of your own, made before the reward: half of the weight bets on each
    of them where it lies outside of the interval. They find what the sixteen cannot: misfit that
    has both signs.
    """

    _arrays: ClassVar[tuple[str, ...]] = ("evidence", "facts", "trace")

    reward_range: tuple[float, float] = parameter(
        validation.reward_range, "(low, high): rewards outside are refused.", kw_only=False
    )
    failure_prob: float = parameter(
        validation.probability, "alpha: the alarm is at 1/alpha.", default=0.05
    )
    run_length: float | None = parameter(
        validation.positive_float,
        "B: a false alarm in B rounds on average at most, instead of a level.",
        default=None,
    )
    challengers: int = parameter(
        lambda name, value: _few(name, value),
        "How many predictions each round brings.",
        default=0,
    )

    def _build(self) -> None:
        self._space = validation.ObservationSpace(1, 1.0, self.reward_range)
        self.evidence: FloatArray = np.zeros(EVIDENCE_SIZE + 2 * self.challengers)
        # alarmed or not, points of the trace, rounds between two of them
        self.facts: FloatArray = np.zeros(3)
        self.trace: FloatArray = np.zeros((TRACE, 2))
        self.reset()

    @classmethod
    def _least_numbers(cls, config: Mapping[str, Any]) -> int:
        return 2 * int(config.get("challengers") or 0)

    def _invariants(self, state: Arrays) -> Invariants:
        evidence, (alarmed, points, stride) = state["evidence"], state["facts"]
        yield "a number of rounds", whole(evidence[ROUNDS])
        most = 1.0 if self.run_length is None else evidence[ROUNDS]
        yield "weights", between(evidence[WEIGHT], 0.0, most)
        yield (
            "evidence",
            bool(((evidence[BETS_AT:] >= 0.0) & (evidence <= LARGEST)[BETS_AT:]).all()),
        )
        yield "a statistic", bool(0.0 <= evidence[STATISTIC] <= LARGEST)
        yield "alarmed or not", alarmed in (0.0, 1.0)
        yield "points of the trace", whole(points, 0, TRACE) and whole(stride, 1)

    def update(
        self, lower: float, upper: float, reward: float, *, predictions: Sequence[float] = ()
    ) -> bool:
        """One round: the interval of the mean, from before the reward, and the reward.

        Parameters
        ----------
        lower, upper
            Ends of the interval, infinite ones included; lower > upper: the model has no answer.
        reward
            What came.
        predictions
            One mean for each challenger.

        Returns
        -------
        bool
            Whether there was an alarm, in this round or before.
        """
        ends = _end("lower", lower), _end("upper", upper)
        low, high = self.reward_range
        paid = self._space.reward(reward)
        means = validation.vector("predictions", predictions, self.challengers)
        self._turn += 1
        try:
            statistic = take_round(
                self.evidence, low, high, ends[0], ends[1], paid, self.run_length is None, means
            )
            if ends[0] > ends[1] or statistic >= self.threshold:
                self.facts[0] = 1.0
            self._draw()
        finally:
            self._turn += 1
        return self.alarmed

    def reset(self) -> None:
        """Begin anew: no evidence, no alarm."""
        self.evidence[:] = 0.0
        low, high = self.reward_range
        self.evidence[EVIDENCE_SIZE + 1 :: 2] = FIRST_SPREAD * (0.5 * (high - low)) ** 2
        self.evidence[STATISTIC] = 1.0 if self.run_length is None else 0.0
        self.facts[:] = 0.0, 0.0, 1.0
        self.trace[:] = 0.0

    @property
    def rounds(self) -> int:
        """How many rounds were checked."""
        return int(self.evidence[ROUNDS])

    @property
    def statistic(self) -> float:
        """Evidence against the intervals; the alarm is at `threshold`."""
        return float(self.evidence[STATISTIC])

    @property
    def threshold(self) -> float:
        """1/failure_prob, or run_length."""
        return 1.0 / self.failure_prob if self.run_length is None else self.run_length

    @property
    def alarmed(self) -> bool:
        """Whether there was an alarm."""
        return bool(self.facts[0])

    def save(self, path: Path) -> None:
        """Write the check to one file; `ModelCheck.load` continues it exactly."""
        persistence.save(self, path)

    @classmethod
    def load(cls, path: Path) -> ModelCheck:
        """Read what `save` wrote."""
        check: ModelCheck = persistence.load(path, cls)
        return check

    def plot(self, ax: Any = None) -> Any:
        """The statistic over the rounds (at most 512 points), and the level of the alarm."""
        from matplotlib import pyplot as plt

        ax = plt.subplots()[1] if ax is None else ax
        shown = self.trace[: int(self.facts[1])]
        ax.plot(shown[:, 0], np.maximum(shown[:, 1], 1e-3), label="evidence against the model")
        ax.axhline(self.threshold, linestyle="--", color="C3", label="alarm")
        ax.set(xlabel="round", ylabel="statistic", yscale="log")
        ax.legend()
        return ax

    def _draw(self) -> None:
        """Keep every n-th round; when the trace is full, every second of its points goes."""
        n, stride = int(self.facts[1]), int(self.facts[2])
        if self.rounds % stride:
            return
        if n == TRACE:
            n = TRACE // 2
            self.trace[:n] = self.trace[1::2]
            self.facts[1], self.facts[2] = n, 2 * stride
            if self.rounds % (2 * stride):
                return
        self.trace[n] = self.rounds, self.statistic
        self.facts[1] = n + 1

    def __repr__(self) -> str:
        said = "an alarm" if self.alarmed else f"statistic {self.statistic:g}"
        return f"{super().__repr__()} after {self.rounds} rounds: {said}"


def _end(name: str, value: Any) -> float:
    """A number, be it infinite."""
    if isinstance(value, float) and math.isinf(value):
        return value
    return validation.finite_float(name, value, "a number")


def _few(name: str, value: Any) -> int:
    number = validation.nonnegative_int(name, value)
    if number > MOST_CHALLENGERS:
        raise validation.fail(name, number, f"at most {MOST_CHALLENGERS}")
    return number
