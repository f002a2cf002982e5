"""CR-BetOFUL: optimism over one ellipsoid of bets with constant risk, with a regret theorem."""

from __future__ import annotations

import math

import numpy.typing as npt

from voful.bandits import arguments as given
from voful.bandits.base import CompiledPolicy, OptimisticPolicy
from voful.bandits.optimism import most_optimistic_in_ellipsoid
from voful.compiled import kernel
from voful.confidence.betting.constant_risk import ConstantRiskSet, risk_holds
from voful.confidence.betting.risk_round import risk_observe
from voful.confidence.betting.risk_state import RAD, RiskState, nothing_left, open_ellipsoid
from voful.confidence.rule import rule
from voful.typing import BoolArray, FloatArray, Seed


@kernel
def risk_choose(memory: FloatArray, arms: FloatArray, mask: BoolArray) -> int:
    """argmax <x, center> + sqrt(rad) |x|_{M^-1}; where nothing is left, means decide."""
    _, center, whitener, numbers = open_ellipsoid(memory)
    radius = -1.0 if nothing_left(numbers) else math.sqrt(numbers[RAD])
    return most_optimistic_in_ellipsoid(arms, mask, center, whitener, radius)


class CRBetOFUL(CompiledPolicy, OptimisticPolicy):
    """Optimism over one betting ellipsoid of constant risk: a regret theorem, no tuning.

    For rewards in a known range of length R with E[y | past, x] = <x, theta*>, |x| <= 1 and
    |theta*| <= rho, with probability at least 1 - failure_prob theta* is in `confidence_set` at all
    times and the regret is, for all K at once and up to logarithms,

        d sqrt(sum_k sigma_k^2) + d max(R, rho),

    with unknown variances sigma_k^2 that may change from round to round, without a horizon. Theorem
    and proof are on the documentation's page on theory. `BetOFUL` has less regret in practice, and
    a proof of its coverage only.

    The bets depend on the order of rewards. Delayed and batched rewards keep the set's guarantee
    (under the conditions that `BetOFUL` states), not the regret's.

    Cost: O(d^2) an update and an arm, O(d^2) memory, every update alike but for a factorisation
    every few hundred rounds.

    Notes
    -----
    This library's own algorithm.
    """

    _rule = rule(RiskState, risk_choose, risk_observe, risk_holds)

    failure_prob: float = given.failure_prob()
    reward_range: tuple[float, float] = given.reward_range()
    theta_norm: float = given.theta_norm(
        "rho: |theta* - theta_center| <= rho; theta_center None: 0."
    )
    theta_center: npt.ArrayLike | None = given.theta_center()
    feature_norm: float = given.feature_norm()
    seed: Seed = given.seed()

    def _build(self) -> None:
        super()._build()
        self._set = self._heed(
            ConstantRiskSet(
                self._space,
                failure_prob=self.failure_prob,
                theta_norm=self.theta_norm,
                theta_center=given.checked_center(self),
            )
        )
        self._play_on(self._set.rule_state)

    @property
    def confidence_set(self) -> ConstantRiskSet:
        """Live view of the set."""
        return self._set

    @property
    def regret_bound(self) -> float:
        """2 sum_v sqrt(rad nu) over the rounds learnt, which bounds their regret.

        With probability at least 1 - failure_prob, at all times, where every round's arm was chosen
        by `select` with all rewards before it learnt (docs/theory.md, Step 5). inf once the set is
        empty: then there is no bound.
        """
        return self._set.regret_bound
