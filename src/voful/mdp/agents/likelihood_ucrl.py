"""LikelihoodUCRL: optimism over the likelihood-ratio set of a linear mixture."""

from __future__ import annotations

import numpy as np

from voful import validation
from voful.confidence.mixture.likelihood import LikelihoodSet
from voful.mdp.counting import CountingAgent
from voful.mdp.model import LinearMixtureModel
from voful.typing import Seed


class LikelihoodUCRL(CountingAgent):
    """Optimistic planning over the likelihood-ratio set of the mixture's weights.

    Where the base models are known probability kernels, transitions have a likelihood, and
    `LikelihoodSet` is a confidence set that needs no targets, moments or variances. It is the
    yardstick for VARLin, whose tests see the values of next states only. Coverage is proved,
    regret is measured.

    Parameters
    ----------
    model
        What is known of the MDP; its base models must be probability kernels.
    n_episodes
        K.
    failure_prob
        delta.
    width_scale
        Multiplies the price (1 = the theory).
    seed
        Unused by the algorithm itself, which is deterministic.
    """

    def __init__(
        self,
        model: LinearMixtureModel,
        *,
        n_episodes: int,
        failure_prob: float = 0.05,
        width_scale: float = 1.0,
        seed: Seed = 0,
    ) -> None:
        super().__init__(model, n_episodes=n_episodes, failure_prob=failure_prob, seed=seed)
        if not model.stochastic:
            raise validation.fail("model", model, "base models that are probability kernels")
        self._Theta = LikelihoodSet(
            model.probabilities.reshape(-1, model.dim),
            failure_prob=self.failure_prob,
            width_scale=width_scale,
        )
        self._empty_counts(np.zeros(1, dtype=np.int64))

    @property
    def confidence_set(self) -> LikelihoodSet:
        """Live view of the set; it learns when the episodes of a plan are over."""
        return self._Theta

    @property
    def width_scale(self) -> float:
        """What the price is multiplied with."""
        return self._Theta.width_scale

    def _construct_set(self) -> None:
        self._Theta.learn(self._counts[0].reshape(-1))
