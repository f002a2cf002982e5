"""Acceptance figures of late rewards, unknown scales and misfit, on seeds that chose no constant.

python benchmarks/shapes.py delay [--seeds 6]     rewards 10, 100 and 1000 rounds late
python benchmarks/shapes.py speed                 CPU time of a choice with 100 arms that wait
python benchmarks/shapes.py scales [--seeds 10]   theta_norm and reward_range not known
python benchmarks/shapes.py misfit [--seeds 40]   theta* lost where means are linear up to e
python benchmarks/shapes.py shadow [--seeds 3]    windows of real data whose mean lay inside
"""

from __future__ import annotations

import argparse
import warnings
from collections import deque
from collections.abc import Callable
from time import process_time
from typing import Any, NamedTuple

import numpy as np

from voful import BetOFUL, CertifiedUCB, LinTS
from voful.confidence import BettingEllipsoid
from voful.envs import RealBandit, linear_bandit
from voful.envs.real.tables import TABLES
from voful.typing import FloatArray
from voful.validation import ObservationSpace

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


def scales(seeds: int, rounds: int) -> None:
    """Mean regret, fixed arms: what is not known against theta_norm=1 and the range (-1, 1)."""
    settings: dict[str, dict[str, Any]] = {
        "known": {},
        "theta_norm=None": {"theta_norm": None},
        "grow from .5": {"grow_range": True, "reward_range": (-0.5, 0.5)},
        "grow from .1": {"grow_range": True, "reward_range": (-0.1, 0.1)},
        "grow from .01": {"grow_range": True, "reward_range": (-0.01, 0.01)},
        "neither known": {"theta_norm": None, "grow_range": True, "reward_range": (-0.1, 0.1)},
        "range (-10, 10)": {"reward_range": (-10.0, 10.0)},
    }
    print(f"d=5, 20 fixed arms, sigma=.1, {rounds} rounds, mean regret of {seeds} seeds")
    means: dict[str, float] = {}
    for name, params in settings.items():
        runs = [
            play_late(BetOFUL(5, **params), problem(seed), rounds, 0, False)
            for seed in range(seeds)
        ]
        means[name] = float(np.mean(runs))
        ratio = means[name] / means["known"]
        print(f"{name:16s} {means[name]:7.1f} {ratio:5.2f}x  +- {np.std(runs):.1f}", flush=True)


def loses(
    kind: str, e: float, told: float, redraw: bool, seed: int, rounds: int, delta: float = 0.05
) -> Lost:
    """Optimism over a set that is told a misfit, where the true one is e."""
    rng = np.random.default_rng([FIRST_SEED, seed])
    theta, arms = 0.5 * sphere(rng, 1)[0], sphere(rng, 20)
    space = ObservationSpace(5, 1.0, (-1.0, 1.0))
    Theta = BettingEllipsoid(space, failure_prob=delta, bet="product", misfit=told)
    inside, x = True, arms[0]
    for t in range(rounds):
        if redraw:
            arms = sphere(rng, 20)
        x = arms[int(np.argmax(Theta._interval(arms)[1]))]
        if kind == "function":
            off = e if np.sin(7.0 * x[0]) + 0.3 * x[1] > 0.0 else -e
        else:  # an adversary who pushes the centre away from theta*
            off = -e if x @ (theta - Theta.center) > 0.0 else e
        noise = 0.1 * min(max(rng.standard_normal(), -3.0), 3.0)
        Theta.update(x, min(max(float(x @ theta) + off + noise, -1.0), 1.0))
        if t % 5 == 4:
            inside = inside and Theta.contains(theta)
    lower, upper = Theta._interval(x[None, :])
    return Lost(not inside, float(upper[0] - lower[0]) / 2.0)


class Lost(NamedTuple):
    lost: bool
    half_width: float  # of the mean's interval at the arm played last


