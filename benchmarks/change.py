"""Acceptance figures of alarms and guarded restarts, on seeds that chose none of their constants.

python benchmarks/change.py alarms [--runs 2000]   false alarms of ModelCheck, the mean known
python benchmarks/change.py inside [--runs 500]    false alarms inside BetOFUL
python benchmarks/change.py flip [--seeds 10]      theta* turns over at half time
python benchmarks/change.py changes [--seeds 10]   0, 1, 5, 20 changes, and two walks
python benchmarks/change.py wrong [--seeds 3]      models that are wrong: restarts against none
python benchmarks/change.py cost                   CPU time of a compiled round with and without
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from time import process_time
from typing import Any

import numba
import numpy as np
from scipy.stats import binom

from voful import BetOFUL, DLinUCB
from voful.envs import linear_bandit
from voful.envs.bandit import noise
from voful.experiments.play.compiled_loop import play_compiled
from voful.monitor.check import take_round
from voful.monitor.evidence import EVIDENCE_SIZE
from voful.typing import FloatArray

FIRST_SEED = 97_000
LEVEL = 0.1
LAWS = {
    "gaussian 0.1": (noise.GAUSSIAN, 0.1),
    "gaussian 0.3": (noise.GAUSSIAN, 0.3),
    "binary": (noise.BERNOULLI, 0.0),
    "rare +": (noise.RARE_POSITIVE, 0.1),
    "rare -": (noise.RARE_NEGATIVE, 0.1),
    "adversary": (noise.ADVERSARY, 0.3),
}


@numba.njit(error_model="numpy")
def alarmed(
    kind: int, sigma: float, lower: FloatArray, upper: FloatArray, u: FloatArray, mean: float
) -> bool:
    """Whether a run alarms at 1/LEVEL; the adversary plays boldly for the larger evidence."""
    evidence, nothing = np.zeros(EVIDENCE_SIZE), np.empty(0)
    for t in range(u.shape[0]):
        law = kind
        if kind == noise.ADVERSARY:
            half = (EVIDENCE_SIZE - 3) // 2
            up = evidence[3 : 3 + half].sum() >= evidence[3 + half :].sum()
            law = noise.RARE_POSITIVE if up else noise.RARE_NEGATIVE
        y = noise.reward(law, mean, sigma, -1.0, 1.0, u[t])
        if take_round(evidence, -1.0, 1.0, lower[t], upper[t], y, True, nothing) >= 1.0 / LEVEL:
            return True
    return False


def alarms(runs: int, rounds: int) -> None:
    allowed = int(binom.ppf(0.95, runs, LEVEL))
    power = binom.sf(allowed, runs, 1.5 * LEVEL)
    print(
        f"{runs} runs x {rounds} rounds at level {LEVEL}: at most {allowed} alarms (a test at 5 %)"
    )
    print(f"power at {1.5 * LEVEL}: {power:.3f}")
    for name, (kind, sigma) in LAWS.items():
        found = {"mean known": 0, "control": 0}
        for run in range(runs):
            rng = np.random.default_rng([FIRST_SEED, run, kind])
            mean, u = rng.uniform(-0.5, 0.5), rng.random(rounds)
            known = np.full(rounds, mean)
            found["mean known"] += alarmed(kind, sigma, known, known, u, mean)
            if run < 200:  # an interval that excludes the mean by .05
                off = known + 0.05
                found["control"] += alarmed(kind, sigma, off, off + 0.1, u, mean)
        rate = found["mean known"] / runs
        held = "held" if found["mean known"] <= allowed else "BROKEN"
        print(f"{name:14s} {rate:.4f} {held}   control {found['control']} of {min(runs, 200)}")


def played(policy: Any, problem: dict[str, Any], seed: int, rounds: int, at: list[int]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        env = linear_bandit(dim=5, n_arms=20, theta_norm=0.5, seed=seed, **problem)
        return play_compiled(policy, env, rounds, record_at=at, check_every=rounds)


def inside(runs: int, rounds: int) -> None:
    problems: dict[str, dict[str, Any]] = {
        "gaussian 0.1": {"sigma": 0.1},
        "gaussian 0.3": {"sigma": 0.3},
        "binary": {"noise": "bernoulli"},
        "rare +": {"noise": "rare_positive", "sigma": 0.1},
        "rare -": {"noise": "rare_negative", "sigma": 0.1},
        "changing arms": {"sigma": 0.1, "redraw": True},
    }
    for name, problem in problems.items():
        found = 0
        for seed in range(FIRST_SEED, FIRST_SEED + runs):
            policy = BetOFUL(5)
            played(policy, problem, seed, rounds, [rounds])
            found += bool(policy.alarms)
        print(f"{name:14s} {found} of {runs} runs with an alarm (allowed: level + delta = .10)")


def flip(seeds: int, rounds: int) -> None:
    half = rounds // 2
    for redraw in (False, True):
        problem = {"redraw": redraw, "sigma": 0.1, "change_at": [half], "change": "flip"}
        for mode in ("restart", "warn", None):
            after, delays, wrong = [], [], []
            for seed in range(FIRST_SEED, FIRST_SEED + seeds):
                policy = BetOFUL(5, on_change=mode)
                regret = played(policy, problem, seed, rounds, [half, rounds])["regret"]
                after.append(regret[1] - regret[0])
                delays += [a.round - half for a in policy.alarms if a.round > half][:1]
                wrong.append(excluding(mode, problem, seed, half))
            print(
                f"changing={redraw!s:5} {mode!s:8} regret after {np.mean(after):7.1f} (worst "
                f"{max(after):.0f}); alarms in {len(delays)} of {seeds} runs, delay median "
                f"{np.median(delays or [-1]):.0f}, most {max(delays, default=-1)}; rounds with "
                f"intervals that exclude the truth: mean {np.mean(wrong):.0f}, most {max(wrong)}",
                flush=True,
            )


def excluding(mode: str | None, problem: dict[str, Any], seed: int, half: int) -> int:
    """Of 500 rounds after the change those in which the played arm's interval excludes its mean."""
    env = linear_bandit(dim=5, n_arms=20, theta_norm=0.5, seed=seed, **problem)
    policy = BetOFUL(5, on_change=mode)
    wrong = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for t in range(half + 500):
            arms, means = env.arms, env.mean_rewards
            i = policy.select(arms)
            if t >= half:
                _, lower, upper = policy.index(arms)
                wrong += not lower[i] <= means[i] <= upper[i]
            policy.update(arms[i], env.pull(i).reward)
    return wrong


