"""Polytopes in the simplex or the L1 ball, made by cuts, never empty."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import numpy.typing as npt

from voful import notice, validation
from voful.archive import Arrays
from voful.confidence.base import ParameterSet
from voful.confidence.mixture import boxes
from voful.confidence.mixture.domain import Domain
from voful.confidence.mixture.linear_programmes import INTERIOR, Programme, chebyshev
from voful.confidence.mixture.polygons import clip_polygon, largest_products
from voful.invariants import Invariants, between, whole
from voful.typing import FloatArray, IntArray
from voful.validation import TOLERANCE

SLACK = 1e-11
"""Added to the right side of every row (entries of size at most 1) against rounding."""

TIGHT = 1e-8
"""A row that no vertex comes this near is redundant."""

NEARLY = 1e-6
"""Slack for what a file states about a polytope."""

# Where PolytopeSet.tally keeps its counters.
OFFERED, SKIPPED, WARNED = 0, 1, 2


class PolytopeSet(ParameterSet):
    """{theta in the simplex or the L1 ball : a.theta <= b for all rows that were cut}.

    Which oracle answers depends on the dimension n of the domain (d - 1 for the simplex, d for the
    ball): n <= 2 clips a polygon and n = 3 asks Qhull, both exact, by vertices; n >= 4 keeps two
    boxes around the polytope, whose ends are linear programmes, and `support` is an upper bound;
    rows that bound neither box are dropped, which can only enlarge the set.
    `exact_support` solves a linear programme for each question.

    A cut that would leave nothing is skipped and counted, with one RuntimeWarning: off the event
    on which the cuts are valid there is no right answer, and a planner still needs one.

    Parameters
    ----------
    dim
        Dimension d of the parameter.
    simplex
        The simplex (base models are probability kernels) or the L1 ball.
    """

    _arrays: ClassVar[tuple[str, ...]] = ("A", "b", "vertices", "box", "frame", "ends", "tally")
    _growing: ClassVar[tuple[str, ...]] = ("A", "b", "vertices")

    def __init__(self, dim: int, *, simplex: bool = True) -> None:
        self.domain = Domain(
            validation.positive_int("dim", dim), validation.boolean("simplex", simplex)
        )
        super().__init__(self.domain.dim)
        self.tally = np.zeros(3, dtype=np.int64)
        self.reset()

    def _invariants(self, state: Arrays) -> Invariants:
        A, b, vertices = state["A"], state["b"], state["vertices"]
        d, most = self.dim, 64 * (self.dim + 1) ** 2
        yield "a right side for each row", A.shape == (len(b), d) and len(b) <= most
        yield "normalised rows", between(A, -1.0, 1.0) and between(b, -2.0, 3.0)
        yield (
            "vertices where they are kept",
            vertices.shape[1] == d
            and (0 < len(vertices) <= most if self.has_vertices else len(vertices) == 0),
        )
        inside = np.abs(vertices).sum(axis=1)
        yield "vertices in the domain", between(inside, 0.0, 1.0)
        if self.domain.simplex:
            yield (
                "vertices in the simplex",
                between(vertices, 0.0, 1.0) and between(vertices.sum(axis=1), 1.0, 1.0),
            )
        yield "rows that the vertices satisfy", bool((vertices @ A.T <= b + NEARLY).all())
        for name, limit in (("box", 1.0), ("ends", 2.0)):
            low, high = state[name]
            yield f"{name}: an interval for each axis", between(state[name], -limit, limit)
            yield f"{name}: no interval is empty", bool((low <= high + NEARLY).all())
        frame = state["frame"]
        yield "an orthonormal frame", between(frame @ frame.T, *2 * [np.eye(len(frame))])
        yield "counters", whole(state["tally"])
        if len(b) and not self.has_vertices:  # linear programmes ask for a point in it
            yield "some point within all rows", chebyshev(self.domain, A, b)[1] >= 0.0

    def reset(self) -> None:
        """Back to the whole domain; the counters stay."""
        d, n = self.dim, self.domain.n_free
        self.A, self.b = np.empty((0, d)), np.empty(0)
        self.vertices = self.domain.corners if self.has_vertices else np.empty((0, d))
        self._cached_center = (self.A, self.domain.middle)
        low = 0.0 if self.domain.simplex else -1.0
        self.box = np.stack([np.full(d, low), np.ones(d)])  # ends of the coordinates
        self.frame = self.domain.tangent()
        self.ends = np.stack([np.full(n, -1.0), np.ones(n)])  # along the frame
        self.touching = self.domain.corners  # where the latest boxes touch the polytope

    @property
    def has_vertices(self) -> bool:
        """Whether the set is kept by its vertices."""
        return self.domain.n_free <= 3

    @property
    def center(self) -> FloatArray:
        """Chebyshev centre: that of the largest ball within the domain's own dimension."""
        return self._chebyshev_center().copy()

    def _chebyshev_center(self) -> FloatArray:
        """By one linear programme, when it is asked for the first time after a cut."""
        rows, center = self._cached_center
        if rows is not self.A:
            uncut = len(self.b) == 0  # as `reset` has it: a loaded set continues exactly
            center = self.domain.middle if uncut else chebyshev(self.domain, self.A, self.b)[0]
            self._cached_center = (self.A, center)
        return center

    @property
    def n_cuts(self) -> int:
        """How many rows were offered to `cut`."""
        return int(self.tally[OFFERED])

    @property
    def n_skipped(self) -> int:
        """How many of them would have left nothing."""
        return int(self.tally[SKIPPED])

    def cut(self, A: npt.ArrayLike, b: npt.ArrayLike, groups: npt.ArrayLike | None = None) -> None:
        """Intersect with the halfspaces {a.theta <= b}.

        Parameters
        ----------
        A, b
            Rows (n, dim) and right sides (n,).
        groups
            (n,) integers. Where there are no vertices, only the nearest cut of each group is made
            (n >= 4: the nearest cuts of all would all face the same way).
        """
        rows = validation.matrix("A", A, self.dim)
        right = validation.vector("b", b, len(rows))
        labels = np.arange(len(rows)) if groups is None else np.asarray(groups, dtype=np.int64)
        if labels.shape != right.shape:
            raise validation.fail_shape("groups", labels.shape, f"shape {right.shape}")
        self.tally[OFFERED] += len(right)
        rows, right, says = self.domain.normalise(rows, right)
        impossible = int(np.count_nonzero(~says & (right < -TOLERANCE)))
        right = right + SLACK
        cutting = says & (self._support(rows) > right) if len(rows) else says
        self._skip(impossible)
        if cutting.any():
            self._cut(rows[cutting], right[cutting], labels[cutting])

    def exact_support(self, X: npt.ArrayLike) -> FloatArray:
        """Sup of <x, theta> by one linear programme a row, in every dimension."""
        rows = validation.matrix("X", X, self.dim)
        programme = Programme(self.domain, self.A, self.b)
        return np.array([programme.maximum(x) for x in rows])

    # --- what the base class asks for -----------------------------------------------------------

    def _contains(self, theta: FloatArray) -> bool:
        # The rows' entries are of size at most 1, and so is theta.
        return self.domain.contains(theta) and bool((self.A @ theta <= self.b + TOLERANCE).all())

    def _whatever(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        return self.domain.ends(X)

    def _support(self, X: FloatArray) -> FloatArray:
        if self.has_vertices:
            return largest_products(self.vertices, X)
        simplex = self.domain.simplex
        bound: FloatArray = np.minimum(
            boxes.box_support(X, self.box[0], self.box[1], simplex),
            boxes.frame_support(X, self.frame, self.ends[0], self.ends[1], simplex),
        )
        return bound

    # --- cutting --------------------------------------------------------------------------------

    def _cut(self, A: FloatArray, b: FloatArray, groups: IntArray) -> None:
        if self.domain.n_free <= 2:
            self.vertices, skipped = clip_polygon(self.vertices, A, b)
            self._skip(skipped)
            self._keep_tight(np.concatenate([self.A, A]), np.concatenate([self.b, b]))
        elif self.has_vertices:
            self._admit(A, b)
            self._find_vertices()
        else:
            nearest = self._nearest_of_each(A, b, groups)
            self._admit(A[nearest], b[nearest])
            self._find_boxes()

    def _keep_tight(self, A: FloatArray, b: FloatArray) -> None:
        """Keep the rows that touch the vertices: skipped rows and redundant ones go."""
        gap = b - largest_products(self.vertices, A)
        kept = (gap <= TIGHT) & (gap >= -TOLERANCE)
        self.A, self.b = A[kept], b[kept]

    def _admit(self, A: FloatArray, b: FloatArray) -> None:
        """Append the rows, but not those that leave no ball of radius INTERIOR."""
        together = np.concatenate([self.A, A]), np.concatenate([self.b, b])
        center, radius = chebyshev(self.domain, *together)
        if radius > INTERIOR:
            self.A, self.b = together
            self._cached_center = (self.A, center)
        elif len(b) == 1:
            self._skip(1)
        else:
            half = len(b) // 2
            self._admit(A[:half], b[:half])
            self._admit(A[half:], b[half:])

    def _find_vertices(self) -> None:
        """Vertices by Qhull, in coordinates of the domain about the centre."""
        from scipy.spatial import HalfspaceIntersection, QhullError  # slow to import

        basis = self.domain.tangent()
        facets, right = self.domain.facets
        A, b = np.concatenate([self.A, facets]), np.concatenate([self.b, right])
        center = self._chebyshev_center()
        halfspaces = np.column_stack([A @ basis.T, A @ center - b])
        try:
            hull = HalfspaceIntersection(halfspaces, np.zeros(len(basis)))
        except QhullError:  # too thin for it: the old vertices still contain what is left
            return
        points = hull.intersections[np.isfinite(hull.intersections).all(axis=1)]
        self.vertices = np.ascontiguousarray(
            np.unique(np.round(center + points @ basis, 13), axis=0)
        )
        self._keep_tight(self.A, self.b)

    def _nearest_of_each(self, A: FloatArray, b: FloatArray, groups: IntArray) -> IntArray:
        distance = (b - A @ self._chebyshev_center()) / np.linalg.norm(A, axis=1)
        order = np.lexsort((distance, groups))
        chosen: IntArray = order[np.unique(groups[order], return_index=True)[1]]
        return chosen

    def _find_boxes(self) -> None:
        """Both boxes by linear programmes; rows that touch neither box are dropped."""
        programme = Programme(self.domain, self.A, self.b)
        self.box = boxes.box(programme, np.eye(self.dim))
        center = self._chebyshev_center()
        self.frame = boxes.fitting_frame(self.domain, self.A, self.b, center)
        self.ends = boxes.box(programme, self.frame)
        self.touching = np.array(programme.maximisers).reshape(-1, self.dim)
        useful = programme.used
        self.A, self.b = self.A[useful], self.b[useful]

    def _skip(self, rows: int) -> None:
        self.tally[SKIPPED] += rows
        if rows and not self.tally[WARNED]:
            self.tally[WARNED] = 1
            notice.warn(
                f"{type(self).__name__}: a cut that would have left nothing was skipped: the "
                "failure_prob event happened, or the data do not fit the model"
            )
