"""Ellipsoids about ridge estimates, alone or intersected, as confidence sets."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from voful.archive import Arrays
from voful.compiled import inlined, kernel, part
from voful.confidence.algebra import means_and_widths, quadratic_form
from voful.confidence.base import RuleSet
from voful.confidence.ellipsoids.ridge import log_det_ratio, open_ridge, within
from voful.confidence.ellipsoids.sound import scale_of, sound_ridges
from voful.invariants import Invariants
from voful.typing import FloatArray
from voful.validation import ObservationSpace


@part
def is_empty(blocks: FloatArray, d: int) -> bool:
    """Whether some ellipsoid has no point left."""
    empty = False
    for i in range(blocks.shape[0]):
        empty = empty or not open_ridge(blocks[i], d).radius[0] >= 0.0
    return empty


@kernel
def tightest_interval(blocks: FloatArray, X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(max over the ellipsoids of the lower ends, min of the upper ends) for the rows of X.

    Bounds of <x, theta> over the intersection, not always attained by a member. An infinite radius
    means that this ellipsoid says nothing; where one is empty, means decide. Ends that cross: no
    member is left.
    """
    n, d = X.shape
    empty = is_empty(blocks, d)
    lower, upper = np.full(n, -np.inf), np.full(n, np.inf)
    for i in range(blocks.shape[0]):
        ridge = open_ridge(blocks[i], d)
        radius = 0.0 if empty else ridge.radius[0]
        if radius < np.inf:
            cut(X, ridge.center, ridge.whitener, radius, lower, upper)
    return lower, upper


@inlined
def cut(
    X: FloatArray,
    center: FloatArray,
    whitener: FloatArray,
    radius: float,
    lower: FloatArray,
    upper: FloatArray,
) -> None:
    """Ends that one more ellipsoid leaves."""
    means, widths = means_and_widths(X, center, whitener, radius)
    for i in range(X.shape[0]):
        lower[i] = max(lower[i], means[i] - widths[i])
        upper[i] = min(upper[i], means[i] + widths[i])


@part
def meet(lower: FloatArray, upper: FloatArray) -> None:
    """Nothing in common along x: the point between says the least."""
    for i in range(lower.shape[0]):
        if lower[i] > upper[i]:
            lower[i] = upper[i] = 0.5 * (lower[i] + upper[i])


@kernel
def in_ellipsoids(blocks: FloatArray, constants: FloatArray, theta: FloatArray) -> bool:
    """`Rule.holds`: whether theta is in every ellipsoid."""
    for i in range(blocks.shape[0]):
        ridge = open_ridge(blocks[i], theta.shape[0])
        distance = quadratic_form(ridge.precision, theta - ridge.center)
        if not within(distance, ridge.radius[0]):
            return False
    return True


class EllipsoidIntersection(RuleSet):
    """Intersection over parts i of {|theta - c_i|_{M_i} <= radius_i}, in the ball |theta| <= S.

    M_i = ridge_i I + sum w x x' and c_i = M_i^-1 sum w y x over the observations that part i was
    given, with their weights; radii, width_scale included, are written by the algorithm as it
    learns. A negative or undefined radius means that the set is empty.

    Parameters
    ----------
    space
        What is accepted as an arm and a reward.
    state
        The algorithm's, whose type names its rule; ``state.blocks`` has a row for each part, as
        `open_ridge` reads it.
    theta_norm
        Norm bound S on the parameter.
    unknown_variance
        What is taken for the variance of an observation that comes without one.
    """

    _arrays: ClassVar[tuple[str, ...]] = ("blocks",)

    def __init__(
        self,
        space: ObservationSpace,
        state: Any,
        *,
        theta_norm: float,
        unknown_variance: float = 0.0,
    ) -> None:
        super().__init__(space, state, unknown_variance)
        self.theta_norm = theta_norm
        self.theta_center = np.zeros(space.dim)
        self.blocks: FloatArray = state.blocks
        self._open()

    def _invariants(self, state: Arrays) -> Invariants:
        rewards = scale_of(self._space)
        yield from sound_ridges(state["blocks"], self.blocks, self.dim, rewards)
        n, most = open_ridge(state["blocks"][0], self.dim).n[0], self._space.n_rounds
        yield "no more rounds than n_rounds", most is None or bool(n <= most)

    def _open(self) -> None:
        self.parts = [open_ridge(block, self.dim) for block in self.blocks]

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._open()  # a copy has views of its own memory

    @property
    def n_parts(self) -> int:
        """How many ellipsoids."""
        return len(self.parts)

    @property
    def n_observations(self) -> int:
        """How many rewards were learnt."""
        return int(self.parts[0].n[0])

    @property
    def counts(self) -> FloatArray:
        """How many observations each part was given."""
        return np.array([ridge.n[0] for ridge in self.parts])

    @property
    def radii(self) -> FloatArray:
        """Each part's radius, width_scale included."""
        return np.array([ridge.radius[0] for ridge in self.parts])

    @property
    def log_det_ratios(self) -> FloatArray:
        """ln(det M_i / det(ridge_i I)) of each part."""
        return np.array([log_det_ratio(ridge) for ridge in self.parts])

    @property
    def center(self) -> FloatArray:
        """The centre of the part that has learnt most, the first of equals."""
        return self.parts[int(np.argmax(self.counts))].center.copy()

    @property
    def is_empty(self) -> bool:
        """Whether some part has no member left."""
        return is_empty(self.blocks, self.dim)

    def _interval(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        return tightest_interval(self.blocks, X)

    def _support(self, X: FloatArray) -> FloatArray:
        return self._upper_ends(X)


class Ellipsoid(EllipsoidIntersection):
    """{theta : |theta - center|_M <= radius} in the ball |theta| <= S.

    `contains` asks for both; `support` is that of the ellipsoid.
    """

    @property
    def radius(self) -> float:
        """beta, width_scale included."""
        return float(self.parts[0].radius[0])


class RidgeEllipsoid(Ellipsoid):
    """The ellipsoid about one weighted ridge estimate, M = ridge I + sum w x x'."""

    @property
    def precision(self) -> FloatArray:
        """M."""
        return self.parts[0].precision

    @property
    def whitener(self) -> FloatArray:
        """W transposed, W'W = M^-1."""
        return self.parts[0].whitener

    @property
    def log_det_ratio(self) -> float:
        """ln(det M / det(lambda I)) = sum_s ln(1 + w_s |x_s|^2_{M_{s-1}^-1})."""
        return log_det_ratio(self.parts[0])
