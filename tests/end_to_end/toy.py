"""A uniformly random arm: the algorithm that `test_new_algorithm.py` adds to the library."""

from __future__ import annotations

import numpy as np

from voful.archive import Arrays
from voful.bandits import arguments as given
from voful.bandits.base import Policy
from voful.invariants import Invariants, whole
from voful.typing import BoolArray, FloatArray, Seed


class Toy(Policy):
    """Any arm, and the mean of all rewards as the prediction."""

    _arrays = ("_tally",)
    confidence_set = None

    reward_range: tuple[float, float] = given.reward_range()
    seed: Seed = given.seed("Of the random arms.")

    def _build(self) -> None:
        super()._build()
        self._tally = np.zeros(2)  # rewards learnt, their sum

    def _invariants(self, state: Arrays) -> Invariants:
        yield "a number of rewards", whole(state["_tally"][0])

    @property
    def n_observations(self) -> int:
        """How many rewards were learnt."""
        return int(self._tally[0])

    def _choose(self, arms: FloatArray, mask: BoolArray) -> int:
        return int(self._rng.choice(len(arms), p=self._law(arms, mask, None)[1]))

    def _law(self, arms: FloatArray, mask: BoolArray, draws: int | None) -> tuple[int, FloatArray]:
        law = mask / mask.sum() if len(mask) else np.full(len(arms), 1.0 / len(arms))
        return int(np.argmax(law)), law

    def _observe(self, x: FloatArray, reward: float, variance: float) -> None:
        self._tally += 1.0, reward

    def _predict(self, X: FloatArray) -> FloatArray:
        return np.full(len(X), self._tally[1] / max(self._tally[0], 1.0))

    def _index(self, arms: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        mean = self._predict(arms)
        return mean, mean.copy(), mean.copy()
