"""Algorithm 1's set, transcribed: a double loop over mu and j on the whole history."""

from __future__ import annotations

import math

from voful.typing import FloatArray


def clip(u: float, ell: float) -> float:
    """The paper, Preliminaries."""
    return 0.0 if u == 0.0 else min(abs(u), ell) * u / abs(u)


def levels(peeling: str, dim: int, K: int) -> list[float]:
    if peeling == "voful":
        return [2.0 ** (2 - j) for j in range(1, math.ceil(math.log2(K)) + 2)]
    return [2.0**-level for level in range(1, max(1, math.floor(math.log2(1 + K / dim))) + 1)]


def worst_ratio(
    theta: FloatArray,
    X: FloatArray,
    y: FloatArray,
    directions: FloatArray,
    *,
    n_rounds: int,
    failure_prob: float,
    constants: str,
    width: float,
    iota_scale: float = 1.0,
    width_scale: float = 1.0,
    peeling: str = "voful",
) -> float:
    """max over mu and j of left side / right side: theta is in Theta_{k+1} iff it is <= 1."""
    d, K = len(theta), n_rounds
    ells = levels(peeling, d, K)
    if constants == "paper" and peeling == "voful":
        iota = 16 * d * math.log(d * K / failure_prob)
    elif constants == "paper":
        iota = 128 * ((d + 2) * math.log(12 * K * 2 ** len(ells)) - math.log(failure_prob))
    else:
        tests = len(directions) * len(ells)
        xi = 0.5 * math.log(math.pi * K + 1) + math.log(tests / failure_prob)
    largest = 0.0
    for mu in directions:
        for ell in ells:
            left, spread = 0.0, 0.0
            for x, reward in zip(X, y, strict=True):
                eps = reward - x @ theta
                c = clip(float(x @ mu), ell)
                left += c * eps
                spread += c * c * eps * eps
            if constants == "paper":
                price = iota_scale * iota
                right = math.sqrt(spread * price) + ell * price
            else:
                price = iota_scale * xi
                right = math.sqrt(2 * spread * price) + ell * width * price
            largest = max(largest, abs(left) / (width_scale * right))
    return largest
