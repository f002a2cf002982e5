"""Random numbers by address: block b of a stream is a pure function of (seed, stream, b).

Nothing is consumed in order, so what round t sees depends neither on the policy, nor on how
the rounds before it were run, nor on the other streams.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from voful.compiled import inlined, kernel
from voful.typing import FloatArray

BLOCK_ROUNDS: Final = 256  # rounds per block; changing it changes every seeded environment

# First word of each stream's spawn key. Not 0, 1, 2, so that an environment and a policy that
# share a seed never share a stream, even if the policy spawns from it.
THETA: Final = 0x656E7601
ARMS: Final = 0x656E7602
NOISE: Final = 0x656E7603
TRAJECTORIES: Final = 0x656E7604
FAMILY: Final = 0x656E7605

_12: Final = np.uint64(12)


def generator(seed: np.random.SeedSequence, *address: int) -> np.random.Generator:
    """Return the generator of the descendant of `seed` at `address`.

    The same as spawning, but `seed` itself stays as it was: `SeedSequence.spawn` counts its
    children, so that a second use of one seed would give other numbers.
    """
    descendant = np.random.SeedSequence(
        seed.entropy, spawn_key=(*seed.spawn_key, *address), pool_size=seed.pool_size
    )
    return np.random.Generator(np.random.PCG64(descendant))


def uniforms(seed: np.random.SeedSequence, *address: int, blocks: Iterable[int]) -> FloatArray:
    """Return the uniforms of some blocks, (k + 1/2) / 2^52, BLOCK_ROUNDS for each block.

    k is what ``generator(seed, *address, block).integers(0, 2**52)`` gives. Long runs would notice
    what 80 generators cost: the words of the seed are put together once, as NumPy would for each.
    """
    words = _words(seed.entropy)
    words += [0] * (seed.pool_size - len(words))
    entropy = np.array(words + _words((*seed.spawn_key, *address, 0)), dtype=np.uint32)
    drawn = []
    for block in blocks:
        entropy[-1] = block
        descendant = np.random.SeedSequence(entropy, pool_size=seed.pool_size)
        drawn.append(np.random.PCG64(descendant).random_raw(BLOCK_ROUNDS))
    return np.asarray(((np.concatenate(drawn) >> _12) + 0.5) * 2.0**-52)


def _words(entropy: Any) -> list[int]:
    """Base 2^32, lowest first, number by number; 0 is one word. NumPy takes text for numbers."""
    if isinstance(entropy, str):
        return _words(int(entropy, 16 if entropy.startswith("0x") else 10))
    if not isinstance(entropy, (int, np.integer)):
        return [word for number in entropy for word in _words(number)]
    number = int(entropy)
    words = [number & 0xFFFFFFFF]
    while number := number >> 32:
        words.append(number & 0xFFFFFFFF)
    return words


# --- by episode and step ----------------------------------------------------------------------

_GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)  # SplitMix64: Steele, Lea, Flood 2014
_MIX_1: Final = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2: Final = np.uint64(0x94D049BB133111EB)


def stream_key(seed: np.random.SeedSequence, *address: int) -> np.uint64:
    """The 64-bit key from which a kernel derives one stream per episode."""
    return generator(seed, *address).integers(0, 1 << 64, dtype=np.uint64)


@kernel
def _mix(z: np.uint64) -> np.uint64:
    z = (z ^ (z >> np.uint64(30))) * _MIX_1
    z = (z ^ (z >> np.uint64(27))) * _MIX_2
    return z ^ (z >> np.uint64(31))


@kernel
def episode_stream(key: np.uint64, episode: int) -> np.uint64:
    """Where the stream of an episode starts."""
    return _mix(key + _GOLDEN * np.uint64(episode + 1))


@inlined
def midpoint(word: np.uint64) -> float:
    """(k + 1/2) / 2^52 with k the upper 52 bits: strictly inside (0, 1), symmetric about 1/2."""
    return (np.float64(word >> _12) + 0.5) * 2.0**-52


@kernel
def uniform_at(stream: np.uint64, step: int) -> float:
    """The uniform of one step, a pure function of (key, episode, step)."""
    return midpoint(_mix(stream + _GOLDEN * np.uint64(step + 1)))
