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
from voful.confidence.algebra import dot, quadratic_form
from voful.confidence.base import ParameterSet
from voful.confidence.mixture.domain import Domain
from voful.confidence.mixture.maximum import Room, lower_by_multipliers, new_room, plain_end
from voful.typing import BoolArray, FloatArray, IntArray

SAME = 2e-12
"""Ends are made exact where they are within this of the largest."""


class MixtureEllipsoids(NamedTuple):
    """Ellipsoids {c + B'v : |v| <= 1} in R^d, and what is known of the weights besides.

    Attributes
    ----------
    centers, factors, sizes
        c, B and the squared lengths of B's rows: (E, d), (E, d, d) and (E, d).
    positive
        (E,) whether all members have theta >= 0.
    corners
        (d,) whether the unit vectors are in all of the ellipsoids.
    cut
        Whether ends are those over the domain too.
    simplex
        Whether the domain is the simplex; else it is the L1 ball. In the simplex, where ends know
        of it, ellipsoids lie in the plane sum theta = 1: c sums up to 1, the rows of B to 0.
    """

    centers: FloatArray
    factors: FloatArray
    sizes: FloatArray
    positive: BoolArray
    corners: BoolArray
    cut: bool
    simplex: bool


@part
def ellipsoids_of(
    centers: FloatArray, factors: FloatArray, corners: BoolArray, cut: bool, simplex: bool
) -> MixtureEllipsoids:
    """With the lengths of rows; centers and factors are freed of what leaves the plane."""
    E, d = centers.shape
    sizes, positive = np.empty((E, d)), np.ones(E, dtype=np.bool_)
    for e in range(E):
        c, B = centers[e], factors[e]
        if cut and simplex:
            c += (1.0 - c.sum()) / d
            for j in range(d):
                B[:, j] -= B[:, j].mean()
        for i in range(d):
            sizes[e, i] = dot(B[i], B[i])
            positive[e] = positive[e] and c[i] >= math.sqrt(sizes[e, i])
    return MixtureEllipsoids(centers, factors, sizes, positive, corners, cut, simplex)


@part
def corners_within(centers: FloatArray, precisions: FloatArray, radii: FloatArray) -> BoolArray:
    """Whether the unit vectors e have |e - c|_M <= radius in all (E,) of the ellipsoids."""
    E, d = centers.shape
    inside = np.ones(d, dtype=np.bool_)
    for e in range(E):
        for i in range(d):
            u = -centers[e]
            u[i] += 1.0
            inside[i] = inside[i] and quadratic_form(precisions[e], u) <= radii[e] * radii[e]
    return inside


def point_of(theta: FloatArray) -> MixtureEllipsoids:
    """The ellipsoid of radius 0 about theta, with nothing else known."""
    d = len(theta)
    nothing, nowhere = np.zeros((1, d)), np.zeros(d, dtype=np.bool_)
    positive = np.array([(theta >= 0.0).all()])
    factor = np.zeros((1, d, d))
    return MixtureEllipsoids(theta[np.newaxis], factor, nothing, positive, nowhere, False, False)


@part
def fill_upper_ends(
    Theta: MixtureEllipsoids,
    X: FloatArray,
    added: FloatArray,
    likely: IntArray,
    most: float,
    Q: FloatArray,
    room: Room,
) -> None:
    """Q[s, a] = added[s, a] + the least upper end of <x, theta> over the ellipsoids in the domain.

    x is row s A + a of X. In the simplex the end of the ellipsoid that ends first is nearly the
    maximum, see `lower_by_multipliers`; in the L1 ball it is the lesser of two upper ends.

    Only the largest Q[s] has to be exact, and what is above `most` counts as that: where a bound
    shows that an action is not the best one it stays with this bound. likely[s] comes first.
    """
    S, A = Q.shape
    d, E = X.shape[1], Theta.centers.shape[0]
    centers, factors, sizes, corners = Theta.centers, Theta.factors, Theta.sizes, Theta.corners
    positive, cut, simplex, spread = Theta.positive, Theta.cut, Theta.simplex, room.spread
    for s in range(S):
        best = -np.inf
        for k in range(A):
            a = likely[s] if k == 0 else k - 1 if k <= likely[s] else k
            row, largest, end, mean = s * A + a, 0, np.inf, 0.0
            if cut:
                end = -np.inf
                for i in range(d):
                    value = X[row, i] if simplex else abs(X[row, i])
                    if value > end:
                        largest, end = i, value
                    if simplex:
                        mean += value / d
            if not (cut and simplex and corners[largest]):
                floor, lowest, least = best - SAME - added[s, a], 0, np.inf
                for e in range(E):
                    if end >= floor:
                        bound = mean + plain_end(centers, factors, e, X, row, mean, spread)
                        if bound < least:
                            lowest, least = e, bound
                        end = min(end, bound)
                if cut and simplex and not positive[lowest] and end >= floor:
                    if lowest < E - 1:  # else the room has its spread still
                        plain_end(centers, factors, lowest, X, row, mean, spread)
                    c, B = centers[lowest], factors[lowest]
                    end = min(end, lower_by_multipliers(c, B, sizes[lowest], least, floor, room))
            Q[s, a] = added[s, a] + end
            best = max(best, min(most, Q[s, a]))


@kernel
def ends_of(Theta: MixtureEllipsoids, X: FloatArray) -> FloatArray:
    """(lower, upper) ends of <x, theta> for the rows of X; they cross where none is left."""
    n, d = X.shape
    ends, room = np.empty((2, n)), new_room(d)
    zeros, alone = np.zeros((n, 1)), np.zeros(n, dtype=np.int64)
    fill_upper_ends(Theta, -X, zeros, alone, np.inf, ends[0].reshape(n, 1), room)
    fill_upper_ends(Theta, X, zeros, alone, np.inf, ends[1].reshape(n, 1), room)
    for k in range(n):
        ends[0, k] = -ends[0, k]
    return ends


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
