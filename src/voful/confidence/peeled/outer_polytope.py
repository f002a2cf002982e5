"""The outer polytope of what tests leave of the unit ball, and the optimistic arm over it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from voful.confidence.peeled.cuts import ILL_CONDITIONED, LARGEST_CONES, leader, shrink
from voful.confidence.peeled.dual_simplex import Polytope, reset
from voful.confidence.peeled.slabs import add_slabs
from voful.confidence.peeled.tests import n_tests_in
from voful.persistence import Stateful
from voful.typing import BoolArray, FloatArray

MAX_CUTS = 60  # per question
BUDGET = 30  # cuts that choosing arms may spend on one version of the tests
TOLERANCE = 0.02  # relative gap at which a question is answered
RESOLUTION = 0.1  # arms count as equal up to this multiple of (bound - prediction)
SHRINK_ROUNDS, SHRINK_GAIN = 2, 0.01

# Where `tally` keeps its numbers.
CLOCK, CUTS_LEFT, DOUBTFUL = 0, 1, 2


def new_polytope(dim: int) -> Polytope:
    """The box |theta_k| <= 1, with room for cuts."""
    capacity = 200 + 60 * min(dim, LARGEST_CONES) + 10 * max(dim - LARGEST_CONES, 0)
    P = Polytope(
        np.zeros((capacity, dim)),
        np.zeros(capacity),
        np.zeros(capacity),
        np.zeros(1, dtype=np.int64),
    )
    reset(P)
    return P


def shrink_to(
    P: Polytope, flat: FloatArray, n_tests: int, reference: FloatArray, clock: float
) -> None:
    """Cut P along the tests' own normals; three passes where it still is the box."""
    dim = P.A.shape[1]
    if dim > LARGEST_CONES:
        add_slabs(flat, n_tests, P, clock, reference)
        return
    for _ in range(3 if P.size[0] <= 2 * dim else 1):
        shrink(flat, n_tests, P, clock, reference, SHRINK_ROUNDS, SHRINK_GAIN)


class OuterPolytope(Stateful):
    """An outer polytope for choosing arms: it remembers its cuts from one round to the next.

    Every cut keeps all that is left of the set, so the polytope always contains the set; choosing
    only adds cuts where an arm leads.
    """

    _arrays = ("_A", "_h", "_used", "_size", "_flat", "_reference", "_tally")
    _growing = ("_flat",)

    def __init__(self, dim: int) -> None:
        self._A, self._h, self._used, self._size = new_polytope(dim)
        self._flat = np.zeros(0)
        self._reference = np.zeros(dim)
        self._tally = np.zeros(3)
        # The last question and its answer, if it cut nothing.
        self._settled: tuple[bytes, bytes, int] | None = None

    def renew(self, flat: FloatArray, reference: FloatArray, *, keep_cuts: bool) -> None:
        """Be cut by these tests from now on; old cuts stay where elimination is permanent."""
        P = self._polytope
        if not keep_cuts or self._tally[DOUBTFUL]:
            reset(P)
        self._flat = flat
        self._settled = None
        self._reference[:] = reference
        self._tally[:] = self._tally[CLOCK] + 1.0, BUDGET, 0.0
        shrink_to(P, self._flat, self._n_tests, self._reference, self._tally[CLOCK])

    def leader(self, X: FloatArray, mask: BoolArray) -> int:
        """The arm (of those in mask) with the largest upper bound, up to RESOLUTION; -1: empty."""
        asked = X.tobytes(), mask.tobytes()
        if self._settled is not None and self._settled[:2] == asked:
            return self._settled[2]
        choice, cuts_left, status = leader(
            self._flat,
            self._n_tests,
            self._polytope,
            self._tally[CLOCK],
            X,
            mask,
            self._reference,
            MAX_CUTS,
            TOLERANCE,
            RESOLUTION,
            int(self._tally[CUTS_LEFT]),
        )
        self._settled = (*asked, choice) if cuts_left == self._tally[CUTS_LEFT] else None
        self._tally[CUTS_LEFT] = cuts_left
        if status == ILL_CONDITIONED:
            self._tally[DOUBTFUL] = 1.0  # begin anew at the next renewal
        return choice

    def _assign(self, arrays: Mapping[str, np.ndarray[Any, Any]]) -> None:
        super()._assign(arrays)
        self._settled = None  # it spoke of another polytope

    @property
    def _n_tests(self) -> int:
        return n_tests_in(self._flat, len(self._reference))

    @property
    def _polytope(self) -> Polytope:
        return Polytope(self._A, self._h, self._used, self._size)
