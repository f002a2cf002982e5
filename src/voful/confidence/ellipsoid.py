"""Ellipsoids {theta : (theta - c)' M (theta - c) <= beta^2}: the algebra and the ridge set.

The kernels are the only place where a matrix is updated or inverted. M and M^-1 are kept side by
side: M as the plain sum that it is, M^-1 by Sherman-Morrison, taken anew from a Cholesky factor
at every power of two and at every 512th update, so that rounding cannot build up.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import ClassVar

import numpy as np

from voful.compiled import kernel
from voful.confidence.base import BaseConfidenceSet
from voful.typing import FloatArray
from voful.validation import TOLERANCE, ObservationSpace

REFACTORISE_EVERY = 512

# Where RidgeEllipsoid.tally keeps its counters.
LOG_DET, COUNT = 0, 1


# --- the algebra ------------------------------------------------------------------------------


@kernel
def dot(u: FloatArray, v: FloatArray) -> float:
    """<u, v>."""
    total = 0.0
    for i in range(u.shape[0]):
        total += u[i] * v[i]
    return total


@kernel
def multiply(symmetric: FloatArray, x: FloatArray, out: FloatArray) -> None:
    """out = A x for symmetric A, as a sum of rows (independent sums, so it vectorises)."""
    d = x.shape[0]
    for i in range(d):
        out[i] = x[0] * symmetric[0, i]
    for j in range(1, d):
        scale = x[j]
        for i in range(d):
            out[i] += scale * symmetric[j, i]


@kernel
def quadratic_form(symmetric: FloatArray, x: FloatArray, scratch: FloatArray) -> float:
    """x' A x for symmetric A; leaves A x in scratch."""
    multiply(symmetric, x, scratch)
    return dot(scratch, x)


@kernel
def cholesky(symmetric: FloatArray, lower: FloatArray) -> bool:
    """A = L L'; False where A is not positive definite."""
    d = symmetric.shape[0]
    for i in range(d):
        for j in range(i + 1):
            entry = symmetric[i, j]
            for k in range(j):
                entry -= lower[i, k] * lower[j, k]
            if i == j:
                if not entry > 0.0:
                    return False
                lower[i, i] = math.sqrt(entry)
            else:
                lower[i, j] = entry / lower[j, j]
        for j in range(i + 1, d):
            lower[i, j] = 0.0
    return True


@kernel
def cholesky_solve(lower: FloatArray, x: FloatArray) -> None:
    """x <- (L L')^-1 x in place."""
    d = x.shape[0]
    for i in range(d):
        entry = x[i]
        for k in range(i):
            entry -= lower[i, k] * x[k]
        x[i] = entry / lower[i, i]
    for i in range(d - 1, -1, -1):
        entry = x[i]
        for k in range(i + 1, d):
            entry -= lower[k, i] * x[k]
        x[i] = entry / lower[i, i]


@kernel
def refactorise(precision: FloatArray, inverse: FloatArray, lower: FloatArray) -> float:
    """Take M^-1 anew from M = L L'; returns ln det M, NaN where M is not positive definite."""
    if not cholesky(precision, lower):
        return np.nan
    d = precision.shape[0]
    column = np.empty(d)
    log_det = 0.0
    for j in range(d):
        column[:] = 0.0
        column[j] = 1.0
        cholesky_solve(lower, column)
        for i in range(d):
            inverse[i, j] = column[i]
        log_det += 2.0 * math.log(lower[j, j])
    for i in range(d):  # exact symmetry, which `multiply` relies on
        for j in range(i):
            mean = 0.5 * (inverse[i, j] + inverse[j, i])
            inverse[i, j] = mean
            inverse[j, i] = mean
    return log_det


@kernel
def rank_one(
    precision: FloatArray, inverse: FloatArray, x: FloatArray, weight: float, scratch: FloatArray
) -> float:
    """M <- M + w x x' and M^-1 with it; returns w x'M^-1 x and leaves M^-1 x (both before).

    Sherman-Morrison: (M + w x x')^-1 = M^-1 - w (M^-1 x)(M^-1 x)' / (1 + w x'M^-1 x).
    """
    d = x.shape[0]
    growth = weight * quadratic_form(inverse, x, scratch)
    shrink = weight / (1.0 + growth)
    for i in range(d):
        scale_precision = weight * x[i]
        scale_inverse = shrink * scratch[i]
        for j in range(d):
            precision[i, j] += scale_precision * x[j]
            inverse[i, j] -= scale_inverse * scratch[j]
    return growth


@kernel
def means_and_widths(
    X: FloatArray, center: FloatArray, inverse: FloatArray, radius: float
) -> tuple[FloatArray, FloatArray]:
    """<x, c> and beta |x|_{M^-1} for the rows of X: the interval is their difference and sum."""
    n, d = X.shape
    means, widths, scratch = np.empty(n), np.empty(n), np.empty(d)
    for i in range(n):
        x = X[i]
        means[i] = dot(x, center)
        widths[i] = radius * math.sqrt(max(0.0, quadratic_form(inverse, x, scratch)))
    return means, widths


