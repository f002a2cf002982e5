"""Acceptance tables of learning in shards, on seeds that chose none of its constants.

python benchmarks/scale.py widths [--seeds 5] [--rows 2000]   barriers over one learner for all rows
python benchmarks/scale.py coverage [--runs 1000]             exits of theta*, and Q <= ln M
python benchmarks/scale.py merge [--runs 500]                 one-off merges; rows that count twice
python benchmarks/scale.py servers [--seeds 5]                regret of servers that meet
python benchmarks/scale.py files OUT [--files 20] [--rows 500000] [--dim 10]   rows to learn from
python benchmarks/scale.py speed DIR [--dim 10]               Ray workers, one and two, on such
"""

from __future__ import annotations

import argparse
import copy
import math
import resource
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import polars as pl

import voful
from voful import BetOFUL
from voful.confidence.betting.minorant import kind_of, log_wealth
from voful.confidence.betting.quadratic import minorant_value
from voful.confidence.betting.state import (
    HIGH,
    LOW,
    MIXED,
    PREDICTION,
    PRIOR,
    REWARD,
    SLOPES,
)
from voful.logs.barriers import learn_at_barriers
from voful.logs.checkpoint import Checkpoint
from voful.logs.pool import Pool
from voful.logs.rows import RowReader
from voful.typing import FloatArray

FIRST_SEED = 76_000
LAWS = ("gaussian", "two_point", "rare_positive", "rare_negative", "heteroscedastic")


class Held(NamedTuple):
    """A piece of a shard that is in memory."""

    path: str
    frame: pl.DataFrame

    def frames(self) -> Iterator[tuple[int, pl.DataFrame]]:
        yield 0, self.frame


def sphere(rng: np.random.Generator, n: int, dim: int, radius: float = 1.0) -> FloatArray:
    points = rng.standard_normal((n, dim))
    scaled: FloatArray = radius * points / np.linalg.norm(points, axis=1, keepdims=True)
    return scaled


def noise_of(rng: np.random.Generator, law: str, X: FloatArray, sigma: float) -> FloatArray:
    """Centred, and at most .5 in size: rewards stay in [-1, 1]."""
    n = len(X)
    if law == "two_point":
        drawn = sigma * rng.choice([-1.0, 1.0], n)
    elif law == "gaussian":
        drawn = np.clip(sigma * rng.standard_normal(n), -0.5, 0.5)
    elif law == "heteroscedastic":
        drawn = np.where(X[:, 0] > 0.0, sigma, 0.0) * rng.choice([-1.0, 1.0], n)
    else:
        sign, p = (1.0 if law == "rare_positive" else -1.0), 0.05
        drawn = sign * 0.45 * np.where(rng.random(n) < p, 1.0, -p / (1.0 - p))
    return drawn


def logged(
    rng: np.random.Generator, theta: FloatArray, n: int, law: str, sigma: float, adaptive: bool
) -> tuple[FloatArray, FloatArray]:
    """Rows of one shard: random arms, or those that a logger which learns has chosen of eight."""
    d = len(theta)
    if not adaptive:
        X = sphere(rng, n, d)
        return X, X @ theta + noise_of(rng, law, X, sigma)
    logger = voful.LinTS(d, seed=int(rng.integers(2**31)))
    X, y = np.empty((n, d)), np.empty(n)
    for t in range(n):
        arms = sphere(rng, 8, d)
        X[t] = arms[logger.select(arms)]
        y[t] = X[t] @ theta + noise_of(rng, law, X[t : t + 1], sigma)[0]
        logger.update(X[t], y[t])
    return X, y


class Kept(Pool):
    """A pool whose shards can be looked at afterwards."""

    def close(self) -> None:
        pass


def at_barriers(parts: Sequence[tuple[FloatArray, FloatArray]], **params: Any) -> tuple[Any, Kept]:
    d = parts[0][0].shape[1]
    shards: Any = [
        (Held(str(s), pl.DataFrame({"x": X, "reward": y})),) for s, (X, y) in enumerate(parts)
    ]
    policy, pool = BetOFUL(d, refresh=False, **params), Kept()
    reader, kept = RowReader(policy), Checkpoint(None, "")
    merged, _ = learn_at_barriers(pool, shards, policy, reader, kept, None, lambda rows: None)
    return merged, pool


