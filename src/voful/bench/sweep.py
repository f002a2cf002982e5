"""How the cost of a round grows with the dimension, the number of arms and the round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from voful import registry
from voful.bench.clock import interleaved
from voful.bench.contenders import REFERENCE, lean_numpy_oful, through_api
from voful.bench.data import make_data

DIMS = (25, 50, 100, 200)
ARMS = (500, 1000, 2000, 4000)
ROUNDS = (2_000, 20_000, 200_000)
IDS = ("oful", "losan", "betoful")
ROUNDS_OF_A_SIZE = 400  # so that factorisations, O(d^3) and rarer and rarer, weigh little


@dataclass(frozen=True)
class Growth:
    """CPU time a round of one contender over sizes of one kind.

    Attributes
    ----------
    name
        Registry id, or the reference's name.
    along
        "dim", "arms" or "rounds".
    setting
        What the other sizes are.
    sizes
        The sizes.
    microseconds
        CPU time of select + update, a round.
    exponent
        Slope of the logarithms: time ~ size^exponent.
    """

    name: str
    along: str
    setting: str
    sizes: list[int]
    microseconds: list[float]
    exponent: float


def sweep_sizes(
    *,
    ids: Sequence[str] = IDS,
    dims: Sequence[int] = DIMS,
    arms: Sequence[int] = ARMS,
    rounds: Sequence[int] = ROUNDS,
    dim: int = 100,
    n_arms: int = 1000,
    repetitions: int = 2,
) -> list[Growth]:
    """Large dimensions and many arms, where arithmetic is what costs; and long runs of small ones.

    The cost after n rounds is that of the whole run of n rounds, over n.
    """
    for id in ids:
        registry.lookup(id)
    names = [REFERENCE, *ids]
    along_dims = [times(names, d, n_arms, ROUNDS_OF_A_SIZE, repetitions) for d in dims]
    along_arms = [times(names, dim, n, ROUNDS_OF_A_SIZE, repetitions) for n in arms]
    along_rounds = [times(names, 10, 20, n, 1) for n in rounds]
    return [
        Growth(name, along, setting, list(sizes), column, exponent(sizes, column))
        for along, setting, sizes, measured in (
            ("dim", f"{n_arms} arms", dims, along_dims),
            ("arms", f"d = {dim}", arms, along_arms),
            ("rounds", "d = 10, 20 arms", rounds, along_rounds),
        )
        for name in names
        for column in [[row[name] for row in measured]]
    ]


def times(
    names: Sequence[str], dim: int, n_arms: int, n_rounds: int, repetitions: int
) -> dict[str, float]:
    """Median microseconds a round, repetitions interleaved."""
    data = make_data(dim, n_arms, n_rounds)
    plays = {name: lean_numpy_oful if name == REFERENCE else through_api(name) for name in names}
    for play in plays.values():
        play(data, min(n_rounds, 20))  # compiles
    _, per_round = interleaved(data, plays, dict.fromkeys(names, n_rounds), repetitions)
    return {name: 1e6 * seconds for name, seconds in per_round.items()}


def exponent(sizes: Sequence[int], values: Sequence[float]) -> float:
    """Slope of the least-squares line through the logarithms; nan for a single size."""
    if len(sizes) < 2:
        return float("nan")
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])
