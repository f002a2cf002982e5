"""VARLin2 step by step: VARLin's loops with its own layers, levels and price."""

from __future__ import annotations

import math
from typing import Any

from reference.literal_varlin import LiteralVARLin
from voful.typing import FloatArray


class LiteralVARLin2(LiteralVARLin):
    def __init__(
        self,
        P: FloatArray,
        rewards: FloatArray,
        horizon: int,
        n_episodes: int,
        delta: float,
        mu: FloatArray,
        *,
        iota_scale: float,
        **rest: Any,
    ) -> None:
        super().__init__(P, rewards, horizon, n_episodes, delta, mu, iota_scale=1.0, **rest)
        HK = horizon * n_episodes
        L = math.floor(math.log2(HK)) + 1
        self.L1 = self.L2 = L
        tests = (self.L0 + 1) * L * L
        slopes = math.ceil(math.log2(HK)) + 1
        net = (1 + 4 * HK * 2**L) ** self.d
        share = 3 / 8 * math.log(2 * slopes * tests * net / delta)
        self.iota = iota_scale * (share + 1 / 4 + math.sqrt(share / HK))

    def ell(self, i: int) -> float:
        return 2.0**-i

    def in_layer(self, i: int, eta: float) -> bool:
        above = eta > 2.0**-i or i == self.L1
        return above and eta <= 2.0 ** (1 - i)
