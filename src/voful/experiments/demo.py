"""The demo: four that are told neither variance nor width, with little noise and with much."""

from __future__ import annotations

from voful.experiments.run import Contender, Problem
from voful.experiments.study import Study

CONTENDERS = ("oful", "losan", "voful", "betoful")


def demo_study(n_rounds: int = 5000, replicates: int = 10) -> Study:
    """20 fixed arms on the sphere in d = 5, |theta*| = 1/2, rewards in [-1, 1]."""
    common = {"dim": 5, "n_arms": 20, "theta_norm": 0.5, "noise": "gaussian"}
    return Study(
        name="demo",
        problems=(
            Problem("low noise σ=0.05", common | {"sigma": 0.05}, n_rounds),
            Problem("high noise σ=0.5", common | {"sigma": 0.5}, n_rounds),
        ),
        contenders=tuple(Contender(id, id) for id in CONTENDERS),
        replicates=replicates,
    )
