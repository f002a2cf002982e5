from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chisquare

from voful.envs.streams import (
    TRAJECTORIES,
    episode_stream,
    generator,
    in_words,
    stream_key,
    uniform_at,
)

KEY = stream_key(np.random.SeedSequence(1), TRAJECTORIES)


def test_uniforms_are_uniform_along_and_across_episodes() -> None:
    streams = [np.uint64(episode_stream(KEY, k)) for k in range(200)]
    grid = np.array([[uniform_at(stream, h) for h in range(200)] for stream in streams])
    assert grid.min() > 0.0
    assert grid.max() < 1.0
    counts = np.histogram(grid, bins=50, range=(0, 1))[0]
    assert chisquare(counts).pvalue > 1e-4
    pairs = np.histogram2d(grid[:, :-1].ravel(), grid[:, 1:].ravel(), bins=8, range=[[0, 1]] * 2)[0]
    assert chisquare(pairs.ravel()).pvalue > 1e-4
    pairs = np.histogram2d(grid[:-1].ravel(), grid[1:].ravel(), bins=8, range=[[0, 1]] * 2)[0]
    assert chisquare(pairs.ravel()).pvalue > 1e-4
    assert len(np.unique(grid)) == grid.size


def test_a_known_value() -> None:
    """SplitMix64 from state 0: its first two outputs as published with the generator."""
    first, second = 0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4
    zero = np.uint64(0)
    assert uniform_at(zero, 0) == ((first >> 12) + 0.5) * 2.0**-52
    assert uniform_at(zero, 1) == ((second >> 12) + 0.5) * 2.0**-52


def test_keys_differ_by_seed_and_leave_the_seed_alone() -> None:
    seed = np.random.SeedSequence(7)
    assert stream_key(seed, TRAJECTORIES) == stream_key(seed, TRAJECTORIES)
    assert seed.n_children_spawned == 0
    assert stream_key(np.random.SeedSequence(8), TRAJECTORIES) != stream_key(seed, TRAJECTORIES)


@pytest.mark.parametrize("entropy", [0, 7, 2**32, 2**100 + 5, [0, 3, 2**31], [0, 2**40, 0], None])
def test_words_are_the_same_seed(entropy: int | list[int] | None) -> None:
    seed = np.random.SeedSequence(entropy, spawn_key=(4,))
    words = in_words(seed)
    assert np.array_equal(words.generate_state(8), seed.generate_state(8))
    one, two = (generator(s, 9, 11).integers(0, 1 << 52, size=4) for s in (seed, words))
    assert np.array_equal(one, two)
    assert in_words(words) is words
