"""Intersection cuts: an outer polytope of "ball minus convex regions", for its support function.

The region K that one test eliminates on one side is convex: sqrt(V(theta)) is the norm of an
affine map, so g = sign S - beta0 - beta1 |theta| - sqrt(kappa V) is concave and K = {g > 0}. Let v
be a vertex of the polytope inside K, with tight rows A_B v = h_B, and s_i > 0 steps for which
v - s_i A_B^-1 e_i is in K. Every theta of the polytope is v - A_B^-1 z, z = h_B - A_B theta >= 0.
Where sum z_i / s_i < 1, theta is a convex combination of v and those d points, so it is in K:
eliminated. Hence (Tuy 1964, Balas 1971)

    sum_i (h_i - A_i theta) / s_i >= 1

holds on all that is left of the set. It always cuts v off, and needs no history.
"""

from __future__ import annotations

import math

import numpy as np

from voful.compiled import kernel, part
from voful.confidence.peeled.ball_bounds import bound_in_ball
from voful.confidence.peeled.dual_simplex import (
    EMPTY,
    OPTIMAL,
    Basis,
    Polytope,
    add_row,
    bound,
    dual_bound,
    invert,
    make_room,
    mark_used,
    multipliers,
    new_basis,
    optimise,
    start_at_corner,
)
from voful.confidence.peeled.tests import Tests, excess, exit_step, unpack, worst
from voful.typing import BoolArray, FloatArray

MAX_CUTS = 60  # per question
TOLERANCE = 0.02  # relative gap at which a question is answered
RESOLUTION = 0.1  # arms count as equal up to this multiple of (bound - prediction)
SHRINK_ROUNDS, SHRINK_GAIN = 2, 0.01
LARGEST_CONES = 10  # dimension above which vertices' cones are too wide to cut anything
FAR = 1e4  # longest step along a ray
SHRINK = 1e-6  # steps are shortened by this, against rounding
LEAST_DEPTH = 1e-4  # least distance from v to a new cut, relative to the width
LARGEST_RAY = 1e8  # rays of a worse conditioned basis are not trusted
HEAVIEST_CUT = 1e8  # sum 1/s_i beyond which rounding eats the shrinking of the steps
VIOLATED = 1e-9  # least excess of a test that is used for a cut

TIGHT, NOTHING_LEFT, OUT_OF_CUTS, BELOW_FLOOR, ILL_CONDITIONED = 0, 1, 2, 3, 4


@part
def cut_of_test(T: Tests, i: int, P: Polytope, B: Basis, w: FloatArray, steps: FloatArray) -> float:
    """The intersection cut w.theta <= t of test i at the vertex: t, infinite if there is none."""
    d = w.shape[0]
    g, sign = excess(T, i, B.vertex)
    if g <= VIOLATED:
        return np.inf
    # The vertex is known up to eps times its rays, and S up to |b| times that: only a clear
    # violation is a violation of the true vertex.
    squared = 0.0
    for j in range(d):
        for k in range(d):
            squared += B.inverse[k, j] * B.inverse[k, j]
    if g <= 1e-14 * math.sqrt(np.dot(T.b[i], T.b[i])) * (1.0 + math.sqrt(squared)):
        return np.inf
    ray = np.empty(d)
    right, weight = -1.0, 0.0
    w[:] = 0.0
    for j in range(d):
        for k in range(d):
            ray[k] = -B.inverse[k, j]
        length = math.sqrt(np.dot(ray, ray))
        if length > LARGEST_RAY:
            return np.inf
        step = (1.0 - SHRINK) * exit_step(T, i, sign, B.vertex, ray, FAR / length)
        weight += 1.0 / step if step > 0.0 else np.inf
        if weight > HEAVIEST_CUT:
            return np.inf
        steps[j] = step
        right += P.h[B.rows[j]] / step
        for k in range(d):
            w[k] += P.A[B.rows[j], k] / step
    return right


