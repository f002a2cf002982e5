"""UCBVI for rewards in [0, 1] and MVP, transcribed: full tables, one plan an episode."""

from __future__ import annotations

import math

import numpy as np

from voful.typing import FloatArray


class LiteralUCBVI:
    """Azar, Osband, Munos 2017: values up to H."""

    def __init__(
        self, r: FloatArray, H: int, K: int, delta: float, bonus: str, width: float
    ) -> None:
        self.r, self.H, self.bonus, self.width = r, H, bonus, width
        self.S, self.A = r.shape
        self.L = math.log(5 * self.S * self.A * K * H / delta)
        self.N = np.zeros((self.S, self.A, self.S))
        self.N_step = np.zeros((H + 1, self.S))
        self.Q = np.full((H, self.S, self.A), float(H))

    def update(self, states: list[int], actions: list[int]) -> None:
        for h, s in enumerate(states):
            self.N_step[h, s] += 1
            if h < len(actions):
                self.N[s, actions[h], states[h + 1]] += 1

    def plan(self) -> FloatArray:
        S, A, H, L = self.S, self.A, self.H, self.L
        V = np.zeros(S)
        for h in reversed(range(H)):
            for s in range(S):
                for a in range(A):
                    N = self.N[s, a].sum()
                    if N == 0:
                        continue
                    P = self.N[s, a] / N
                    if self.bonus == "hoeffding":
                        b = 7 * H * L / math.sqrt(N)
                    else:
                        variance = P @ (V - P @ V) ** 2
                        error = 0.0
                        for y in range(S):
                            visits = self.N_step[h + 1, y]
                            cap = 100**2 * H**3 * S**2 * A * L**2 / visits if visits else H**2
                            error += P[y] * min(cap, H**2)
                        b = math.sqrt(8 * L * variance / N) + 14 * H * L / (3 * N)
                        b += math.sqrt(8 * error / N)
                    self.Q[h, s, a] = min(self.Q[h, s, a], H, self.r[s, a] + P @ V + self.width * b)
            V = self.Q[h].max(axis=1)
        return V


class LiteralMVP:
    """Zhang, Ji, Du 2021, with known rewards: values up to 1."""

    def __init__(
        self, r: FloatArray, H: int, K: int, delta: float, constants: str, width: float
    ) -> None:
        self.r, self.H, self.constants, self.width = r, H, constants, width
        self.S, self.A = r.shape
        if constants == "paper":
            self.iota = math.log(200 * self.S * self.A * H**2 * K**2 / delta)
        else:
            self.iota = math.log(2 * self.S * self.A * H * (math.log2(K * H) + 1) / delta)
        self.N = np.zeros((self.S, self.A, self.S))
        self.P = np.zeros((self.S, self.A, self.S))
        self.n = np.zeros((self.S, self.A))
        self.triggers = 0

    def update(self, states: list[int], actions: list[int]) -> None:
        for s, a, t in zip(states, actions, states[1:], strict=False):
            self.N[s, a, t] += 1
            N = int(self.N[s, a].sum())
            if N in {2**i for i in range(40)}:
                self.P[s, a] = self.N[s, a] / N
                self.n[s, a] = N
                self.triggers += 1

    def plan(self) -> FloatArray:
        V = np.zeros(self.S)
        for _ in range(self.H):
            Q = np.ones((self.S, self.A))
            for s in range(self.S):
                for a in range(self.A):
                    n, P = self.n[s, a], self.P[s, a]
                    if n < 2:
                        continue
                    variance = P @ (V - P @ V) ** 2
                    if self.constants == "paper":
                        b = 460 / 9 * math.sqrt(variance * self.iota / n) + 544 / 9 * self.iota / n
                    elif self.constants == "tight":
                        b = max(4 * math.sqrt(variance * self.iota / n), 16 * self.iota / n)
                    else:
                        c = float(np.roots([1.0, -math.sqrt(2.0), -7.0 / 3.0]).max())
                        b = c * math.sqrt(variance * self.iota / (n - 1))
                        b = max(b, c**2 * self.iota / (n - 1))
                    Q[s, a] = min(1.0, self.r[s, a] + P @ V + self.width * b)
            V = Q.max(axis=1)
        return V
