"""Acceptance figures of late rewards, unknown scales and misfit, on seeds that chose no constant.

python benchmarks/shapes.py delay [--seeds 6]     rewards 10, 100 and 1000 rounds late
python benchmarks/shapes.py speed                 CPU time of a choice with 100 arms that wait
"""

from __future__ import annotations

import argparse
import warnings
from collections import deque
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np

from voful import BetOFUL, CertifiedUCB, LinTS
from voful.envs import linear_bandit
from voful.typing import FloatArray

FIRST_SEED = 83_000
ARMS = {"fixed": False, "changing": True}


def problem(seed: int, **more: Any) -> Any:
    given = {"dim": 5, "n_arms": 20, "theta_norm": 0.5, "sigma": 0.1}
    return linear_bandit(**{**given, **more}, seed=FIRST_SEED + seed)


def play_late(policy: Any, env: Any, rounds: int, delay: int, told: bool) -> float:
    """Regret where every reward is learnt `delay` rounds after its arm was played."""
    waiting: deque[tuple[FloatArray, float]] = deque()
    held, regret = np.empty((delay + 1, env.dim)), 0.0
    for t in range(rounds):
        arms, best = env.arms, env.optimal_value
        if told and waiting:
            i = policy.select(arms, pending=held[: len(waiting)])
        else:
            i = policy.select(arms)
        x, feedback = arms[i].copy(), env.pull(i)
        waiting.append((x, feedback.reward))
        if len(waiting) > delay:
            policy.update(*waiting.popleft())
        held[t % max(delay, 1)] = x  # the order of those that wait is of no importance
        regret += best - feedback.mean
    return regret


def delay(seeds: int, rounds: int, kinds: list[str]) -> None:
    print(f"d=5, 20 arms, sigma=.1, {rounds} rounds, mean regret of {seeds} seeds")
    print(f"{'arms':9s} {'delay':>5s} {'BetOFUL':>9s} {'pending':>9s} {'Certified':>9s}", end="")
    print(f" {'pending':>9s} {'LinTS':>9s}")
    for name in kinds:
        for late in (0, 10, 100, 1000):
            row = []
            for make, told in (
                (BetOFUL, False),
                (BetOFUL, True),
                (CertifiedUCB, False),
                (CertifiedUCB, True),
                (LinTS, False),
            ):
                runs = [
                    play_late(make(5), problem(seed, redraw=ARMS[name]), rounds, late, told)
                    for seed in range(seeds)
                ]
                row.append(float(np.mean(runs)))
            print(f"{name:9s} {late:5d} " + " ".join(f"{r:9.1f}" for r in row), flush=True)


def least_time(call: Callable[[], object], repeats: int = 60, calls: int = 300) -> float:
    """Microseconds of CPU a call, the least of many."""
    call()
    times = []
    for _ in range(repeats):
        started = process_time()
        for _ in range(calls):
            call()
        times.append((process_time() - started) / calls)
    return 1e6 * min(times)


def speed() -> None:
    env = problem(0)
    for make in (BetOFUL, CertifiedUCB):
        policy = make(5)
        play_late(policy, env, 300, 0, False)
        rng, arms = np.random.default_rng(0), env.arms
        pending = arms[rng.integers(0, len(arms), 100)]
        plain = least_time(lambda: policy.select(arms))  # noqa: B023
        told = least_time(lambda: policy.select(arms, pending=pending))  # noqa: B023
        print(f"{make.__name__:13s} {plain:6.1f} us, pending {told:6.1f} us: {told / plain:.2f}x")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["delay", "speed"])
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--rounds", type=int, default=10_000)
    parser.add_argument("--arms", nargs="+", choices=list(ARMS), default=list(ARMS))
    args = parser.parse_args()
    warnings.simplefilter("ignore", RuntimeWarning)
    if args.what == "delay":
        delay(args.seeds, args.rounds, args.arms)
    else:
        speed()


if __name__ == "__main__":
    main()
