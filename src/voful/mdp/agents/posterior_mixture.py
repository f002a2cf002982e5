"""Posterior sampling over the weights of a mixture: the heuristic people would try."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from voful.archive import Arrays
from voful.compiled import kernel, part
from voful.confidence.algebra import dot, unwhiten, whitener_from
from voful.invariants import Invariants, between
from voful.mdp import arguments as given
from voful.mdp.base import Agent
from voful.mdp.counting import CountingAgent
from voful.mdp.model import LinearMixtureModel
from voful.mdp.planning import OptimisticPlan, optimistic_plan_over_vertices
from voful.parameters import parameter
from voful.typing import FloatArray, Seed
from voful.validation import fail, positive_int

DRAWS = 64  # uniform numbers for one step, far more than a slice ever needs


@part
def log_likelihood(p: FloatArray, counts: FloatArray, theta: FloatArray) -> float:
    """sum_v counts[v] ln <p[v], theta>."""
    total = 0.0
    for v in range(p.shape[0]):
        mean = dot(p[v], theta)
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
        mean = dot(p[v], theta)
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
                for i in range(d):
                    theta[i] = point[i]
                height = value
                break
            if t < 0.0:
                low = t
            else:
                high = t


def few_steps(name: str, value: object) -> int:
    """A whole number from 1 to 10^5."""
    number = positive_int(name, value)
    if number > 10**5:
        raise fail(name, number, "at most 10^5 steps")
    return number


class PosteriorMixture(CountingAgent):
    """Plan as if a draw from the posterior of the weights were true.

    The prior is uniform on the simplex; the likelihood of the transitions, prod <p_v, theta>, is
    known, since the base models are, and its logarithm is concave. Draws come from a chain that
    starts at the previous draw: chords in random directions, shaped by the information, and
    slice sampling on them [2]. No confidence set, no optimism, and no guarantee for a fixed
    theta* (the bounds known average over the prior [1]).

    References
    ----------
    [1] Osband, Russo, Van Roy. (More) efficient reinforcement learning via posterior sampling.
        NeurIPS 2013.
    [2] Neal. Slice sampling. Annals of Statistics 2003.
    """

    _arrays: ClassVar[tuple[str, ...]] = (*Agent._arrays, "_theta")
    _parts: ClassVar[tuple[str, ...]] = (*Agent._parts, "_counter")
    optimistic: ClassVar[bool] = False

    model: LinearMixtureModel = parameter(
        given.mixture_of_kernels,
        "What is known of the MDP; its base models must be probability kernels.",
        kw_only=False,
    )
    n_episodes: int = given.n_episodes("How many episodes will be played.")
    failure_prob = None
    n_steps: int = parameter(few_steps, "Of the chain, for each plan.", default=50)
    seed: Seed = given.seed("Of the draws.")

    def _build(self) -> None:
        super()._build()
        self._theta = np.full(self.dim, 1.0 / self.dim)

    def _invariants(self, state: Arrays) -> Invariants:
        yield from super()._invariants(state)
        theta, counts = state["_theta"], state["_counter/counts"]
        yield "a draw from the simplex", bool(theta.min() >= 0.0) and between(theta.sum(), 1.0, 1.0)
        yield "counts under one target", len(counts) == 1
        likely = self.model.probabilities @ theta
        yield "a draw that can be true", bool((likely[counts[0] > 0] > 1e-200).all())

    @property
    def confidence_set(self) -> None:
        """There is none."""
        return None

    @property
    def theta(self) -> FloatArray:
        """The latest draw."""
        return self._theta.copy()

    def _make_plan(self) -> OptimisticPlan:
        counts = self._counter.counts[0]
        hit_and_run(
            np.ascontiguousarray(self.model.probabilities[counts > 0]),
            counts[counts > 0].astype(np.float64),
            self._theta,
            self._rng.standard_normal((self.n_steps, self.dim)),
            self._rng.random((self.n_steps, DRAWS)),
        )
        return optimistic_plan_over_vertices(self.model, self._theta[np.newaxis])