def log_wealth_at(theta: FloatArray, pool: Kept, rules: Any) -> float:
    """ln M at theta, of the bets that the shards have kept."""
    d, logs = len(theta), np.zeros(rules.shares.shape[1])
    for shard in pool._made:
        for rows in shard.rows():
            for row in rows:
                z, bet = float(row[:d] @ theta), row[d:]
                if bet[LOW] <= z <= bet[HIGH]:
                    for j in range(len(logs)):
                        told = bet[SLOPES + j], bet[PREDICTION], bet[REWARD], z
                        kind = kind_of(rules.bets, j)
                        logs[j] += log_wealth(kind, *told, rules.y_low, rules.y_high)
    if rules.bets != MIXED:
        return float(logs[0])
    return float(np.logaddexp(math.log(PRIOR) + logs[0], math.log1p(-PRIOR) + logs[1]))


def width(policy: Any, arms: FloatArray) -> float:
    _, lower, upper = policy.index(arms)
    return float((upper - lower).mean())


def widths(seeds: int, rows: int, dims: Sequence[int]) -> None:
    """Over a pooled learner that keeps its rows (refresh=True), rows of shards in turn."""
    print(
        "| logging | d | shards | sigma | width over pooled | largest |\n|---|---|---|---|---|---|"
    )
    for adaptive in (False, True):
        for d in dims:
            for m in (4, 16):
                for sigma in (0.0, 0.1, 0.3):
                    ratios = [one_width(adaptive, d, m, sigma, rows, s) for s in range(seeds)]
                    name = "adaptive" if adaptive else "fixed"
                    told = f"{np.mean(ratios):.3f} | {max(ratios):.3f}"
                    print(f"| {name} | {d} | {m} | {sigma} | {told} |", flush=True)


def one_width(adaptive: bool, d: int, m: int, sigma: float, rows: int, seed: int) -> float:
    rng = np.random.default_rng([FIRST_SEED + seed, d, m])
    theta = sphere(rng, 1, d, 0.5)[0]
    parts = [logged(rng, theta, rows, "two_point", sigma, adaptive) for _ in range(m)]
    X, y = (np.ascontiguousarray(np.stack(a, axis=1)) for a in zip(*parts, strict=True))
    pooled = BetOFUL(d, on_change=None)
    pooled.partial_fit(X.reshape(-1, d), y.ravel())
    arms = sphere(rng, 20, d)
    return width(at_barriers(parts)[0], arms) / width(pooled, arms)


class Exits(NamedTuple):
    """Of many runs."""

    runs: int
    exits: int
    worst: float  # largest Q(theta*) - ln M


def barrier_exits(law: str, runs: int, *, rows: int = 60, first: int = 0) -> Exits:
    """Runs at delta = .1: four shards in three dimensions, adaptive in every other run."""
    exits, worst = 0, -math.inf
    for run in range(first, first + runs):
        rng = np.random.default_rng([FIRST_SEED, LAWS.index(law), run])
        theta = sphere(rng, 1, 3, 0.5)[0]
        parts = [logged(rng, theta, rows, law, 0.3, run % 2 == 1) for _ in range(4)]
        policy, pool = at_barriers(parts, failure_prob=0.1)
        views = policy.confidence_set.views()
        if not policy.confidence_set.contains(theta):
            exits += 1
            continue
        log_M = log_wealth_at(theta, pool, views.rules)
        for e in range(len(views.rules.price)):
            worst = max(worst, minorant_value(views.Theta, e, theta) - log_M)
    return Exits(runs, exits, worst)