@part
def best_cut(T: Tests, P: Polytope, x: FloatArray, B: Basis, w: FloatArray) -> float:
    """Of all tests' cuts at the vertex, the one whose worst exit has the smallest x.theta."""
    d = x.shape[0]
    candidate, steps, rate = np.empty(d), np.empty(d), np.empty(d)
    multipliers(x, B, rate)  # how fast x.theta falls along ray j
    best, right = -np.inf, np.inf
    for i in range(T.a.shape[0]):
        t = cut_of_test(T, i, P, B, candidate, steps)
        if t == np.inf:
            continue
        drop = np.inf
        for j in range(d):
            drop = min(drop, steps[j] * max(rate[j], 0.0))
        score = drop + 1e-2 / math.sqrt(np.dot(candidate, candidate))  # ties: the deeper cut
        if score > best:
            best, right = score, t
            for k in range(d):
                w[k] = candidate[k]
    return right


@part
def depth(w: FloatArray, right: float, v: FloatArray) -> float:
    """How far v lies beyond a cut; 0 where there is none."""
    return (np.dot(w, v) - right) / math.sqrt(np.dot(w, w)) if right < np.inf else 0.0


@part
def last_member(T: Tests, v: FloatArray, c: FloatArray, out: FloatArray) -> bool:
    """The first member met on the way from v to c, jumping from exit to exit; False if none is."""
    way = c - v
    at = 0.0
    squared = np.dot(v, v)
    if squared > 1.0:  # into the ball first
        ww, vw = np.dot(way, way), np.dot(v, way)
        discriminant = vw * vw - ww * (squared - 1.0)
        if discriminant < 0.0 or ww == 0.0:
            return False
        at = (-vw - math.sqrt(discriminant)) / ww + 1e-12
    for _ in range(4 * T.a.shape[0] + 50):
        if at > 1.0:
            return False
        for k in range(v.shape[0]):
            out[k] = v[k] + at * way[k]
        g, i, sign = worst(T, out)
        if g <= 0.0:
            return True
        at += exit_step(T, i, sign, out, way, 2.0) * (1.0 + 1e-6) + 1e-9
    return False


@part
def maximise(
    T: Tests,
    P: Polytope,
    B: Basis,
    clock: float,
    x: FloatArray,
    c: FloatArray,
    max_cuts: int,
    tolerance: float,
    floor: float,
) -> tuple[float, float, int, int]:
    """Cutting planes for max x.theta: (upper bound, best member's value, status, cuts made).

    Stops when the two meet within `tolerance` of the upper bound's distance to x.c, when the bound
    falls below `floor`, or after `max_cuts` cuts.
    """
    d = x.shape[0]
    norm = math.sqrt(np.dot(x, x))
    if norm == 0.0:
        return 0.0, 0.0, TIGHT, 0
    w, member = np.empty(d), np.empty(d)
    at_c = np.dot(x, c)
    aim = worst(T, c)[0] <= 0.0 and np.dot(c, c) <= 1.0
    upper, lower = norm, -np.inf
    stalled, cuts = 0, 0
    start_at_corner(x, B)
    for iteration in range(max_cuts + 1):
        code = optimise(P, x, B, -np.inf)
        if code == EMPTY:
            return -np.inf, -np.inf, NOTHING_LEFT, cuts
        if not invert(P, B):
            return upper, lower, ILL_CONDITIONED, cuts
        now = dual_bound(P, x, B)
        stalled = stalled + 1 if now > upper - 1e-2 * tolerance * (upper - at_c) else 0
        upper = min(upper, now)
        mark_used(P, B, clock)
        if code != OPTIMAL:
            return upper, lower, ILL_CONDITIONED, cuts
        if upper < floor:
            return upper, lower, BELOW_FLOOR, cuts
        if aim and last_member(T, B.vertex, c, member):
            lower = max(lower, np.dot(x, member))
        if upper - lower <= tolerance * max(upper - at_c, 1e-9 * norm):
            return upper, lower, TIGHT, cuts
        if iteration == max_cuts or stalled > 12 + 4 * d:
            break
        make_room(P, B, 3)
        v = B.vertex.copy()
        length = math.sqrt(np.dot(v, v))
        outside = length > 1.0 + 1e-3 * tolerance
        right = best_cut(T, P, x, B, w)
        if outside:
            add_row(P, v, length, clock)  # tangent of the ball
            cuts += 1
        if depth(w, right, v) * norm > LEAST_DEPTH * max(upper - at_c, 1e-9):
            add_row(P, w, right, clock)
            cuts += 1
        elif not outside:
            if worst(T, v)[0] <= VIOLATED:  # the vertex is a member: exact
                return upper, max(lower, np.dot(x, v) / max(length, 1.0)), TIGHT, cuts
            break
    return upper, lower, OUT_OF_CUTS, cuts


