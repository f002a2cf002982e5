"""Random numbers by address: block b of a stream is a pure function of (seed, stream, b).

Nothing is consumed in order, so what round t sees depends neither on the policy, nor on how
the rounds before it were run, nor on the other streams.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from voful.compiled import kernel
from voful.typing import FloatArray

BLOCK_ROUNDS: Final = 256  # rounds per block; changing it changes every seeded environment

# First word of each stream's spawn key. Not 0, 1, 2, so that an environment and a policy that
# share a seed never share a stream, even if the policy spawns from it.
THETA: Final = 0x656E7601
ARMS: Final = 0x656E7602
NOISE: Final = 0x656E7603
TRAJECTORIES: Final = 0x656E7604
FAMILY: Final = 0x656E7605


def in_words(seed: np.random.SeedSequence) -> np.random.SeedSequence:
    """The same seed, with its entropy as the words that NumPy makes of it for each generator.

    Of what a generator costs, a third is to make them.
    """
    entropy = seed.entropy
    numbers = entropy if isinstance(entropy, Sequence) else (entropy,)
    whole = [number for number in numbers if isinstance(number, int)]
    if len(whole) < len(numbers):  # words already, or text
        return seed
    words = [word for number in whole for word in _words(number)]
    return np.random.SeedSequence(
        np.array(words, dtype=np.uint32), spawn_key=seed.spawn_key, pool_size=seed.pool_size
    )


def _words(number: int) -> list[int]:
    """Base 2^32, lowest first; 0 is one word."""
    words = [number & 0xFFFFFFFF]
    while number := number >> 32:
        words.append(number & 0xFFFFFFFF)
    return words


def generator(seed: np.random.SeedSequence, *address: int) -> np.random.Generator:
    """Return the generator of the descendant of `seed` at `address`.

    The same as spawning, but `seed` itself stays as it was: `SeedSequence.spawn` counts its
    children, so that a second use of one seed would give other numbers.
    """
    descendant = np.random.SeedSequence(
        seed.entropy, spawn_key=(*seed.spawn_key, *address), pool_size=seed.pool_size
    )
    return np.random.Generator(np.random.PCG64(descendant))


def uniforms(seed: np.random.SeedSequence, block: int) -> FloatArray:
    """Return the noise uniforms of one block, shape (BLOCK_ROUNDS,).

    Midpoints (k + 1/2) / 2^52: strictly inside (0, 1), exactly symmetric about 1/2.
    """
    k = generator(seed, NOISE, block).integers(0, 1 << 52, size=BLOCK_ROUNDS)
    return (k.astype(np.float64) + 0.5) * 2.0**-52


# --- inside kernels ---------------------------------------------------------------------------

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


@kernel
def uniform_at(stream: np.uint64, step: int) -> float:
    """The uniform of one step, a pure function of (key, episode, step); a midpoint as above."""
    z = _mix(stream + _GOLDEN * np.uint64(step + 1))
    return (np.float64(z >> np.uint64(12)) + 0.5) * 2.0**-52
