"""Optimistic backward induction over a confidence set: the one planner of every episodic agent.

With n steps to go (Algorithm 2, lines 4-7),

    W[n, s] = max_a min(1, r(s, a) + sup over theta in Theta of <theta, (P^i_{s,a} W[n-1])_i>).

The time-homogeneous rows reach a fixed point, often long before the horizon: from there on one
row stands for all later ones, and planning costs the same whatever the horizon.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from voful import persistence, validation
from voful.archive import Arrays
from voful.compiled import kernel
from voful.confidence.mixture.base import MixtureSet
from voful.confidence.mixture.ends import MixtureEllipsoids, fill_upper_ends, point_of
from voful.confidence.mixture.maximum import new_room
from voful.confidence.mixture.polygons import fill_largest_products
from voful.invariants import Invariants, between, whole
from voful.mdp.model import LinearMixtureModel, expected_next
from voful.typing import FloatArray, IntArray

Support: TypeAlias = Callable[[FloatArray], FloatArray]
"""sup of <x, theta> over the set (or an upper bound) for the rows x of an (n, d) array."""

Backup: TypeAlias = Callable[[FloatArray], FloatArray]
"""Values V (S,) with a step less to go -> upper bounds Q (S, A)."""

Fill: TypeAlias = Callable[[FloatArray, IntArray, int], tuple[int, float]]
"""(values, actions, n): fill rows n.. of both, one or more -> (rows filled, last change)."""

FIXED_POINT = 1e-12
"""Rows of values that differ by no more are one row (over sets within the simplex)."""

TIE = 1e-12
"""Actions whose values differ by no more are equal; the first of them is taken."""

MOST_ROWS, MOST_VALUES = 2**16, 2**26
"""Of one plan (a gigabyte), whatever the horizon: a plan ends, also that of a crafted file."""

BLOCK_TOLERANCE = 0.05
"""A row may be replaced by another if their difference spans at most this part of its span."""


class OptimisticPlan(persistence.Stateful):
    """What to do with n = 0..H steps to go in each state, and what it is worth at best.

    Parameters
    ----------
    values, actions
        (N+1, S) arrays by the number n of steps to go; row N stands for all n >= N as well.
    horizon, initial_state
        Of the model.
    value
        Optimistic value at the initial state; default: `values` with `horizon` steps to go.
    episodes
        How many episodes to run before planning again.
    """

    _arrays: ClassVar[tuple[str, ...]] = ("values", "actions", "_facts")
    _growing: ClassVar[tuple[str, ...]] = ("values", "actions")

    def __init__(
        self,
        values: FloatArray,
        actions: IntArray,
        *,
        horizon: int,
        initial_state: int,
        value: float | None = None,
        episodes: int = 1,
    ) -> None:
        self.values = values
        self.actions = actions
        self.horizon = horizon
        self.initial_state = initial_state
        if value is None:
            value = float(self.value_row(0)[initial_state])
        self._facts = np.array([value, float(episodes)])

    def _invariants(self, state: Arrays) -> Invariants:
        values, actions, (value, episodes) = state["values"], state["actions"], state["_facts"]
        shape, S = values.shape, self.values.shape[1]
        yield "a row for each number of steps", 1 <= shape[0] <= self.horizon + 1
        yield "values and actions of each state", shape == actions.shape and shape[1] == S
        yield "values in [0, 1]", between(values, 0.0, 1.0) and between(value, 0.0, 1.0)
        yield "actions from 0 on", bool((actions >= 0).all())
        yield "a number of episodes", whole(episodes, 1)

    @property
    def value(self) -> float:
        """Optimistic value at the initial state."""
        return float(self._facts.item(0))

    @property
    def episodes(self) -> int:
        """How many episodes to run before planning again."""
        return int(self._facts.item(1))

    def action(self, h: int, s: int) -> int:
        """Action at step h = 0..H-1 in state s."""
        if not 0 <= h < self.horizon:
            raise validation.fail("h", h, f"a step from 0 to {self.horizon - 1}")
        if not 0 <= s < self.actions.shape[1]:
            raise validation.fail("s", s, f"a state from 0 to {self.actions.shape[1] - 1}")
        return int(self.actions[self.row(h), s])

    def row(self, h: int) -> int:
        """Row of `values` and `actions` at step h = 0..H, with H - h steps to go."""
        return min(self.horizon - h, len(self.values) - 1)

    def value_row(self, h: int) -> FloatArray:
        """V_h, the optimistic values at step h = 0..H, shape (S,)."""
        row: FloatArray = self.values[self.row(h)]
        return row

    def lasting(self, episodes: int) -> OptimisticPlan:
        """The same plan for so many episodes."""
        return OptimisticPlan(
            self.values,
            self.actions,
            horizon=self.horizon,
            initial_state=self.initial_state,
            value=self.value,
            episodes=episodes,
        )

    def __repr__(self) -> str:
        return (
            f"OptimisticPlan(value={self.value:g}, episodes={self.episodes}, "
            f"rows={self.values.shape[0]}, horizon={self.horizon})"
        )


@kernel
def _fill_row(
    Q: FloatArray, tried: IntArray, values: FloatArray, actions: IntArray, n: int
) -> float:
    """Algorithm 2, line 6: row n of values, max_a Q clipped to [0, 1], and of actions.

    Returns how much the row differs from n - 1. An action is the first within TIE of the best. Of
    those that tie, one that was tried least; with `tried` of shape (0, A) simply the first.
    """
    S, A = Q.shape
    change = 0.0
    for s in range(S):
        best = -np.inf
        for a in range(A):
            best = max(best, min(1.0, Q[s, a]))
        chosen = -1
        for a in range(A):
            if min(1.0, Q[s, a]) >= best - TIE and (
                chosen < 0 or (s < tried.shape[0] and tried[s, a] < tried[s, chosen])
            ):
                chosen = a
        actions[n, s] = chosen
        values[n, s] = max(best, 0.0)
        change = max(change, abs(values[n, s] - values[n - 1, s]))
    return change


@kernel
def _backups(
    successors: IntArray,
    probabilities: FloatArray,
    rewards: FloatArray,
    vertices: FloatArray,
    Theta: MixtureEllipsoids,
    values: FloatArray,
    actions: IntArray,
    filled: int,
    tolerance: float,
) -> tuple[int, float]:
    """Fill rows `filled`.. of values and actions; (rows filled, last change).

    Over the hull of the vertices, or over the ellipsoids where there are none.
    """
    S, A, _, d = probabilities.shape
    X, upper, room = np.empty((S * A, d)), np.empty(S * A), new_room(d)
    x, Q = X.reshape(S, A, d), np.empty((S, A))
    tried = np.empty((0, A), dtype=np.int64)
    change = np.inf
    for n in range(filled, values.shape[0]):
        expected_next(successors, probabilities, values[n - 1], x)
        if vertices.shape[0] > 0:
            fill_largest_products(vertices, X, upper)
            for s in range(S):
                for a in range(A):
                    Q[s, a] = rewards[s, a] + upper[s * A + a]
        else:
            # The action with a step less to go mostly is the best one again.
            fill_upper_ends(Theta, X, rewards, actions[n - 1], 1.0, Q, room)
        change = _fill_row(Q, tried, values, actions, n)
        if change <= tolerance:
            return n + 1, change
    return values.shape[0], change


def _fill(model: LinearMixtureModel, fill: Fill, tolerance: float) -> OptimisticPlan:
    """Fill rows until the horizon or a fixed point, with room for more and more of them."""
    last = min(model.horizon, MOST_ROWS, max(MOST_VALUES // model.n_states, 1))
    shape = (min(last, 255) + 1, model.n_states)
    values, actions = np.zeros(shape), np.zeros(shape, dtype=np.int64)
    n, change = 1, np.inf
    while n <= last and change > tolerance:
        if n == len(values):
            more = np.zeros((min(n, last + 1 - n), model.n_states))
            values = np.concatenate([values, more])
            actions = np.concatenate([actions, more.astype(np.int64)])
        n, change = fill(values, actions, n)
    # Each of the steps that were saved could have added `change` to the last row at most: within
    # the simplex the sup T never enlarges differences, so that rows W' >= T W with W >= W' - change
    # give T W' <= T W + change <= W' + change. Added to the value, it stays an upper bound, also
    # where the rows are upper bounds of the sup. Without a fixed point 1 is one.
    value = float(values[n - 1, model.initial_state]) + (model.horizon + 1 - n) * change
    if n <= model.horizon and change > tolerance:
        value = 1.0
    return OptimisticPlan(
        np.ascontiguousarray(values[:n]),
        np.ascontiguousarray(actions[:n]),
        horizon=model.horizon,
        initial_state=model.initial_state,
        value=min(1.0, value),
    )


def backward_induction(
    model: LinearMixtureModel, backup: Backup, tolerance: float, tried: IntArray | None = None
) -> OptimisticPlan:
    """Plan with any backup: V with n-1 steps to go -> upper bounds Q (S, A) with n steps to go.

    Parameters
    ----------
    model
        What is known.
    backup
        Takes a row of values, shape (S,).
    tolerance
        Rows that differ by no more are one row. Positive only where the backup never enlarges the
        difference of two rows; 0: where the fixed point is reached exactly; negative: no two.
    tried
        (S, A) how often each action was taken: of actions that tie, a least tried one is planned.
        Default: the first.
    """
    times = np.empty((0, model.n_actions), dtype=np.int64) if tried is None else tried

    def fill(values: FloatArray, actions: IntArray, n: int) -> tuple[int, float]:
        return n + 1, _fill_row(backup(values[n - 1]), times, values, actions, n)

    return _fill(model, fill, tolerance)


def optimistic_plan(
    model: LinearMixtureModel, support: Support, *, within_simplex: bool | None = None
) -> OptimisticPlan:
    """Plan with an oracle for the support function of the set, asked once per backup.

    Parameters
    ----------
    model
        What is known.
    support
        Takes the (S A, d) array of all x(s, a) of a backup, gives the (S A,) upper ends.
    within_simplex
        Whether the oracle is that of sets within the simplex (or an upper bound of it): then rows
        beyond two that are nearly equal share the last one, and what the steps that remain could
        add goes to the plan's value. Default: whether the base models are stochastic. False for
        ellipsoids that are not cut: every row is planned.
    """

    def backup(V: FloatArray) -> FloatArray:
        upper = np.asarray(support(model.features(V).reshape(-1, model.dim)), dtype=np.float64)
        Q: FloatArray = model.rewards + upper.reshape(model.rewards.shape)
        return Q

    contracting = model.stochastic if within_simplex is None else within_simplex
    return backward_induction(model, backup, FIXED_POINT if contracting else 0.0)


def optimistic_plan_over_vertices(
    model: LinearMixtureModel, vertices: npt.ArrayLike
) -> OptimisticPlan:
    """Plan over the convex hull of the rows of `vertices`, all compiled.

    Parameters
    ----------
    model
        What is known.
    vertices
        (n_vertices, d) members of the parameter set.
    """
    corners = validation.matrix("vertices", vertices, model.dim)
    if corners.shape[0] == 0:
        raise validation.fail_shape("vertices", corners.shape, "at least one vertex")
    tolerance = FIXED_POINT if model.stochastic else 0.0
    return _compiled_plan(model, corners, point_of(corners[0]), tolerance)


def optimistic_plan_over_ellipsoids(
    model: LinearMixtureModel, Theta: MixtureEllipsoids
) -> OptimisticPlan:
    """Plan over ellipsoids, all compiled: the bits of `optimistic_plan` with their support.

    Parameters
    ----------
    model
        What is known.
    Theta
        As `EllipsoidalMixtureSet.ellipsoids` gives them.
    """
    tolerance = FIXED_POINT if Theta.cut and Theta.simplex else 0.0
    return _compiled_plan(model, np.empty((0, model.dim)), Theta, tolerance)


def _compiled_plan(
    model: LinearMixtureModel, vertices: FloatArray, Theta: MixtureEllipsoids, tolerance: float
) -> OptimisticPlan:
    known = model.successors, model.probabilities, model.rewards

    def fill(values: FloatArray, actions: IntArray, n: int) -> tuple[int, float]:
        return _backups(*known, vertices, Theta, values, actions, n, tolerance)

    return _fill(model, fill, tolerance)


def plan_over_mixtures(model: LinearMixtureModel, Theta: MixtureSet) -> OptimisticPlan:
    """Plan over a set of weights, by its vertices where it has them."""
    vertices = Theta.vertices
    if vertices is None:
        return optimistic_plan(model, Theta.planning_support)
    return optimistic_plan_over_vertices(model, vertices)


@kernel
def time_blocks(values: FloatArray, tolerance: float = BLOCK_TOLERANCE) -> IntArray:
    """Representative row of each row n of `values`, shape (N+1,).

    A block of neighbouring rows shares its row with most steps to go; a new one begins where
    span(V_n - V_representative) > tolerance span(V_n). A test of the model may use any function
    that was fixed before the episode, so replacing V_n by its representative is sound, and the
    number of blocks hardly depends on the horizon.
    """
    rows, S = values.shape
    representative = np.empty(rows, dtype=np.int64)
    current = rows - 1
    for n in range(rows - 1, -1, -1):
        low = high = values[n, 0]
        low_difference = high_difference = values[n, 0] - values[current, 0]
        for s in range(1, S):
            low, high = min(low, values[n, s]), max(high, values[n, s])
            difference = values[n, s] - values[current, s]
            low_difference = min(low_difference, difference)
            high_difference = max(high_difference, difference)
        if high_difference - low_difference > tolerance * (high - low):
            current = n
        representative[n] = current
    return representative