@kernel
def shrink(flat: FloatArray, P: Polytope, clock: float, c: FloatArray) -> None:
    """Flat cuts along each test's own normal, before any question is asked.

    S = a - b.t falls along b, so the region of (test, +) lies on the -b side: optimise in that
    direction and cut the optimum with that one test, a few times. K is nearly a halfspace there:
    these are the cuts that the wide cones met by `maximise` do not find at d > 2.
    """
    d = c.shape[0]
    T = unpack(flat, d)
    B = new_basis(d)
    w, steps, x = np.empty(d), np.empty(d), np.empty(d)
    for i in range(T.a.shape[0]):
        length = math.sqrt(np.dot(T.b[i], T.b[i]))
        if length <= T.beta0[i]:  # |S| <= |a| + |b| hardly clears the threshold: not worth an LP
            continue
        for side in (1.0, -1.0):
            for k in range(d):
                x[k] = side * T.b[i, k] / length
            at_c = np.dot(x, c)
            start_at_corner(x, B)
            last = np.inf
            for _ in range(SHRINK_ROUNDS):
                if optimise(P, x, B, -np.inf) != OPTIMAL or not invert(P, B):
                    break
                now = np.dot(x, B.vertex)
                if last < np.inf and now > last - SHRINK_GAIN * (last - at_c):
                    break
                last = now
                mark_used(P, B, clock)
                right = cut_of_test(T, i, P, B, w, steps)
                if depth(w, right, B.vertex) < SHRINK_GAIN * max(now - at_c, 1e-9):
                    break
                make_room(P, B, 2)
                add_row(P, w, right, clock)


@kernel
def supports(
    flat: FloatArray, P: Polytope, X: FloatArray, c: FloatArray, tolerance: float, members: bool
) -> tuple[FloatArray, FloatArray, bool]:
    """`maximise` for the rows of X, each from P as it is: (bounds, best members' values, empty).

    Where the cuts of a question leave nothing, its bound is that of P. Above LARGEST_CONES the
    bounds are those of P and the ball, and members are looked for only where asked.
    """
    m, d = X.shape
    T = unpack(flat, d)
    B = new_basis(d)
    upper, lower = np.empty(m), np.full(m, -np.inf)
    empty = False
    if d > LARGEST_CONES:
        start_at_corner(c, B)
        member = np.empty(d)
        for i in range(m):
            norm = math.sqrt(np.dot(X[i], X[i]))
            upper[i] = bound_in_ball(P, X[i], B, 1.0, np.dot(X[i], c), -np.inf)
            if upper[i] == -np.inf:
                empty, upper[i] = True, norm
            if members and norm > 0.0 and last_member(T, X[i] / norm, c, member):
                lower[i] = np.dot(X[i], member)
        return upper, lower, empty
    for i in range(m):
        own = Polytope(P.A.copy(), P.h.copy(), P.used.copy(), P.size.copy())
        upper[i], lower[i], status, _ = maximise(
            T, own, B, 1.0, X[i], c, MAX_CUTS, tolerance, -np.inf
        )
        if status == NOTHING_LEFT:
            empty = True
            upper[i] = bound(P, X[i], B, 1.0, -np.inf)
    return upper, lower, empty


