"""Certified sup of <x, theta> over a peeled set at d = 2, by branch and bound on squares.

Both bounds are proofs: a square is dropped only if it misses the ball or all four corners lie in
the convex eliminated region of one (test, side); the lower bound is the value of a member.
"""

from __future__ import annotations

import heapq
import math

import numpy as np

from voful.compiled import kernel
from voful.confidence.peeled.tests import excess, unpack, worst
from voful.typing import FloatArray


@kernel
def exact_support(
    flat: FloatArray, x: FloatArray, tolerance: float, most: int
) -> tuple[float, float]:
    """(lower, upper), at most tolerance |x| apart unless `most` squares were looked at."""
    T = unpack(flat, 2)
    n = T.a.shape[0]
    length = math.sqrt(x[0] * x[0] + x[1] * x[1])
    ux, uy = x[0] / length, x[1] / length
    heap = [(-1.0, 0.0, 0.0, 1.0, 0.0)]  # (-bound, tie, centre along x, half side, centre across)
    lower = -np.inf
    p = np.empty(2)
    seen = 0
    first = np.arange(n)  # tests that dropped a square lately come first
    while len(heap) > 0:
        top, _, s, half, t = heapq.heappop(heap)
        top = -top
        if top - lower <= tolerance or seen >= most:
            return lower * length, max(top, lower) * length
        seen += 1
        near_s, near_t = max(abs(s) - half, 0.0), max(abs(t) - half, 0.0)
        if near_s * near_s + near_t * near_t > 1.0:
            continue
        dropped = False
        for place in range(n):
            i = first[place]
            side = 0.0
            inside = True
            for corner in range(4):
                cs = s + (half if corner & 1 else -half)
                ct = t + (half if corner & 2 else -half)
                p[0] = cs * ux - ct * uy
                p[1] = cs * uy + ct * ux
                g, sign = excess(T, i, p)
                if g <= 0.0 or (corner > 0 and sign != side):
                    inside = False
                    break
                side = sign
            if inside:
                dropped = True
                first[place], first[place // 2] = first[place // 2], i
                break
        if dropped:
            continue
        for corner in range(5):
            cs = s + (0.0 if corner == 4 else (half if corner & 1 else -half))
            ct = t + (0.0 if corner == 4 else (half if corner & 2 else -half))
            if cs * cs + ct * ct > 1.0 or cs <= lower:
                continue
            p[0] = cs * ux - ct * uy
            p[1] = cs * uy + ct * ux
            if worst(T, p)[0] <= 0.0:
                lower = cs
        quarter = 0.5 * half
        for corner in range(4):
            cs = s + (quarter if corner & 1 else -quarter)
            ct = t + (quarter if corner & 2 else -quarter)
            near = max(abs(ct) - quarter, 0.0)
            if near > 1.0:
                continue
            bound = min(cs + quarter, math.sqrt(1.0 - near * near), top)
            if bound > lower:
                heapq.heappush(heap, (-bound, half, cs, quarter, ct))
    return lower * length, lower * length
