"""The naive baseline: ridge regression, and now and then a random arm."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from voful.archive import Arrays
from voful.bandits import arguments as given
from voful.bandits.base import CompiledPolicy, square
from voful.bandits.optimism import best_for
from voful.bandits.propensities import one_hot
from voful.compiled import kernel, part
from voful.confidence.algebra import dots
from voful.confidence.ellipsoids.ridge import (
    Ridge,
    check_conditioning,
    new_ridges,
    open_ridge,
    ridge_update,
)
from voful.confidence.ellipsoids.sound import scale_of, sound_ridges
from voful.confidence.rule import rule
from voful.invariants import Invariants
from voful.parameters import parameter
from voful.typing import BoolArray, FloatArray, Seed
from voful.validation import nonnegative_float, positive_float, reward_range_or_none


@part
def exploration_rate(t: float, epsilon: float, decay: float) -> float:
    """epsilon_t = min(1, epsilon / t^decay)."""
    return min(1.0, epsilon * math.exp(-decay * math.log(t)))


class GreedyState(NamedTuple):
    """The estimate, and what was drawn."""

    blocks: FloatArray  # behind the ridge: epsilon_t of the round to come
    constants: FloatArray  # epsilon, decay
    drawn: FloatArray  # (1,): which of the allowed arms to play; negative: the best


@part
def greedy_draw(
    blocks: FloatArray,
    constants: FloatArray,
    drawn: FloatArray,
    rng: np.random.Generator,
    arms: FloatArray,
    mask: BoolArray,
) -> None:
    """An arm of those allowed, with probability epsilon_t."""
    drawn[0] = -1.0
    if rng.random() < blocks[0, -1]:
        drawn[0] = rng.integers(0, arms.shape[0] if mask.shape[0] == 0 else mask.sum())


@kernel
def greedy_choose(
    blocks: FloatArray,
    constants: FloatArray,
    drawn: FloatArray,
    arms: FloatArray,
    mask: BoolArray,
) -> int:
    """The arm that was drawn, else the best predicted."""
    choice = int(drawn[0])
    if choice < 0:
        return best_for(arms, mask, open_ridge(blocks[0], arms.shape[1]).center)
    return choice if mask.shape[0] == 0 else int(np.flatnonzero(mask)[choice])


@kernel
def greedy_observe(
    blocks: FloatArray,
    constants: FloatArray,
    drawn: FloatArray,
    x: FloatArray,
    reward: float,
    variance: float,
) -> None:
    """Ridge regression, and the rate of the round to come."""
    ridge = open_ridge(blocks[0], x.shape[0])
    ridge_update(ridge, x, reward, 1.0)
    epsilon, decay = constants
    blocks[0, -1] = exploration_rate(ridge.n[0] + 1.0, epsilon, decay)


class EpsilonGreedy(CompiledPolicy):
    """epsilon-greedy on the ridge estimate: the baseline that every algorithm should beat.

    In round t, with probability epsilon_t = min(1, epsilon / t^decay) a uniformly random arm, else
    argmax_x <x, theta_hat>. decay = 0: constant, regret linear in K; decay = 1/3 balances the two
    kinds of regret in the worst case, decay = 1 is the schedule of [1] for known gaps. Anytime;
    O(d^2) an update, O(d) an arm.

    It has no confidence set, and the bounds of `index` are the means.

    References
    ----------
    [1] Auer, Cesa-Bianchi, Fischer. Finite-time analysis of the multiarmed bandit problem.
        Machine Learning 2002.
    """

    _arrays = ("_blocks",)
    _rule = rule(GreedyState, greedy_choose, greedy_observe, None, greedy_draw)

    epsilon: float = parameter(
        nonnegative_float,
        "Rate of random arms in the first round; above 1 it means 1.",
        default=0.1,
    )
    decay: float = parameter(
        nonnegative_float, "Exponent of the round in that rate, >= 0.", default=0.0
    )
    reward_range: tuple[float, float] | None = parameter(
        reward_range_or_none, "(low, high); None where rewards are unbounded.", default=(-1.0, 1.0)
    )
    feature_norm: float = given.feature_norm()
    ridge: float = parameter(positive_float, "lambda of the estimate.", default=1.0)
    seed: Seed = given.seed("Of the random arms.")

    def _build(self) -> None:
        super()._build()
        check_conditioning(self.feature_norm, self.ridge)
        self._blocks = new_ridges(self.dim, np.array([self.ridge]), np.zeros(1), extra=1)
        self._blocks[0, -1] = exploration_rate(1.0, self.epsilon, self.decay)
        self._state = GreedyState(self._blocks, np.array([self.epsilon, self.decay]), np.zeros(1))

    @classmethod
    def _least_numbers(cls, config: Mapping[str, Any]) -> int:
        return square(config)

    def _invariants(self, state: Arrays) -> Invariants:
        blocks = state["_blocks"]
        yield from sound_ridges(blocks, self._blocks, self.dim, scale_of(self._space))
        yield "a rate in [0, 1]", bool(0.0 <= blocks[0, -1] <= 1.0)

    @property
    def confidence_set(self) -> None:
        """None: the policy does not know how sure it is."""
        return None

    @property
    def _estimate(self) -> Ridge:
        return open_ridge(self._blocks[0], self.dim)

    @property
    def n_observations(self) -> int:
        """How many rewards were learnt."""
        return int(self._estimate.n[0])

    @property
    def exploration_rate(self) -> float:
        """epsilon_t of the round to come."""
        return float(self._blocks[0, -1])

    def _law(self, arms: FloatArray, mask: BoolArray, draws: int | None) -> tuple[int, FloatArray]:
        self._state.drawn[0] = -1.0
        best, rate = self._rule.choose(*self._state, arms, mask), self.exploration_rate
        allowed = np.ones(len(arms)) if len(mask) == 0 else mask.astype(np.float64)
        return best, (1.0 - rate) * one_hot(best, len(arms)) + rate * allowed / allowed.sum()

    def _predict(self, X: FloatArray) -> FloatArray:
        return dots(X, self._estimate.center)

    def _index(self, arms: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        mean = self._predict(arms)
        return mean, mean.copy(), mean.copy()
