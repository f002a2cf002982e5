"""Acceptance tables of CertifiedUCB, on seeds that chose none of its constants.

python benchmarks/certified.py regret [--seeds 20]   regret over BetOFUL's, beside tuned widths
python benchmarks/certified.py long [--seeds 20]     10,000 rounds
python benchmarks/certified.py risky [--seeds 20]    a quiet second-best arm beside a noisy best one
python benchmarks/certified.py greedy [--rounds 100000]   a greedy index alone and under guard
python benchmarks/certified.py cost [--rounds 20000]      CPU time a round beside BetOFUL's
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from itertools import count
from statistics import median
from time import process_time
from typing import Any, NamedTuple

import numba
import numpy as np

from voful import OFUL, BetOFUL, CertifiedUCB, Guarded, LinTS
from voful.confidence.rule import RESPOND, addresses
from voful.envs import linear_bandit
from voful.experiments.play.compiled_loop import play_compiled
from voful.typing import FloatArray
from voful.validation import NO_MASK

FIRST_SEED = 93_000
NOISES: dict[str, dict[str, Any]] = {
    "0": {"sigma": 0.0},
    "0.1": {"sigma": 0.1},
    "0.3": {"sigma": 0.3},
    "0.5": {"sigma": 0.5},
    "rare+": {"noise": "rare_positive", "sigma": 0.1},
    "rare-": {"noise": "rare_negative", "sigma": 0.1},
    "hetero": {"sigma_low": 0.0, "sigma_high": 0.3},
    "binary": {"noise": "bernoulli"},
}
CONTENDERS: dict[str, Callable[[int, int], Any]] = {
    "BetOFUL": lambda dim, seed: BetOFUL(dim),
    "CertifiedUCB": lambda dim, seed: CertifiedUCB(dim),
    "BetOFUL x.3": lambda dim, seed: BetOFUL(dim, width_scale=0.3),
    "OFUL x.1": lambda dim, seed: OFUL(dim, width_scale=0.1),
    "OFUL x.05": lambda dim, seed: OFUL(dim, width_scale=0.05),
    "LinTS x.3": lambda dim, seed: LinTS(dim, width_scale=0.3, seed=seed),
    "LinTS x.1": lambda dim, seed: LinTS(dim, width_scale=0.1, seed=seed),
}
RISKY: dict[int, list[float]] = {5: [0.25, 0.2, *[-0.2] * 3], 20: [0.3, 0.2, *[-0.1] * 18]}


class Runs(NamedTuple):
    """Regrets and ledgers at the end, one for each seed; NaN where there is no ledger."""

    regret: FloatArray
    ledger: FloatArray


def runs(name: str, problem: dict[str, Any], K: int, seeds: int) -> Runs:
    finals = []
    for seed in range(FIRST_SEED, FIRST_SEED + seeds):
        env = linear_bandit(theta_norm=0.5, seed=seed, **problem)
        policy = CONTENDERS[name](env.dim, seed)
        played = play_compiled(policy, env, K, record_at=[K], check_every=K)
        finals.append((played["regret"][-1], getattr(policy, "ledger", math.nan)))
    return Runs(*np.array(finals).T)


def regret(seeds: int, dims: list[int], rounds: int) -> None:
    names = list(CONTENDERS)[1:]
    print("| d | arms | noise | BetOFUL | " + " | ".join(names) + " | ledger |")
    print("|---" * (len(names) + 5) + "|")
    ratios: dict[str, list[float]] = {name: [] for name in names}
    doubled = dict.fromkeys(names, 0)
    broken = total = 0
    for dim in dims:
        for redraw in (False, True):
            for noise, law in NOISES.items():
                problem = {"dim": dim, "n_arms": 20, "redraw": redraw, **law}
                base = runs("BetOFUL", problem, rounds, seeds).regret
                cells, ledger = [], 0.0
                for name in names:
                    found = runs(name, problem, rounds, seeds)
                    ratios[name].append(found.regret.mean() / base.mean())
                    doubled[name] += int((found.regret > 2.0 * base.mean()).sum())
                    worst = found.regret.max() / base.mean()
                    cells.append(f"{ratios[name][-1]:.2f} ({worst:.1f})")
                    if name == "CertifiedUCB":
                        broken += int((found.regret > found.ledger).sum())
                        ledger = float(found.ledger.mean())
                total += seeds
                kind = "changing" if redraw else "fixed"
                row = " | ".join(cells)
                print(f"| {dim} | {kind} | {noise} | {base.mean():.1f} | {row} | {ledger:.0f} |",
                      flush=True)  # fmt: skip
    means = {name: math.exp(float(np.mean(np.log(r)))) for name, r in ratios.items()}
    for what, values in (
        ("geometric mean", [f"{means[name]:.3f}" for name in names]),
        ("worst cell", [f"{max(ratios[name]):.2f}" for name in names]),
        (f"of {total} runs above twice BetOFUL's mean", [str(doubled[name]) for name in names]),
    ):
        print(f"| {what} | | | | " + " | ".join(values) + " | |")
    print(f"\nregret above the ledger in {broken} of {total} runs of CertifiedUCB")


def table(problems: dict[str, dict[str, Any]], K: int, seeds: int) -> None:
    print(
        "| problem | BetOFUL mean | worst | CertifiedUCB mean | worst | ratio of means | ledger |"
    )
    print("|---|---|---|---|---|---|---|")
    for title, problem in problems.items():
        base = runs("BetOFUL", problem, K, seeds).regret
        ours = runs("CertifiedUCB", problem, K, seeds)
        mean, worst = ours.regret.mean(), ours.regret.max()
        print(f"| {title} | {base.mean():.1f} | {base.max():.1f} | {mean:.1f} | {worst:.1f} "
              f"| {mean / base.mean():.2f} | {ours.ledger.mean():.0f} |", flush=True)  # fmt: skip


class Greedy:
    """The best predicted arm, no exploration at all."""

    def __init__(self, dim: int) -> None:
        self.gram, self.response = 1e-3 * np.eye(dim), np.zeros(dim)
        self.theta: FloatArray = np.zeros(dim)

    def scores(self, arms: FloatArray) -> FloatArray:
        return np.asarray(arms @ self.theta)

    def update(self, x: FloatArray, reward: float) -> None:
        self.gram += np.outer(x, x)
        self.response += reward * x
        self.theta = np.asarray(np.linalg.solve(self.gram, self.response), dtype=np.float64)


def greedy(rounds: int) -> None:
    """A quiet arm of mean 0.1 beside a noisy one of mean 0.3, on a seed whose first draw is bad."""
    print("| rounds | greedy alone: regret | under guard: regret | ledger | overruled |")
    print("|---|---|---|---|---|")
    arms, theta = np.eye(2), np.array([0.3, 0.1])
    draws = (np.random.default_rng(seed) for seed in count(FIRST_SEED))
    noise = next(n for rng in draws if (n := rng.choice([-0.7, 0.7], rounds))[0] < 0.0)
    alone, guarded = Greedy(2), Guarded(2, heuristic=Greedy(2))
    totals = np.zeros(2)
    for t in range(1, rounds + 1):
        choices = (int(np.argmax(alone.scores(arms))), guarded.select(arms))
        players: tuple[Any, Any] = (alone, guarded)
        for k, (policy, i) in enumerate(zip(players, choices, strict=True)):
            policy.update(arms[i], float(theta[i] + (noise[t - 1] if i == 0 else 0.0)))
            totals[k] += theta.max() - theta[i]
        if t in (1_000, 10_000, rounds):
            print(f"| {t} | {totals[0]:.0f} | {totals[1]:.0f} | {guarded.ledger:.0f} "
                  f"| {guarded.overruled} |", flush=True)  # fmt: skip


@numba.njit
def compiled_rounds(
    choose: Any,
    observe: Any,
    refresh: Any,
    state: Any,
    arms: Any,
    mask: Any,
    rewards: Any,
) -> None:
    for t in range(rewards.shape[0]):
        i = choose(*state, arms, mask)
        due = observe(*state, arms[i], rewards[t, i], 0.0)
        assert due < RESPOND  # no alarm: the world is linear
        if due != 0:
            refresh(state[0], state[1])


def cost(rounds: int) -> None:
    print("CPU microseconds of a compiled round, fixed arms, sigma = 0.3")
    print("| d | arms | BetOFUL | CertifiedUCB | ratio | last/first quarter |")
    print("|---|---|---|---|---|---|")
    for dim, n_arms in ((5, 20), (10, 20), (20, 20), (50, 20), (5, 200), (20, 200)):
        env = linear_bandit(dim=dim, n_arms=n_arms, sigma=0.3, seed=FIRST_SEED)
        arms, noise = env.arms, np.random.default_rng(0).standard_normal((rounds, 1))
        rewards = np.clip(env.mean_rewards + 0.3 * noise, -1.0, 1.0)
        times: dict[str, list[FloatArray]] = {"BetOFUL": [], "CertifiedUCB": []}
        for length in (100, rounds, rounds, rounds):  # the first compiles
            for name, found in times.items():
                policy = CONTENDERS[name](dim, 0)
                policy._reserve(length, n_arms)
                state, quarters = policy._state, []
                rule = addresses(state, policy._rng, arms, NO_MASK)
                functions = rule.choose, rule.observe, rule.refresh
                for part in np.array_split(rewards[:length], 4):
                    started = process_time()
                    compiled_rounds(*functions, tuple(state), arms, NO_MASK, part)
                    quarters.append((process_time() - started) / len(part) * 1e6)
                found.append(np.array(quarters))
        totals = {name: [q.mean() for q in found[1:]] for name, found in times.items()}
        base, ours = totals["BetOFUL"], totals["CertifiedUCB"]
        ratio = median(a / b for a, b in zip(ours, base, strict=True))
        flat = median(q[-1] / q[0] for q in times["CertifiedUCB"][1:])
        print(f"| {dim} | {n_arms} | {median(base):.1f} | {median(ours):.1f} | {ratio:.2f} "
              f"| {flat:.2f} |", flush=True)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", choices=["regret", "long", "risky", "greedy", "cost"])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--dims", type=int, nargs="+", default=[5, 20])
    parser.add_argument("--rounds", type=int)
    args = parser.parse_args()
    if args.table == "regret":
        regret(args.seeds, args.dims, args.rounds or 2_000)
    elif args.table == "long":
        problems: dict[str, dict[str, Any]] = {
            f"d={dim}, σ=0.3": {"dim": dim, "n_arms": 20, "sigma": 0.3} for dim in args.dims
        }
        table(problems, args.rounds or 10_000, args.seeds)
    elif args.table == "risky":
        problems = {
            f"safe/risky, d={dim}": {
                "dim": dim,
                "arms": np.eye(dim),
                "theta_star": RISKY[dim],
                "sigma": [0.5, *[0.0] * (dim - 1)],
            }
            for dim in args.dims
        }
        table(problems, args.rounds or 10_000, args.seeds)
    elif args.table == "greedy":
        greedy(args.rounds or 100_000)
    else:
        cost(args.rounds or 20_000)


if __name__ == "__main__":
    main()
