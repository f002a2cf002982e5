"""UCB-V, transcribed: an arm is a tuple, its rewards are a list."""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np

from voful.typing import FloatArray


class LiteralUCBV:
    def __init__(self, b: float, zeta: float, c: float) -> None:
        self.b, self.zeta, self.c = b, zeta, c
        self.t = 1
        self.rewards: defaultdict[tuple[float, ...], list[float]] = defaultdict(list)

    def update(self, x: FloatArray, reward: float) -> None:
        self.rewards[tuple(x)].append(reward)
        self.t += 1

    def index(self, x: FloatArray) -> float:
        seen = self.rewards[tuple(x)]
        s = len(seen)
        if s == 0:
            return math.inf
        E = self.zeta * math.log(self.t)
        V = float(np.var(seen))
        return float(np.mean(seen)) + math.sqrt(2 * V * E / s) + self.c * 3 * self.b * E / s

    def select(self, arms: FloatArray) -> int:
        return int(np.argmax([self.index(x) for x in arms]))
