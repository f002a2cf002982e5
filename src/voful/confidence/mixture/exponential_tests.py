"""One-sided tests of a mixture by exponential supermartingales, each a halfspace at all times.

An observation is y = g(s') in [0, 1], g fixed before, with mean <theta*, x>, x_i = P_i g. A test is
a rule for a weight c that is fixed before y, here c = clip(<x, u> / eta, +-cap) for a vector u. For
each test and at all times at once, with probability 1 - e^-price,

    bernstein:  sum c (y - <theta*, x>) - ln(1 + eta (e^|c| - 1 - |c|)) <= price,
    mgf:        sum c y - ln <theta*, z> <= price,   z_i = P_i e^(cg),

the first because E e^(c eps) <= 1 + eta (e^|c| - 1 - |c|) for |eps| <= 1 of variance at most eta
((e^u - 1 - u) / u^2 grows with u), the second because e^(cy) has mean <theta*, z> exactly; both by
Ville's inequality. The second is made linear in theta by the tangent of -ln at a fixed theta_0.
Both sides stay the same if y, x and g lose a constant g_0, here <theta_0, x>: sums of what is left
do not cancel.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from voful.archive import Arrays
from voful.compiled import kernel
from voful.confidence.algebra import dot
from voful.confidence.mixture.observations import Observations
from voful.invariants import Invariants
from voful.persistence import Stateful
from voful.typing import FloatArray, IntArray

SCALES: FloatArray = 2.0 ** np.arange(1.0, -7.0, -1.0)
"""Lengths of u. Since <x, u> is divided by eta, they need not follow the horizon."""

CAPS = {"bernstein": 2.0, "mgf": 4.0}
"""Largest |c|: beyond, e^|c| costs more than a larger weight brings."""

LARGEST_SUM = 1e30
"""No sum over all steps of all episodes is so large: terms are of size at most e^4."""

EPSILON = 1e-16

_NO_WEIGHT = 1e-14  # |<x, u>| below this is rounding


@kernel
def _add(
    seen: Observations,
    eta: FloatArray,
    shift: FloatArray,
    counts: FloatArray,
    sums: FloatArray,
    theta_0: FloatArray,
    directions: FloatArray,
    scales: FloatArray,
    cap: float,
    mgf: bool,
    offsets: FloatArray,
    costs: FloatArray,
    normals: FloatArray,
) -> None:
    """Add c (y - g_0) to offsets, ln(...) to costs and -c (x - g_0) to normals, for every test.

    mgf: the same with z_i = P_i e^(c (g - g_0)) - 1 and the tangent of -ln(1 + <theta, z>).
    """
    C, B, d = seen.probabilities.shape
    z = np.zeros(d)
    for k in range(C):
        n = counts[k]
        for u in range(directions.shape[0]):
            product = dot(seen.X[k], directions[u])
            if abs(product) < _NO_WEIGHT:
                continue
            last, weight, cost = 0.0, 0.0, 0.0
            for r in range(scales.shape[0]):
                c = min(max(product * scales[r] / eta[k], -cap), cap)
                if c != last:
                    last = c
                    if mgf:
                        z[:] = 0.0
                        for b in range(B):
                            e = math.expm1(c * (seen.targets[k, b] - shift[k]))
                            for i in range(d):
                                z[i] += seen.probabilities[k, b, i] * e
                        mean = dot(theta_0, z)
                        cost = n * (math.log1p(mean) - mean / (1.0 + mean))
                        weight = n / (1.0 + mean)
                    else:
                        for i in range(d):
                            z[i] = seen.X[k, i] - shift[k]
                        cost = n * math.log1p(eta[k] * (math.expm1(abs(c)) - abs(c)))
                        weight = c * n
                offsets[u, r] += c * sums[k]
                costs[u, r] += cost
                for i in range(d):
                    normals[u, r, i] -= weight * z[i]


class ExponentialTests(Stateful):
    """For each moment, direction and scale: offset + <normal, theta> <= cost + price.

    Parameters
    ----------
    kind
        "bernstein" or "mgf".
    moments
        M.
    directions
        (n, d) vectors, each tested on one side.
    failure_prob
        Shared by all tests: price = ln(number of tests / failure_prob).
    width_scale
        Multiplies the right side: the price, and for "bernstein" the variance term too.
    simplex
        Whether all parameters sum up to 1, so that constants may be taken off.
    """

    _arrays: ClassVar[tuple[str, ...]] = ("offsets", "costs", "normals")

    def __init__(
        self,
        kind: str,
        moments: int,
        directions: FloatArray,
        failure_prob: float,
        width_scale: float,
        simplex: bool,
    ) -> None:
        self.kind = kind
        self.simplex = simplex
        self.directions = directions
        self.width_scale = width_scale
        n, d = directions.shape
        shape = (moments, n, len(SCALES))
        self.offsets, self.costs = np.zeros(shape), np.zeros(shape)
        self.normals = np.zeros((*shape, d))
        self.price = math.log(max(1, self.offsets.size) / failure_prob)

    def _invariants(self, state: Arrays) -> Invariants:
        for name, array in state.items():
            yield f"{name}: sums of moderate terms", bool((np.abs(array) <= LARGEST_SUM).all())
        yield "costs that are paid", bool((state["costs"] >= -LARGEST_SUM * EPSILON).all())

    def add(self, m: int, seen: Observations, eta: FloatArray, theta_0: FloatArray) -> None:
        """Learn the observations of moment m, with their variance bounds."""
        shift = seen.X @ theta_0 if self.simplex else np.zeros(len(seen.X))
        counts = seen.counts.sum(axis=1)
        sums = (seen.counts * (seen.targets - shift[:, None])).sum(axis=1)
        rule = self.directions, SCALES, CAPS[self.kind], self.kind == "mgf"
        totals = self.offsets[m], self.costs[m], self.normals[m]
        _add(seen, eta, shift, counts, sums, theta_0, *rule, *totals)

    def halfspaces(self) -> tuple[FloatArray, FloatArray, IntArray]:
        """(A, b, group of each row): A theta <= b; a group is a direction."""
        moments, n, scales, d = self.normals.shape
        groups = np.broadcast_to(np.arange(n)[None, :, None], (moments, n, scales))
        if self.kind == "bernstein":
            right = self.width_scale * (self.costs + self.price) - self.offsets
        else:
            right = self.width_scale * self.price + self.costs - self.offsets
        return self.normals.reshape(-1, d), right.reshape(-1), groups.reshape(-1)
