"""The ellipsoid about a ridge estimate for the weights of a mixture."""

from __future__ import annotations

import math

import numpy as np

from voful.compiled import kernel, part
from voful.confidence.algebra import dot, quadratic_form, whiten
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


@part
def at_sum_one(
    center: FloatArray, whitener: FloatArray, radius: float
) -> tuple[FloatArray, FloatArray]:
    """(c, B) of the cut of {|theta - center|_M <= radius} with sum theta = 1.

    With q the unit vector along W 1 and e = 1 - sum center, the cut is an ellipsoid about
    center + e M^-1 1 / |W 1|^2 with squared radius radius^2 - e^2 / |W 1|^2, whose half-width along
    x is that times |W x - <q, W x> q|: what is known of the sum costs nothing.
    """
    d = center.shape[0]
    c, B, q = center.copy(), np.empty((d, d)), np.empty(d)
    length = math.sqrt(whiten(whitener, np.ones(d), q))
    shift = (1.0 - center.sum()) / length
    left = math.sqrt(max(radius * radius - shift * shift, 0.0))
    for i in range(d):
        q[i] /= length
    for j in range(d):
        along = dot(whitener[j], q)
        c[j] += shift * along
        for i in range(d):
            B[j, i] = left * (whitener[j, i] - along * q[i])
    return c, B


@kernel
def ridge_ellipsoid(block: FloatArray, d: int, cut: bool, simplex: bool) -> MixtureEllipsoids:
    """The ellipsoid of a regression, cut with the plane of the simplex where that is asked for."""
    ridge = open_ridge(block, d)
    centers, factors, radii = np.empty((1, d)), np.empty((1, d, d)), np.empty(1)
    centers[0], radii[0] = ridge.center, ridge.radius[0]
    corners = corners_within(centers, ridge.precision.reshape(1, d, d), radii)
    if cut and simplex:
        centers[0], factors[0] = at_sum_one(ridge.center, ridge.whitener, radii[0])
    else:
        factors[0] = radii[0] * ridge.whitener
    return ellipsoids_of(centers, factors, corners, cut, simplex)


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
        radius = float(ridge.radius[0])
        return bool((1.0 - ridge.center.sum()) ** 2 > radius**2 * squared * (1.0 + TOLERANCE))

    def _contains(self, theta: FloatArray) -> bool:
        ridge = self._ridge
        distance = quadratic_form(ridge.precision, theta - ridge.center)
        return self.domain.contains(theta) and within(distance, float(ridge.radius[0]))

    def _ellipsoids(self) -> MixtureEllipsoids:
        return ridge_ellipsoid(self.blocks[0], self.dim, self.cut, self.domain.simplex)