@part
def best_predicted(upper: FloatArray, predicted: FloatArray, top: float) -> int:
    """Of the arms that RESOLUTION of their own width lifts to the top, the best predicted."""
    best, choice = -np.inf, 0
    for i in range(upper.shape[0]):
        if upper[i] == -np.inf:  # not allowed
            continue
        lifted = upper[i] + RESOLUTION * max(upper[i] - predicted[i], 0.0)
        if lifted >= top - 1e-9 * (1.0 + abs(top)) and predicted[i] > best + 1e-12:
            best, choice = predicted[i], i
    return choice


@kernel
def leader(
    flat: FloatArray,
    P: Polytope,
    clock: float,
    X: FloatArray,
    allowed: BoolArray,
    c: FloatArray,
    budget: int,
) -> tuple[int, int, int]:
    """Algorithm 1, line 5: argmax_x max_theta x.theta: (arm, cuts left of budget, worst status).

    Every arm allowed is bounded on the rows as they are; then (up to LARGEST_CONES) only the leader
    is cut, until it is tight or overtaken. Bounds are known up to a fraction of their distance from
    the prediction x.c: an arm which RESOLUTION of its OWN distance lifts to the leader counts as
    equal, and of the equals (all unit arms are, while the ball bounds them) the best predicted is
    played. An arm that has been learnt is equal no more.
    """
    m, d = X.shape
    T = unpack(flat, d)
    B = new_basis(d)
    upper, predicted = np.full(m, -np.inf), np.empty(m)
    tight = np.zeros(m, dtype=np.bool_)
    everything = allowed.shape[0] == 0
    worst_status, choice = TIGHT, 0
    for i in range(m):
        predicted[i] = np.dot(X[i], c)
    top = -np.inf
    for i in np.argsort(-predicted):
        if everything or allowed[i]:
            # below the floor it is neither the leader nor its equal
            floor = (top + RESOLUTION * predicted[i]) / (1.0 + RESOLUTION) - 1e-6
            if d <= LARGEST_CONES:
                upper[i] = bound(P, X[i], B, clock, floor)
            else:
                upper[i] = bound_in_ball(P, X[i], B, clock, predicted[i], floor)
            if upper[i] == -np.inf:
                return -1, budget, NOTHING_LEFT
            top = max(top, upper[i])
    if d > LARGEST_CONES:
        budget = 0
    for _ in range(8 * m):
        lead = int(np.argmax(upper))
        top, second = upper[lead], -np.inf
        choice = best_predicted(upper, predicted, top)
        for i in range(m):
            if i != lead:
                second = max(second, upper[i])
        if budget <= 0 or (tight[lead] and tight[choice]):
            break
        # Below the floor the arm is of no interest: the leader once it has clearly lost its lead
        # (clearly: two leaders must not take turns cut by cut), another once it is equal no more.
        arm = choice if tight[lead] else lead
        norm = math.sqrt(np.dot(X[arm], X[arm]))
        if upper[arm] == norm and (norm == 0.0 or worst(T, X[arm] / norm)[0] <= 0.0):
            tight[arm] = True  # the ball's own maximiser is left
            continue
        if tight[lead]:
            floor = (top - 1e-9 + RESOLUTION * predicted[arm]) / (1.0 + RESOLUTION)
        else:
            floor = second - 0.1 * max(second - predicted[arm], 0.0)
        now, _, status, cuts = maximise(
            T, P, B, clock, X[arm], c, min(MAX_CUTS, budget), TOLERANCE, floor
        )
        if status == NOTHING_LEFT:
            return -1, budget, NOTHING_LEFT
        if status == ILL_CONDITIONED:
            worst_status = ILL_CONDITIONED
        budget -= cuts
        upper[arm] = min(upper[arm], now)
        tight[arm] = status != BELOW_FLOOR
    return choice, budget, worst_status
