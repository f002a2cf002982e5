"""LOFAV against a form that goes through all rounds at each step, as the authors' code does.

python benchmarks/lofav.py [--round 4000] [--json FILE]

Such a code keeps every inverse, estimate, weight and loss of every layer, adds one of each by
making the arrays anew, and takes all sums over the whole history: its rounds get slower and slower.
Here is the like of it, written from the definition; it plays the arms of `lofav-paper`.
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from time import process_time

import numpy as np

from voful import LOFAV
from voful.bandits.lofav import lofav_layers
from voful.bench.contenders import public_api
from voful.bench.data import Data, make_data
from voful.typing import FloatArray


class Layer:
    """All that a layer has ever computed."""

    def __init__(self, dim: int, ell: int, R: float, S: float) -> None:
        self.rho = 2.0**-ell
        self.lam = (self.rho * R / S) ** 2
        self.inverses = np.array([np.eye(dim) / self.lam])
        self.estimates = np.zeros((1, dim))
        self.weights, self.shrinkage, self.losses = np.zeros(0), np.zeros(0), np.zeros(0)
        self.betas = np.array([0.5 * self.lam * S * S])


class WholeHistoryLOFAV:
    """LOFAV with the constants of the authors' code, in O(L t d^2) a round."""

    def __init__(self, dim: int, T: int, R: float, S: float = 1.0, delta: float = 0.05) -> None:
        self.dim, self.R, self.S, self.delta = dim, R, S, delta
        self.L = lofav_layers(T, dim)
        self.layers = [Layer(dim, ell, R, S) for ell in range(1, self.L + 1)]

    def choose_after(self, X: FloatArray, y: FloatArray, arms: FloatArray) -> int:
        """The last row of X was played and paid the last of y: the next arm."""
        least = np.full(len(arms), np.inf)
        for layer in self.layers:
            theta_bar, Q_inverse, beta = self.learn(layer, X, y)
            gamma = 0.5 * layer.lam * self.S**2 + self.price() + self.shrunk(layer)
            bounds = (
                (theta_bar, Q_inverse, beta),
                (layer.estimates[-1], layer.inverses[-1], gamma),
            )
            for center, inverse, half_square in bounds:
                squares = np.einsum("ij,jk,ik->i", arms, inverse, arms)
                upper = arms @ center + np.sqrt(2.0 * half_square * squares)
                least = np.minimum(least, upper)
        return int(np.argmax(least))

    def learn(
        self, layer: Layer, X: FloatArray, y: FloatArray
    ) -> tuple[FloatArray, FloatArray, float]:
        x, eye = X[-1], np.eye(self.dim)
        w = min(1.0, layer.rho / math.sqrt(x @ layer.inverses[-1] @ x))
        layer.weights = np.concatenate([layer.weights, [w]])
        weighted = X.T * layer.weights**2
        inverse = np.linalg.inv(layer.lam * eye + weighted @ X)
        layer.inverses = np.concatenate([layer.inverses, [inverse]])
        layer.estimates = np.concatenate([layer.estimates, [inverse @ weighted @ y]])
        layer.shrinkage = np.concatenate([layer.shrinkage, [w * math.sqrt(x @ inverse @ x)]])
        loss = 0.5 * (w * (y[-1] - x @ layer.estimates[-2])) ** 2
        layer.losses = np.concatenate([layer.losses, [loss]])
        predictions = np.einsum("ij,ij->i", X, layer.estimates[:-1])
        Q = layer.lam * eye + 2.0 * weighted @ X
        Q_inverse = np.asarray(np.linalg.inv(Q), dtype=np.float64)
        theta_bar = Q_inverse @ weighted @ (y + predictions)
        gap = self.loss(layer, X, y, layer.estimates[-1]) - self.loss(layer, X, y, theta_bar)
        gap -= 0.5 * layer.weights**2 @ (X @ theta_bar - predictions) ** 2
        beta = gap + self.width(layer, len(y))
        layer.betas = np.concatenate([layer.betas, [beta]])
        return theta_bar, Q_inverse, beta

    def loss(self, layer: Layer, X: FloatArray, y: FloatArray, theta: FloatArray) -> float:
        fit = 0.5 * layer.weights**2 @ (y - X @ theta) ** 2
        return float(fit + 0.5 * layer.lam * theta @ theta)

    def width(self, layer: Layer, t: int) -> float:
        start, largest = layer.betas[0], layer.betas.max()
        k = max(1.0, math.ceil(math.log2(math.sqrt(largest / start))))
        xi = math.log(
            math.sqrt(math.pi * (t + 1)) * 6.8 * self.L * k * math.log(1 + k) ** 2 / self.delta
        )
        spread = 8 * layer.rho**2 * largest * (layer.losses.sum() + self.price()) * xi
        rest = 2.0**k * layer.rho * self.R * math.sqrt(2 * start) * xi
        return float(start + self.shrunk(layer) + math.sqrt(spread) + rest)

    def shrunk(self, layer: Layer) -> float:
        return float(layer.losses @ layer.shrinkage**2)

    def price(self) -> float:
        return self.R**2 * math.log(2 * self.L / self.delta)


def whole_history(data: Data, n_rounds: int, T: int) -> tuple[list[int], list[float]]:
    """The arms played from the second round on, and the CPU time of each round."""
    arms, rewards = data.arms, data.rewards
    policy = WholeHistoryLOFAV(data.env.dim, T, R=2.0)
    first = LOFAV(data.env.dim, n_rounds=T, constants="paper").select(arms)
    X, y, seconds = [arms[first]], [rewards[0][first]], []
    played = [first]
    for row in rewards[1:n_rounds]:
        started = process_time()
        i = policy.choose_after(np.array(X), np.array(y), arms)
        X.append(arms[i])
        y.append(row[i])
        seconds.append(process_time() - started)
        played.append(i)
    return played, seconds


def compare(*, dim: int, n_arms: int, at_round: int, T: int = 20_000) -> dict[str, float]:
    """Rates of both at a round; ours is that of a run of T rounds."""
    data = make_data(dim, n_arms, T)
    public_api(LOFAV(dim, n_rounds=64), data, 64)  # compiles
    played, seconds = whole_history(data, at_round, T)
    window = min(100, len(seconds))
    history = window / sum(seconds[-window:])
    clock = public_api(LOFAV(dim, n_rounds=T), data, T).clock
    ours = T / (clock[-1] - clock[0])
    same = public_api(LOFAV(dim, n_rounds=T, constants="paper"), data, at_round).played
    return {
        "round": at_round,
        "whole_history_rounds_per_second": history,
        "whole_history_rounds_per_second_at_the_start": window / sum(seconds[:window]),
        "ours_rounds_per_second": ours,
        "ours_last_over_first_quarter": (clock[-1] - clock[-2]) / (clock[1] - clock[0]),
        "times_faster": ours / history,
        "same_arms": float(np.mean(np.array(same) == np.array(played))),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--round", type=int, default=4_000)
    parser.add_argument("--dim", type=int, default=10)
    parser.add_argument("--arms", type=int, default=20)
    parser.add_argument("--json", type=Path, default=None)
    args = parser.parse_args()
    result = compare(dim=args.dim, n_arms=args.arms, at_round=args.round)
    for name, value in result.items():
        print(f"{name.replace('_', ' ')}: {value:,.4g}")
    if args.json is not None:
        args.json.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
