from __future__ import annotations

import numpy as np
from scipy.stats import chisquare

from voful.envs.streams import TRAJECTORIES, episode_stream, stream_key, uniform_at

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