def coverage(runs: int) -> None:
    print("| law | runs | exits at .1 | largest Q(theta*) - ln M |\n|---|---|---|---|")
    for law in LAWS:
        found = barrier_exits(law, -(-runs // len(LAWS)))
        print(f"| {law} | {found.runs} | {found.exits} | {found.worst:.3g} |", flush=True)


def merge_exits(runs: int, *, m: int, rows: int, twice: bool, first: int = 0) -> int:
    """Exits from sets merged at delta = .1 in all; twice: all shards had the same rows."""
    exits = 0
    for run in range(first, first + runs):
        rng = np.random.default_rng([FIRST_SEED + 1, run])
        dim, law = (1, "gaussian") if twice else (3, LAWS[run % len(LAWS)])
        theta = sphere(rng, 1, dim, 0.5)[0]
        shards = []
        for _ in range(1 if twice else m):
            shards.append(BetOFUL(dim, failure_prob=0.1 / (2 * m), on_change=None))
            shards[-1].partial_fit(*logged(rng, theta, rows, law, 0.2, False))
        if twice:
            shards = [_disowned(shards[0]) for _ in range(m)]
        exits += not voful.merge(shards).confidence_set.contains(theta)
    return exits


def _disowned(shard: Any) -> Any:
    """A copy that has forgotten where its rows came from, to show what lineages are for."""
    alone = copy.deepcopy(shard)
    alone._lineage = type(alone._lineage)().begun()
    return alone


def merges(runs: int) -> None:
    print("| shards | runs | exits at .1 |\n|---|---|---|")
    print(f"| 4, different rows | {runs} | {merge_exits(runs, m=4, rows=60, twice=False)} |")
    few = max(1, runs // 5)
    print(f"| 16, the same rows | {few} | {merge_exits(few, m=16, rows=400, twice=True)} |")


def served(
    seed: int, meet: int | None, *, rounds: int, d: int = 20, m: int = 4
) -> tuple[float, bool]:
    """(regret of m servers, whether all sets held theta*); they meet every so many rounds."""
    rng = np.random.default_rng([FIRST_SEED + 2, seed])
    theta = sphere(rng, 1, d, 0.5)[0]
    delta = 0.05 / m if meet is None else 0.05 / (2 * m)
    servers = [BetOFUL(d, failure_prob=delta) for _ in range(m)]
    merged, regret, held = None, 0.0, True
    for t in range(1, rounds + 1):
        for server in servers:
            arms = sphere(rng, 20, d)
            upper = server.index(arms)[2]
            if merged is not None:
                upper = np.minimum(upper, merged.index(arms)[2])
            i, means = int(np.argmax(upper)), arms @ theta
            regret += float(means.max() - means[i])
            server.update(arms[i], means[i] + 0.1 * rng.choice([-1.0, 1.0]))
        if meet is not None and t % meet == 0:
            merged = voful.merge(servers, after=merged)
            held = held and merged.confidence_set.contains(theta)
    return regret, held and all(s.confidence_set.contains(theta) for s in servers)


def servers(seeds: int, rounds: int) -> None:
    print("| meetings | mean regret of 4 servers | all sets held theta* |\n|---|---|---|")
    for meet in (None, 200, 50, 25):
        found = [served(seed, meet, rounds=rounds) for seed in range(seeds)]
        name = "none" if meet is None else f"every {meet} rounds"
        told = f"{np.mean([r for r, _ in found]):.1f} | {sum(h for _, h in found)} of {seeds}"
        print(f"| {name} | {told} |", flush=True)


def files(out: Path, n_files: int, rows: int, dim: int) -> None:
    out.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(FIRST_SEED)
    theta = sphere(rng, 1, dim, 0.6)[0]
    for number in range(n_files):
        X = sphere(rng, rows, dim)
        y = X @ theta + 0.2 * rng.uniform(-1.0, 1.0, rows)
        frame = pl.DataFrame({"x": X, "reward": y})
        frame.write_parquet(out / f"part-{number:04d}.parquet")


def speed(directory: Path, dim: int) -> None:
    paths = sorted(directory.glob("*.parquet"))
    print("| workers | seconds | rows | largest memory of the driver, MB |\n|---|---|---|---|")
    for workers in (1, 2):
        began = perf_counter()
        learnt = voful.learn(
            paths, BetOFUL(dim, refresh=False), shards="files", backend="ray", workers=workers
        )
        seconds = perf_counter() - began
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"| {workers} | {seconds:.1f} | {learnt.n_observations:,} | {peak:.0f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "what", choices=("widths", "coverage", "merge", "servers", "files", "speed")
    )
    parser.add_argument("place", nargs="?", type=Path)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--files", type=int, default=20)
    parser.add_argument("--dim", type=int, default=10)
    parser.add_argument("--dims", type=int, nargs="+", default=[5, 20])
    told = parser.parse_args()
    if told.what == "widths":
        widths(told.seeds, told.rows, told.dims)
    elif told.what == "coverage":
        coverage(told.runs)
    elif told.what == "merge":
        merges(told.runs)
    elif told.what == "servers":
        servers(told.seeds, told.rounds)
    elif told.what == "files":
        files(told.place, told.files, told.rows, told.dim)
    else:
        speed(told.place, told.dim)


if __name__ == "__main__":
    main()
