"""Ellipsoids {theta : (theta - c)' M (theta - c) <= beta^2}, and the one about a ridge estimate."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from typing import ClassVar

import numpy as np

from voful.compiled import inlined, kernel, shared
from voful.confidence.algebra import (
    add_outer,
    dot,
    due_for_refactorisation,
    log_det,
    means_and_widths,
    quadratic_form,
    unwhiten,
    update_whitener_within,
    whiten,
    whitener_from,
)
from voful.confidence.base import BallSet
from voful.typing import FloatArray
from voful.validation import TOLERANCE, ObservationSpace, fail

# Where RidgeEllipsoid.tally keeps its counters.
LOG_DET, COUNT = 0, 1


@kernel
def ridge_update(
    precision: FloatArray,
    whitener: FloatArray,
    response: FloatArray,
    center: FloatArray,
    tally: FloatArray,
    x: FloatArray,
    y: float,
    weight: float,
) -> tuple[float, float]:
    """One observation of weighted ridge regression, M = lambda I + sum w x x', c = M^-1 sum w y x.

    Recursive least squares: c <- c + w M_new^-1 x (y - <x, c>), M_new^-1 x = M^-1 x / (1 + growth).
    Returns growth = w x'M^-1 x and the residual y - <x, c>, both from before the update.
    """
    d = x.shape[0]
    whitened, direction, carries = np.empty(d), np.empty(d), np.empty(d)
    squared = whiten(whitener, x, whitened)
    return ridge_update_within(
        precision,
        whitener,
        response,
        center,
        tally,
        x,
        y,
        weight,
        squared,
        whitened,
        direction,
        carries,
    )


@inlined
def ridge_update_within(
    precision: FloatArray,
    whitener: FloatArray,
    response: FloatArray,
    center: FloatArray,
    tally: FloatArray,
    x: FloatArray,
    y: float,
    weight: float,
    squared: float,
    whitened: FloatArray,
    direction: FloatArray,
    carries: FloatArray,
) -> tuple[float, float]:
    """`ridge_update` where whitened = W x and squared = |W x|^2 are known.

    direction and carries (d) are room: memory costs more than a small update.
    """
    d = x.shape[0]
    residual = y - dot(x, center)
    unwhiten(whitener, whitened, direction)
    growth = weight * squared
    update_whitener_within(whitener, whitened, weight, carries)
    add_outer(precision, x, weight)
    step = weight * residual / (1.0 + growth)
    for i in range(d):
        center[i] += step * direction[i]
        response[i] += weight * y * x[i]
    tally[LOG_DET] += math.log1p(growth)
    tally[COUNT] += 1.0
    # Where M has lost its small eigenvalues to rounding, the updated whitener still knows them.
    if due_for_refactorisation(tally[COUNT], d) and whitener_from(precision, whitener):
        tally[LOG_DET] = log_det(whitener)
        whiten(whitener, response, whitened)
        unwhiten(whitener, whitened, center)
    return growth, residual


@shared
def within(squared_distance: float, radius: float) -> bool:
    """Whether a point so far from the centre is in the ellipsoid: 1e-9 relative slack."""
    return squared_distance <= radius * radius * (1.0 + TOLERANCE)


def ridge_start(
    dim: int, ridges: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    """What `ridge_update` updates, before any data: one ridge estimate for each of `ridges`.

    (n, dim, dim) precisions and whiteners, (n, dim) responses and centers, (n, 2) tallies.
    """
    n = len(ridges)
    tallies = np.zeros((n, 2))
    tallies[:, LOG_DET] = dim * np.log(ridges)
    return (
        ridges[:, np.newaxis, np.newaxis] * np.eye(dim),
        np.eye(dim) / np.sqrt(ridges)[:, np.newaxis, np.newaxis],
        np.zeros((n, dim)),
        np.zeros((n, dim)),
        tallies,
    )


@kernel
def ridge_update_many(
    precision: FloatArray,
    whitener: FloatArray,
    response: FloatArray,
    center: FloatArray,
    tally: FloatArray,
    X: FloatArray,
    y: FloatArray,
    weights: FloatArray,
) -> None:
    """`ridge_update` for the rows of X, in their order."""
    for i in range(X.shape[0]):
        ridge_update(precision, whitener, response, center, tally, X[i], y[i], weights[i])


class Ellipsoid(BallSet):
    """{theta : |theta - center|_M <= radius} in the ball |theta - theta_center| <= theta_norm.

    `contains` asks for both; `support` is that of the ellipsoid. Subclasses keep ``precision`` (M),
    ``whitener`` and ``_center`` (or define both norms themselves), and say what `radius` is; a
    negative or undefined radius means that the set is empty.
    """

    precision: FloatArray
    whitener: FloatArray
    _center: FloatArray

    def __init__(
        self,
        space: ObservationSpace,
        *,
        theta_norm: float,
        theta_center: FloatArray | None = None,
        width_scale: float = 1.0,
    ) -> None:
        super().__init__(space)
        self.theta_norm = theta_norm
        self.theta_center = np.zeros(space.dim) if theta_center is None else theta_center
        self.width_scale = width_scale

    @property
    @abstractmethod
    def radius(self) -> float:
        """beta, width_scale included."""

    @property
    def center(self) -> FloatArray:
        """Centre c of the ellipsoid."""
        return self._center.copy()

    @property
    def is_empty(self) -> bool:
        """Whether no parameter is left."""
        return not self.radius >= 0.0

    def usable_radius(self) -> float:
        """`radius`, or 0 (and a warning, once) where the set is empty: then means decide."""
        radius = self.radius
        return radius if radius >= 0.0 or not self.warn_if_empty() else 0.0

    def _contains(self, theta: FloatArray) -> bool:
        if not self.in_ball(theta):
            return False
        return within(self._squared_norm(theta - self._center), self.radius)

    def _support(self, X: FloatArray) -> FloatArray:
        means, widths = self._means_and_widths(X)
        return means + widths

    def _interval(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        means, widths = self._means_and_widths(X)
        return means - widths, means + widths

    def _squared_norm(self, difference: FloatArray) -> float:
        """|difference|_M^2."""
        return quadratic_form(self.precision, difference)

    def _means_and_widths(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """<x, center> and radius |x|_{M^-1} for the rows of X."""
        return means_and_widths(X, self._center, self.whitener, self.radius)


class RidgeEllipsoid(Ellipsoid):
    """Ellipsoid about the weighted ridge estimate.

    M = ridge * I + sum w_s x_s x_s', center = M^-1 sum w_s y_s x_s, |theta - center|_M <= radius.

    Parameters
    ----------
    space
        What is accepted as an arm and a reward.
    ridge
        lambda > 0.
    radius
        The algorithm's radius, a function of this set.
    theta_norm
        Norm bound S on the parameter.
    width_scale
        Multiplies the radius (1 = the theory).
    """

    _arrays: ClassVar[tuple[str, ...]] = ("precision", "whitener", "response", "_center", "tally")

    def __init__(
        self,
        space: ObservationSpace,
        *,
        ridge: float,
        radius: Callable[[RidgeEllipsoid], float],
        theta_norm: float,
        width_scale: float = 1.0,
    ) -> None:
        super().__init__(space, theta_norm=theta_norm, width_scale=width_scale)
        dim = space.dim
        self.ridge = ridge
        self._radius = radius
        self._log_det_ridge = dim * math.log(ridge)
        self.precision = ridge * np.eye(dim)
        self.whitener = np.eye(dim) / math.sqrt(ridge)
        self.response = np.zeros(dim)
        self._center = np.zeros(dim)
        self.tally = np.array([self._log_det_ridge, 0.0])

    @property
    def n_observations(self) -> int:
        """How many rewards were learnt."""
        return int(self.tally[COUNT])

    @property
    def log_det_ratio(self) -> float:
        """ln(det M / det(lambda I)) = sum_s ln(1 + w_s |x_s|^2_{M_{s-1}^-1})."""
        return float(self.tally[LOG_DET]) - self._log_det_ridge

    @property
    def radius(self) -> float:
        """beta, width_scale included."""
        return self.width_scale * self._radius(self)

    def _observe(self, x: FloatArray, reward: float, weight: float = 1.0) -> None:
        ridge_update(*self._matrices(), x, reward, weight)

    def _observe_many(
        self, X: FloatArray, rewards: FloatArray, weights: FloatArray | None = None
    ) -> None:
        weights = np.ones(len(rewards)) if weights is None else weights
        ridge_update_many(*self._matrices(), X, rewards, weights)

    def _matrices(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
        return self.precision, self.whitener, self.response, self._center, self.tally


def check_conditioning(feature_norm: float, ridge: float, root: str = "sqrt(ridge)") -> None:
    """ValueError where a single arm could drown the ridge in rounding.

    `root` says in the user's words what the root of `ridge` is.
    """
    if not feature_norm * feature_norm <= 1e12 * ridge:
        raise fail(
            "feature_norm",
            feature_norm,
            f"at most 10^6 {root} = {1e6 * math.sqrt(ridge):g}; rescale the features",
        )
