"""Value-targeted regression: what UCRL-VTR and its successors share.

A step from (s, a) to s' under the plan's next values V is one observation of a linear model:
x = (P_i V(s, a))_i and y = V(s'), with E[y | past] = <x, theta*>. The values were fixed before
the episode, so every regression on them is one of martingale noise.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import ClassVar, NamedTuple

from voful import validation
from voful.compiled import kernel
from voful.confidence.domain import Domain
from voful.confidence.mixture_ellipsoid import MixtureEllipsoid, Regressions
from voful.mdp.base import Agent
from voful.mdp.model import LinearMixtureModel
from voful.mdp.planning import OptimisticPlan, optimistic_plan
from voful.typing import FloatArray, IntArray, Seed


@kernel
def mean_targets(probabilities: FloatArray, targets: FloatArray, n: int, x: FloatArray) -> bool:
    """x_i = sum_b probabilities[b, i] targets[b] over b < n; whether x is not 0."""
    some = False
    for i in range(x.shape[0]):
        total = 0.0
        for b in range(n):
            total += probabilities[b, i] * targets[b]
        x[i] = total
        some = some or total != 0.0
    return some


class Radius(NamedTuple):
    """beta = floor + sqrt(slope ln(det M / det(lambda I)) + offset)."""

    floor: float
    slope: float = 0.0
    offset: float = 0.0

    def at(self, log_det_ratio: float) -> float:
        """The radius at ln(det M / det(lambda I))."""
        return line_radius(self.floor, self.slope, self.offset, log_det_ratio)


@kernel
def line_radius(floor: float, slope: float, offset: float, log_det_ratio: float) -> float:
    """floor + sqrt(slope log_det_ratio + offset)."""
    return floor + math.sqrt(slope * max(log_det_ratio, 0.0) + offset)


class ValueTargetedAgent(Agent):
    """Optimism over the ellipsoid about a regression on values.

    An agent defines ``radius`` (of the first regression, which plans) and ``_learn``. Rewards sum
    up to at most 1, so values and their noise lie in [0, 1], features have |x|_2 <= sqrt(d), and
    |theta*|_2 <= |theta*|_1 <= 1.

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
        return optimistic_plan(self.model, self.confidence_set.support, within_simplex=False)

    def _epoch_length(self) -> int:
        # One ellipsoid explores one direction at a time: a plan that tries the wrong action is
        # optimistic until it is renewed. sqrt(k) / 4 episodes of it cost less than what is learnt.
        learnt = self.episodes_learnt
        return max(1, min(math.isqrt(learnt) // 4, self.n_episodes - learnt))

    def _lists(self) -> tuple[IntArray, IntArray, FloatArray, FloatArray, int]:
        """What the kernels read: the model's lists, the plan's values, the horizon."""
        model = self.model
        return (
            model.successors,
            model.n_successors,
            model.probabilities,
            self._plan.values,
            model.horizon,
        )
