"""Peeled tests (the paper, Algorithm 1, Eq. "bandit-confball"): statistics, membership, exits.

Levels collapse: clip(x.mu, l) = l clip(x.mu / l, 1), so that the test of mu at level l, divided by
l, is the level-1 test of nu = mu / l:

    theta stays  iff  |S(theta)| <= sqrt(kappa V(theta)) + beta0 + beta1 |theta|,
    S = sum c eps(theta),  V = sum c^2 eps(theta)^2,  c = clip(x.nu, 1),  eps(theta) = y - x.theta.

About an origin o, with r = y - x.o and t = theta - o: S = a - b.t and V = e - 2 f.t + t'G t, so
five sums per test are all that is kept. The origin moves with the estimate: then a, e and f stay
small, and S and V do not cancel on long low-noise runs.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from voful.compiled import kernel, part
from voful.confidence.algebra import symmetric_times
from voful.confidence.ellipsoids.ridge import Ridge, open_ridge, ridge_update
from voful.typing import BoolArray, FloatArray


class Tests(NamedTuple):
    """N tests in R^d, as views of one flat array (see `unpack`)."""

    nu: FloatArray  # (N, d) collapsed directions mu / l
    a: FloatArray  # (N,) sum c r
    b: FloatArray  # (N, d) sum c x
    e: FloatArray  # (N,) sum c^2 r^2
    f: FloatArray  # (N, d) sum c^2 r x
    G: FloatArray  # (N, d, d) sum c^2 x x'
    kappa: FloatArray  # (N,) factor under the root
    beta0: FloatArray  # (N,) additive term
    beta1: FloatArray  # (N,) additive term per |theta|
    o: FloatArray  # (d,) origin


def flat_size(n: int, d: int) -> int:
    """Numbers that n tests in R^d take."""
    return n * (d * d + 3 * d + 5) + d


@part
def unpack(flat: FloatArray, d: int) -> Tests:
    """The named views of a flat array."""
    n = (flat.shape[0] - d) // (d * d + 3 * d + 5)
    b = n * d + n  # where b, f and G begin
    f = b + n * d + n
    G = f + n * d
    end = G + n * d * d
    return Tests(
        flat[: n * d].reshape(n, d),
        flat[n * d : b],
        flat[b : b + n * d].reshape(n, d),
        flat[b + n * d : f],
        flat[f:G].reshape(n, d),
        flat[G:end].reshape(n, d, d),
        flat[end : end + n],
        flat[end + n : end + 2 * n],
        flat[end + 2 * n : end + 3 * n],
        flat[end + 3 * n :],
    )


@part
def add_observation(flat: FloatArray, x: FloatArray, y: float) -> None:
    """One round (Algorithm 1, lines 7-8), O(N d^2).

    nu may change between rounds: c only has to be known before y.
    """
    d = x.shape[0]
    T = unpack(flat, d)
    r = y
    for k in range(d):
        r -= x[k] * T.o[k]
    for i in range(T.a.shape[0]):
        c = 0.0
        for k in range(d):
            c += x[k] * T.nu[i, k]
        c = min(max(c, -1.0), 1.0)
        if c == 0.0:
            continue
        T.a[i] += c * r
        T.e[i] += c * c * r * r
        for k in range(d):
            T.b[i, k] += c * x[k]
            T.f[i, k] += c * c * r * x[k]
            w = c * c * x[k]
            for m in range(d):
                T.G[i, k, m] += w * x[m]


@kernel
def learn(block: FloatArray, flat: FloatArray, x: FloatArray, reward: float, clip: float) -> None:
    """One round: the estimate takes the reward, the tests take what is left of it by clipping."""
    ridge_update(open_ridge(block, x.shape[0]), x, reward, 1.0)
    add_observation(flat, x, min(max(reward, -clip), clip))


@kernel
def move_origin(flat: FloatArray, o: FloatArray) -> None:
    """Exact change of origin by D: a -= b.D, e += -2 f.D + D'G D, f -= G D."""
    d = o.shape[0]
    T = unpack(flat, d)
    D = o - T.o
    for i in range(T.a.shape[0]):
        bD = 0.0
        fD = 0.0
        DGD = 0.0
        for k in range(d):
            GD = 0.0
            for m in range(d):
                GD += T.G[i, k, m] * D[m]
            bD += T.b[i, k] * D[k]
            fD += T.f[i, k] * D[k]
            DGD += GD * D[k]
            T.f[i, k] -= GD
        T.a[i] -= bD
        T.e[i] = max(T.e[i] - 2.0 * fD + DGD, 0.0)
    for k in range(d):
        T.o[k] = o[k]


