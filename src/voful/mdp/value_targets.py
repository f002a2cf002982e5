"""Value-targeted regression: what UCRL-VTR and its successors share.

A step from (s, a) to s' under the plan's next values V is one observation of a linear model:
x = (P_i V(s, a))_i and y = V(s'), with E[y | past] = <x, theta*>. The values were fixed before
the episode, so every regression on them is one of martingale noise.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from voful.archive import Arrays
from voful.compiled import kernel
from voful.confidence.ellipsoids.ridge import log_det_ratio, new_ridges, open_ridge
from voful.confidence.ellipsoids.sound import sound_ridges
from voful.confidence.mixture.domain import Domain
from voful.confidence.mixture.ridge import MixtureEllipsoid
from voful.invariants import Invariants
from voful.mdp import arguments as given
from voful.mdp.base import Agent
from voful.mdp.moment_regression import learn_moments, line_radius
from voful.mdp.planning import OptimisticPlan, optimistic_plan_over_ellipsoids
from voful.mdp.trajectories import Walks
from voful.parameters import parameter
from voful.typing import FloatArray, IntArray, Seed
from voful.validation import boolean


class Radius(NamedTuple):
    """beta = floor + sqrt(slope ln(det M / det(lambda I)) + offset)."""

    floor: float
    slope: float = 0.0
    offset: float = 0.0


@kernel
def growth_of(block: FloatArray, d: int) -> float:
    """ln(det M / det(lambda I)) of a regression: what Python opens takes some 10 us."""
    return log_det_ratio(open_ridge(block, d))


@kernel
def set_radius(block: FloatArray, d: int, radius: Radius, width_scale: float) -> None:
    """Write beta of a regression as it is now."""
    ridge = open_ridge(block, d)
    beta = line_radius(radius.floor, radius.slope, radius.offset, log_det_ratio(ridge))
    ridge.radius[0] = width_scale * beta


def sub_gaussian(delta: float) -> Radius:
    """sqrt(lambda) |theta*| + R sqrt(ln det + 2 ln(1/delta)) with lambda = 1 and R = 1/2."""
    return Radius(1.0, 0.25, -0.5 * math.log(delta))


class ValueTargetedAgent(Agent):
    """Optimism over the ellipsoid about a regression on values.

    An agent defines ``_radius`` (of the first regression, which plans) and says in ``_build``, by
    ``_regress``, what weighs its observations (see `moment_regression`). Rewards sum up to at most
    1, so values and their noise lie in [0, 1], features have |x|_2 <= sqrt(d), and
    |theta*|_2 <= |theta*|_1 <= 1.
    """

    _arrays: ClassVar[tuple[str, ...]] = (*Agent._arrays, "_blocks")

    n_episodes: int = given.n_episodes("K.")
    failure_prob: float = given.failure_prob("delta.")
    constants: str = given.choice('"tight" or "paper".', "tight", "paper", default="tight")
    cut: bool | None = parameter(
        boolean,
        "Whether upper ends are those within the simplex (or cut at those of the L1 ball); None: "
        "with the tight constants.",
        default=None,
        derived=lambda agent: agent.constants == "tight",
    )
    width_scale: float = given.width_scale("Multiplies the radii (1 = the theory).")
    seed: Seed = given.seed()

    def _regress(
        self, n: int, *, ridge: float, alpha_squared: float = 1.0, gamma_squared: float = 0.0
    ) -> None:
        """Make n regressions with this lambda, alpha and gamma."""
        self._weights = alpha_squared, gamma_squared
        self._blocks = new_ridges(self.dim, np.full(n, ridge), np.zeros(n))
        self._set_radius(0)

    @classmethod
    def _least_numbers(cls, config: Mapping[str, Any]) -> int:
        return int(config["model"].dim) ** 2

    def _invariants(self, state: Arrays) -> Invariants:
        yield from super()._invariants(state)
        yield from sound_ridges(state["_blocks"], self._blocks, self.dim, 1.0)

    @abstractmethod
    def _radius(self, learnt: int) -> Radius:
        """Of the set that plans, after so many episodes, without width_scale."""

    def _radii(self, learnt: int) -> list[Radius]:
        """Of each of the M regressions, where it bounds the variance of the others."""
        return [self._radius(learnt)] * len(self._blocks)

    @property
    def radius(self) -> float:
        """beta of the set that plans, width_scale included."""
        return self.confidence_set.radius

    @property
    def confidence_set(self) -> MixtureEllipsoid:
        """Live view of the set that plans."""
        domain = Domain(self.dim, self.model.stochastic)
        return MixtureEllipsoid(self._blocks, domain, cut=bool(self.cut))

    @property
    def largest_features(self) -> float:
        """Bound on |x|_2: each x_i is a mean of values in [0, 1] (their difference, if signed)."""
        return math.sqrt(self.dim)

    def _information(self) -> float:
        return growth_of(self._blocks[0], self.dim) / self.dim

    def _make_plan(self) -> OptimisticPlan:
        return optimistic_plan_over_ellipsoids(self.model, self.confidence_set.ellipsoids())

    def _learn(self, states: IntArray, actions: IntArray, lengths: IntArray) -> None:
        first, last = self.episodes_learnt, self.episodes_learnt + len(lengths)
        learn_moments(
            self.model.transitions,
            self._plan.values,
            self.model.horizon,
            Walks(states, actions, lengths),
            self._blocks,
            np.array([self._radii(learnt) for learnt in range(first, last)]),
            self.width_scale,
            *self._weights,
        )
        self._set_radius(last)

    def _set_radius(self, learnt: int) -> None:
        set_radius(self._blocks[0], self.dim, self._radius(learnt), self.width_scale)
