"""Rounds per second of other libraries on the same data, next to this one, in one process.

make bench-peers, or: python benchmarks/peers.py [--rounds 20000] [--seconds 2] [--json FILE]

Everybody plays the data of `voful bench`: d = 10, 20 fixed arms, the same theta*, the same table of
rewards. Every library is used through its own interface, one round at a time, with its LinUCB (or
what comes nearest). How the data map:

- coba and Vowpal Wabbit know features of actions: each arm is an action with the features x, there
  is no context, and one parameter is shared by all arms. This is the same model as ours.
- MABWiser, contextualbandits and river keep one ridge regression for each arm on the context of the
  round. The arms never change, so the context is one fixed unit vector in R^d: arm i's coefficients
  have the mean <x_i, theta*> along it. A choice costs them A d^2, as it costs us; they learn arm by
  arm, which is their way to see the problem.

Arms played differ from ours where the model or the width differ; only time is compared. A library
that is not installed is left out, and said so. CPU time counts every thread: set
OPENBLAS_NUM_THREADS=1, as make does.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import json
import sys
import warnings
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from voful.bench.clock import Speed, speeds
from voful.bench.contenders import (
    BY_ROUND,
    REFERENCE,
    Play,
    Timed,
    lean_numpy_oful,
    numba_oful_by_round,
    quarters,
    through_api,
)
from voful.bench.data import Data, make_data

ALPHA = 1.0
OURS = ("oful", "betoful", "losan", "linucb", "lin-ts", "epsilon-greedy")

Round = Callable[[list[float]], int]
"""Chooses, is paid from the row of rewards, learns; returns the arm."""


def played_by(make: Callable[[Data], Round]) -> Play:
    """A contender that is made anew for each run; making it is not timed."""

    def play(data: Data, n_rounds: int) -> Timed:
        one_round = make(data)
        played: list[int] = []
        ticks = [process_time()]
        for first, end in quarters(n_rounds):
            played += [one_round(row) for row in data.rewards[first:end]]
            ticks.append(process_time())
        return Timed(ticks, played)

    return play


def fixed_context(data: Data) -> list[float]:
    d = data.env.dim
    return [1.0 / float(np.sqrt(d))] * d


def coba(data: Data) -> Round:
    from coba.learners import LinUCBLearner

    learner = LinUCBLearner(alpha=ALPHA, features=["a"])
    actions = [tuple(x) for x in data.arms.tolist()]
    index = {action: i for i, action in enumerate(actions)}

    def one_round(row: list[float]) -> int:
        action, probability = learner.predict(None, actions)[:2]
        i = index[tuple(action)]
        learner.learn(None, action, row[i], probability)
        return i

    return one_round


def vowpal_wabbit(data: Data) -> Round:
    from vowpalwabbit import Workspace

    # The cheapest exploration that it has: epsilon-greedy over a linear regression of costs.
    learner = Workspace("--cb_explore_adf --epsilon 0.05 --quiet --random_seed 1")
    lines = ["|a " + " ".join(f"{j}:{v}" for j, v in enumerate(x)) for x in data.arms.tolist()]
    rng = np.random.default_rng(0)

    def one_round(row: list[float]) -> int:
        scores = learner.predict(lines)
        i = int(np.searchsorted(np.cumsum(scores), rng.random() * sum(scores)))
        labelled = lines.copy()
        labelled[i] = f"0:{-row[i]}:{scores[i]} {lines[i]}"
        learner.learn(labelled)
        return i

    return one_round


def mabwiser(data: Data) -> Round:
    from mabwiser.mab import MAB, LearningPolicy

    arms, context = list(range(data.env.n_arms)), [fixed_context(data)]
    learner = MAB(arms, LearningPolicy.LinUCB(alpha=ALPHA))
    learner.fit([0], [0.0], context)  # it wants one observation before the first choice

    def one_round(row: list[float]) -> int:
        i = int(learner.predict(context))
        learner.partial_fit([i], [row[i]], context)
        return i

    return one_round


def contextualbandits(data: Data) -> Round:
    from contextualbandits.online import LinUCB

    learner = LinUCB(nchoices=data.env.n_arms, alpha=ALPHA, fit_intercept=False, random_state=1)
    context = np.array([fixed_context(data)])

    def one_round(row: list[float]) -> int:
        i = int(learner.predict(context)[0])
        learner.partial_fit(context, np.array([i]), np.array([row[i]]))
        return i

    return one_round


def river(data: Data) -> Round:
    from river import bandit

    learner = bandit.LinUCBDisjoint(seed=1)
    arms, context = list(range(data.env.n_arms)), dict(enumerate(fixed_context(data)))

    def one_round(row: list[float]) -> int:
        i = int(learner.pull(arms, context=context))
        learner.update(i, context, row[i])
        return i

    return one_round


PEERS: dict[str, tuple[str, Callable[[Data], Round]]] = {
    "coba LinUCB": ("coba", coba),
    "contextualbandits LinUCB": ("contextualbandits", contextualbandits),
    "MABWiser LinUCB": ("mabwiser", mabwiser),
    "river LinUCB": ("river", river),
    "Vowpal Wabbit epsilon-greedy": ("vowpalwabbit", vowpal_wabbit),
}


def usable() -> tuple[dict[str, Play], dict[str, str]]:
    """The peers that can be imported, and the versions (or what import says) of all."""
    plays: dict[str, Play] = {}
    versions: dict[str, str] = {}
    for name, (package, make) in PEERS.items():
        try:
            importlib.import_module(package)
        except Exception as error:  # a broken extension module may raise anything
            versions[package] = f"not usable: {error}"
            continue
        plays[name] = played_by(make)
        versions[package] = importlib.metadata.version(package)
    return plays, versions


def table(measured: list[Speed]) -> str:
    """Markdown: rates, and how often OFUL and BetOFUL go round while the peer does once."""
    rate = {speed.name: speed.rounds_per_second for speed in measured}
    lines = [
        "| | rounds | µs a round | rounds/s | times lean NumPy | OFUL over it | BetOFUL over it |",
        "|---|---|---|---|---|---|---|",
    ]
    for speed in measured:
        faster = [rate[ours] / speed.rounds_per_second for ours in ("oful", "betoful")]
        lines.append(
            f"| {speed.name} | {speed.rounds} | {speed.microseconds:.1f} "
            f"| {speed.rounds_per_second:,.0f} | {speed.ratio:.3g} "
            f"| {faster[0]:.3g}x | {faster[1]:.3g}x |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--dim", type=int, default=10)
    parser.add_argument("--arms", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=20_000)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0, help="at most, for a repetition")
    parser.add_argument("--json", type=Path, default=None)
    args = parser.parse_args()
    warnings.simplefilter("ignore")  # the peers' own
    peers, versions = usable()
    data = make_data(args.dim, args.arms, args.rounds)
    plays = {
        REFERENCE: lean_numpy_oful,
        BY_ROUND: numba_oful_by_round,
        **{id: through_api(id) for id in OURS},
        **peers,
    }
    measured = speeds(data, plays, args.repetitions, args.seconds)
    print(
        f"d = {args.dim}, {args.arms} arms, medians of {args.repetitions}, CPU time, one thread\n"
    )
    print(table(measured))
    print("\n" + ", ".join(f"{package} {version}" for package, version in versions.items()))
    if args.json is not None:
        result: dict[str, Any] = {
            "dim": args.dim,
            "arms": args.arms,
            "repetitions": args.repetitions,
            "python": ".".join(map(str, sys.version_info[:3])),
            "versions": versions,
            "speeds": [asdict(speed) for speed in measured],
        }
        args.json.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
