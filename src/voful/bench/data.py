"""What every contender plays: the same arms, the same theta*, the same noise."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from voful.compiled import kernel
from voful.envs import LinearBandit, linear_bandit
from voful.envs.bandit.noise import reward
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
        env, block = self.env, self.env.block(0)
        uniforms = env.uniforms(0, self.n_rounds)
        return pay(env.noise.kind, block.means[0], block.sigmas[0], *env.reward_range, uniforms)

    @cached_property
    def rewards(self) -> list[list[float]]:
        """`table` as Python numbers, which loops in Python read fastest."""
        rows: list[list[float]] = self.table.tolist()
        return rows

    @cached_property
    def variances(self) -> list[float]:
        """True variance of each arm's noise, for the algorithms that must be told."""
        numbers: list[float] = self.env.variances.tolist()
        return numbers


@kernel
def pay(
    kind: int, means: FloatArray, sigmas: FloatArray, low: float, high: float, uniforms: FloatArray
) -> FloatArray:
    """What each arm would pay in each round."""
    rewards = np.empty((uniforms.shape[0], means.shape[0]))
    for t in range(uniforms.shape[0]):
        for i in range(means.shape[0]):
            rewards[t, i] = reward(kind, means[i], sigmas[i], low, high, uniforms[t])
    return rewards


def make_data(dim: int, n_arms: int, n_rounds: int) -> Data:
    """The data of one size; nothing else changes them."""
    return Data(linear_bandit(dim=dim, n_arms=n_arms, sigma=SIGMA, seed=0), n_rounds)