def changes(seeds: int, rounds: int) -> None:
    steps = {n: [rounds * (k + 1) // (n + 1) for k in range(n)] for n in (0, 1, 5, 20)}
    problems: dict[str, dict[str, Any]] = {
        f"{n} changes": {"change_at": at} for n, at in steps.items()
    }
    problems |= {f"walk {step}": {"walk": step} for step in (0.002, 0.01)}
    contenders: dict[str, Callable[[], Any]] = {
        "none": lambda: BetOFUL(5, on_change=None),
        "restart": lambda: BetOFUL(5),
        "d-linucb": lambda: DLinUCB(5, n_rounds=rounds, noise_scale=0.1),
    }
    for name, problem in problems.items():
        line = f"{name:12s}"
        for label, make in contenders.items():
            final, found = [], 0
            for seed in range(FIRST_SEED, FIRST_SEED + seeds):
                policy = make()
                record = played(policy, {"sigma": 0.1, **problem}, seed, rounds, [rounds])
                final.append(record["regret"][-1])
                found += len(getattr(policy, "alarms", []))
            line += f"  {label} {np.mean(final):7.1f} ({found} alarms)"
        print(line, flush=True)


# --- models that are wrong ----------------------------------------------------------------------


def quadratic(seed: int, rounds: int) -> tuple[FloatArray, FloatArray, dict[str, Any]]:
    """Changing arms with mean <x, theta> + .2 (1 - 2 <x, v>^2), noise .1."""
    rng = np.random.default_rng([seed, 1])
    X = rng.standard_normal((rounds, 20, 5))
    X /= np.linalg.norm(X, axis=2, keepdims=True)
    theta, v = rng.standard_normal((2, 5))
    theta, v = 0.5 * theta / np.linalg.norm(theta), v / np.linalg.norm(v)
    means = X @ theta + 0.2 * (1.0 - 2.0 * (X @ v) ** 2)
    rewards = np.clip(means + 0.1 * rng.standard_normal((rounds, 1)), -1.0, 1.0)
    return X, rewards, {"reward_range": (-1.0, 1.0)}


def classified(
    name: str, scaling: str, seed: int, rounds: int
) -> tuple[FloatArray, FloatArray, dict[str, Any]]:
    """A data set as a bandit: an arm is a class with the features in its block, 1 if it is right.

    Features are standardised (digits: their first 5 principal components), with an intercept.
    raw: feature_norm is told; unit: all are scaled into the unit ball. theta_norm is 1.
    """
    from sklearn import datasets

    load = {"digits": datasets.load_digits, "breast cancer": datasets.load_breast_cancer}[name]
    Z, label = load(return_X_y=True)
    Z = (Z - Z.mean(axis=0)) / (Z.std(axis=0) + 1e-9)
    if name == "digits":
        Z = Z @ np.linalg.svd(Z, full_matrices=False)[2][:5].T
        Z /= Z.std(axis=0)
    Z = np.column_stack([np.ones(len(Z)), Z])
    longest = float(np.linalg.norm(Z, axis=1).max())
    if scaling == "unit":
        Z, longest = Z / longest, 1.0
    order = np.random.default_rng([seed, 2]).permutation(np.arange(rounds) % len(Z))
    n, d = int(label.max()) + 1, Z.shape[1]
    X = np.zeros((rounds, n, n * d))
    for a in range(n):
        X[:, a, a * d : (a + 1) * d] = Z[order]
    rewards = (label[order][:, None] == np.arange(n)).astype(float)
    return X, rewards, {"reward_range": (0.0, 1.0), "feature_norm": longest * (1.0 + 1e-12)}


def wrong(seeds: int, rounds: int) -> None:
    problems: dict[str, Any] = {"quadratic": quadratic}
    for name in ("breast cancer", "digits"):
        for scaling in ("raw", "unit"):
            problems[f"{name}, {scaling}"] = lambda seed, rounds, n=name, s=scaling: classified(
                n, s, seed, rounds
            )
    for name, make in problems.items():
        mean: dict[str | None, list[float]] = {None: [], "restart": []}
        statuses = []
        for seed in range(FIRST_SEED, FIRST_SEED + seeds):
            X, rewards, params = make(seed, rounds)
            for mode, found in mean.items():
                policy = BetOFUL(X.shape[2], on_change=mode, **params)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    paid = 0.0
                    for arms, reward in zip(X, rewards, strict=True):
                        i = policy.select(arms)
                        policy.update(arms[i], reward[i])
                        paid += reward[i]
                    found.append(paid / rounds)
                    if mode == "restart":
                        statuses.append(f"{policy.status}/{len(policy.alarms)}")
        none, restart = np.mean(mean[None]), np.mean(mean["restart"])
        print(
            f"{name:20s} none {none:.4f} restart {restart:.4f} difference {restart - none:+.4f}  "
            f"status/alarms {' '.join(statuses)}",
            flush=True,
        )


def cost(rounds: int) -> None:
    times: dict[str | None, list[float]] = {None: [], "restart": []}
    for repeat in range(7):
        for mode, found in times.items():
            env = linear_bandit(dim=5, n_arms=20, sigma=0.1, theta_norm=0.5, seed=repeat)
            policy = BetOFUL(5, on_change=mode)
            play_compiled(policy, env, 100, record_at=[100], check_every=100)
            env = linear_bandit(dim=5, n_arms=20, sigma=0.1, theta_norm=0.5, seed=repeat)
            policy, started = BetOFUL(5, on_change=mode), process_time()
            play_compiled(policy, env, rounds, record_at=[rounds], check_every=rounds)
            found.append((process_time() - started) / rounds * 1e6)
    none, watched = (np.median(found) for found in times.values())
    print(f"{none:.2f} us without, {watched:.2f} us with the check: {watched / none:.3f}x")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = {
        "alarms": (alarms, {"runs": 2000, "rounds": 2000}),
        "inside": (inside, {"runs": 500, "rounds": 2000}),
        "flip": (flip, {"seeds": 10, "rounds": 10_000}),
        "changes": (changes, {"seeds": 10, "rounds": 20_000}),
        "wrong": (wrong, {"seeds": 3, "rounds": 3000}),
        "cost": (cost, {"rounds": 20_000}),
    }
    parsers = parser.add_subparsers(dest="command", required=True)
    for name, (_, defaults) in commands.items():
        sub = parsers.add_parser(name)
        for option, value in defaults.items():
            sub.add_argument(f"--{option}", type=int, default=value)
    given = vars(parser.parse_args())
    function: Any = commands[given.pop("command")][0]
    function(**given)


if __name__ == "__main__":
    main()