@kernel
def due_for_refactorisation(count: float, dim: int) -> bool:
    """At powers of two, and every max(512, d) updates: O(d^2) an update, amortised."""
    n = int(count)
    return n & (n - 1) == 0 or n % max(REFACTORISE_EVERY, dim) == 0


# --- weighted ridge regression ----------------------------------------------------------------


@kernel
def ridge_update(
    precision: FloatArray,
    inverse: FloatArray,
    response: FloatArray,
    center: FloatArray,
    tally: FloatArray,
    x: FloatArray,
    y: float,
    weight: float,
) -> None:
    """One observation of weighted ridge regression, M = lambda I + sum w x x', c = M^-1 sum w y x.

    Recursive least squares: c <- c + w M_new^-1 x (y - <x, c>), M_new^-1 x = M^-1 x / (1 + growth).
    """
    d = x.shape[0]
    scratch = np.empty(d)
    residual = y - dot(x, center)
    growth = rank_one(precision, inverse, x, weight, scratch)
    step = weight * residual / (1.0 + growth)
    for i in range(d):
        center[i] += step * scratch[i]
        response[i] += weight * y * x[i]
    tally[LOG_DET] += math.log1p(growth)
    tally[COUNT] += 1.0
    if due_for_refactorisation(tally[COUNT], d):
        lower = np.empty((d, d))
        tally[LOG_DET] = refactorise(precision, inverse, lower)
        center[:] = response
        cholesky_solve(lower, center)


@kernel
def ridge_update_many(
    precision: FloatArray,
    inverse: FloatArray,
    response: FloatArray,
    center: FloatArray,
    tally: FloatArray,
    X: FloatArray,
    y: FloatArray,
    weights: FloatArray,
) -> None:
    """`ridge_update` for the rows of X, in their order."""
    for i in range(X.shape[0]):
        ridge_update(precision, inverse, response, center, tally, X[i], y[i], weights[i])


class Ellipsoid(BaseConfidenceSet):
    """{theta : |theta - center|_M <= radius, |theta| <= theta_norm}; support over the ellipsoid.

    Subclasses keep ``precision`` (M), ``inverse`` and ``_center``, and say what `radius` is; a
    negative or undefined radius means that the set is empty.
    """

    precision: FloatArray
    inverse: FloatArray
    _center: FloatArray

    def __init__(self, space: ObservationSpace, *, theta_norm: float, width_scale: float) -> None:
        super().__init__(space)
        self.theta_norm = theta_norm
        self.width_scale = width_scale

    @property
    def radius(self) -> float:
        """beta, width_scale included."""
        raise AttributeError(f"{type(self).__name__} must define radius")

    @property
    def center(self) -> FloatArray:
        """Centre c of the ellipsoid."""
        return self._center.copy()

    @property
    def is_empty(self) -> bool:
        """Whether no parameter is left."""
        return not self.radius >= 0.0

    def _contains(self, theta: FloatArray) -> bool:
        if np.linalg.norm(theta) > self.theta_norm * (1.0 + TOLERANCE):
            return False
        distance = quadratic_form(self.precision, theta - self._center, np.empty(self.dim))
        return bool(distance <= self.radius**2 * (1.0 + TOLERANCE))

    def _support(self, X: FloatArray) -> FloatArray:
        means, widths = means_and_widths(X, self._center, self.inverse, self.radius)
        return means + widths

    def _interval(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        means, widths = means_and_widths(X, self._center, self.inverse, self.radius)
        return means - widths, means + widths


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
        The algorithm's radius as a function of ln(det M / det(lambda I)).
    theta_norm
        Norm bound S on the parameter.
    width_scale
        Multiplies the radius (1 = the theory).
    """

    _arrays: ClassVar[tuple[str, ...]] = ("precision", "inverse", "response", "_center", "tally")

    def __init__(
        self,
        space: ObservationSpace,
        *,
        ridge: float,
        radius: Callable[[float], float],
        theta_norm: float,
        width_scale: float = 1.0,
    ) -> None:
        super().__init__(space, theta_norm=theta_norm, width_scale=width_scale)
        dim = space.dim
        self.ridge = ridge
        self._radius = radius
        self._log_det_ridge = dim * math.log(ridge)
        self.precision = ridge * np.eye(dim)
        self.inverse = np.eye(dim) / ridge
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
        return self.width_scale * self._radius(max(0.0, self.log_det_ratio))

    def _observe(self, x: FloatArray, reward: float, weight: float = 1.0) -> None:
        ridge_update(
            self.precision, self.inverse, self.response, self._center, self.tally, x, reward, weight
        )

    def _observe_many(
        self, X: FloatArray, rewards: FloatArray, weights: FloatArray | None = None
    ) -> None:
        weights = np.ones(len(rewards)) if weights is None else weights
        ridge_update_many(
            self.precision,
            self.inverse,
            self.response,
            self._center,
            self.tally,
            X,
            rewards,
            weights,
        )
