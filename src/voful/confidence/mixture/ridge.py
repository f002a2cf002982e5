"""The ellipsoid about a ridge estimate for the weights of a mixture."""

from __future__ import annotations

import math

import numpy as np

from voful.confidence.algebra import quadratic_form, whiten
from voful.confidence.ellipsoids.ridge import Ridge, open_ridge, within
from voful.confidence.mixture.domain import Domain
from voful.confidence.mixture.ends import EllipsoidalMixtureSet, MixtureEllipsoids
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


class MixtureEllipsoid(EllipsoidalMixtureSet):
    """{theta in the domain : |theta - center|_M <= radius}, a live view of a regression.

    Parameters
    ----------
    blocks
        The regression in its first row, as `open_ridge` reads it; the radius stands there too.
    domain
        The simplex or the L1 ball, to which members belong.
    cut
        Whether `support` knows the domain too: the lesser of the two upper ends (an upper bound of
        the sup over both). False: that of the ellipsoid alone.
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
        q, shift = np.zeros(self.dim), 0.0
        if self.cut and simplex:
            q, shift, radius = at_sum_one(ridge.center, ridge.whitener, radius)
        ball = ridge.center[None], ridge.whitener[None], np.array([radius])
        return MixtureEllipsoids(*ball, q[None], np.array([shift]), cut=self.cut, simplex=simplex)
