"""Value-targeted regression: what UCRL-VTR and its successors share.

A step from (s, a) to s' under the plan's next values V is one observation of a linear model:
x = (P_i V(s, a))_i and y = V(s'), with E[y | past] = <x, theta*>. The values were fixed before
the episode, so every regression on them is one of martingale noise.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import ClassVar, NamedTuple

import numpy as np

from voful import validation
from voful.confidence.mixture.domain import Domain
from voful.confidence.mixture.ridge import MixtureEllipsoid, Regressions
from voful.mdp.base import Agent
from voful.mdp.model import LinearMixtureModel
from voful.mdp.moment_regression import learn_moments, line_radius
from voful.mdp.planning import OptimisticPlan, optimistic_plan_over_ellipsoids
from voful.typing import FloatArray, IntArray, Seed


class Radius(NamedTuple):
    """beta = floor + sqrt(slope ln(det M / det(lambda I)) + offset)."""

    floor: float
    slope: float = 0.0
    offset: float = 0.0

    def at(self, log_det_ratio: float) -> float:
        """The radius at ln(det M / det(lambda I))."""
        return line_radius(self.floor, self.slope, self.offset, log_det_ratio)


class ValueTargetedAgent(Agent):
    """Optimism over the ellipsoid about a regression on values.

    An agent defines ``radius`` (of the first regression, which plans) and what weighs its
    observations (see `moment_regression`): ``_alpha_squared``, ``_gamma_squared``, ``_radii``.
    Rewards sum up to at most 1, so values and their noise lie in [0, 1], features have
    |x|_2 <= sqrt(d), and |theta*|_2 <= |theta*|_1 <= 1.

    Parameters
    ----------
    model, n_episodes, failure_prob, seed
        As for every agent.
    n_regressions, ridge
        How many regressions, and their lambda.
    width_scale
        Multiplies the radii (1 = the theory).
    cut
        Whether the upper ends are cut with those of the parameter's domain, see
        `MixtureEllipsoid`.
    """

    _parts: ClassVar[tuple[str, ...]] = (*Agent._parts, "_regressions")
    _alpha_squared = 1.0
    _gamma_squared = 0.0

    def __init__(
        self,
        model: LinearMixtureModel,
        *,
        n_episodes: int,
        failure_prob: float,
        n_regressions: int,
        ridge: float,
        width_scale: float,
        cut: bool,
        seed: Seed,
    ) -> None:
        super().__init__(model, n_episodes=n_episodes, failure_prob=failure_prob, seed=seed)
        self.width_scale = validation.positive_float("width_scale", width_scale)
        self.cut = validation.boolean("cut", cut)
        self._domain = Domain(model.dim, model.stochastic)
        self._regressions = Regressions(n_regressions, model.dim, ridge)

    @property
    @abstractmethod
    def radius(self) -> float:
        """beta of the set that plans, width_scale included."""

    @property
    def confidence_set(self) -> MixtureEllipsoid:
        """Live view of the set that plans."""
        return MixtureEllipsoid(
            self._regressions, 0, radius=lambda: self.radius, domain=self._domain, cut=self.cut
        )

    @property
    def largest_features(self) -> float:
        """Bound on |x|_2: each x_i is a mean of values in [0, 1] (their difference, if signed)."""
        return math.sqrt(self.model.dim)

    def _make_plan(self) -> OptimisticPlan:
        return optimistic_plan_over_ellipsoids(self.model, self.confidence_set.ellipsoids())

    def _epoch_length(self) -> int:
        # One ellipsoid explores one direction at a time: a plan that tries the wrong action is
        # optimistic until it is renewed. sqrt(k) / 4 episodes of it cost less than what is learnt.
        learnt = self.episodes_learnt
        return max(1, min(math.isqrt(learnt) // 4, self.n_episodes - learnt))

    def _learn(self, states: IntArray, actions: IntArray, lengths: IntArray) -> None:
        model = self.model
        learn_moments(
            model.successors,
            model.n_successors,
            model.probabilities,
            self._plan.values,
            model.horizon,
            states,
            actions,
            lengths,
            *self._regressions.matrices(),
            self._regressions.log_det_ridge,
            np.ascontiguousarray(self._radii(len(lengths))),
            self.width_scale,
            self._alpha_squared,
            self._gamma_squared,
        )

    def _radii(self, n: int) -> FloatArray:
        """`Radius` of each regression in the next n episodes, without width_scale: (n, M, 3)."""
        return np.zeros((n, len(self._regressions.centers), 3))
