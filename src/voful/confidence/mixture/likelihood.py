"""The likelihood-ratio set of a mixture of known laws."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from voful import validation
from voful.archive import Arrays
from voful.confidence.mixture.base import MixtureSet
from voful.confidence.mixture.log_likelihood import (
    maximum_likelihood,
    mixture_evidence,
    outside_points,
    penalised_maximum,
    relative_log_likelihood,
)
from voful.confidence.mixture.polytope import PolytopeSet
from voful.invariants import Invariants, whole
from voful.typing import FloatArray
from voful.validation import TOLERANCE

ROUNDS = 5
"""Rounds of tangent cuts: each halves the corners that stick out."""

NEAR = 0.02
"""A corner whose log-likelihood is below the threshold by less than this part is left alone."""

LEAST = 1e-200
"""What was seen is likelier than this wherever one divides by its likelihood."""

MOST = 1e20
"""Prices and losses of forecasts are at most so large, in nats."""


class LikelihoodSet(MixtureSet):
    """{theta : L(theta) >= ln((integral of e^L over the simplex + e^F) / 2) - ln(1/delta)}.

    L(theta) = sum over transitions of ln <theta, p>, p_i the probability of the transition under
    base model i. F is the same sum with a forecast instead of theta: for each transition, the
    maximum of L + sum ln theta_i when `learn` was last called before it. The likelihood of the
    uniform mixture of all theta [1] and that of the forecasts [2], divided by that of theta*, are
    nonnegative martingales of mean 1. So is their average, and theta* stays at all times with
    probability 1 - delta (Ville). L is concave, the set is convex; F <= max L, so that its maximum
    is always a member.

    The integral is bounded from below (`mixture_evidence`), which loses some nats for each base
    model; where `learn` is called often, the forecasts lose fewer. `support` is that of a polytope
    of tangents of L around the set. Only counts of transitions are kept.

    Parameters
    ----------
    laws
        (n, d) probabilities of each transition that can be counted, under each base model.
    failure_prob
        delta.
    width_scale
        Multiplies the price, ln(1/delta) plus what the right side loses against the maximum of L.

    References
    ----------
    [1] Robbins. Statistical methods related to the law of the iterated logarithm. Annals of
        Mathematical Statistics 41, 1970.
    [2] Wasserman, Ramdas, Balakrishnan. Universal inference. PNAS 117, 2020.
    """

    _arrays: ClassVar[tuple[str, ...]] = ("counts", "_center", "_forecast", "_wealth", "_price")

    def __init__(
        self, laws: npt.ArrayLike, *, failure_prob: float = 0.05, width_scale: float = 1.0
    ) -> None:
        p = validation.finite_array("laws", laws, 2, "shape (n, d)")
        if p.size == 0 or p.min() < 0.0:
            raise validation.fail("laws", p, "probabilities >= 0, at least one row")
        super().__init__(PolytopeSet(p.shape[1]))
        self.failure_prob = validation.probability("failure_prob", failure_prob)
        self.width_scale = validation.positive_float("width_scale", width_scale)
        # Transitions with the same law count as one.
        self._laws, where = np.unique(p, axis=0, return_inverse=True)
        # Only ratios count: powers of 2, which do not round, bring every law near 1.
        self._laws = np.ldexp(self._laws, -np.frexp(self._laws.max(axis=1, keepdims=True))[1])
        self._where = where.reshape(-1)
        self._possible = p.max(axis=1) > 0.0
        self.counts = np.zeros(len(p))
        self._center = self.polytope.domain.middle
        self._forecast = self._center.copy()
        self._wealth = np.zeros(1)  # F - L(center)
        self._price = np.array([math.log(1.0 / self.failure_prob)])

    def _invariants(self, state: Arrays) -> Invariants:
        counts, center = state["counts"], state["_center"]
        yield "whole counts", whole(counts)
        yield "transitions that can happen", not counts[~self._possible].any()
        yield "a centre in the simplex", self.polytope.domain.contains(center)
        likely = self._laws @ center
        seen = np.bincount(self._where, weights=counts, minlength=len(self._laws)) > 0.0
        yield "a centre under which it can happen", bool((likely[seen] > LEAST).all())
        yield "a forecast in the simplex", self.polytope.domain.contains(state["_forecast"])
        yield "a wealth", bool(-MOST <= state["_wealth"][0] <= 0.0)
        yield "a price", bool(0.0 <= state["_price"][0] <= MOST)

    @property
    def n_observations(self) -> int:
        """How many transitions were learnt."""
        return int(self.counts.sum())

    @property
    def center(self) -> FloatArray:
        """Maximum-likelihood estimate."""
        return self._center.copy()

    @property
    def price(self) -> float:
        """How far below that of `center` the log-likelihood of a member may be."""
        return self.width_scale * float(self._price[0])

    def learn(self, counts: npt.ArrayLike) -> None:
        """Learn how often each transition happened since the last call, shape (n,).

        In the order in which they happened: what was played with knowledge of a transition may not
        be learnt before it, or the forecasts had seen what they forecast.
        """
        more = validation.vector("counts", counts, len(self.counts))
        if more.min() < 0.0 or (more != np.floor(more)).any():
            raise validation.fail("counts", more, "whole numbers >= 0")
        if (more[~self._possible] > 0.0).any():
            raise validation.fail("counts", more, "transitions that some base model allows")
        old, new = self._informative(self.counts), self._informative(more)
        self.counts += more
        p, n = self._informative(self.counts)
        if len(n) == 0:
            return
        forecast = penalised_maximum(p, n, 0.9 * self._center + 0.1 / self.dim, 1.0)
        center = maximum_likelihood(p, n, forecast)
        moved = relative_log_likelihood(*old, center, self._center[None, :])
        earned = relative_log_likelihood(*new, center, self._forecast[None, :])
        self._wealth[:] = np.clip(self._wealth + moved + earned, -MOST, 0.0)
        evidence = np.logaddexp(mixture_evidence(p, n, center), self._wealth[0]) - math.log(2.0)
        self._center, self._forecast = center, forecast
        self._price[0] = math.log(1.0 / self.failure_prob) - min(evidence, 0.0)
        self._wrap(p, n)

    def _informative(self, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Distinct laws that were seen, and how often; those no base model favours say nothing."""
        n = np.bincount(self._where, weights=counts, minlength=len(self._laws))
        told = (n > 0.0) & (np.ptp(self._laws, axis=1) > 0.0)
        return np.ascontiguousarray(self._laws[told]), n[told]

    def _wrap(self, p: FloatArray, n: FloatArray) -> None:
        """Cut off what sticks out of the set, by tangents of L, starting from the simplex."""
        self.polytope.reset()
        for _ in range(ROUNDS):
            polytope = self.polytope
            corners = polytope.vertices if polytope.has_vertices else polytope.touching
            level = relative_log_likelihood(p, n, self._center, corners)
            out = corners[level < -self.price * (1.0 + NEAR)]
            if len(out) == 0:
                return
            points = outside_points(p, n, self._center, out, self.price)
            # Where what was seen can hardly happen there is no tangent; a cut may be left out.
            points = points[(points @ p.T > LEAST).all(axis=1)]
            if len(points) == 0:
                return
            value = relative_log_likelihood(p, n, self._center, points)
            slope = (n / (points @ p.T)) @ p
            # L(point) + slope.(theta - point) >= L(theta) >= -price
            self.polytope.cut(-slope, value + self.price - (slope * points).sum(axis=1))

    def _contains(self, theta: FloatArray) -> bool:
        if not self.polytope.domain.contains(theta):
            return False
        p, n = self._informative(self.counts)
        level = float(relative_log_likelihood(p, n, self._center, theta[None, :])[0])
        return level >= -self.price * (1.0 + TOLERANCE)
