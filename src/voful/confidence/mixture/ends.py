"""Ends of <x, theta> over ellipsoids for the weights of a mixture: one formula, for sets and plans.

Every backup of a plan asks for the upper end at each state and action. So what answers is a few
arrays that a kernel can read, and the sets answer by the same kernel: a compiled plan has the bits
of one that asks the set.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import NamedTuple

import numpy as np

from voful.compiled import kernel, part
from voful.confidence.algebra import dot, whiten
from voful.confidence.base import ParameterSet
from voful.confidence.mixture.domain import Domain
from voful.typing import FloatArray


class MixtureEllipsoids(NamedTuple):
    """Ellipsoids {|theta - c|_M <= radius} in R^d, and what is known of the weights besides.

    Attributes
    ----------
    centers, whiteners, radii
        (E, d), (E, d, d) and (E,).
    normals, shifts
        (E, d) and (E,): the ellipsoid is cut with a hyperplane. In the coordinates W theta its
        unit normal is q, and the centre of the cut lies `shift` q from c. No cut: both 0.
    tangent
        Whether sum theta = 1 is used instead: x is asked by its part orthogonal to 1, plus the
        mean of its entries.
    cut
        Whether ends are cut at those of the domain.
    simplex
        Whether the domain is the simplex; else it is the L1 ball.
    """

    centers: FloatArray
    whiteners: FloatArray
    radii: FloatArray
    normals: FloatArray
    shifts: FloatArray
    tangent: bool = False
    cut: bool = False
    simplex: bool = False


def point_of(theta: FloatArray) -> MixtureEllipsoids:
    """The ellipsoid of radius 0 about theta, with nothing else known."""
    nothing = np.zeros(1)
    room = np.zeros((1, len(theta), len(theta)))
    return MixtureEllipsoids(theta[np.newaxis], room, nothing, room[0, :1], nothing)


@part
def fill_ends(
    Theta: MixtureEllipsoids, X: FloatArray, u: FloatArray, p: FloatArray, ends: FloatArray
) -> None:
    """ends[0] and ends[1]: the largest lower and the smallest upper end of <x, theta>, rows x of X.

    Bounds over the intersection, not always attained by a member; they cross where none is left.
    The half-width along x is the radius times |W x - <q, W x> q|. ends is (3, n), its last row, u
    and p (d numbers) are room.
    """
    n, d = X.shape
    lower, upper, means = ends[0], ends[1], ends[2]
    for k in range(n):
        lower[k], upper[k], means[k] = -np.inf, np.inf, 0.0
        if Theta.tangent:
            for i in range(d):
                means[k] += X[k, i]
            means[k] /= d
    for e in range(Theta.radii.shape[0]):
        center, whitener, q = Theta.centers[e], Theta.whiteners[e], Theta.normals[e]
        radius, shift = Theta.radii[e], Theta.shifts[e]
        for k in range(n):
            for i in range(d):
                u[i] = X[k, i] - means[k]
            whiten(whitener, u, p)
            along = dot(q, p)
            squared = 0.0
            for i in range(d):
                squared += (p[i] - along * q[i]) ** 2
            middle = dot(u, center) + shift * along
            width = radius * math.sqrt(squared)
            lower[k] = max(lower[k], middle - width)
            upper[k] = min(upper[k], middle + width)
    for k in range(n):
        lower[k] += means[k]
        upper[k] += means[k]
        if Theta.cut:
            low, high = np.inf, -np.inf
            for i in range(d):
                low, high = min(low, X[k, i]), max(high, X[k, i])
            if not Theta.simplex:
                high = max(high, -low)
                low = -high
            lower[k], upper[k] = max(lower[k], low), min(upper[k], high)


@kernel
def ends_of(Theta: MixtureEllipsoids, X: FloatArray) -> FloatArray:
    """(lower, upper) ends of <x, theta> for the rows of X, see `fill_ends`; shape (2, n)."""
    n, d = X.shape
    ends = np.empty((3, n))
    fill_ends(Theta, X, np.empty(d), np.empty(d), ends)
    return ends[:2]


class EllipsoidalMixtureSet(ParameterSet):
    """A set of weights that is given by ellipsoids: it defines ``_ellipsoids``."""

    domain: Domain

    @abstractmethod
    def _ellipsoids(self) -> MixtureEllipsoids:
        """The ellipsoids as they are now, where the set is not empty."""

    def ellipsoids(self) -> MixtureEllipsoids:
        """What answers `support`; of an empty set, its centre."""
        return point_of(self.center) if self.answers_nothing() else self._ellipsoids()

    def _whatever(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        return self.domain.ends(X)

    def _interval(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        lower, upper = ends_of(self._ellipsoids(), X)
        return lower, upper

    def _support(self, X: FloatArray) -> FloatArray:
        return self._upper_ends(X)