def able(T: Tests, n: int) -> BoolArray:
    """Which tests may eliminate some |theta| <= 1 after n rounds: the others need not be asked.

    |S| <= sqrt(n V) (Cauchy-Schwarz), so n <= kappa accepts everything; so does a threshold beta0
    above the largest |S| = |a + b.o - b.theta| on the ball.
    """
    reach = np.abs(T.a + T.b @ T.o) + np.sqrt(np.sum(T.b * T.b, axis=1))
    answer: BoolArray = (n > T.kappa) & (reach > T.beta0)
    return answer


def select_tests(T: Tests, kept: BoolArray) -> FloatArray:
    """The flat array of the tests in `kept`."""
    parts = [np.ascontiguousarray(view[kept]).ravel() for view in T[:-1]]
    return np.concatenate([*parts, T.o])


def one_more(flat: FloatArray, d: int) -> FloatArray:
    """The same tests and another, which accepts everything while it has seen nothing."""
    T = unpack(flat, d)
    parts = [np.append(view.ravel(), np.zeros(math.prod(view.shape[1:]))) for view in T[:-1]]
    return np.concatenate([*parts, T.o])


@part
def linear_part(T: Tests, i: int, theta: FloatArray) -> tuple[float, float]:
    """(S, right side without its root) of test i at theta, O(d)."""
    S, squared = T.a[i], 0.0
    for k in range(theta.shape[0]):
        S -= T.b[i, k] * (theta[k] - T.o[k])
        squared += theta[k] * theta[k]
    return S, T.beta0[i] + T.beta1[i] * math.sqrt(squared)


@part
def sides(T: Tests, i: int, theta: FloatArray) -> tuple[float, float]:
    """(S, right side) of test i at theta (Algorithm 1, line 9), O(d^2)."""
    S, right = linear_part(T, i, theta)
    t = theta - T.o
    Gt = np.empty_like(t)
    symmetric_times(T.G[i], t, Gt)
    V = T.e[i]
    for k in range(t.shape[0]):
        V += t[k] * (Gt[k] - 2.0 * T.f[i, k])
    return S, right + math.sqrt(T.kappa[i] * max(V, 0.0))


@part
def excess(T: Tests, i: int, theta: FloatArray) -> tuple[float, float]:
    """(g, sign of S): g = |S| - right side; theta is eliminated by test i iff g > 0."""
    S, right = sides(T, i, theta)
    sign = 1.0 if S >= 0.0 else -1.0
    return sign * S - right, sign


@kernel
def worst(T: Tests, theta: FloatArray) -> tuple[float, int, float]:
    """The most violated test at theta: (g, test, sign); theta passes every test iff g <= 0."""
    largest, at, side = -np.inf, -1, 1.0
    for i in range(T.a.shape[0]):
        S, right = linear_part(T, i, theta)
        if abs(S) - right > largest:  # else the root, which only lowers g, need not be known
            g, sign = excess(T, i, theta)
            if g > largest:
                largest, at, side = g, i, sign
    return largest, at, side


@kernel
def passes(flat: FloatArray, theta: FloatArray, slack: float) -> bool:
    """Literal membership (the tests, not the ball), with relative slack on the right side."""
    T = unpack(flat, theta.shape[0])
    for i in range(T.a.shape[0]):
        S, right = sides(T, i, theta)
        if abs(S) > right * (1.0 + slack):
            return False
    return True


@kernel
def passes_since(
    history: FloatArray, first: int, last: int, theta: FloatArray, slack: float
) -> bool:
    """`passes` at every check from `first` to before `last`."""
    for k in range(first, last):  # noqa: SIM110 (a generator does not compile)
        if not passes(history[k], theta, slack):
            return False
    return True


