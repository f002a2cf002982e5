"""Real data: mean reward in 3,000 rounds, in several orders and both scalings.

python benchmarks/real.py [orders] [data ...]

LinUCB with alpha = 1 and ridge 1 is the rule that most people start from; the reference is the best
linear policy in hindsight (`voful.envs.RealBandit`). "honest" is the share of windows of 250 rounds
whose mean reward lies between the means of the lower and of the upper ends that `index` gave for
the arms played; "width" is the mean width of those intervals.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from time import process_time
from typing import Any, NamedTuple

import numpy as np

import voful
from voful.envs import RealBandit
from voful.envs.real.tables import TABLES
from voful.typing import FloatArray

ROUNDS, WINDOW = 3000, 250
SCALINGS = ("told", "unit")
AMPLE = 100.0  # the norm of the parameter is not known


class PlainLinUCB:
    """argmax of the ridge estimate plus alpha sqrt(x'(X'X + I)^-1 x)."""

    status = "none"

    def __init__(self, dim: int, alpha: float = 1.0) -> None:
        self._inverse, self._b, self._alpha = np.eye(dim), np.zeros(dim), alpha

    def select(self, arms: FloatArray) -> int:
        spread = np.einsum("ij,jk,ik->i", arms, self._inverse, arms)
        return int(np.argmax(arms @ (self._inverse @ self._b) + self._alpha * np.sqrt(spread)))

    def update(self, x: FloatArray, reward: float) -> None:
        u = self._inverse @ x
        self._inverse -= np.outer(u, u) / (1.0 + x @ u)
        self._b += reward * x


class OneModelEach:
    """`PerAction` on arms e_a ⊗ context."""

    def __init__(self, env: RealBandit) -> None:
        self._dim = env.dim // env.n_actions
        self._policy = voful.PerAction(
            env.n_actions,
            self._dim,
            reward_range=env.reward_range,
            feature_norm=env.feature_norm,
            theta_norm=AMPLE,
        )

    @property
    def status(self) -> str:
        return self._policy.status

    def _parts(self, x: FloatArray) -> tuple[int, FloatArray]:
        action = int(np.flatnonzero(x)[0]) // self._dim  # the intercept is never 0
        return action, x[action * self._dim : (action + 1) * self._dim]

    def select(self, arms: FloatArray) -> int:
        return self._policy.select(self._parts(arms[0])[1])

    def update(self, x: FloatArray, reward: float) -> None:
        action, context = self._parts(x)
        self._policy.update(context, action, reward)

    def index(self, arms: FloatArray) -> tuple[FloatArray, ...]:
        action, context = self._parts(arms[0])
        return tuple(ends[[action]] for ends in self._policy.index(context))


class Played(NamedTuple):
    reward: float
    reference: float
    status: str
    honest: float
    width: float
    milliseconds: float


def played(policy: Any, env: RealBandit) -> Played:
    rewards, ends = np.zeros(ROUNDS), np.zeros((ROUNDS, 2))
    reference = seconds = 0.0
    speaks = hasattr(policy, "index")
    for t in range(ROUNDS):
        arms = env.arms
        started = process_time()
        choice = policy.select(arms)
        seconds += process_time() - started
        if speaks:
            _, lower, upper = policy.index(arms[choice : choice + 1])
            ends[t] = max(lower[0], 0.0), min(upper[0], 1.0)
        reference += env.optimal_value
        rewards[t] = env.pull(choice).reward
        started = process_time()
        policy.update(arms[choice], rewards[t])
        seconds += process_time() - started
    means, (lows, highs) = _windows(rewards), (_windows(ends[:, 0]), _windows(ends[:, 1]))
    return Played(
        rewards.mean(),
        reference / ROUNDS,
        policy.status,
        float(((lows <= means) & (means <= highs)).mean()) if speaks else np.nan,
        float(np.diff(ends, axis=1).mean()) if speaks else np.nan,
        1e3 * seconds / ROUNDS,
    )


def _windows(series: FloatArray) -> FloatArray:
    means: FloatArray = series.reshape(-1, WINDOW).mean(axis=1)
    return means


def told(cls: Callable[..., Any], **more: Any) -> Callable[[RealBandit], Any]:
    return lambda env: cls(
        env.dim, reward_range=env.reward_range, feature_norm=env.feature_norm, **more
    )


POLICIES: dict[str, Callable[[RealBandit], Any]] = {
    "LinUCB alpha=1": lambda env: PlainLinUCB(env.dim),
    "CertifiedUCB": told(voful.CertifiedUCB),
    "CertifiedUCB, theta_norm 100": told(voful.CertifiedUCB, theta_norm=AMPLE),
    "BetOFUL": told(voful.BetOFUL),
    "BetOFUL, theta_norm 100": told(voful.BetOFUL, theta_norm=AMPLE),
    "PerAction, theta_norm 100": OneModelEach,
}


def main(orders: int = 5, *names: str) -> None:
    warnings.simplefilter("ignore", RuntimeWarning)  # of what the statuses say too
    print("| data | scaling | policy | mean reward | reference | honest | width | statuses | ms |")
    print("|---|---|---|--:|--:|--:|--:|---|--:|")
    for data in names or TABLES:
        for scaling in SCALINGS:
            for name, make in POLICIES.items():
                if make is OneModelEach and data == "diamonds":  # one parameter
                    continue
                runs = []
                for order in range(orders):
                    env = RealBandit(data, scaling=scaling, seed=order)
                    runs.append(played(make(env), env))
                reward, reference, _, honest, width, ms = zip(*runs, strict=True)
                statuses = ", ".join(sorted({run.status for run in runs}))
                print(
                    f"| {data} | {scaling} | {name} | {np.mean(reward):.3f} | "
                    f"{np.mean(reference):.3f} | {np.mean(honest):.2f} | {np.mean(width):.2f} | "
                    f"{statuses} | {np.mean(ms):.2f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5, *sys.argv[2:])
