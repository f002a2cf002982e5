"""Ridge regressions for the weights of a mixture, side by side, and the ellipsoid about one."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import ClassVar

import numpy as np

from voful.confidence.algebra import quadratic_form, whiten
from voful.confidence.ellipsoids.ridge import COUNT, LOG_DET
from voful.confidence.mixture.domain import Domain
from voful.confidence.mixture.ends import EllipsoidalMixtureSet, MixtureEllipsoids
from voful.persistence import Stateful
from voful.typing import FloatArray
from voful.validation import TOLERANCE


def at_sum_one(
    center: FloatArray, whitener: FloatArray, radius: float
) -> tuple[FloatArray, float, float]:
    """(q, shift, radius) of the cut of {|theta - c|_M <= radius} with sum theta = 1.

    With q the unit vector along W 1 and e = 1 - sum c, the cut is an ellipsoid about
    c + e M^-1 1 / |W 1|^2 with squared radius radius^2 - e^2 / |W 1|^2, whose half-width along x is
    that times |W x - <q, W x> q|: what is known of the sum costs nothing.
    """
    q = np.empty(len(center))
    length = math.sqrt(whiten(whitener, np.ones(len(center)), q))
    gap = 1.0
    for entry in center:
        gap -= entry
    shift = gap / length
    return q / length, shift, math.sqrt(max(radius * radius - shift * shift, 0.0))


class Regressions(Stateful):
    """n ridge regressions in R^dim: M_m = ridge I + sum w x x', theta_m = M_m^-1 sum w y x.

    Parameters
    ----------
    n, dim
        How many, and the dimension.
    ridge
        lambda > 0.
    """

    _arrays: ClassVar[tuple[str, ...]] = (
        "precisions",
        "whiteners",
        "responses",
        "centers",
        "tallies",
    )

    def __init__(self, n: int, dim: int, ridge: float) -> None:
        self.ridge = ridge
        self.log_det_ridge = dim * float(np.log(ridge))
        self.precisions = np.tile(ridge * np.eye(dim), (n, 1, 1))
        self.whiteners = np.tile(np.eye(dim) / np.sqrt(ridge), (n, 1, 1))
        self.responses = np.zeros((n, dim))
        self.centers = np.zeros((n, dim))
        self.tallies = np.zeros((n, 2))
        self.tallies[:, LOG_DET] = self.log_det_ridge

    def log_det_ratio(self, m: int) -> float:
        """ln(det M_m / det(ridge I))."""
        return max(float(self.tallies[m, LOG_DET]) - self.log_det_ridge, 0.0)

    def n_observations(self, m: int) -> int:
        """How many observations regression m has learnt."""
        return int(self.tallies[m, COUNT])

    def matrices(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
        """What the kernels update, in the order of `ridge_update`."""
        return self.precisions, self.whiteners, self.responses, self.centers, self.tallies


class MixtureEllipsoid(EllipsoidalMixtureSet):
    """{theta in the domain : |theta - theta_m|_{M_m} <= radius}, a live view of a regression.

    Parameters
    ----------
    regressions, m
        Whose ellipsoid.
    radius
        The radius, a function without arguments.
    domain
        The simplex or the L1 ball, to which members belong.
    cut
        Whether `support` knows the domain too: the lesser of the two upper ends (an upper bound of
        the sup over both). False: that of the ellipsoid alone.
    """

    def __init__(
        self,
        regressions: Regressions,
        m: int,
        *,
        radius: Callable[[], float],
        domain: Domain,
        cut: bool,
    ) -> None:
        super().__init__(domain.dim)
        self._regressions = regressions
        self._m = m
        self._radius = radius
        self.domain = domain
        self.cut = cut

    @property
    def center(self) -> FloatArray:
        """The ridge estimate."""
        center: FloatArray = self._regressions.centers[self._m].copy()
        return center

    @property
    def radius(self) -> float:
        """beta."""
        return self._radius()

    @property
    def n_observations(self) -> int:
        """How many transitions were learnt."""
        return self._regressions.n_observations(self._m)

    @property
    def is_empty(self) -> bool:
        """Whether the ellipsoid misses sum theta = 1, where that is known and asked for."""
        if not (self.cut and self.domain.simplex):
            return False
        whitener, center = self._regressions.whiteners[self._m], self._regressions.centers[self._m]
        squared = whiten(whitener, np.ones(self.dim), np.empty(self.dim))
        return bool((1.0 - center.sum()) ** 2 > self.radius**2 * squared * (1.0 + TOLERANCE))

    def _contains(self, theta: FloatArray) -> bool:
        difference = theta - self._regressions.centers[self._m]
        distance = quadratic_form(self._regressions.precisions[self._m], difference)
        limit = self.radius**2 * (1.0 + TOLERANCE)
        return self.domain.contains(theta) and bool(distance <= limit)

    def _ellipsoids(self) -> MixtureEllipsoids:
        m, radius, simplex = self._m, self.radius, self.domain.simplex
        centers = self._regressions.centers[m : m + 1]
        whiteners = self._regressions.whiteners[m : m + 1]
        q, shift = np.zeros(self.dim), 0.0
        if self.cut and simplex:
            q, shift, radius = at_sum_one(centers[0], whiteners[0], radius)
        return MixtureEllipsoids(
            centers,
            whiteners,
            np.array([radius]),
            q[np.newaxis],
            np.array([shift]),
            tangent=False,
            cut=self.cut,
            simplex=simplex,
        )
