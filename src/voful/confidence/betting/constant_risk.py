"""The constant-risk set as a confidence set."""

from __future__ import annotations

import math

from voful.archive import Arrays
from voful.compiled import kernel
from voful.confidence.algebra import dot, quadratic_form
from voful.confidence.betting.base import BettingSet
from voful.confidence.betting.questions import ends
from voful.confidence.betting.risk_round import risk_observe
from voful.confidence.betting.risk_state import (
    LAM,
    PRACTICAL,
    RAD,
    RiskParameters,
    RiskState,
    RiskViews,
    new_risk_memory,
    nothing_left,
    open_ellipsoid,
    open_risk,
)
from voful.confidence.betting.sound import sound_risk
from voful.confidence.betting.state import open_clock
from voful.invariants import Invariants
from voful.typing import FloatArray
from voful.validation import TOLERANCE, ObservationSpace


@kernel
def risk_holds(memory: FloatArray, theta: FloatArray) -> bool:
    """`Rule.holds`: whether theta is in the ellipsoid."""
    A, center, _, numbers = open_ellipsoid(memory)
    if nothing_left(numbers):
        return False
    u = theta - center
    distance = quadratic_form(A, u) + numbers[LAM] * dot(u, u)
    return bool(distance <= numbers[RAD] * (1.0 + TOLERANCE))


class ConstantRiskSet(BettingSet):
    """One ellipsoid whose bets all carry the same risk, with a proved rate of its regret.

    As `BettingEllipsoid`, but the prediction is the centre and the slope is given by a formula: S =
    min(g / |x|_{M^-1}, tau v / (B + b), c / m), g^2 = G / (B + b), B the sum of squared residuals
    and b a bound on the next one. With probability at least 1 - failure_prob theta* is in the set
    at all times. Theorem and proof: docs/theory.md. O(d^2) a round and in memory.

    Parameters
    ----------
    space
        What is accepted as an arm and a reward; its `reward_range` is needed.
    failure_prob
        Probability that theta* ever leaves the set.
    theta_norm, theta_center
        theta* lies in the ball about theta_center (default 0) with radius theta_norm.
    parameters
        What the theorem leaves free.
    """

    _arrays = ("memory",)

    def __init__(
        self,
        space: ObservationSpace,
        *,
        failure_prob: float,
        theta_norm: float = 1.0,
        theta_center: FloatArray | None = None,
        parameters: RiskParameters = PRACTICAL,
    ) -> None:
        super().__init__(
            space, failure_prob=failure_prob, theta_norm=theta_norm, theta_center=theta_center
        )
        self.parameters = parameters
        self.memory = new_risk_memory(
            parameters,
            delta=failure_prob,
            reward_range=self.reward_range,
            rho=theta_norm,
            theta0=self.theta_center,
            feature_norm=space.feature_norm,
        )

    def _invariants(self, state: Arrays) -> Invariants:
        yield from sound_risk(state["memory"], self.memory, self._space.feature_norm)

    @property
    def rule_state(self) -> RiskState:
        """What the kernels are given."""
        return RiskState(self.memory)

    def views(self) -> RiskViews:
        """The named parts of the memory, live."""
        return open_risk(self.memory)

    @property
    def n_observations(self) -> int:
        """How many rewards were learnt."""
        return int(open_clock(self.memory).n[0])

    @property
    def rad(self) -> float:
        """Squared radius in the ellipsoid's own norm."""
        return float(self.views().Theta.rad[0])

    @property
    def regret_bound(self) -> float:
        """2 sum sqrt(rad nu) over the rounds learnt; inf once the set is empty."""
        return math.inf if self.is_empty else float(self.views().risk.bound[0])

    @property
    def is_empty(self) -> bool:
        """Whether ellipsoid, ball and range have been seen without a common point."""
        return nothing_left(open_ellipsoid(self.memory)[3])

    @property
    def center(self) -> FloatArray:
        """Centre of the ellipsoid; of an empty set, where it was."""
        center: FloatArray = self.views().Theta.center[0].copy()
        return center

    def _contains(self, theta: FloatArray) -> bool:
        return self.in_ball(theta) and bool(risk_holds(self.memory, theta))

    def _support(self, X: FloatArray) -> FloatArray:
        return self._interval(X)[1]

    def _interval(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        return ends(self.memory, X)

    def _observe(self, x: FloatArray, reward: float) -> None:
        risk_observe(self.memory, x, reward, 0.0)
