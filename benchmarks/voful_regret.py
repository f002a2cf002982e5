"""VOFUL against OFUL: paired regret and speed. Prints Markdown tables.

python benchmarks/voful_regret.py regret | many | speed | all   [--seeds 60] [--first 0]

`many`: 20 dimensions, a sixth of the seeds. `speed` has the time of `select` and of `index` apart.
"""

from __future__ import annotations

import argparse
import resource
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from time import process_time
from typing import Any

import numpy as np

from voful import OFUL, VOFUL
from voful.envs import linear_bandit
from voful.experiments.play.loop import play

WORKERS = 2

Policy = Callable[[int, int], Any]
POLICIES: dict[str, Policy] = {
    "OFUL": lambda dim, n_rounds: OFUL(dim),
    "VOFUL": lambda dim, n_rounds: VOFUL(dim, n_rounds=n_rounds),
}


def regret_of(job: tuple[str, dict[str, Any], int, int, list[int]]) -> list[float]:
    """Regret at each recording point, and 1 or 0 for coverage at the end."""
    policy, problem, seed, n_rounds, points = job
    env = linear_bandit(**problem, seed=np.random.SeedSequence([2026, seed]))
    made = POLICIES[policy](env.dim, n_rounds)
    records = list(play(made, env, n_rounds, record_at=points, check_every=25))
    return [record.regret for record in records] + [float(bool(records[-1].covered))]


def collect(
    problem: dict[str, Any], seeds: range, n_rounds: int, points: list[int]
) -> dict[str, np.ndarray[Any, Any]]:
    """Array (seeds, points + 1) per policy."""
    with ProcessPoolExecutor(WORKERS) as pool:
        return {
            policy: np.array(
                list(
                    pool.map(
                        regret_of, [(policy, problem, seed, n_rounds, points) for seed in seeds]
                    )
                )
            )
            for policy in POLICIES
        }


def interval(values: np.ndarray[Any, Any]) -> tuple[float, float]:
    """95 % interval of the mean."""
    error = 1.96 * values.std(ddof=1) / np.sqrt(len(values))
    return float(values.mean() - error), float(values.mean() + error)


Cell = tuple[int, int, bool, range, tuple[float, ...]]


def regret(seeds: range) -> Iterator[str]:
    third = seeds[: len(seeds) // 3]
    sigmas = (0.0, 0.1, 0.3, 0.5)
    cells = [(2, 5000, False, seeds), (5, 5000, False, third), (5, 5000, True, third)]
    yield from paired([(*cell, sigmas) for cell in cells])


def many(seeds: range) -> Iterator[str]:
    sixth = seeds[: max(2, len(seeds) // 6)]
    cells = [(20, 10_000, False, sixth), (20, 10_000, True, sixth)]
    yield from paired([(*cell, (0.0, 0.1, 0.3)) for cell in cells])


def paired(cells: list[Cell]) -> Iterator[str]:
    yield "| cell | OFUL | VOFUL | ratio | paired difference, 95 % | covered |"
    yield "|---|---|---|---|---|---|"
    for dim, n_rounds, redraw, used, sigmas in cells:
        for sigma in sigmas:
            problem = {"dim": dim, "sigma": sigma, "redraw": redraw}
            found = collect(problem, used, n_rounds, [n_rounds])
            oful, voful = found["OFUL"][:, 0], found["VOFUL"][:, 0]
            low, high = interval(voful - oful)
            arms = "changing" if redraw else "fixed"
            yield (
                f"| d={dim}, K={n_rounds}, {arms}, σ={sigma}, {len(used)} seeds "
                f"| {oful.mean():.1f} "
                f"| {voful.mean():.1f} | {voful.mean() / oful.mean():.2f} "
                f"| [{low:.1f}, {high:.1f}] "
                f"| {found['VOFUL'][:, -1].mean():.0%} |"
            )


def speed(_: range) -> Iterator[str]:
    yield "| cell | ms a round | of it select | last / first quarter | index, ms | peak memory |"
    yield "|---|---|---|---|---|---|"
    for dim, n_rounds, redraw in (
        (5, 10_000, True), (5, 10_000, False), (2, 10_000, True), (20, 10_000, False),
    ):  # fmt: skip
        warm = VOFUL(dim, n_rounds=100)
        warm.index(np.eye(dim))
        warm.update(np.eye(dim)[warm.select(np.eye(dim))], 0.1)  # compile
        env = linear_bandit(dim=dim, redraw=redraw, sigma=0.1, seed=1)
        policy = VOFUL(dim, n_rounds=n_rounds)
        clock, selecting = np.zeros(n_rounds), 0.0
        for k in range(n_rounds):
            arms = env.arms
            start = process_time()
            choice = policy.select(arms)
            clock[k] = process_time() - start
            selecting += clock[k]
            reward = env.pull(choice).reward
            start = process_time()
            policy.update(arms[choice], reward)
            clock[k] += process_time() - start
        quarter = n_rounds // 4
        growth = clock[-quarter:].sum() / clock[:quarter].sum()
        start = process_time()
        policy.index(arms)
        index = process_time() - start
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        arms_are = "changing" if redraw else "fixed"
        yield (
            f"| d={dim}, K={n_rounds}, 20 {arms_are} arms | {1e3 * clock.mean():.3f} "
            f"| {1e3 * selecting / n_rounds:.3f} | {growth:.2f} | {1e3 * index:.2f} "
            f"| {memory:.0f} MB (process) |"
        )


def main() -> None:
    parts = {"regret": regret, "many": many, "speed": speed}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=[*parts, "all"])
    parser.add_argument("--seeds", type=int, default=60)
    parser.add_argument("--first", type=int, default=0)
    arguments = parser.parse_args()
    seeds = range(arguments.first, arguments.first + arguments.seeds)
    for name, part in parts.items():
        if arguments.part in (name, "all"):
            print(f"\n## {name}\n")
            for line in part(seeds):
                print(line, flush=True)


if __name__ == "__main__":
    main()
