from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest
from scipy.stats import chisquare, kstest

from voful.envs.bandit.streams import (
    BLOCK_ROUNDS,
    NOISE,
    TRAJECTORIES,
    episode_stream,
    generator,
    stream_key,
    uniform_at,
    uniforms,
)

SEED = np.random.SeedSequence(7)
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


def test_uniforms_are_open_and_apart_from_other_streams() -> None:
    u = uniforms(SEED, NOISE, blocks=range(40))
    assert u.min() > 0.0
    assert u.max() < 1.0
    assert kstest(u, "uniform").pvalue > 1e-4
    assert np.all((u * 2.0**52) % 1.0 == 0.5)
    assert len(np.unique(u)) == u.size


def test_generator_is_the_spawned_one() -> None:
    child = np.random.SeedSequence(7, spawn_key=(NOISE,)).spawn(3)[2]
    expected = np.random.Generator(np.random.PCG64(child)).random(5)
    np.testing.assert_array_equal(generator(SEED, NOISE, 2).random(5), expected)


SEEDS = [
    np.random.SeedSequence(entropy, spawn_key=key)
    for entropy in (0, 7, 2**32, 2**100 + 5, [0, 3, 2**31], [0, 2**40, 0])
    for key in ((), (4,), (0, 2**40))
]
SEEDS += [np.random.SeedSequence(cast(Any, ["0xff", "12"])), np.random.SeedSequence([])]
SEEDS += [np.random.SeedSequence(3, pool_size=8), np.random.SeedSequence(list(range(9)))]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("block", [0, 1, 77, 2**31, 2**32 - 1])
def test_blocks_are_those_of_numpy(seed: np.random.SeedSequence, block: int) -> None:
    """Words of PCG64 against Generator.integers."""
    k = generator(seed, NOISE, 5, block).integers(0, 1 << 52, size=BLOCK_ROUNDS)
    expected = (k.astype(np.float64) + 0.5) * 2.0**-52
    assert np.array_equal(uniforms(seed, NOISE, 5, blocks=[block]), expected)
