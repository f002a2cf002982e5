"""VOFUL: the paper's Algorithm 1, and VOFUL2 beside it."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from voful.bandits.base import OptimisticPolicy
from voful.confidence.levels import notable_growth
from voful.confidence.peeled.outer_polytope import OuterPolytope
from voful.confidence.peeled.set import PeeledSet
from voful.typing import BoolArray, FloatArray, Seed


class VOFUL(OptimisticPolicy):
    """Variance-aware optimism in the face of uncertainty for linear bandits [1], Algorithm 1.

    Regret O~(d^4.5 sqrt(sum sigma_k^2) + d^5) with the paper's set: no sqrt(K), and no knowledge of
    the variances. The guarantee of the set (theta* stays with probability 1 - failure_prob) is
    proved for every setting here but scales below 1; regret of the computable version is measured,
    not proved.

    Differs from the paper: (1) finitely many test directions, see `PeeledSet`; (2) the maximum
    over Theta_k is an upper bound by cutting planes on an outer polytope; (3) the set used to
    choose is frozen until det(I + sum xx') has grown notably; (4) an arm counts as equal to the
    leader if a tenth of the distance from its prediction to its bound lifts it there, and of the
    equals the best predicted is played (all arms of norm 1 are equal while the ball bounds them).

    Parameters
    ----------
    dim
        Dimension d; arms must lie in the unit ball.
    n_rounds
        K. More updates raise RuntimeError.
    failure_prob
        delta.
    reward_range
        (low, high); the paper's is (-1, 1).
    constants, directions, iota_scale, width_scale, reward_noise, noise_scale
        See `PeeledSet`.
    seed
        Unused by the rule itself, which is deterministic.

    References
    ----------
    [1] Zhang, Yang, Ji, Du. Improved variance-aware confidence sets for linear bandits and linear
        mixture MDP. NeurIPS 2021.
    """

    _parts: ClassVar[tuple[str, ...]] = ("confidence_set", "_outer")
    _arrays = ("_switched_at",)
    _peeling: ClassVar[str] = "voful"

    def __init__(
        self,
        dim: int,
        *,
        n_rounds: int,
        failure_prob: float = 0.05,
        reward_range: tuple[float, float] = (-1.0, 1.0),
        constants: str = "kt",
        directions: npt.ArrayLike | None = None,
        iota_scale: float = 1.0,
        width_scale: float = 1.0,
        reward_noise: str = "bounded",
        noise_scale: float = 1.0,
        seed: Seed = 0,
    ) -> None:
        # Algorithm 1, line 1: Theta_1 is the unit ball
        Theta = PeeledSet(
            dim,
            n_rounds=n_rounds,
            failure_prob=failure_prob,
            reward_range=reward_range,
            constants=constants,
            directions=directions,
            iota_scale=iota_scale,
            width_scale=width_scale,
            reward_noise=reward_noise,
            noise_scale=noise_scale,
            peeling=self._peeling,
        )
        super().__init__(Theta._space, seed=seed)
        self._Theta = Theta
        # The constructor's arguments, as the set has checked them.
        self.n_rounds, self.failure_prob = Theta.n_rounds, Theta.failure_prob
        self.constants, self.directions = Theta.constants, Theta.directions
        self.iota_scale, self.width_scale = Theta.iota_scale, Theta.width_scale
        self.reward_noise, self.noise_scale = Theta.reward_noise, Theta.noise_scale
        self._outer = OuterPolytope(self.dim)
        self._switched_at = np.array([-math.inf])  # ln det(I + sum xx') when the set was renewed

    @property
    def confidence_set(self) -> PeeledSet:
        """Live view of Theta_k (never frozen)."""
        return self._Theta

    def _choose(self, arms: FloatArray, mask: BoolArray) -> int:
        # Algorithm 1, line 4: the context set A_k is `arms`
        Theta, outer = self._Theta, self._outer
        if Theta.log_det >= self._switched_at[0] + notable_growth(self.dim):
            Theta.cut_by_now(outer)
            self._switched_at[0] = Theta.log_det
        # Algorithm 1, line 5: x_k <- argmax_{x in A_k} max_{theta in Theta_k} x theta
        choice = outer.leader(arms, mask)
        if choice >= 0:
            return choice
        Theta.warn_empty()  # the event of probability failure_prob: predictions decide
        means = self._predict(arms)
        return int(np.argmax(means if len(mask) == 0 else np.where(mask, means, -np.inf)))

    def _observe(self, x: FloatArray, reward: float) -> None:
        # Algorithm 1, line 6: the feedback y_k
        # Algorithm 1, lines 7-9: eps_k(theta), eta_k(theta) and Theta_{k+1}, as sums per test
        self._Theta._observe(x, reward)

    @property
    def reward_range(self) -> tuple[float, float]:
        """(low, high) of the rewards (of their means, where the noise is sub-Gaussian)."""
        return self._Theta.reward_range


class VOFUL2(VOFUL):
    """VOFUL2 [1]: VOFUL with other levels and price; regret O~(d^1.5 sqrt(sum sigma_k^2) + d^2).

    Levels 2^-l, l = 1..L = max(1, floor(log2(1 + K/d))), iota = 128 ln((12 K 2^L)^(d+2) / delta).
    They take effect with constants="paper" or with given `directions`; everything else is VOFUL.
    Both formulas are quoted from memory of [1], not from its text.

    References
    ----------
    [1] Kim, Yang, Jun. Improved regret analysis for variance-adaptive linear bandits and
        horizon-free linear mixture MDPs. NeurIPS 2022.
    """

    _peeling = "voful2"