@part
def exit_step(
    T: Tests, i: int, sign: float, p: FloatArray, ray: FloatArray, longest: float
) -> float:
    """How far p + s ray stays in the region that (test i, sign) eliminates: a lower bound of s.

    g(s) = sign S - beta0 - beta1 |theta| - sqrt(kappa V) is concave on the ray (sqrt V is the norm
    of an affine map). Secants through a positive and a negative point have their root at or before
    the true one, tangents at or after it: the bracket closes from both sides and its left end is
    returned, which can only weaken a cut. 0 if p is not in the region.
    """
    d = p.shape[0]
    s0, s1, v0, v1, v2, n0, n1, n2 = T.a[i], 0.0, T.e[i], 0.0, 0.0, 0.0, 0.0, 0.0
    offset = p - T.o
    Gt, Gr = np.empty(d), np.empty(d)
    symmetric_times(T.G[i], offset, Gt)
    symmetric_times(T.G[i], ray, Gr)
    for k in range(d):
        s0 -= T.b[i, k] * offset[k]
        s1 -= T.b[i, k] * ray[k]
        v0 += offset[k] * (Gt[k] - 2.0 * T.f[i, k])
        v1 += ray[k] * (Gt[k] - T.f[i, k])
        v2 += ray[k] * Gr[k]
        n0 += p[k] * p[k]
        n1 += p[k] * ray[k]
        n2 += ray[k] * ray[k]
    s0, s1 = sign * s0 - T.beta0[i], sign * s1
    root, per_norm = math.sqrt(T.kappa[i]), T.beta1[i]
    near, far = 0.0, longest
    g_near = s0 - per_norm * on_ray(near, n0, n1, n2) - root * on_ray(near, v0, v1, v2)
    if g_near <= 0.0:
        return 0.0
    g_far = s0 + s1 * far - per_norm * on_ray(far, n0, n1, n2) - root * on_ray(far, v0, v1, v2)
    if g_far > 0.0:
        return longest
    for _ in range(40):
        s = near + (far - near) * g_near / (g_near - g_far)  # secant: still inside
        norm, spread = on_ray(s, n0, n1, n2), on_ray(s, v0, v1, v2)
        g = s0 + s1 * s - per_norm * norm - root * spread
        if g <= 0.0:  # rounding only
            break
        step = s - near
        near, g_near = s, g
        slope = s1 - per_norm * (n1 + n2 * s) / norm - root * (v1 + v2 * s) / spread
        t = s - g / slope if slope < 0.0 else far  # tangent: on the boundary or outside
        if t < far:
            g = s0 + s1 * t - per_norm * on_ray(t, n0, n1, n2) - root * on_ray(t, v0, v1, v2)
            if g <= 0.0:
                far, g_far = t, g
        if far - near <= 1e-7 * far or step <= 1e-9 * far or g_far == 0.0:
            break
    return near


@part
def on_ray(s: float, q0: float, q1: float, q2: float) -> float:
    """sqrt(q0 + 2 q1 s + q2 s^2), a norm: positive also where it rounds to 0 or below."""
    return math.sqrt(max(q0 + s * (2.0 * q1 + q2 * s), 1e-300))


def into_ball(theta: FloatArray) -> FloatArray:
    """theta, or where it leaves the unit ball."""
    return theta / max(1.0, math.hypot(*theta))


def passing_estimate(flat: FloatArray, estimate: Ridge) -> FloatArray:
    """The most regularised ridge estimate, in the ball, that passes these tests; else the first."""
    d = len(estimate.center)
    tests = unpack(flat, d)
    for ridge in (1.0, 1e-2, 1e-4, 1e-7):
        gram = estimate.precision + (ridge - 1.0) * np.eye(d)
        found = np.asarray(np.linalg.solve(gram, estimate.response), dtype=np.float64)
        if worst(tests, into_ball(found))[0] <= 0.0:
            return into_ball(found)
    return into_ball(estimate.center)
