"""What this machine can do at best, in compiled loops, and what a round of OFUL needs at least."""

from __future__ import annotations

from dataclasses import dataclass
from time import process_time

import numba
import numpy as np

from voful.typing import FloatArray

IN_CACHE = 1 << 10  # numbers: three such arrays stay in the first cache
IN_MEMORY = 1 << 23


@dataclass(frozen=True)
class Machine:
    """Peaks of one core, as compiled loops reach them.

    Attributes
    ----------
    gigaflops
        Multiply-adds on numbers in registers, two flops each.
    cache_gigabytes, memory_gigabytes
        a = b + s c, a second: 24 bytes an entry, from the first cache and from memory.
    """

    gigaflops: float
    cache_gigabytes: float
    memory_gigabytes: float


# Peaks, not results: here and only here the compiler may reorder and fuse.
@numba.njit(fastmath=True)
def _multiply_add(x: FloatArray, s: float, passes: int) -> float:
    total = 0.0
    for _ in range(passes):
        for i in range(x.shape[0]):
            y = x[i]
            for _ in range(16):
                y = y * s + 1e-9
            total += y
    return total


@numba.njit(fastmath=True)
def _triad(a: FloatArray, b: FloatArray, c: FloatArray, s: float, passes: int) -> None:
    for k in range(passes):
        for i in range(a.shape[0]):
            a[i] = b[i] + (s + k) * c[i]


def probe(repetitions: int = 5) -> Machine:
    """The best of some repetitions."""
    _flops(), _bytes(IN_CACHE)  # compile
    return Machine(
        1e-9 * max(_flops() for _ in range(repetitions)),
        1e-9 * max(_bytes(IN_CACHE) for _ in range(repetitions)),
        1e-9 * max(_bytes(IN_MEMORY) for _ in range(repetitions)),
    )


def _flops() -> float:
    x, passes = np.ones(IN_CACHE), 1000
    started = process_time()
    _multiply_add(x, 0.999, passes)
    return 2.0 * 16 * IN_CACHE * passes / (process_time() - started)


def _bytes(n: int) -> float:
    a, b, c = np.ones(n), np.ones(n), np.ones(n)
    passes = IN_MEMORY // n
    started = process_time()
    _triad(a, b, c, 3.0, passes)
    return 24.0 * n * passes / (process_time() - started)


def oful_flops(dim: int, n_arms: int) -> int:
    """Of one round: W x and its length and <x, c> for each arm, then the rank-one update.

    W is triangular: d^2 + d for W x, 2 d for its length, 2 d for the mean; the update multiplies
    by W and W' once each, changes W (6 flops an entry) and M (2 an entry).
    """
    arm = dim * dim + dim + 4 * dim
    update = 2 * (dim * dim + dim) + 3 * (dim * dim + dim) + 2 * dim * dim + 6 * dim
    return n_arms * arm + update


def oful_bytes(dim: int, n_arms: int) -> int:
    """Read or written in one round at least: arms, W and M once, W and M back."""
    return 8 * (n_arms * dim + 2 * dim * (dim + 1) // 2 + 2 * dim * dim)
