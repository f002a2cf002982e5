"""The demo: everything registered, on a problem with little noise and on one with much."""

from __future__ import annotations

from voful import registry
from voful.experiments.study import Contender, Problem, Study

PRINTED_CONSTANTS_ONLY = ("confidence-ball",)


def demo_study(n_rounds: int = 5000, replicates: int = 10) -> Study:
    """20 fixed arms on the sphere in d = 5, |theta*| = 1/2, rewards in [-1, 1]."""
    common = {"dim": 5, "n_arms": 20, "theta_norm": 0.5, "noise": "gaussian"}
    return Study(
        name="demo",
        problems=(
            Problem("low noise σ=0.05", common | {"sigma": 0.05}),
            Problem("high noise σ=0.5", common | {"sigma": 0.5}),
        ),
        contenders=tuple(
            Contender(entry.id, entry.id)
            for entry in registry.entries("bandit")
            # Printed constants learn nothing in so few rounds.
            if entry.params.get("constants") != "paper" and entry.id not in PRINTED_CONSTANTS_ONLY
        ),
        n_rounds=n_rounds,
        replicates=replicates,
    )
