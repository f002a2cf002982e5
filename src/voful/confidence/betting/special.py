"""The two scalar functions that every minorant is made of."""

from __future__ import annotations

import math

from voful.compiled import kernel


@kernel
def k(u: float) -> float:
    """k(u) = (u - log(1+u)) / u^2 for u > -1: positive, decreasing, k(0) = 1/2."""
    if abs(u) < 0.02:  # the quotient cancels near 0: its series
        return 0.5 - u * (
            1 / 3 - u * (0.25 - u * (0.2 - u * (1 / 6 - u * (1 / 7 - u * (0.125 - u / 9)))))
        )
    return (u - math.log1p(u)) / (u * u)


@kernel
def l1(v: float) -> float:
    """l1(v) = -log(1-v) / v for v < 1: increasing, l1(0) = 1."""
    if abs(v) < 1e-9:
        return 1.0 + 0.5 * v
    return -math.log1p(-v) / v
