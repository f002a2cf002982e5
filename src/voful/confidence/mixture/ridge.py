"""The ellipsoid about a ridge estimate for the weights of a mixture."""

from __future__ import annotations

import math

import numpy as np

from voful.confidence.algebra import quadratic_form, whiten
from voful.confidence.ellipsoids.ridge import Ridge, open_ridge, within
from voful.confidence.mixture.domain import Domain
from voful.confidence.mixture.ends import (
    EllipsoidalMixtureSet,
    MixtureEllipsoids,
    corners_within,
    ellipsoids_of,
)
from voful.typing import FloatArray
from voful.validation import TOLERANCE


def at_sum_one(
    center: FloatArray, whitener: FloatArray, radius: float
) -> tuple[FloatArray, FloatArray]:
    """(c, B) of the cut of {|theta - center|_M <= radius} with sum theta = 1.

    With q the unit vector along W 1 and e = 1 - sum center, the cut is an ellipsoid about
    center + e M^-1 1 / |W 1|^2 with squared radius radius^2 - e^2 / |W 1|^2, whose half-width along
    x is that times |W x - <q, W x> q|: what is known of the sum costs nothing.
    """
    W, q = whitener.T, np.empty(len(center))
    length = math.sqrt(whiten(whitener, np.ones(len(center)), q))
    q /= length
    shift = (1.0 - center.sum()) / length
    left = math.sqrt(max(radius * radius - shift * shift, 0.0))
    return center + shift * (q @ W), left * (W - np.outer(q, q @ W)).T


class MixtureEllipsoid(EllipsoidalMixtureSet):
    """{theta in the domain : |theta - center|_M <= radius}, a live view of a regression.

    Parameters
    ----------
    blocks
        The regression in its first row, as `open_ridge` reads it; the radius stands there too.
    domain
        The simplex or the L1 ball, to which members belong.
    cut
        Whether `support` knows the domain too: nearly the maximum over both in the simplex, the
        lesser of the two upper ends in the L1 ball. False: that of the ellipsoid alone.
    """

    def __init__(self, blocks: FloatArray, domain: Domain, *, cut: bool) -> None:
        super().__init__(domain.dim)
        self.blocks = blocks
        self.domain = domain
        self.cut = cut

    @property
    def _ridge(self) -> Ridge:
        return open_ridge(self.blocks[0], self.dim)

    @property
    def center(self) -> FloatArray:
        """The ridge estimate."""
        return self._ridge.center.copy()

    @property
    def radius(self) -> float:
        """beta."""
        return float(self._ridge.radius[0])

    @property
    def n_observations(self) -> int:
        """How many transitions were learnt."""
        return int(self._ridge.n[0])

    @property
    def is_empty(self) -> bool:
        """Whether the ellipsoid misses sum theta = 1, where that is known and asked for."""
        if not (self.cut and self.domain.simplex):
            return False
        ridge = self._ridge
        squared = whiten(ridge.whitener, np.ones(self.dim), np.empty(self.dim))
        return bool((1.0 - ridge.center.sum()) ** 2 > self.radius**2 * squared * (1.0 + TOLERANCE))

    def _contains(self, theta: FloatArray) -> bool:
        ridge = self._ridge
        distance = quadratic_form(ridge.precision, theta - ridge.center)
        return self.domain.contains(theta) and within(distance, self.radius)

    def _ellipsoids(self) -> MixtureEllipsoids:
        ridge, radius, simplex = self._ridge, self.radius, self.domain.simplex
        center, factor = ridge.center, radius * ridge.whitener
        if self.cut and simplex:
            center, factor = at_sum_one(ridge.center, ridge.whitener, radius)
        corners = corners_within(ridge.center[None], ridge.precision[None], np.array([radius]))
        return ellipsoids_of(center[None], factor[None], corners, cut=self.cut, simplex=simplex)