def misfit(seeds: int, rounds: int) -> None:
    """How often theta* ever leaves the set that is told e, and one that is told 0."""
    print(f"d=5, 20 arms, sigma=.1, delta=.05, {seeds} runs x {rounds}: runs that lost theta*")
    print(
        f"{'arms':9s} {'misfit':9s} {'e':>5s} {'told e':>7s} {'told 0':>7s} {'half-width / e':>15s}"
    )
    for name, redraw in ARMS.items():
        for kind in ("function", "adversary"):
            for e in (0.05, 0.1):
                runs = [loses(kind, e, e, redraw, seed, rounds) for seed in range(seeds)]
                control = [loses(kind, e, 0.0, redraw, seed, rounds) for seed in range(5)]
                print(
                    f"{name:9s} {kind:9s} {e:5.2f} {sum(r.lost for r in runs):4d}/{seeds}"
                    f" {sum(r.lost for r in control):5d}/5"
                    f" {np.mean([r.half_width for r in runs]) / e:15.2f}",
                    flush=True,
                )


def shadow(seeds: int, rounds: int, tables: list[str]) -> None:
    """Windows of 250 rounds whose mean reward lies between the means of the ends of `index`."""
    window = 250
    print(f"{rounds} rounds, {seeds} orders: windows inside, mean width / range, reward, steps")
    for data in tables:
        for scaling in ("told", "unit"):
            for misfit in (0.0, "unknown"):
                inside, widths, rewards, steps = [], [], [], []
                for seed in range(seeds):
                    env = RealBandit(data, scaling=scaling, seed=FIRST_SEED + seed)
                    policy = BetOFUL(
                        env.dim,
                        reward_range=env.reward_range,
                        feature_norm=env.feature_norm,
                        misfit=misfit,
                    )
                    paid, ends = np.zeros(rounds), np.zeros((rounds, 2))
                    for t in range(rounds):
                        arms = env.arms
                        i = policy.select(arms)
                        _, lower, upper = policy.index(arms[i : i + 1])
                        ends[t] = max(lower[0], 0.0), min(upper[0], 1.0)
                        paid[t] = env.pull(i).reward
                        policy.update(arms[i], paid[t])
                    means = paid.reshape(-1, window).mean(axis=1)
                    low, high = ends.reshape(-1, window, 2).mean(axis=1).T
                    inside.append(float(((low <= means) & (means <= high)).mean()))
                    widths.append(float((ends[:, 1] - ends[:, 0]).mean()))
                    rewards.append(float(paid.mean()))
                    steps.append(policy._report.step[0] if policy._report else 0)
                print(
                    f"{data:14s} d={env.dim:<4d} {scaling:5s} misfit={misfit!s:8s}"
                    f" inside {np.mean(inside):.3f} width {np.mean(widths):.3f}"
                    f" reward {np.mean(rewards):.3f} steps {np.mean(steps):.1f} {policy.status}",
                    flush=True,
                )


def sphere(rng: np.random.Generator, n: int) -> FloatArray:
    X = rng.standard_normal((n, 5))
    return np.asarray(X / np.linalg.norm(X, axis=1, keepdims=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["delay", "speed", "scales", "misfit", "shadow"])
    parser.add_argument("--seeds", type=int, default=None)
    parser.add_argument("--rounds", type=int, default=None)
    parser.add_argument("--data", nargs="+", choices=list(TABLES), default=list(TABLES))
    parser.add_argument("--arms", nargs="+", choices=list(ARMS), default=list(ARMS))
    args = parser.parse_args()
    warnings.simplefilter("ignore", RuntimeWarning)
    if args.what == "delay":
        delay(args.seeds or 6, args.rounds or 10_000, args.arms)
    elif args.what == "scales":
        scales(args.seeds or 10, args.rounds or 10_000)
    elif args.what == "misfit":
        misfit(args.seeds or 40, args.rounds or 2_000)
    elif args.what == "shadow":
        shadow(args.seeds or 3, args.rounds or 3_000, args.data)
    else:
        speed()


if __name__ == "__main__":
    main()
