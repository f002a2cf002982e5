"""Running sums in two parts: the second collects the rounding errors of the first (two-sum)."""

from __future__ import annotations

from voful.compiled import kernel
from voful.typing import FloatArray


@kernel
def add_number(total: FloatArray, value: float) -> None:
    """total[0] + total[1] += value."""
    old = total[0]
    new = old + value
    seen = new - old
    total[1] += (old - (new - seen)) + (value - seen)
    total[0] = new


@kernel
def add_vector(total: FloatArray, scale: float, x: FloatArray) -> None:
    """total[0] + total[1] += scale x."""
    high, low = total[0], total[1]
    for i in range(x.shape[0]):
        value = scale * x[i]
        old = high[i]
        new = old + value
        seen = new - old
        low[i] += (old - (new - seen)) + (value - seen)
        high[i] = new


@kernel
def add_outer(total: FloatArray, scale: float, x: FloatArray) -> None:
    """total[0] + total[1] += scale x x'."""
    d = x.shape[0]
    for j in range(d):
        row = scale * x[j]
        high, low = total[0, j], total[1, j]
        for i in range(d):
            value = row * x[i]
            old = high[i]
            new = old + value
            seen = new - old
            low[i] += (old - (new - seen)) + (value - seen)
            high[i] = new
