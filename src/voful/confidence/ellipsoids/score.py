"""The ellipsoid of parameters whose score is small in the norm of its own variation."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import ClassVar, TypeAlias

import numpy as np

from voful.compiled import kernel
from voful.confidence.algebra import (
    dots,
    due_for_refactorisation,
    log_det,
    quadratic_form,
    rank_one,
    symmetric_times,
    unwhiten,
    whiten,
    whitener_from,
)
from voful.confidence.ellipsoids.ridge import COUNT, Ellipsoid, ridge_update
from voful.typing import FloatArray
from voful.validation import ObservationSpace

ScoreArrays: TypeAlias = tuple[
    FloatArray,
    FloatArray,
    FloatArray,
    FloatArray,
    FloatArray,
    FloatArray,
    FloatArray,
    FloatArray,
]
"""What `score_update` updates, in its order."""


@kernel
def score_update(
    gram: FloatArray,
    gram_whitener: FloatArray,
    response: FloatArray,
    center: FloatArray,
    tally: FloatArray,
    variation: FloatArray,
    variation_whitener: FloatArray,
    variation_log_det: FloatArray,
    x: FloatArray,
    y: float,
    variance: float,
) -> None:
    """G <- G + x x' with its ridge estimate, and H <- H + variance x x'."""
    ridge_update(gram, gram_whitener, response, center, tally, x, y, 1.0)
    growth = rank_one(variation, variation_whitener, x, variance, np.empty(x.shape[0]))
    variation_log_det[0] += math.log1p(growth)
    if due_for_refactorisation(tally[COUNT], x.shape[0]) and whitener_from(
        variation, variation_whitener
    ):
        variation_log_det[0] = log_det(variation_whitener)


@kernel
def score_widths(
    X: FloatArray, gram_whitener: FloatArray, variation: FloatArray, radius: float
) -> FloatArray:
    """Radius |G^-1 x|_H for the rows of X."""
    n, d = X.shape
    widths, whitened, direction = np.empty(n), np.empty(d), np.empty(d)
    for i in range(n):
        whiten(gram_whitener, X[i], whitened)
        unwhiten(gram_whitener, whitened, direction)
        widths[i] = radius * math.sqrt(max(quadratic_form(variation, direction), 0.0))
    return widths


@kernel
def score_norm(difference: FloatArray, gram: FloatArray, variation_whitener: FloatArray) -> float:
    """|G difference|^2_{H^-1}."""
    score, whitened = np.empty(difference.shape[0]), np.empty(difference.shape[0])
    symmetric_times(gram, difference, score)
    return whiten(variation_whitener, score, whitened)


class ScoreEllipsoid(Ellipsoid):
    """{theta : |G (theta - theta_hat)|_{H^-1} <= radius}, theta_hat = G^-1 sum y_s x_s.

    G = ridge I + sum x_s x_s' and H = variation_ridge I + sum v_s x_s x_s' with the variances v_s.
    The score sum x_s (y_s - <x_s, theta>) equals G (theta_hat - theta) + ridge theta: up to the
    bias of the ridge, the set asks that it be small in the norm of its own variation. As an
    ellipsoid it has M = G H^-1 G, which is never formed: |x|_{M^-1} = |G^-1 x|_H.

    Parameters
    ----------
    space
        What is accepted as an arm and a reward.
    ridge
        Of G.
    variation_ridge
        Of H.
    largest_variance
        No variance exceeds it; an observation that comes without its variance is given this one.
    radius
        The algorithm's radius, a function of ln(det H / det(variation_ridge I)).
    theta_norm
        Norm bound S on the parameter.
    width_scale
        Multiplies the radius (1 = the theory).
    """

    _arrays: ClassVar[tuple[str, ...]] = (
        "gram",
        "gram_whitener",
        "response",
        "_center",
        "tally",
        "variation",
        "variation_whitener",
        "variation_log_det",
    )

    def __init__(
        self,
        space: ObservationSpace,
        *,
        ridge: float,
        variation_ridge: float,
        largest_variance: float,
        radius: Callable[[float], float],
        theta_norm: float,
        width_scale: float = 1.0,
    ) -> None:
        super().__init__(space, theta_norm=theta_norm, width_scale=width_scale)
        dim = space.dim
        self.largest_variance = largest_variance
        self._radius = radius
        self._log_det_start = dim * math.log(variation_ridge)
        self.gram = ridge * np.eye(dim)
        self.gram_whitener = np.eye(dim) / math.sqrt(ridge)
        self.response = np.zeros(dim)
        self._center = np.zeros(dim)
        self.tally = np.array([dim * math.log(ridge), 0.0])
        self.variation = variation_ridge * np.eye(dim)
        self.variation_whitener = np.eye(dim) / math.sqrt(variation_ridge)
        self.variation_log_det = np.array([self._log_det_start])

    @property
    def n_observations(self) -> int:
        """How many rewards were learnt."""
        return int(self.tally[COUNT])

    @property
    def log_det_ratio(self) -> float:
        """ln(det H / det(variation_ridge I))."""
        return max(float(self.variation_log_det[0]) - self._log_det_start, 0.0)

    @property
    def radius(self) -> float:
        """gamma and the bias of the ridge, width_scale included."""
        return self.width_scale * self._radius(self.log_det_ratio)

    def learn(self, x: FloatArray, reward: float, variance: float) -> None:
        """A checked observation whose noise has this variance."""
        score_update(*self._everything(), x, reward, min(variance, self.largest_variance))

    def _everything(self) -> ScoreArrays:
        return (
            self.gram,
            self.gram_whitener,
            self.response,
            self._center,
            self.tally,
            self.variation,
            self.variation_whitener,
            self.variation_log_det,
        )

    def _observe(self, x: FloatArray, reward: float) -> None:
        self.learn(x, reward, self.largest_variance)

    def _squared_norm(self, difference: FloatArray) -> float:
        return score_norm(difference, self.gram, self.variation_whitener)

    def _means_and_widths(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        widths = score_widths(X, self.gram_whitener, self.variation, self.radius)
        return dots(X, self._center), widths
