"""VOFUL: the paper's Algorithm 1, and VOFUL2 beside it."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from voful.archive import Arrays
from voful.bandits import arguments as given
from voful.bandits.base import OptimisticPolicy
from voful.confidence.ellipsoids.ridge import open_ridge
from voful.confidence.levels import notable_growth
from voful.confidence.peeled.outer_polytope import OuterPolytope
from voful.confidence.peeled.parameters import PeeledParameters
from voful.confidence.peeled.set import PeeledSet
from voful.invariants import Invariants
from voful.typing import BoolArray, FloatArray, Seed

NEVER = -1e100  # below any ln det


class VOFUL(PeeledParameters, OptimisticPolicy):
    """Variance-aware optimism in the face of uncertainty for linear bandits [1], Algorithm 1.

    Regret O~(d^4.5 sqrt(sum sigma_k^2) + d^5) with the paper's set (printed constants, its net of
    directions): no sqrt(K), and no knowledge of the variances. The guarantee of the set (theta*
    stays with probability 1 - failure_prob) is proved for every setting here but scales below 1;
    regret of the computable version is measured, not proved.

    Differs from the paper: (1) finitely many test directions, above d = 10 each theta's own, see
    `PeeledSet`; (2) the maximum over Theta_k is an upper bound by cutting planes on an outer
    polytope, above d = 10 by an outer ellipsoid; (3) the set used to choose is frozen until
    det(I + sum xx') has grown notably; (4) an arm counts as equal to the
    leader if a tenth of the distance from its prediction to its bound lifts it there, and of the
    equals the best predicted is played (all arms of norm 1 are equal while the ball bounds them).

    References
    ----------
    [1] Zhang, Yang, Ji, Du. Improved variance-aware confidence sets for linear bandits and linear
        mixture MDP. NeurIPS 2021.
    """

    _parts: ClassVar[tuple[str, ...]] = (*OptimisticPolicy._parts, "_outer")
    _arrays = ("_switched_at",)
    _chooses_by_upper = False
    _peeling: ClassVar[str] = "voful"

    seed: Seed = given.seed()

    def _build(self) -> None:
        super()._build()
        # Algorithm 1, line 1: Theta_1 is the unit ball
        arguments = {name: getattr(self, name) for name in PeeledParameters._parameters}
        self._Theta = self._heed(PeeledSet(**arguments, peeling=self._peeling))
        self._space = self._Theta._space
        self.directions = self._Theta.directions  # as the set has checked them
        self._outer = OuterPolytope(self.dim)
        self._switched_at = np.array([NEVER])  # ln det(I + sum xx') when the set was renewed

    @classmethod
    def _least_numbers(cls, config: Mapping[str, Any]) -> int:
        return PeeledSet._least_numbers(config)

    def _invariants(self, state: Arrays) -> Invariants:
        switched, log_det = (
            state["_switched_at"][0],
            open_ridge(state["confidence_set/_block"], self.dim).log_det[0],
        )
        yield "a switch in the past", bool(NEVER <= switched <= log_det)

    @property
    def confidence_set(self) -> PeeledSet:
        """Live view of Theta_k (never frozen)."""
        return self._Theta

    def _choose(self, arms: FloatArray, mask: BoolArray) -> int:
        # Algorithm 1, line 4: the context set A_k is `arms`
        Theta, outer = self._Theta, self._outer
        # Algorithm 1, line 5: x_k <- argmax_{x in A_k} max_{theta in Theta_k} x theta
        if Theta.own_direction is not None:
            choice = Theta.own_direction.leader(arms, mask)
        else:
            if Theta.log_det >= self._switched_at[0] + notable_growth(self.dim):
                Theta.cut_by_now(outer)
                self._switched_at[0] = Theta.log_det
            choice = outer.leader(arms, mask)
        if choice >= 0:
            return choice
        Theta.warn_empty()  # the event of probability failure_prob: predictions decide
        means = self._predict(arms)
        return int(np.argmax(means if len(mask) == 0 else np.where(mask, means, -np.inf)))

    def _peek(self, arms: FloatArray, mask: BoolArray) -> int:
        return copy.deepcopy(self)._choose(arms, mask)  # which may freeze the set anew

    def _observe(self, x: FloatArray, reward: float, variance: float) -> None:
        # Algorithm 1, line 6: the feedback y_k
        # Algorithm 1, lines 7-9: eps_k(theta), eta_k(theta) and Theta_{k+1}, as sums per test
        self._Theta._observe(x, reward)


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
