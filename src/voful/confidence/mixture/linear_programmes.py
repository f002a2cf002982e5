"""Linear programmes over {A theta <= b} in the simplex or the L1 ball, by HiGHS, warm-started.

A bound is never taken on trust: for any multipliers lam >= 0,

    sup <x, theta> <= lam.b + sup over the domain of <x - A'lam, theta>,

so what is returned is an upper bound however the solver rounds, or if it stops early.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from voful.confidence.mixture.domain import Domain
from voful.typing import FloatArray

if TYPE_CHECKING:
    import highspy

INTERIOR = 1e-9
"""A set without a ball of this radius inside counts as empty."""


def _solver(A: FloatArray, lower: FloatArray, upper: FloatArray, high: FloatArray) -> highspy.Highs:
    """max 0 subject to lower <= A z <= upper, 0 <= z <= high, ready for other objectives."""
    import highspy

    rows, columns = A.shape
    lp = highspy.HighsLp()
    lp.num_row_, lp.num_col_ = rows, columns
    lp.col_cost_ = np.zeros(columns)
    lp.col_lower_, lp.col_upper_ = np.zeros(columns), high
    lp.row_lower_, lp.row_upper_ = lower, upper
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = np.arange(rows + 1) * columns
    lp.a_matrix_.index_ = np.tile(np.arange(columns), rows)
    lp.a_matrix_.value_ = A.ravel()
    lp.sense_ = highspy.ObjSense.kMaximize
    solver = highspy.Highs()  # type: ignore[no-untyped-call]
    for option, value in (
        ("output_flag", False),
        ("presolve", "off"),  # it would forget the basis
        ("threads", 1),
        ("primal_feasibility_tolerance", 1e-10),
        ("dual_feasibility_tolerance", 1e-10),
    ):
        solver.setOptionValue(option, value)
    solver.passModel(lp)
    return solver


def _solve(solver: highspy.Highs, cost: FloatArray) -> tuple[bool, Any]:
    import highspy

    solver.changeColsCost(len(cost), np.arange(len(cost), dtype=np.int32), cost)
    solver.run()
    if solver.getModelStatus() == highspy.HighsModelStatus.kUnknown:
        solver.clearSolver()  # now and then a warm start leads nowhere
        solver.run()
    optimal = solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return optimal, solver.getSolution()


def _columns(domain: Domain, A: FloatArray) -> FloatArray:
    """A on the programme's variables: theta itself, or its positive and negative part."""
    return A if domain.simplex else np.concatenate([A, -A], axis=1)


class Programme:
    """max <x, theta> over {A theta <= b} in a domain, for one x after another.

    The solver starts from the basis of the question before.
    """

    def __init__(self, domain: Domain, A: FloatArray, b: FloatArray) -> None:
        self._domain, self._A, self._b = domain, A, b
        self.used = np.zeros(len(b), dtype=np.bool_)  # rows that bounded some answer
        self.maximisers: list[FloatArray] = []  # of the questions that had one
        rows = _columns(domain, A)
        total = np.ones((1, rows.shape[1]))
        self._solver = _solver(
            np.concatenate([rows, total]),
            np.append(np.full(len(b), -np.inf), 1.0 if domain.simplex else 0.0),
            np.append(b, 1.0),
            np.ones(rows.shape[1]),
        )

    def maximum(self, x: FloatArray) -> float:
        """Upper bound of <x, theta>: the maximum, as far as the solver found it."""
        optimal, solution = _solve(self._solver, _columns(self._domain, x[None, :])[0])
        rest, total = x, 0.0
        if optimal:
            z = np.array(solution.col_value)
            self.maximisers.append(z if self._domain.simplex else z[: len(x)] - z[len(x) :])
            multipliers = np.maximum(np.array(solution.row_dual)[:-1], 0.0)
            self.used |= multipliers > 0.0
            total = float(multipliers @ self._b)
            rest = x - multipliers @ self._A
        bound = total + float(self._domain.support(rest[None, :])[0])
        return min(bound, float(self._domain.support(x[None, :])[0]))


def chebyshev(domain: Domain, A: FloatArray, b: FloatArray) -> tuple[FloatArray, float]:
    """Centre and radius of the largest ball in {A theta <= b} within the domain.

    The radius is -1 where there is none. Balls are those of the domain's own dimension.
    """
    d = domain.dim
    if domain.n_free == 0:
        return domain.middle, 0.0 if bool((A @ domain.middle <= b).all()) else -1.0
    rows = _columns(domain, A)
    n = rows.shape[1]
    if domain.simplex:
        A = A - A.mean(axis=1, keepdims=True)  # only what points along the simplex
        # theta_i >= r |e_i along the simplex|
        inside, size = -np.eye(d), np.full(d, np.sqrt(1.0 - 1.0 / d))
        right, low = np.append(np.zeros(d), 1.0), 1.0
    else:
        inside, size = np.empty((0, n)), np.empty(0)
        right, low = np.ones(1), -np.inf
    # the facets of the ball all have norm sqrt(d)
    total = np.append(np.ones(n), 0.0 if domain.simplex else np.sqrt(d))
    norms = np.concatenate([np.linalg.norm(A, axis=1), size])
    matrix = np.concatenate([np.concatenate([rows, inside]), norms[:, None]], axis=1)
    solver = _solver(
        np.concatenate([matrix, total[None, :]]),
        np.append(np.full(len(matrix), -np.inf), low),
        np.concatenate([b, right]),
        np.ones(n + 1),
    )
    cost = np.zeros(n + 1)
    cost[n] = 1.0
    optimal, solution = _solve(solver, cost)
    if not optimal:
        return domain.middle, -1.0
    z = np.array(solution.col_value)
    center = z[:d] if domain.simplex else z[:d] - z[d : 2 * d]
    return (center / center.sum() if domain.simplex else center), float(z[n])
