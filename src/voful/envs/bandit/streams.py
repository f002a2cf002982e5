"""Random numbers by address: block b of a stream is a pure function of (seed, stream, b).

Nothing is consumed in order, so what round t sees depends neither on the policy, nor on how
the rounds before it were run, nor on the other streams.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from voful.compiled import kernel
from voful.envs.bandit.pcg64 import fill_uniforms, midpoint
from voful.typing import FloatArray, WordArray

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
    words = np.array(_words(seed.entropy), dtype=np.uint32)
    return np.random.SeedSequence(words, spawn_key=seed.spawn_key, pool_size=seed.pool_size)


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


def generator(seed: np.random.SeedSequence, *address: int) -> np.random.Generator:
    """Return the generator of the descendant of `seed` at `address`.

    The same as spawning, but `seed` itself stays as it was: `SeedSequence.spawn` counts its
    children, so that a second use of one seed would give other numbers.
    """
    descendant = np.random.SeedSequence(
        seed.entropy, spawn_key=(*seed.spawn_key, *address), pool_size=seed.pool_size
    )
    return np.random.Generator(np.random.PCG64(descendant))


class BlockStream(NamedTuple):
    """What a kernel needs for ``generator(seed, *address, block)``, for blocks below 2^32.

    Attributes
    ----------
    entropy
        The words of seed and address as `SeedSequence` puts them together; the last is the block.
    pool_size
        Of the SeedSequence.
    """

    entropy: WordArray
    pool_size: int


def block_stream(seed: np.random.SeedSequence, *address: int) -> BlockStream:
    """The stream at an address."""
    words = _words(seed.entropy)
    words += [0] * (seed.pool_size - len(words))
    words += _words((*seed.spawn_key, *address, 0))
    entropy = np.array(words, dtype=np.uint64)
    entropy.flags.writeable = False
    return BlockStream(entropy, seed.pool_size)


@kernel
def fill_block(stream: BlockStream, block: int, out: FloatArray) -> None:
    """`uniforms` into an array."""
    entropy = stream.entropy.copy()
    entropy[-1] = block
    fill_uniforms(entropy, stream.pool_size, out)


def uniforms(stream: BlockStream, block: int) -> FloatArray:
    """Return the uniforms of one block, `midpoint` each, shape (BLOCK_ROUNDS,)."""
    out = np.empty(BLOCK_ROUNDS)
    fill_block(stream, block, out)
    return out


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


@kernel
def uniform_at(stream: np.uint64, step: int) -> float:
    """The uniform of one step, a pure function of (key, episode, step)."""
    return midpoint(_mix(stream + _GOLDEN * np.uint64(step + 1)))
