"""Algorithm 2 as printed, with loops, for a given finite list of mu: the oracle of the tests.

Everything is computed from the whole history at each episode; maxima over Theta_k are taken over
its vertices, found by trying all meeting points.
"""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from voful.typing import FloatArray


class Step(NamedTuple):
    x: list[FloatArray]  # x^m
    y: list[float]  # V(s')^(2^m)
    eta: list[float]  # eta^m


def clip(u: float, ell: float) -> float:
    return math.copysign(min(abs(u), ell), u) if u != 0.0 else 0.0


class LiteralVARLin:
    def __init__(
        self,
        P: FloatArray,
        rewards: FloatArray,
        horizon: int,
        n_episodes: int,
        delta: float,
        mu: FloatArray,
        *,
        simplex: bool,
        iota_scale: float,
    ) -> None:
        self.P, self.r, self.H, self.mu, self.simplex = P, rewards, horizon, mu, simplex
        self.d, self.S, self.A, _ = P.shape
        HK = horizon * n_episodes
        self.iota = iota_scale * 16 * self.d * math.log(self.d * HK / delta)
        self.L0 = math.ceil(math.log2(HK))
        self.L1 = self.L2 = math.ceil(5 * math.log2(HK) + 3)
        self.history: list[Step] = []
        self.rows: list[FloatArray] = []
        self.right: list[float] = []
        self.V = np.zeros((horizon + 2, self.S))
        self.corners = self.vertices()

    def ell(self, i: int) -> float:
        return 2.0 ** (2 - i)

    def in_layer(self, i: int, eta: float) -> bool:
        return self.ell(i + 1) < eta <= self.ell(i)

    def vertices(self) -> FloatArray:
        """Of Theta_k: all meeting points of enough tight rows that violate no other row."""
        d = self.d
        if self.simplex:
            corners, facets = np.eye(d), [(-row, 0.0) for row in np.eye(d)]
        else:
            corners = np.concatenate([np.eye(d), -np.eye(d)])
            signs = itertools.product([-1.0, 1.0], repeat=d)
            facets = [(np.array(sign), 1.0) for sign in signs]
        cutting = [
            (row, right)
            for row, right in zip(self.rows, self.right, strict=True)
            if (corners @ row).max() > right  # else no point of the domain violates it
        ]
        scaled = [(row / np.abs(row).max(), right / np.abs(row).max()) for row, right in cutting]
        scaled += facets
        A, b = np.array([row for row, _ in scaled]), np.array([right for _, right in scaled])
        found = []
        for tight in itertools.combinations(range(len(A)), d - 1 if self.simplex else d):
            M, v = A[list(tight)], b[list(tight)]
            if self.simplex:
                M, v = np.vstack([M, np.ones(d)]), np.append(v, 1.0)
            if abs(np.linalg.det(M)) > 1e-9:
                theta = np.linalg.solve(M, v)
                if (A @ theta <= b + 1e-10).all():
                    found.append(theta)
        return np.array(found)

    def maximum(self, x: FloatArray) -> float:
        """max over Theta_k of <x, theta>."""
        return float((self.corners @ x).max())

    def plan(self) -> float:
        """Lines 4-7; the optimistic value."""
        self.V = np.zeros((self.H + 2, self.S))
        for h in range(self.H, 0, -1):
            for s in range(self.S):
                Q = []
                for a in range(self.A):
                    x = np.array([self.P[i, s, a] @ self.V[h + 1] for i in range(self.d)])
                    Q.append(min(1.0, self.r[s, a] + self.maximum(x)))
                self.V[h, s] = max(Q)
        return float(self.V[1, 0])

    def eta(self, x: FloatArray, x2: FloatArray) -> float:
        """Line 13, by the dual in one variable to high precision."""
        low, high = -self.maximum(-x), self.maximum(x)
        best = minimize_scalar(
            lambda w: self.maximum(x2 - 2 * w * x) + w * w,
            bounds=(low, high),
            method="bounded",
            options={"xatol": 1e-10},
        )
        ends = [self.maximum(x2 - 2 * w * x) + w * w for w in (low, high)]
        return max(0.0, min(float(best.fun), *ends))

    def update(self, states: list[int], actions: list[int]) -> None:
        """Lines 12-16."""
        for h, (s, a, t) in enumerate(zip(states, actions, states[1:], strict=False), start=1):
            x, y = [], []
            for m in range(self.L0 + 2):
                power = self.V[h + 1] ** (2**m)
                x.append(np.array([self.P[i, s, a] @ power for i in range(self.d)]))
                y.append(float(power[t]))
            eta = [self.eta(x[m], x[m + 1]) for m in range(self.L0 + 1)]
            self.history.append(Step(x, y, eta))
        self.rows, self.right = [], []
        for m in range(self.L0 + 1):
            for i in range(1, self.L1 + 1):
                T = [e for e in self.history if self.in_layer(i, e.eta[m])]
                for j in range(1, self.L2 + 1):
                    for mu in self.mu:
                        self.test(T, m, j, mu)
        self.corners = self.vertices()

    def test(self, T: list[Step], m: int, j: int, mu: FloatArray) -> None:
        ell = self.ell(j)
        slope, mean, V = np.zeros(self.d), 0.0, 0.0
        for e in T:
            weight = clip(float(e.x[m] @ mu), ell)
            slope += weight * e.x[m]
            mean += weight * e.y[m]
            V += weight**2 * e.eta[m]
        bound = 4 * math.sqrt(V * self.iota) + 4 * ell * self.iota
        self.rows += [slope, -slope]
        self.right += [bound + mean, bound - mean]

    def excess(self, theta: FloatArray) -> float:
        """By how much theta violates the worst test, relative to its right side's size."""
        if not self.rows:
            return -1.0
        left = np.array(self.rows) @ theta - np.array(self.right)
        return float((left / np.maximum(np.abs(self.right), 1e-300)).max())
