"""Acceptance tables of BetOFUL: regret relative to OFUL, and CPU time a round.

python benchmarks/betoful.py regret [--cells d5,d20,d5-changing,d5-long] [--seeds 20]
python benchmarks/betoful.py paired [--seeds 40]
python benchmarks/betoful.py risk [--seeds 10]
python benchmarks/betoful.py cost [--rounds 100000]
python benchmarks/betoful.py speed [--seeds 5] [--rounds 10000]

A figure above its target (what the default bet must reach) is marked.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from statistics import median
from time import process_time
from typing import Any

import numba
import numpy as np

from voful import LOSAN, OFUL, BetOFUL, CRBetOFUL
from voful.bench.contenders import lean_numpy_oful, public_api
from voful.bench.data import make_data
from voful.confidence.betting.questions import optimistic_ends
from voful.confidence.betting.refresh import bet_refresh
from voful.confidence.betting.round import bet_observe
from voful.confidence.betting.state import open_ellipsoids
from voful.envs import linear_bandit
from voful.experiments.play.compiled_loop import play_compiled
from voful.experiments.play.loop import play
from voful.typing import FloatArray
from voful.validation import NO_MASK

FIRST_SEED = 8000
FIRST_PAIRED_SEED = 9000
FIRST_RISK_SEED = 7000
CONTENDERS: dict[str, Callable[[int], Any]] = {
    "OFUL": OFUL,
    "LOSAN": LOSAN,
    "product": lambda dim: BetOFUL(dim, bet="product"),
    "ratio": lambda dim: BetOFUL(dim, bet="ratio"),
    "mixed": lambda dim: BetOFUL(dim, bet="mixed"),
    "mixed+cr": lambda dim: BetOFUL(dim, bet="mixed+cr"),
    "cr": CRBetOFUL,
}
NOISES: dict[str, dict[str, Any]] = {
    "0": {"sigma": 0.0},
    "0.1": {"sigma": 0.1},
    "0.3": {"sigma": 0.3},
    "0.5": {"sigma": 0.5},
    "rare": {"noise": "rare_positive", "sigma": 0.1},
    "hetero": {"sigma_low": 0.0, "sigma_high": 0.3},
    "binary": {"noise": "bernoulli"},
}
CELLS: dict[str, tuple[dict[str, Any], int, tuple[float, ...]]] = {
    "d5": ({"dim": 5}, 2_000, (0.15, 0.18, 0.35, 0.52)),
    "d20": ({"dim": 20}, 2_000, (0.23, 0.31, 0.68, 0.85)),
    "d5-changing": ({"dim": 5, "redraw": True}, 2_000, (0.10, 0.145, 0.34, 0.51)),
    "d5-long": ({"dim": 5}, 20_000, (0.05, 0.065, 0.165, 0.27)),
}


def mean_regret(make: Callable[[int], Any], problem: dict[str, Any], K: int, seeds: int) -> float:
    finals = []
    for run in range(seeds):
        env = linear_bandit(n_arms=20, theta_norm=0.5, seed=FIRST_SEED + run, **problem)
        *_, last = play(make(env.dim), env, K, record_at=[K], check_every=K)
        finals.append(last.regret)
    return float(np.mean(finals))


def regret(cells: list[str], noises: list[str], names: list[str], seeds: int) -> None:
    print("| cell | noise | OFUL | " + " | ".join(names) + " | target |")
    print("|---" * (len(names) + 4) + "|")
    for cell in cells:
        problem, K, targets = CELLS[cell]
        for n, noise in enumerate(NOISES):
            if noise not in noises:
                continue
            setting = problem | NOISES[noise]
            base = mean_regret(OFUL, setting, K, seeds)
            shares = [mean_regret(CONTENDERS[name], setting, K, seeds) / base for name in names]
            target = targets[n] if n < len(targets) else None
            missed = target is not None and names[-1] == "mixed" and shares[-1] > target
            text = "" if target is None else f"{target:g}" + (" MISSED" if missed else "")
            columns = " | ".join(f"{share:.3f}" for share in shares)
            print(f"| {cell} | {noise} | {base:.1f} | {columns} | {text} |", flush=True)


def final_regrets(
    make: Callable[[int], Any], problem: dict[str, Any], K: int, seeds: int
) -> FloatArray:
    finals = []
    for seed in range(FIRST_PAIRED_SEED, FIRST_PAIRED_SEED + seeds):
        env = linear_bandit(n_arms=20, theta_norm=0.5, seed=seed, **problem)
        columns = play_compiled(make(env.dim), env, K, record_at=[K], check_every=K)
        finals.append(columns["regret"][-1])
    return np.array(finals)


def paired(cells: list[str], noises: list[str], seeds: int) -> None:
    """Ratio of the mean regrets of "mixed+cr" and "mixed" on the same seeds, with its error."""
    print("| cell | noise | mixed | mixed+cr | ratio | standard error |")
    print("|---" * 6 + "|")
    ratios = []
    for cell in cells:
        problem, K, _ = CELLS[cell]
        for noise in noises:
            setting = problem | NOISES[noise]
            today, cut = (
                final_regrets(CONTENDERS[name], setting, K, seeds) for name in ("mixed", "mixed+cr")
            )
            ratio = float(cut.mean() / today.mean())
            error = float(np.std(cut - ratio * today, ddof=1) / math.sqrt(seeds) / today.mean())
            ratios.append(ratio)
            print(
                f"| {cell} | {noise} | {today.mean():.1f} | {cut.mean():.1f} "
                f"| {ratio:.3f} | {error:.3f} |",
                flush=True,
            )
    print(f"geometric mean of the ratios: {math.exp(np.mean(np.log(ratios))):.4f}")


def risk(seeds: int) -> None:
    """CR-BetOFUL's regret, and what it says of it itself, on seeds on which nothing was chosen."""
    print("| d | rounds | noise | regret | standard error | regret_bound / regret |")
    print("|---" * 6 + "|")
    for dim, K in ((5, 2_000), (20, 20_000)):
        for noise in ("0", "0.1", "0.3"):
            finals, bounds = [], []
            for seed in range(FIRST_RISK_SEED, FIRST_RISK_SEED + seeds):
                env = linear_bandit(dim=dim, theta_norm=0.5, seed=seed, **NOISES[noise])
                policy = CRBetOFUL(dim)
                columns = play_compiled(policy, env, K, record_at=[K], check_every=K)
                finals.append(columns["regret"][-1])
                bounds.append(policy.regret_bound)
            error = np.std(finals, ddof=1) / math.sqrt(seeds)
            ratio = np.mean(bounds) / np.mean(finals)
            print(f"| {dim} | {K} | {noise} | {np.mean(finals):.1f} | {error:.1f} | {ratio:.1f} |")


