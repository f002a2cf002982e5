"""The intersection of several ellipsoids about ridge estimates."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from voful.compiled import kernel
from voful.confidence.algebra import means_and_widths, quadratic_form
from voful.confidence.base import BallSet
from voful.confidence.ellipsoids.ridge import COUNT, LOG_DET, ridge_start, ridge_update, within
from voful.typing import FloatArray
from voful.validation import ObservationSpace


@kernel
def tightest_interval(
    X: FloatArray, centers: FloatArray, whiteners: FloatArray, radii: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """(max over the ellipsoids of the lower ends, min of the upper ends) for the rows of X.

    Bounds of <x, theta> over the intersection, not always attained by a member. An infinite radius
    means that this ellipsoid says nothing.
    """
    lower = np.full(X.shape[0], -np.inf)
    upper = np.full(X.shape[0], np.inf)
    for part in range(radii.shape[0]):
        if radii[part] < np.inf:
            means, widths = means_and_widths(X, centers[part], whiteners[part], radii[part])
            lower = np.maximum(lower, means - widths)
            upper = np.minimum(upper, means + widths)
    for i in range(X.shape[0]):
        if lower[i] > upper[i]:  # nothing in common along x: the point between says the least
            lower[i] = upper[i] = 0.5 * (lower[i] + upper[i])
    return lower, upper


@kernel
def in_all(
    precisions: FloatArray, centers: FloatArray, radii: FloatArray, theta: FloatArray
) -> bool:
    """Whether theta is in every ellipsoid."""
    for part in range(radii.shape[0]):
        if not within(quadratic_form(precisions[part], theta - centers[part]), radii[part]):
            return False
    return True


class EllipsoidIntersection(BallSet):
    """Intersection over parts i of {|theta - c_i|_{M_i} <= radius_i}, in the ball |theta| <= S.

    M_i = ridge_i I + sum w x x' and c_i = M_i^-1 sum w y x over the observations that part i was
    given, with their weights. A subclass defines ``_radii`` (without width_scale) and how an
    observation reaches the parts; a negative or undefined radius means that the set is empty.

    Parameters
    ----------
    space
        What is accepted as an arm and a reward.
    ridges
        (n_parts,) array of lambda_i > 0.
    theta_norm
        Norm bound S on the parameter.
    width_scale
        Multiplies every radius (1 = the theory).
    """

    _arrays: ClassVar[tuple[str, ...]] = (
        "precisions",
        "whiteners",
        "responses",
        "centers",
        "tallies",
        "learnt",
    )

    def __init__(
        self,
        space: ObservationSpace,
        *,
        ridges: FloatArray,
        theta_norm: float,
        width_scale: float = 1.0,
    ) -> None:
        super().__init__(space)
        self.theta_norm = theta_norm
        self.theta_center = np.zeros(space.dim)
        self.width_scale = width_scale
        self.ridges = ridges
        self._log_det_ridges = space.dim * np.log(ridges)
        start = ridge_start(space.dim, ridges)
        self.precisions, self.whiteners, self.responses, self.centers, self.tallies = start
        self.learnt = np.zeros(1, dtype=np.int64)

    @property
    def n_parts(self) -> int:
        """How many ellipsoids."""
        return len(self.ridges)

    @property
    def n_observations(self) -> int:
        """How many rewards were learnt, by whichever part."""
        return int(self.learnt[0])

    @property
    def log_det_ratios(self) -> FloatArray:
        """ln(det M_i / det(ridge_i I)) of each part."""
        ratios: FloatArray = self.tallies[:, LOG_DET] - self._log_det_ridges
        return np.maximum(ratios, 0.0)  # rounding may put it just below 0

    @property
    def counts(self) -> FloatArray:
        """How many observations each part was given."""
        counts: FloatArray = self.tallies[:, COUNT].copy()
        return counts

    @property
    def radii(self) -> FloatArray:
        """Each part's radius, width_scale included."""
        return self.width_scale * self._radii()

    @abstractmethod
    def _radii(self) -> FloatArray: ...

    @property
    def center(self) -> FloatArray:
        """The first part's centre."""
        first: FloatArray = self.centers[0].copy()
        return first

    @property
    def is_empty(self) -> bool:
        """Whether some part has no member left."""
        return not bool((self.radii >= 0.0).all())

    def usable_radii(self) -> FloatArray:
        """`radii`, or zeros (and a warning, once) where the set is empty: then means decide."""
        radii = self.radii
        if bool((radii >= 0.0).all()) or not self.warn_if_empty():
            return radii
        return np.zeros(self.n_parts)

    def _all_matrices(
        self,
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
        return self.precisions, self.whiteners, self.responses, self.centers, self.tallies

    def _matrices(
        self, part: int
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
        return (
            self.precisions[part],
            self.whiteners[part],
            self.responses[part],
            self.centers[part],
            self.tallies[part],
        )

    def _give(self, part: int, x: FloatArray, reward: float, weight: float) -> None:
        """Part i learns an observation of weight w (the caller counts `learnt`)."""
        ridge_update(*self._matrices(part), x, reward, weight)

    def _contains(self, theta: FloatArray) -> bool:
        if not self.in_ball(theta):
            return False
        return bool(in_all(self.precisions, self.centers, self.radii, theta))

    def _interval(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        lower, upper = tightest_interval(X, self.centers, self.whiteners, self.radii)
        return lower, upper

    def _support(self, X: FloatArray) -> FloatArray:
        return self._interval(X)[1]
