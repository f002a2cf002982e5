"""What every contender plays: the same arms, the same theta*, the same noise."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from voful.compiled import kernel
from voful.envs import LinearBandit, linear_bandit
from voful.envs.bandit.noise import reward_and_variance
from voful.envs.bandit.streams import BLOCK_ROUNDS, uniforms
from voful.typing import FloatArray

SIGMA = 0.3


@dataclass(frozen=True)
class Data:
    """Fixed arms on the sphere, rewards in [-1, 1] with Gaussian noise cut to the range.

    Attributes
    ----------
    env
        The problem; loops that play an environment get it as it is.
    n_rounds
        How many rounds there are rewards for.
    """

    env: LinearBandit
    n_rounds: int

    @cached_property
    def arms(self) -> FloatArray:
        """(n_arms, dim)."""
        return self.env.arms

    @cached_property
    def table(self) -> FloatArray:
        """(n_rounds, n_arms): what each arm pays in each round."""
        return np.concatenate([part for part, _ in self._blocks])[: self.n_rounds]

    @cached_property
    def rewards(self) -> list[list[float]]:
        """`table` as Python numbers, which loops in Python read fastest."""
        rows: list[list[float]] = self.table.tolist()
        return rows

    @cached_property
    def variances(self) -> list[float]:
        """True variance of each arm's noise, for the algorithms that must be told."""
        numbers: list[float] = self._blocks[0][1].tolist()
        return numbers

    @cached_property
    def _blocks(self) -> list[tuple[FloatArray, FloatArray]]:
        env = self.env
        low, high = env.reward_range
        block = env.block(0)
        means, sigmas = block.means[0], block.sigmas[0]
        return [
            pay(env.noise.kind, means, sigmas, low, high, uniforms(env.noise_stream, index))
            for index in range(-(-self.n_rounds // BLOCK_ROUNDS))
        ]


@kernel
def pay(
    kind: int, means: FloatArray, sigmas: FloatArray, low: float, high: float, uniforms: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """What each arm would pay in each round, and the variances of the arms."""
    rewards = np.empty((uniforms.shape[0], means.shape[0]))
    variances = np.empty(means.shape[0])
    for t in range(uniforms.shape[0]):
        for i in range(means.shape[0]):
            rewards[t, i], variances[i] = reward_and_variance(
                kind, means[i], sigmas[i], low, high, uniforms[t]
            )
    return rewards, variances


def make_data(dim: int, n_arms: int, n_rounds: int) -> Data:
    """The data of one size; nothing else changes them."""
    return Data(linear_bandit(dim=dim, n_arms=n_arms, sigma=SIGMA, seed=0), n_rounds)
