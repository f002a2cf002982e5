"""Parameters that change: by steps, or by a random walk; pure functions of (seed, round)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from voful import validation
from voful.envs.bandit.streams import BLOCK_ROUNDS, THETA, generator
from voful.typing import FloatArray

KINDS: Final = ("draw", "flip")
STEPS, WALK = 1, 2  # second words of the addresses of random numbers


@dataclass(frozen=True)
class Drift:
    """How theta* changes, on the sphere on which it began.

    Parameters
    ----------
    change_at
        Rounds after which theta* is another one, increasing.
    change
        "draw": anew, uniformly on the sphere; "flip": its opposite.
    walk
        Length of a step of a random walk on the sphere, taken after every round; 0: none.
    """

    change_at: Sequence[int] = ()
    change: str = "draw"
    walk: float = 0.0
    _starts: list[FloatArray] = field(default_factory=list, repr=False, compare=False)

    def __post_init__(self) -> None:
        rounds = [validation.positive_int("change_at", t) for t in self.change_at]
        if rounds != sorted(set(rounds)):
            raise validation.fail("change_at", rounds, "increasing rounds")
        object.__setattr__(self, "change_at", tuple(rounds))
        validation.choice("change", self.change, KINDS)
        object.__setattr__(self, "walk", validation.nonnegative_float("walk", self.walk))
        if rounds and self.walk > 0.0:
            raise validation.fail("walk", self.walk, "0 where theta* changes by steps")

    def thetas(self, theta: FloatArray, seed: np.random.SeedSequence, index: int) -> FloatArray:
        """theta* of the rounds of a block, (BLOCK_ROUNDS, dim); `theta` is the first of all."""
        return (
            self._walk(theta, seed, index) if self.walk > 0.0 else self._steps(theta, seed, index)
        )

    def _steps(self, theta: FloatArray, seed: np.random.SeedSequence, index: int) -> FloatArray:
        first = index * BLOCK_ROUNDS
        number = np.searchsorted(self.change_at, np.arange(first, first + BLOCK_ROUNDS), "right")
        known = {k: self._after(theta, seed, k) for k in np.unique(number).tolist()}
        return np.array([known[k] for k in number.tolist()])

    def _after(self, theta: FloatArray, seed: np.random.SeedSequence, k: int) -> FloatArray:
        """The parameter after k changes."""
        if k == 0:
            return theta
        if self.change == "flip":
            return -theta if k % 2 else theta
        direction = generator(seed, THETA, STEPS, k).standard_normal(len(theta))
        return math.hypot(*theta) / math.hypot(*direction) * direction

    def _walk(self, theta: FloatArray, seed: np.random.SeedSequence, index: int) -> FloatArray:
        """By steps of the walk; where each block began is remembered."""
        if not self._starts or not np.array_equal(self._starts[0], theta):
            self._starts[:] = [theta]
        radius, scale = math.hypot(*theta), self.walk / math.sqrt(len(theta))
        rows = np.empty((BLOCK_ROUNDS, len(theta)))
        for b in range(min(index, len(self._starts) - 1), index + 1):
            now = self._starts[b]
            steps = scale * generator(seed, THETA, WALK, b).standard_normal(rows.shape)
            for t in range(BLOCK_ROUNDS):
                rows[t] = now
                now = now + steps[t]
                now = radius / max(math.hypot(*now), 1e-12) * now
            if b + 1 == len(self._starts):
                self._starts.append(now)
        return rows
