"""Slabs: the flat part of what a test eliminates from the unit ball, without a vertex.

In many dimensions an intersection cut is spoilt by the rays of its cone, which leave the ball long
before they leave the region. A slab looks at the ball alone.
"""

from __future__ import annotations

import math

import numpy as np

from voful.compiled import kernel, part
from voful.confidence.algebra import symmetric_times
from voful.confidence.peeled.dual_simplex import (
    Polytope,
    add_row,
    make_room,
    new_basis,
    start_at_corner,
)
from voful.confidence.peeled.tests import Tests, excess, unpack
from voful.typing import FloatArray

CLEAR = 1e-9  # least excess that counts
PRECISION = 1e-2  # of a slab's distance from the prediction


@part
def slab(T: Tests, i: int, u: FloatArray, c: FloatArray) -> float:
    """The least tau for which test i is seen to eliminate every |theta| <= 1 with u.theta > tau.

    u is b / |b| or its opposite, so |S| = |b| s - a' on theta = s u + w, w orthogonal to u, and
    V <= V(s u) + 2 |w| |q(s)| + lambda |w|^2: q half the gradient and lambda the largest eigenvalue
    of G, both orthogonal to u. This is convex in s, so its ends bound it on an interval: intervals
    of length `step` are passed from s = 1 downwards, shorter ones where one cannot be passed.
    """
    d = u.shape[0]
    o, G, f = T.o, T.G[i], T.f[i]
    Gu, Go = np.empty(d), np.empty(d)
    symmetric_times(G, u, Gu)
    symmetric_times(G, o, Go)
    uGu = np.dot(u, Gu)
    still = Go + f
    v0 = T.e[i] + 2.0 * np.dot(f, o) + np.dot(o, Go)
    v1 = np.dot(u, still)
    q2, q1, q0 = np.dot(Gu, Gu) - uGu**2, np.dot(Gu, still) - uGu * v1, np.dot(still, still) - v1**2
    across = G - np.outer(u, Gu) - np.outer(Gu, u) + uGu * np.outer(u, u)
    size = math.sqrt(np.sum(across * across)) + 1e-300
    across /= size
    across = across @ across
    across = across @ across
    curvature = size * np.sum(across * across) ** 0.125  # (trace of the 8th power)^(1/8)
    doubt = 1e-12 * (abs(v0) + uGu + size)
    slope = math.sqrt(np.dot(T.b[i], T.b[i]))
    side = 1.0 if np.dot(u, T.b[i]) > 0.0 else -1.0
    constant = -side * (T.a[i] + np.dot(T.b[i], o)) - T.beta0[i] - T.beta1[i]
    at_c = np.dot(u, c)
    tau, step = 1.0, 0.25
    while step > max(PRECISION * (tau - at_c), 1e-9):
        low = tau - step
        nearest = 0.0 if low < 0.0 < tau else min(abs(low), abs(tau))
        w = math.sqrt(max(1.0 - nearest * nearest, 0.0))
        V = 0.0
        for s in (low, tau):
            q = math.sqrt(max(q0 + s * (s * q2 - 2.0 * q1), 0.0))
            V = max(V, v0 + s * (s * uGu - 2.0 * v1) + 2.0 * w * q + curvature * w * w)
        if constant + slope * low > math.sqrt(T.kappa[i] * (V + doubt)) + CLEAR:
            tau = low
        else:
            step *= 0.25
    return tau


@kernel
def add_slabs(flat: FloatArray, P: Polytope, clock: float, c: FloatArray) -> None:
    """Each test's slabs, without any linear programme."""
    d = c.shape[0]
    T = unpack(flat, d)
    B = new_basis(d)
    start_at_corner(c, B)
    for i in range(T.a.shape[0]):
        length = math.sqrt(np.dot(T.b[i], T.b[i]))
        if length == 0.0:
            continue
        for side in (1.0, -1.0):
            u = side * T.b[i] / length
            if excess(T, i, u)[0] > 0.0:  # else not even the ball's outermost point goes
                tau = slab(T, i, u, c)
                if tau < 1.0:
                    make_room(P, B, 1)
                    add_row(P, u, tau, clock)
