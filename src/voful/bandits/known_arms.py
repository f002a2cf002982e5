"""Arms recognised by their features: a hash table into the rows of an array.

A row of `records` begins with an arm's features; behind them stands whatever is known of it.
"""

from __future__ import annotations

import numpy as np

from voful.compiled import kernel, part
from voful.typing import FloatArray, IntArray

FREE = -1  # a slot of the table that points to no row


@part
def hash_of(x: FloatArray) -> int:
    """A nonnegative number that depends on every bit of x; 0 and -0 are the same."""
    bits = x.view(np.uint64)
    mixed = np.uint64(0x9E3779B97F4A7C15)
    for j in range(x.shape[0]):
        if x[j] != 0.0:
            mixed ^= bits[j]
        # The finaliser of splitmix64 (Steele, Lea, Flood 2014)
        mixed = product(mixed ^ (mixed >> np.uint64(30)), np.uint64(0xBF58476D1CE4E5B9))
        mixed = product(mixed ^ (mixed >> np.uint64(27)), np.uint64(0x94D049BB133111EB))
        mixed = mixed ^ (mixed >> np.uint64(31))
    return int(mixed >> np.uint64(1))


@part
def product(a: np.uint64, b: np.uint64) -> np.uint64:
    """a b modulo 2^64, by halves: none overflows, which plain Python would warn of."""
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    last = (a & low) * (b & low)
    cross = ((a >> half) * (b & low) & low) + ((a & low) * (b >> half) & low) + (last >> half)
    return (cross << half) | (last & low)


@part
def slot_of(x: FloatArray, records: FloatArray, table: IntArray) -> int:
    """The slot that points to the record of x, or the free one where it belongs."""
    last = len(table) - 1  # a power of two, at most half full
    slot = hash_of(x) & last
    while table[slot] != FREE:
        same = True
        for j in range(x.shape[0]):
            same = same and records[table[slot], j] == x[j]
        if same:
            return slot
        slot = (slot + 1) & last
    return slot


@kernel
def fill_table(records: FloatArray, n_known: int, d: int, table: IntArray) -> None:
    """The table of the first n_known records."""
    for slot in range(table.shape[0]):
        table[slot] = FREE
    for i in range(n_known):
        table[slot_of(records[i, :d], records, table)] = i
