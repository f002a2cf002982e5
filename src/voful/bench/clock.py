"""CPU time of the contenders, in interleaved repetitions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median

from voful.bench.contenders import REFERENCE, Play, Timed, contenders
from voful.bench.data import Data, make_data

SECONDS = 0.35  # of one repetition, for the algorithms that cost milliseconds a round
PILOT = 64


@dataclass(frozen=True)
class Speed:
    """CPU time of one contender.

    Attributes
    ----------
    name
        Registry id, or the reference's name.
    rounds
        Rounds of each repetition.
    microseconds
        Median CPU time of select + update, a round.
    rounds_per_second
        The same, turned over.
    ratio
        `rounds_per_second` over the reference's, measured in the same process; above 1 is faster.
    growth
        CPU time of the last quarter of the rounds over that of the first quarter.
    state_bytes
        Size of what is remembered after the last round; None: not known.
    """

    name: str
    rounds: int
    microseconds: float
    rounds_per_second: float
    ratio: float
    growth: float
    state_bytes: int | None


def measure(
    *,
    dim: int = 10,
    n_arms: int = 20,
    n_rounds: int = 20_000,
    repetitions: int = 5,
    ids: list[str] | None = None,
) -> list[Speed]:
    """Every registered policy (or those of `ids`) after the references; the first is the lean one.

    A contender that would take longer than SECONDS plays fewer rounds.
    """
    data = make_data(dim, n_arms, n_rounds)
    return speeds(data, contenders(data, ids), repetitions)


def speeds(
    data: Data, plays: Mapping[str, Play], repetitions: int, seconds: float = SECONDS
) -> list[Speed]:
    """Medians over the repetitions, each of which runs every contender once."""
    lengths = {name: affordable(play, data, seconds) for name, play in plays.items()}
    runs, per_round = interleaved(data, plays, lengths, repetitions)
    return [
        Speed(
            name=name,
            rounds=lengths[name],
            microseconds=1e6 * per_round[name],
            rounds_per_second=1.0 / per_round[name],
            ratio=per_round[REFERENCE] / per_round[name],
            growth=median(growth(run.clock) for run in measured),
            state_bytes=measured[-1].state_bytes,
        )
        for name, measured in runs.items()
    ]


def interleaved(
    data: Data, plays: Mapping[str, Play], lengths: Mapping[str, int], repetitions: int
) -> tuple[dict[str, list[Timed]], dict[str, float]]:
    """The runs of each contender, and its median CPU time a round."""
    runs: dict[str, list[Timed]] = {name: [] for name in plays}
    for _ in range(repetitions):
        for name, play in plays.items():
            runs[name].append(play(data, lengths[name]))
    return runs, {
        name: median(run.clock[-1] - run.clock[0] for run in measured) / lengths[name]
        for name, measured in runs.items()
    }


def growth(clock: list[float]) -> float:
    """Time of the last quarter over that of the first."""
    return (clock[-1] - clock[-2]) / max(clock[1] - clock[0], 1e-9)


def affordable(play: Play, data: Data, seconds: float) -> int:
    """As many rounds as fit into about so many seconds, judged by longer and longer pilots."""
    rounds = min(PILOT, data.n_rounds)
    play(data, rounds)  # compiles
    while True:
        clock = play(data, rounds).clock
        wanted = int(rounds * seconds / max(clock[-1] - clock[0], 1e-9))
        if rounds == data.n_rounds or wanted < 8 * rounds:
            return max(min(wanted, data.n_rounds), min(8, data.n_rounds))
        rounds = min(8 * rounds, data.n_rounds)
