"""The confidence set of VARLin (Algorithm 2): tests of all moments of the value, one polytope."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from voful import validation
from voful.archive import Arrays
from voful.confidence.directions import mixture_directions
from voful.confidence.mixture import observations
from voful.confidence.mixture.base import MixtureSet
from voful.confidence.mixture.exponential_tests import ExponentialTests
from voful.confidence.mixture.layered_tests import (
    COMPUTABLE_LEVELS,
    LAYERINGS,
    LayeredTests,
    paper_moments,
)
from voful.confidence.mixture.polytope import WARNED, PolytopeSet
from voful.confidence.mixture.variance import variance_bound
from voful.invariants import Invariants, whole
from voful.typing import FloatArray

CONSTANTS = ("bernstein", "mgf", "paper")
DEFAULT_MOMENTS = 3
LITERAL_STEPS = 45  # of the search for eta: to the last digits
LEAST_VARIANCE = 1e-12
LARGEST_VARIANCE = 0.25  # of a variable in [0, 1]


class MomentSet(MixtureSet):
    """Theta of Algorithm 2 [1], learnt from targets of next states.

    Observations are y = g(s')^(2^m), m = 0..M-1, for functions g into [0, 1] that were fixed
    before the state s' was drawn; their mean is <theta*, x^m>, x^m_i = P_i g^(2^m), and eta^m
    bounds their variance over the set itself (`variance_bound`).

    constants="bernstein" and "mgf" are tests by exponential supermartingales (see
    `exponential_tests`): finitely many, fixed in advance, valid at all times at once; what they cut
    off stays off. "paper" is the printed inequality with its layers and levels; with
    `directions` given it is literal, with exactly these mu, and `contains` and `support` refer to
    the tests of the current data. Without, a few mu and the 16 largest levels are tested, which
    the paper's union bound over its net has paid for.

    Parameters
    ----------
    dim
        d.
    horizon, n_episodes
        H and K; "paper" needs them for its constants.
    failure_prob
        delta: theta* stays in the set at all times with probability 1 - delta.
    constants
        "bernstein", "mgf" or "paper".
    moments
        M: m = 0..M-1. None: all of the paper's for "paper", else 3.
    directions
        (n, d) the mu to test along (both signs); None: chosen by dimension.
    iota_scale
        Multiplies iota ("paper" only).
    width_scale
        Multiplies the right side of the tests (1 = the theory).
    simplex
        Whether base models are probability kernels; "mgf" needs it.
    layering
        "varlin" or "varlin2" (layers, levels and price of [2]); "paper" only.

    References
    ----------
    [1] Zhang, Yang, Ji, Du. Improved variance-aware confidence sets for linear bandits and linear
        mixture MDP. NeurIPS 2021.
    [2] Kim, Yang, Jun. Improved regret analysis for variance-adaptive linear bandits and
        horizon-free linear mixture MDPs. NeurIPS 2022.
    """

    _arrays: ClassVar[tuple[str, ...]] = ("_counters",)
    _parts: ClassVar[tuple[str, ...]] = (*MixtureSet._parts, "tests")

    def __init__(
        self,
        dim: int,
        *,
        horizon: int,
        n_episodes: int,
        failure_prob: float = 0.05,
        constants: str = "bernstein",
        moments: int | None = None,
        directions: npt.ArrayLike | None = None,
        iota_scale: float = 1.0,
        width_scale: float = 1.0,
        simplex: bool = True,
        layering: str = "varlin",
    ) -> None:
        super().__init__(PolytopeSet(dim, simplex=simplex))
        self.horizon = validation.positive_int("horizon", horizon)
        self.n_episodes = validation.positive_int("n_episodes", n_episodes)
        self.failure_prob = validation.probability("failure_prob", failure_prob)
        self.constants = validation.choice("constants", constants, CONSTANTS)
        self.layering = validation.choice("layering", layering, tuple(LAYERINGS))
        self.iota_scale = validation.positive_float("iota_scale", iota_scale)
        self.width_scale = validation.positive_float("width_scale", width_scale)
        if self.constants != "paper" and self.iota_scale != 1.0:
            allowed = '1: only constants="paper" has an iota'
            raise validation.fail("iota_scale", iota_scale, allowed)
        if self.constants == "mgf" and not simplex:
            raise validation.fail("constants", constants, "base models that are kernels for mgf")
        self.moments = self._checked_moments(moments)
        self.directions = self._checked_directions(directions)
        self.literal = self.constants == "paper" and self.directions is not None
        self.tests: ExponentialTests | LayeredTests = self._make_tests()
        self._counters = np.zeros(2, dtype=np.int64)  # transitions learnt; literally empty or not
        if self.literal:
            self.polytope.tally[WARNED] = 1  # what is_empty says once

    def _invariants(self, state: Arrays) -> Invariants:
        learnt, empty = state["_counters"]
        yield "transitions learnt", whole(learnt)
        yield "empty or not, if literal", empty in ((0, 1) if self.literal else (0,))
        if isinstance(self.tests, LayeredTests):
            keys = state["tests/keys"]
            yield "moments of its arguments", bool((keys[:, 0] < self.moments).all())

    def _checked_moments(self, moments: int | None) -> int:
        most = paper_moments(self.horizon, self.n_episodes)
        if moments is None:
            return most if self.constants == "paper" else DEFAULT_MOMENTS
        number = validation.positive_int("moments", moments)
        if self.constants == "paper" and number > most:
            raise validation.fail("moments", number, f"at most the paper's {most}")
        return number

    def _checked_directions(self, directions: npt.ArrayLike | None) -> FloatArray | None:
        if directions is None:
            return None
        mu = validation.matrix("directions", directions, self.dim).copy()
        if len(mu) == 0:
            raise validation.fail_shape("directions", mu.shape, "at least one direction")
        if self.constants == "paper" and np.abs(mu).sum(axis=1).max() > 2.0 + validation.TOLERANCE:
            raise validation.fail("directions", mu, "rows in the L1 ball of radius 2")
        return mu

    def _make_tests(self) -> ExponentialTests | LayeredTests:
        known = np.array(mixture_directions(self.dim, self.polytope.domain.simplex))
        if self.constants != "paper":
            given = self.directions
            signed = known if given is None else np.concatenate([given, -given])
            return ExponentialTests(
                self.constants,
                self.moments,
                signed,
                self.failure_prob,
                self.width_scale,
                self.polytope.domain.simplex,
            )
        layering = LAYERINGS[self.layering](
            self.dim, self.horizon, self.n_episodes, self.failure_prob
        )
        mu, levels = self.directions, layering.levels
        if mu is None:  # one of each pair of signs, on the sphere of radius 2
            lines = known[np.lexsort(known.T[::-1])][len(known) // 2 :]
            mu = 2.0 * lines / np.abs(lines).sum(axis=1, keepdims=True)
            levels = levels[:COMPUTABLE_LEVELS]
        layering = replace(layering, levels=levels, iota=self.iota_scale * layering.iota)
        return LayeredTests(mu, layering, self.width_scale)

    # --- learning -------------------------------------------------------------------------------

    @property
    def n_observations(self) -> int:
        """How many transitions were learnt."""
        return int(self._counters[0])

    def learn(
        self, probabilities: npt.ArrayLike, targets: npt.ArrayLike, counts: npt.ArrayLike
    ) -> None:
        """Learn from C laws of the next state (see `observations.Observations`).

        Parameters
        ----------
        probabilities
            (C, B, d) of B outcomes under each base model.
        targets
            (C, B) values g in [0, 1] of the outcomes, fixed before any of them was drawn.
        counts
            (C, B) how often each happened since the last call.
        """
        seen = observations.check(self.dim, probabilities, targets, counts)
        theta_0 = self.polytope.center
        for m in range(self.moments):  # Algorithm 2, line 12: x^m is seen.X
            squared = seen.squared()
            eta = self.variance_bound(seen.X, squared.X)  # Algorithm 2, line 13
            if isinstance(self.tests, LayeredTests):  # Algorithm 2, lines 14-16
                self.tests.add(m, seen, eta)
            else:
                self.tests.add(m, seen, eta, theta_0)
            seen = squared
        self._counters[0] += int(seen.counts.sum())
        skipped = self.polytope.n_skipped
        if self.literal:
            self.polytope.reset()
        self.polytope.cut(*self.tests.halfspaces())
        self._counters[1] = self.literal and self.polytope.n_skipped > skipped

    def variance_bound(self, X: FloatArray, X2: FloatArray) -> FloatArray:
        """eta (Algorithm 2, line 13) for rows x^m of X and x^(m+1) of X2."""
        if self.literal:
            return np.maximum(variance_bound(self.polytope.support, X, X2, LITERAL_STEPS), 0.0)
        eta = variance_bound(self.polytope.support, X, X2)
        return np.clip(eta, LEAST_VARIANCE, LARGEST_VARIANCE)

    # --- questions ------------------------------------------------------------------------------

    @property
    def center(self) -> FloatArray:
        """Chebyshev centre of the polytope."""
        return self.polytope.center

    @property
    def is_empty(self) -> bool:
        """Only literal sets can be empty: other sets skip the cut that would leave nothing."""
        return bool(self._counters[1])

    @property
    def is_refuted(self) -> bool:
        """Whether a cut that would have left nothing was skipped: no mixture fits the data."""
        return not self.literal and self.polytope.n_skipped > 0

    def _contains(self, theta: FloatArray) -> bool:
        if self.literal and isinstance(self.tests, LayeredTests):
            return self.polytope.domain.contains(theta) and self.tests.pass_at(theta)
        return self.polytope._contains(theta)
