"""The naive baseline: ridge regression, and now and then a random arm."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from voful import validation
from voful.bandits.base import Policy
from voful.bandits.optimism import best_for
from voful.bandits.rounds import Kernels, Ridge, State, no_set
from voful.compiled import kernel, shared
from voful.confidence.algebra import dots
from voful.confidence.ellipsoids.ridge import (
    COUNT,
    RidgeEllipsoid,
    check_conditioning,
    ridge_update,
)
from voful.typing import BoolArray, FloatArray, Seed
from voful.validation import ObservationSpace


def no_radius(estimate: RidgeEllipsoid) -> float:
    """0: only the estimate is used."""
    return 0.0


@shared
def exploration_rate(t: float, epsilon: float, decay: float) -> float:
    """epsilon_t = min(1, epsilon / t^decay)."""
    return min(1.0, epsilon * math.exp(-decay * math.log(t)))


class GreedyState(NamedTuple):
    """The estimate, and what the random arms need."""

    ridge: Ridge
    rng: np.random.Generator
    epsilon: float
    decay: float


@kernel
def greedy_choose(state: GreedyState, arms: FloatArray, mask: BoolArray) -> int:
    """`select`, where every arm may be played."""
    t = state.ridge[4][COUNT] + 1.0
    if state.rng.random() < exploration_rate(t, state.epsilon, state.decay):
        return int(state.rng.integers(0, arms.shape[0]))  # as `Generator.choice` does
    return best_for(arms, mask, state.ridge[3])


@kernel
def greedy_observe(state: GreedyState, x: FloatArray, reward: float, variance: float) -> None:
    """`update`."""
    ridge_update(*state.ridge, x, reward, 1.0)


class EpsilonGreedy(Policy):
    """epsilon-greedy on the ridge estimate: the baseline that every algorithm should beat.

    In round t, with probability epsilon_t = min(1, epsilon / t^decay) a uniformly random arm, else
    argmax_x <x, theta_hat>. decay = 0: constant, regret linear in K; decay = 1/3 balances the two
    kinds of regret in the worst case, decay = 1 is the schedule of [1] for known gaps. Anytime;
    O(d^2) an update, O(d) an arm.

    It has no confidence set, and the bounds of `index` are the means.

    Parameters
    ----------
    dim
        Dimension d of the arms.
    epsilon
        Rate of random arms in the first round; above 1 it means 1.
    decay
        Exponent of the round in that rate, >= 0.
    reward_range
        (low, high); None where rewards are unbounded.
    feature_norm
        Arms must satisfy |x| <= feature_norm.
    ridge
        lambda of the estimate.
    seed
        Of the random arms.

    References
    ----------
    [1] Auer, Cesa-Bianchi, Fischer. Finite-time analysis of the multiarmed bandit problem.
        Machine Learning 2002.
    """

    _parts = ("_estimate",)
    _kernels = Kernels(greedy_choose, greedy_observe, no_set)

    def __init__(
        self,
        dim: int,
        *,
        epsilon: float = 0.1,
        decay: float = 0.0,
        reward_range: tuple[float, float] | None = (-1.0, 1.0),
        feature_norm: float = 1.0,
        ridge: float = 1.0,
        seed: Seed = 0,
    ) -> None:
        bounds = validation.reward_range_or_none(reward_range)
        space = ObservationSpace.checked(dim, bounds, feature_norm=feature_norm)
        super().__init__(space, seed=seed)
        self.epsilon = validation.nonnegative_float("epsilon", epsilon)
        self.decay = validation.nonnegative_float("decay", decay)
        self.ridge = validation.positive_float("ridge", ridge)
        check_conditioning(space.feature_norm, self.ridge)
        self._estimate = RidgeEllipsoid(
            space, ridge=self.ridge, radius=no_radius, theta_norm=np.inf
        )

    @property
    def confidence_set(self) -> None:
        """None: the policy does not know how sure it is."""
        return None

    @property
    def n_observations(self) -> int:
        """How many rewards were learnt."""
        return self._estimate.n_observations

    @property
    def exploration_rate(self) -> float:
        """epsilon_t of the round to come."""
        return exploration_rate(self.n_observations + 1, self.epsilon, self.decay)

    def _choose(self, arms: FloatArray, mask: BoolArray) -> int:
        if self._rng.random() < self.exploration_rate:
            allowed = np.flatnonzero(mask) if len(mask) else np.arange(len(arms))
            return int(self._rng.choice(allowed))
        return best_for(arms, mask, self._estimate._center)

    def _observe(self, x: FloatArray, reward: float) -> None:
        self._estimate._observe(x, reward)

    def _observe_many(self, X: FloatArray, rewards: FloatArray) -> None:
        self._estimate._observe_many(X, rewards)

    def _predict(self, X: FloatArray) -> FloatArray:
        return dots(X, self._estimate._center)

    def _index(self, arms: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        mean = self._predict(arms)
        return mean, mean.copy(), mean.copy()

    def _state(self, n_arms: int) -> State:
        return GreedyState(self._estimate._matrices(), self._rng, self.epsilon, self.decay)
