"""Running sums in two parts: the second collects the rounding errors of the first (two-sum)."""

from __future__ import annotations

from voful.compiled import part
from voful.typing import FloatArray


@part
def two_sum(old: float, value: float) -> tuple[float, float]:
    """old + value, and what rounding took from it."""
    new = old + value
    seen = new - old
    return new, (old - (new - seen)) + (value - seen)


@part
def add_number(total: FloatArray, value: float) -> None:
    """total[0] + total[1] += value."""
    total[0], error = two_sum(total[0], value)
    total[1] += error


@part
def add_vector(total: FloatArray, scale: float, x: FloatArray) -> None:
    """total[0] + total[1] += scale x."""
    for i in range(x.shape[0]):
        total[0, i], error = two_sum(total[0, i], scale * x[i])
        total[1, i] += error


@part
def add_outer(total: FloatArray, scale: float, x: FloatArray) -> None:
    """total[0] + total[1] += scale x x'."""
    for j in range(x.shape[0]):
        row = scale * x[j]
        for i in range(x.shape[0]):
            total[0, j, i], error = two_sum(total[0, j, i], row * x[i])
            total[1, j, i] += error
