"""Posterior sampling over the weights of a mixture: the heuristic people would try."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from voful import validation
from voful.compiled import kernel
from voful.confidence.algebra import unwhiten, whitener_from
from voful.mdp.base import Agent
from voful.mdp.counting import count_transitions
from voful.mdp.model import LinearMixtureModel
from voful.mdp.planning import OptimisticPlan, optimistic_plan_over_vertices
from voful.typing import FloatArray, IntArray, Seed

DRAWS = 64  # uniform numbers for one step, far more than a slice ever needs


@kernel
def log_likelihood(p: FloatArray, counts: FloatArray, theta: FloatArray) -> float:
    """sum_v counts[v] ln <p[v], theta>."""
    total = 0.0
    for v in range(p.shape[0]):
        mean = 0.0
        for i in range(p.shape[1]):
            mean += p[v, i] * theta[i]
        if mean <= 0.0:
            return -math.inf
        total += counts[v] * math.log(mean)
    return total


@kernel
def hit_and_run(
    p: FloatArray, counts: FloatArray, theta: FloatArray, normals: FloatArray, uniforms: FloatArray
) -> None:
    """Move theta over the simplex by slice sampling along random chords, in place.

    Directions are shaped by the information at the start of the chain: base models that hardly
    differ, and weights that are hardly seen, make the posterior thin.
    """
    steps, d = normals.shape
    information = np.eye(d)
    for v in range(p.shape[0]):
        mean = 0.0
        for i in range(d):
            mean += p[v, i] * theta[i]
        weight = counts[v] / (mean * mean)
        center = 0.0
        for i in range(d):
            center += p[v, i] / d
        for i in range(d):
            for j in range(d):
                information[i, j] += weight * (p[v, i] - center) * (p[v, j] - center)
    whitener = np.empty((d, d))
    if not whitener_from(information, whitener):
        whitener = np.eye(d)
    height = log_likelihood(p, counts, theta)
    direction, point = np.empty(d), np.empty(d)
    for step in range(steps):
        unwhiten(whitener, normals[step], direction)
        total = 0.0
        for i in range(d):
            total += direction[i]
        low, high = -math.inf, math.inf  # where theta + t direction leaves the simplex
        for i in range(d):
            direction[i] -= total / d
            if direction[i] > 0.0:
                low = max(low, -theta[i] / direction[i])
            elif direction[i] < 0.0:
                high = min(high, -theta[i] / direction[i])
        if not (math.isfinite(low) and math.isfinite(high)):
            continue
        level = height + math.log(1.0 - uniforms[step, 0])
        for k in range(1, uniforms.shape[1]):  # shrink the chord towards theta (Neal 2003)
            t = low + uniforms[step, k] * (high - low)
            size = 0.0
            for i in range(d):
                point[i] = max(theta[i] + t * direction[i], 0.0)
                size += point[i]
            for i in range(d):
                point[i] /= size
            value = log_likelihood(p, counts, point)
            if value >= level:
                theta[:] = point
                height = value
                break
            if t < 0.0:
                low = t
            else:
                high = t


class PosteriorMixture(Agent):
    """Plan as if a draw from the posterior of the weights were true.

    The prior is uniform on the simplex; the likelihood of the transitions, prod <p_v, theta>, is
    known, since the base models are, and its logarithm is concave. Draws come from a chain that
    starts at the previous draw: chords in random directions, shaped by the information, and
    slice sampling on them [2]. No confidence set, no optimism, and no guarantee for a fixed
    theta* (the bounds known average over the prior [1]).

    Parameters
    ----------
    model
        What is known of the MDP; its base models must be probability kernels.
    n_episodes
        How many episodes will be played.
    n_steps
        Of the chain, for each plan.
    seed
        Of the draws.

    References
    ----------
    [1] Osband, Russo, Van Roy. (More) efficient reinforcement learning via posterior sampling.
        NeurIPS 2013.
    [2] Neal. Slice sampling. Annals of Statistics 2003.
    """

    _arrays: ClassVar[tuple[str, ...]] = (*Agent._arrays, "_counts", "_theta")
    optimistic: ClassVar[bool] = False

    def __init__(
        self,
        model: LinearMixtureModel,
        *,
        n_episodes: int,
        n_steps: int = 50,
        seed: Seed = 0,
    ) -> None:
        super().__init__(model, n_episodes=n_episodes, failure_prob=0.5, seed=seed)
        if not model.stochastic:
            raise validation.fail("model", model, "base models that are probability kernels")
        self.n_steps = validation.positive_int("n_steps", n_steps)
        self._counts = np.zeros((1, *model.successors.shape), dtype=np.int64)
        self._theta = np.full(model.dim, 1.0 / model.dim)

    @property
    def confidence_set(self) -> None:
        """There is none."""
        return None

    @property
    def theta(self) -> FloatArray:
        """The latest draw."""
        draw: FloatArray = self._theta.copy()
        return draw

    def _make_plan(self) -> OptimisticPlan:
        met = self._counts[0] > 0
        hit_and_run(
            np.ascontiguousarray(self.model.probabilities[met]),
            self._counts[0][met].astype(np.float64),
            self._theta,
            self._rng.standard_normal((self.n_steps, self.dim)),
            self._rng.random((self.n_steps, DRAWS)),
        )
        return optimistic_plan_over_vertices(self.model, self._theta[np.newaxis])

    def _learn(self, states: IntArray, actions: IntArray, lengths: IntArray) -> None:
        count_transitions(
            self.model.successors,
            self.model.n_successors,
            np.zeros(1, dtype=np.int64),
            self.model.horizon,
            states,
            actions,
            lengths,
            self._counts,
        )
