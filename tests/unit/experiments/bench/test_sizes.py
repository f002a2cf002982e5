from __future__ import annotations

import math

import pytest
from machine import oful_bytes, oful_flops, probe

from voful import registry
from voful.bench.episodic import measure_agent, measure_episodic
from voful.bench.sweep import exponent, sweep_sizes


def test_exponents() -> None:
    assert exponent([1, 2, 4], [3.0, 12.0, 48.0]) == pytest.approx(2.0)
    assert math.isnan(exponent([5], [1.0]))


def test_sweep_covers_three_directions() -> None:
    grown = sweep_sizes(
        ids=["oful"], dims=[2, 4], arms=[3, 6], rounds=[20, 40], dim=2, n_arms=3, repetitions=1
    )
    assert [row.along for row in grown] == ["dim"] * 2 + ["arms"] * 2 + ["rounds"] * 2
    for row in grown:
        assert len(row.sizes) == len(row.microseconds) == 2
        assert min(row.microseconds) > 0
    with pytest.raises(ValueError, match="id: got 'ofu'"):
        sweep_sizes(ids=["ofu"])


def test_every_agent_is_measured() -> None:
    size = {"horizon": 10, "n_states": 4, "n_actions": 2, "dim": 2, "episodes": 4}
    speeds = measure_episodic(base=size, changes=[{}], seconds=1e-9)
    assert [speed.name for speed in speeds] == [e.id for e in registry.entries("episodic")]
    for speed in speeds:
        assert (speed.horizon, speed.pairs, speed.dim) == (10, 8, 2)
        assert speed.plans >= 1
        assert 0.0 <= speed.plan_share <= 1.0
        assert speed.episodes_per_second > 0


def test_slow_agents_play_fewer_episodes() -> None:
    size = {"horizon": 10, "n_states": 4, "n_actions": 2, "dim": 2, "episodes": 100}
    assert measure_agent("ucrl-vtr", size, seconds=1e-9).episodes == 20
    assert measure_agent("ucrl-vtr", size, seconds=1e3).episodes == 100


def test_what_a_round_needs_and_what_the_machine_gives() -> None:
    assert oful_flops(10, 21) - oful_flops(10, 20) == 150
    assert oful_bytes(10, 21) - oful_bytes(10, 20) == 80
    machine = probe(repetitions=1)
    assert min(machine.gigaflops, machine.cache_gigabytes, machine.memory_gigabytes) > 0.01
