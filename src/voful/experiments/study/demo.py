"""The demo: four that are told neither variance nor width, with little noise and with much."""

from __future__ import annotations

from voful.experiments.study.run import Contender, Problem
from voful.experiments.study.study import Study

CONTENDERS = ("oful", "losan", "voful", "betoful")
NOISE = {"low noise σ=0.05": 0.05, "high noise σ=0.5": 0.5}
DIMS = (5, 2)  # the second one can be drawn: its runs take snapshots
SNAPSHOTS = 24


def demo_study(n_rounds: int = 1000, replicates: int = 3) -> Study:
    """20 fixed arms on the sphere in d = 5 and 2, |theta*| = 1/2, rewards in [-1, 1].

    Small and not `compiled`: for a newcomer everything has to be compiled first.
    """
    common = {"n_arms": 20, "theta_norm": 0.5, "noise": "gaussian"}
    return Study(
        name="demo",
        problems=tuple(
            Problem(f"d={dim} {name}", common | {"dim": dim, "sigma": sigma}, n_rounds)
            for dim in DIMS
            for name, sigma in NOISE.items()
        ),
        contenders=tuple(Contender(id, id) for id in CONTENDERS),
        replicates=replicates,
        snapshots=SNAPSHOTS,
        compiled=False,
    )
