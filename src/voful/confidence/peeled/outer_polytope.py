"""The outer polytope of what tests leave of the unit ball, and the optimistic arm over it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from voful.archive import Arrays
from voful.confidence.peeled.cuts import ILL_CONDITIONED, LARGEST_CONES, leader, shrink
from voful.confidence.peeled.dual_simplex import Polytope, reset
from voful.confidence.peeled.slabs import add_slabs
from voful.confidence.peeled.sound import sound_tests
from voful.invariants import MOST, SLACK, Invariants, between, whole
from voful.persistence import Stateful
from voful.typing import BoolArray, FloatArray

BUDGET = 30  # cuts that choosing arms may spend on one version of the tests
TALLY = np.dtype([("clock", float), ("cuts_left", float), ("doubtful", bool)])


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


def shrink_to(P: Polytope, flat: FloatArray, reference: FloatArray, clock: float) -> None:
    """Cut P along the tests' own normals; three passes where it still is the box."""
    dim = P.A.shape[1]
    if dim > LARGEST_CONES:
        add_slabs(flat, P, clock, reference)
        return
    for _ in range(3 if P.size[0] <= 2 * dim else 1):
        shrink(flat, P, clock, reference)


class OuterPolytope(Stateful):
    """An outer polytope for choosing arms: it remembers its cuts from one round to the next.

    Every cut keeps all that is left of the set, so the polytope always contains the set; choosing
    only adds cuts where an arm leads.
    """

    _arrays = ("_A", "_h", "_used", "_size", "_flat", "_reference", "_tally")
    _growing = ("_flat",)

    def __init__(self, dim: int) -> None:
        self._A, self._h, self._used, self._size = new_polytope(dim)
        self._flat = np.zeros(dim)
        self._reference = np.zeros(dim)
        self._tally = np.zeros((), dtype=TALLY)
        # The last question and its answer, if it cut nothing.
        self._settled: tuple[bytes, bytes, int] | None = None

    def _invariants(self, state: Arrays) -> Invariants:
        rows, right, dim = state["_A"], state["_h"], len(self._reference)
        size, tally = int(state["_size"][0]), state["_tally"]
        yield "rows that are there", 2 * dim <= size <= len(rows)
        box = np.concatenate([np.eye(dim), -np.eye(dim)])
        intact = np.array_equal(rows[: 2 * dim], box) and bool((right[: 2 * dim] == 1.0).all())
        yield "the box around the ball", intact
        norms = np.linalg.norm(rows[2 * dim : size], axis=1)
        yield "rows of norm 1", between(norms, 1.0, 1.0) and between(right[:size], -2.0, 1e60)
        yield "moderate rows behind", between(rows[size:], -1.0, 1.0)
        yield "a time for each row", between(state["_used"], 0.0, 1e18)
        yield "a budget of cuts", whole(tally["cuts_left"], 0, BUDGET) and whole(tally["clock"])
        yield "a point in the ball", bool(np.linalg.norm(state["_reference"]) <= 1.0 + SLACK)
        yield from sound_tests(state["_flat"], dim, MOST, 1e50)

    def renew(self, flat: FloatArray, reference: FloatArray, *, keep_cuts: bool) -> None:
        """Be cut by these tests from now on; old cuts stay where elimination is permanent."""
        P = self._polytope
        if not keep_cuts or self._tally["doubtful"]:
            reset(P)
        self._flat = flat
        self._settled = None
        self._reference[:] = reference
        clock = float(self._tally["clock"]) + 1.0
        self._tally[...] = clock, BUDGET, False
        shrink_to(P, self._flat, self._reference, clock)

    def leader(self, X: FloatArray, mask: BoolArray) -> int:
        """The arm (of those in mask) with the largest upper bound, up to RESOLUTION; -1: empty."""
        asked = X.tobytes(), mask.tobytes()
        if self._settled is not None and self._settled[:2] == asked:
            return self._settled[2]
        clock, budget = float(self._tally["clock"]), int(self._tally["cuts_left"])
        choice, cuts_left, status = leader(
            self._flat, self._polytope, clock, X, mask, self._reference, budget
        )
        self._settled = (*asked, choice) if cuts_left == budget else None
        self._tally["cuts_left"] = cuts_left
        if status == ILL_CONDITIONED:
            self._tally["doubtful"] = True  # begin anew at the next renewal
        return choice

    def _assign(self, arrays: Mapping[str, np.ndarray[Any, Any]]) -> None:
        super()._assign(arrays)
        self._settled = None  # it spoke of another polytope

    @property
    def _polytope(self) -> Polytope:
        return Polytope(self._A, self._h, self._used, self._size)
