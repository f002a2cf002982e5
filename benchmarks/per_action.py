"""One model per action: regret, speed and coverage beside the same problem as a joint one.

python benchmarks/per_action.py regret [--seeds 5] [--rounds 10000]
python benchmarks/per_action.py speed
python benchmarks/per_action.py coverage [--runs 400] [--rounds 1000]

The joint problem has arms e_a ⊗ context of dimension actions x features and one BetOFUL. Block
algebra would give it the same set, faster: so its regret is that of the joint column.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from functools import partial
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import binom

from voful import BetOFUL, CertifiedUCB, PerAction
from voful.envs.bandit import noise
from voful.typing import FloatArray

FIRST_SEED = 83_000
SIGMA, NORM = 0.1, 0.5
SIZES = {"10 x 10": (10, 10, 2.0), "30 x 5": (30, 5, 3.0)}  # actions, features, theta_norm


class Problem(NamedTuple):
    """Contexts on the unit sphere; |theta_a| = .5; Gaussian noise, truncated."""

    thetas: FloatArray
    rng: np.random.Generator

    def rounds(self, n: int) -> Iterator[tuple[FloatArray, FloatArray, float]]:
        contexts = unit(self.rng.standard_normal((n, self.thetas.shape[1])))
        uniforms = self.rng.random(n)
        for context, u in zip(contexts, uniforms, strict=True):
            yield context, self.thetas @ context, float(u)


def unit(rows: FloatArray) -> FloatArray:
    scaled: FloatArray = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return scaled


def problem(n_actions: int, dim: int, seed: int) -> Problem:
    rng = np.random.default_rng([FIRST_SEED, n_actions, dim, seed])
    return Problem(NORM * unit(rng.standard_normal((n_actions, dim))), rng)


def paid(mean: float, u: float, law: int = noise.GAUSSIAN) -> float:
    return float(noise.reward(law, mean, SIGMA, -1.0, 1.0, u))


class Joint:
    """A policy on arms e_a ⊗ context."""

    def __init__(self, make: Callable[..., Any], n_actions: int, dim: int, **more: Any) -> None:
        self.policy, self._n = make(n_actions * dim, **more), n_actions

    def select(self, context: FloatArray) -> int:
        self._arms = np.kron(np.eye(self._n), context)
        return int(self.policy.select(self._arms))

    def update(self, context: FloatArray, action: int, reward: float) -> None:
        self.policy.update(self._arms[action], reward)


def regret_of(policy: Any, known: Problem, rounds: int) -> tuple[float, float]:
    regret, started = 0.0, process_time()
    for context, means, u in known.rounds(rounds):
        action = policy.select(context)
        policy.update(context, action, paid(means[action], u))
        regret += float(means.max() - means[action])
    return regret, 1e6 * (process_time() - started) / rounds


def regret(seeds: int, rounds: int) -> None:
    print(f"Regret in {rounds} rounds, mean of {seeds} seeds, and microseconds a round (Python)")
    print("| actions x features | policy | theta_norm | regret | µs |")
    print("|---|---|--:|--:|--:|")
    for size, (n_actions, dim, norm) in SIZES.items():
        sides = (n_actions, dim)
        contenders: dict[str, Callable[[], Any]] = {
            f"joint BetOFUL | {norm:g}": partial(Joint, BetOFUL, *sides, theta_norm=norm),
            f"PerAction | {norm:g}": partial(PerAction, *sides, theta_norm=norm),
            "PerAction | 1": partial(PerAction, *sides),
            f"joint CertifiedUCB | {norm:g}": partial(Joint, CertifiedUCB, *sides, theta_norm=norm),
        }
        for name, make in contenders.items():
            runs = [regret_of(make(), problem(n_actions, dim, s), rounds) for s in range(seeds)]
            total, cost = np.mean(runs, axis=0)
            print(f"| {size} | {name} | {total:.0f} | {cost:.0f} |", flush=True)


def speed() -> None:
    print("Milliseconds a round of select and update, from Python, after the first rounds")
    print("| actions x features | joint BetOFUL | PerAction |")
    print("|---|--:|--:|")
    for n_actions, dim, joint_rounds in ((10, 10, 500), (30, 5, 500), (10, 65, 200)):
        costs = []
        for policy, rounds in (
            (Joint(BetOFUL, n_actions, dim, theta_norm=2.0), joint_rounds),
            (PerAction(n_actions, dim, theta_norm=2.0), 3000),
        ):
            known = problem(n_actions, dim, 0)
            regret_of(policy, known, 10)
            costs.append(1e-3 * regret_of(policy, known, rounds)[1])
        print(f"| {n_actions} x {dim} | {costs[0]:.2f} | {costs[1]:.3f} |", flush=True)


LAWS = {
    "gaussian": noise.GAUSSIAN,
    "binary": noise.BERNOULLI,
    "rare +": noise.RARE_POSITIVE,
    "rare -": noise.RARE_NEGATIVE,
}


def lost(n_actions: int, dim: int, seed: int, rounds: int, law: int, delta: float) -> FloatArray:
    """Which thetas were outside of their sets at some look, every tenth round."""
    known = problem(n_actions, dim, seed)
    policy = PerAction(n_actions, dim, failure_prob=delta)
    out = np.zeros(n_actions, dtype=np.bool_)
    for t, (context, means, u) in enumerate(known.rounds(rounds)):
        action = policy.select(context)
        policy.update(context, action, paid(means[action], u, law))
        if t % 10 == 9:
            out |= [
                not model.confidence_set.contains(theta)
                for model, theta in zip(policy.models, known.thetas, strict=True)
            ]
    return out.astype(np.float64)


def coverage(runs: int, rounds: int, delta: float = 0.05) -> None:
    allowed = int(binom.ppf(0.999, runs, delta))
    print(f"{runs} runs x {rounds} rounds, 4 x 3, failure_prob {delta}: runs in which any theta_a")
    print(f"left its set (at most {allowed} by the binomial test at .001), and by action")
    for name, law in LAWS.items():
        found = np.array([lost(4, 3, seed, rounds, law, delta) for seed in range(runs)])
        print(f"{name:10s} {int(found.any(axis=1).sum())}   {found.sum(axis=0).astype(int)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("regret", "speed", "coverage"))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--rounds", type=int)
    given = parser.parse_args()
    if given.what == "regret":
        regret(given.seeds, given.rounds or 10_000)
    elif given.what == "speed":
        speed()
    else:
        coverage(given.runs, given.rounds or 1000)


if __name__ == "__main__":
    main()
