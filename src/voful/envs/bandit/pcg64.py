"""NumPy's SeedSequence and PCG64 inside kernels, bit for bit.

To make a generator in Python takes as long as twenty rounds of a policy. Both algorithms are
frozen: NumPy promises that a seed gives the same numbers in every version (NEP 19).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from voful.compiled import inlined, kernel
from voful.typing import FloatArray, WordArray

# --- SeedSequence: O'Neill's seed_seq, in words of 32 bits, kept in 64 --------------------------

_INIT_A: Final = np.uint64(0x43B0D7E5)
_MULT_A: Final = np.uint64(0x931E8875)
_INIT_B: Final = np.uint64(0x8B51F9DD)
_MULT_B: Final = np.uint64(0x58F38DED)
_MIX_L: Final = np.uint64(0xCA01F9DD)
_MIX_R: Final = np.uint64(0x4973F715)
_WORD: Final = np.uint64(0xFFFFFFFF)
_16: Final = np.uint64(16)
_32: Final = np.uint64(32)


@kernel
def _hashed(value: np.uint64, constant: np.uint64, multiplier: np.uint64) -> np.uint64:
    value = ((value ^ constant) * ((constant * multiplier) & _WORD)) & _WORD
    return value ^ (value >> _16)


@kernel
def _mixed(x: np.uint64, y: np.uint64) -> np.uint64:
    value = (_MIX_L * x - _MIX_R * y) & _WORD
    return value ^ (value >> _16)


@kernel
def seed_state(entropy: WordArray, pool_size: int, n_words: int) -> WordArray:
    """``SeedSequence.generate_state(n_words, uint64)``.

    entropy: the assembled words, those of the seed (at least pool_size of them where there is a
    spawn key; zeros fill up) and then those of the spawn key.
    """
    pool = np.zeros(pool_size, dtype=np.uint64)
    constant = _INIT_A
    for i in range(pool_size):
        word = entropy[i] if i < entropy.shape[0] else np.uint64(0)
        pool[i] = _hashed(word, constant, _MULT_A)
        constant = (constant * _MULT_A) & _WORD
    for source in range(max(pool_size, entropy.shape[0])):
        for target in range(pool_size):
            if source != target:
                word = pool[source] if source < pool_size else entropy[source]
                pool[target] = _mixed(pool[target], _hashed(word, constant, _MULT_A))
                constant = (constant * _MULT_A) & _WORD
    out = np.zeros(n_words, dtype=np.uint64)
    constant = _INIT_B
    for i in range(2 * n_words):
        half = _hashed(pool[i % pool_size], constant, _MULT_B)
        out[i // 2] |= half << _32 if i % 2 else half
        constant = (constant * _MULT_B) & _WORD
    return out


# --- PCG64: a linear congruence of 128 bits, O'Neill 2014 (XSL RR) ------------------------------

_A_HIGH: Final = np.uint64(0x2360ED051FC65DA4)
_A_LOW: Final = np.uint64(0x4385DF649FCCF645)
_ONE: Final = np.uint64(1)
_12: Final = np.uint64(12)
_58: Final = np.uint64(58)
_63: Final = np.uint64(63)
_64: Final = np.uint64(64)


@inlined
def _high_product(a: np.uint64, b: np.uint64) -> np.uint64:
    """The upper 64 bits of a b."""
    a0, a1, b0, b1 = a & _WORD, a >> _32, b & _WORD, b >> _32
    middle = a1 * b0 + ((a0 * b0) >> _32)
    return a1 * b1 + (middle >> _32) + ((a0 * b1 + (middle & _WORD)) >> _32)


@inlined
def _added(
    high: np.uint64, low: np.uint64, other_high: np.uint64, other_low: np.uint64
) -> tuple[np.uint64, np.uint64]:
    total = low + other_low
    return high + other_high + (_ONE if total < low else np.uint64(0)), total


@inlined
def _step(
    high: np.uint64, low: np.uint64, c_high: np.uint64, c_low: np.uint64
) -> tuple[np.uint64, np.uint64]:
    """A s + c modulo 2^128."""
    upper = _high_product(low, _A_LOW) + high * _A_LOW + low * _A_HIGH
    return _added(upper, low * _A_LOW, c_high, c_low)


@inlined
def midpoint(word: np.uint64) -> float:
    """(k + 1/2) / 2^52 with k the upper 52 bits: strictly inside (0, 1), symmetric about 1/2."""
    return (np.float64(word >> _12) + 0.5) * 2.0**-52


@kernel
def fill_uniforms(entropy: WordArray, pool_size: int, out: FloatArray) -> None:
    """`midpoint` of each word of PCG64 seeded by `entropy`.

    ``Generator.integers(0, 2**52)`` gives the same k.
    """
    seed = seed_state(entropy, pool_size, 4)
    c_high, c_low = (seed[2] << _ONE) | (seed[3] >> _63), (seed[3] << _ONE) | _ONE
    high, low = _added(c_high, c_low, seed[0], seed[1])
    high, low = _step(high, low, c_high, c_low)
    for i in range(out.shape[0]):
        high, low = _step(high, low, c_high, c_low)
        value, turn = high ^ low, high >> _58
        value = (value >> turn) | (value << ((_64 - turn) & _63))
        out[i] = midpoint(value)
