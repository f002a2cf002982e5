"""Levels, prices and sizes of the peeled sets: what is fixed before any data."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Peeling:
    """What distinguishes VOFUL's set from VOFUL2's: levels and price."""

    levels: tuple[float, ...]
    iota: float


def voful_peeling(dim: int, n_rounds: int, delta: float) -> Peeling:
    """Algorithm 1, line 1: l_j = 2^(2-j), j = 1..ceil(log2 K) + 1, iota = 16 d ln(d K / delta)."""
    L2 = math.ceil(math.log2(n_rounds))
    levels = tuple(ell(j) for j in range(1, L2 + 2))
    return Peeling(levels, 16.0 * dim * math.log(dim * n_rounds / delta))


def voful2_peeling(dim: int, n_rounds: int, delta: float) -> Peeling:
    """2^-l, l = 1..L = max(1, floor(log2(1 + K/d))), iota = 128 ln((12 K 2^L)^(d+2) / delta)."""
    L = max(1, math.floor(math.log2(1.0 + n_rounds / dim)))
    price = (dim + 2) * math.log(12.0 * n_rounds * 2.0**L) + math.log(1.0 / delta)
    return Peeling(tuple(2.0**-level for level in range(1, L + 1)), 128.0 * price)


def ell(j: int) -> float:
    """l_j = 2^(2-j), j from 1 on."""
    return 2.0 ** (2 - j)


def notable_growth(dim: int) -> float:
    """Growth of ln det(I + sum xx') after which it is worth looking at the data again."""
    return math.log(1.1) * max(1.0, dim / 5)


def n_lines(dim: int) -> int:
    """How many lines u to test along: more cost ln N and time, fewer leave gaps between them."""
    return 1 if dim == 1 else 6 if dim == 2 else max(dim, min(5 * dim, 50))


PEELINGS = {"voful": voful_peeling, "voful2": voful2_peeling}