def speed(seeds: int, rounds: int) -> None:
    """CPU time of a round in the compiled loop, sigma = 0.3, 20 fixed arms, one process."""
    names = ("OFUL", "cr", "mixed", "mixed+cr")
    print("| d | " + " | ".join(names) + " | cr / OFUL | cr / mixed | mixed+cr / mixed |")
    print("|---" * 8 + "|")
    for dim in (5, 10, 20):
        times = np.empty((len(names), 2 * seeds))
        for seed in range(-1, 2 * seeds):  # the first compiles
            for i, name in enumerate(names):
                env = linear_bandit(dim=dim, theta_norm=0.5, sigma=0.3, seed=max(seed, 0) // 2)
                policy, started = CONTENDERS[name](dim), process_time()
                play_compiled(policy, env, rounds, record_at=[rounds], check_every=rounds)
                times[i, seed] = (process_time() - started) / rounds * 1e6
        oful, cr, mixed, cut = times
        ratios = [np.median(r) for r in (cr / oful, cr / mixed, cut / mixed)]
        columns = [f"{t:.2f}" for t in (*np.median(times, axis=1), *ratios)]
        print(f"| {dim} | " + " | ".join(columns) + " |", flush=True)


@numba.njit
def compiled_rounds(memory: Any, history: Any, arms: Any, rewards: Any) -> None:
    for t in range(rewards.shape[0]):
        upper, _ = optimistic_ends(open_ellipsoids(memory), 1.0, arms, NO_MASK)
        i = np.argmax(upper)
        if bet_observe(memory, history, arms[i], rewards[t, i], 0.0):
            bet_refresh(memory, history)


def cost(rounds: int) -> None:
    print("CPU microseconds a round, 20 fixed arms, sigma = 0.3")
    print("| d | bet | compiled | last/first quarter | public API | lean NumPy OFUL | ratio |")
    print("|---|---|---|---|---|---|---|")
    for dim in (5, 10, 20):
        rng = np.random.default_rng(0)
        arms = rng.standard_normal((20, dim))
        arms /= np.linalg.norm(arms, axis=1, keepdims=True)
        means = 0.5 * arms @ arms[0]
        rewards = np.clip(means + 0.3 * rng.standard_normal((rounds, 20)), -1, 1)
        for bet, refresh in (("product", True), ("ratio", True), ("mixed", True), ("mixed", False)):
            runs = []
            for length in (200, rounds, rounds, rounds):  # the first compiles
                Theta = BetOFUL(dim, bet=bet, refresh=refresh).confidence_set
                Theta.reserve(length)
                quarters = []
                for part in np.array_split(rewards[:length], 4):
                    started = process_time()
                    compiled_rounds(Theta.memory, Theta.history, arms, part)
                    quarters.append((process_time() - started) / len(part) * 1e6)
                runs.append(quarters)
            chunks = np.median(runs[1:], axis=0)
            data = make_data(dim, 20, 20_000)
            lean, api = [], []
            for _ in range(3):
                clock = lean_numpy_oful(data, data.n_rounds).clock
                lean.append((clock[-1] - clock[0]) / data.n_rounds * 1e6)
                policy = BetOFUL(dim, bet=bet, refresh=refresh)
                clock = public_api(policy, data, data.n_rounds).clock
                api.append((clock[-1] - clock[0]) / data.n_rounds * 1e6)
            name = bet if refresh else bet + ", streaming"
            ratio = median(a / b for a, b in zip(api, lean, strict=True))
            print(
                f"| {dim} | {name} | {np.mean(chunks):.1f} | {chunks[-1] / chunks[0]:.2f} "
                f"| {median(api):.1f} | {median(lean):.1f} | {ratio:.2f} |",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", choices=["regret", "paired", "risk", "cost", "speed"])
    parser.add_argument("--cells", default=",".join(CELLS))
    parser.add_argument("--noises", default=",".join(NOISES))
    parser.add_argument("--contenders", default="LOSAN,product,ratio,mixed")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=100_000)
    args = parser.parse_args()
    if args.table == "cost":
        cost(args.rounds)
    elif args.table == "speed":
        speed(args.seeds, args.rounds)
    elif args.table == "risk":
        risk(args.seeds)
    elif args.table == "paired":
        paired(args.cells.split(","), args.noises.split(","), args.seeds)
    else:
        names = args.contenders.split(",")
        regret(args.cells.split(","), args.noises.split(","), names, args.seeds)


if __name__ == "__main__":
    main()
