"""The demo: everything registered, on a problem with little noise and on one with much."""

from __future__ import annotations

from voful import registry
from voful.experiments.run import Contender, Problem
from voful.experiments.study import Study


def demo_study(n_rounds: int = 5000, replicates: int = 10) -> Study:
    """20 fixed arms on the sphere in d = 5, |theta*| = 1/2, rewards in [-1, 1]."""
    common = {"dim": 5, "n_arms": 20, "theta_norm": 0.5, "noise": "gaussian"}
    return Study(
        name="demo",
        problems=(
            Problem("low noise σ=0.05", common | {"sigma": 0.05}, n_rounds),
            Problem("high noise σ=0.5", common | {"sigma": 0.5}, n_rounds),
        ),
        contenders=tuple(
            Contender(entry.id, entry.id)
            for entry in registry.entries("bandit")
            if entry.params.get("constants") != "paper"  # these learn nothing in so few rounds
        ),
        replicates=replicates,
    )
