"""The mixed set cut with the constant-risk set: the smaller of both, with the theorem's regret.

Each set learns every reward by itself; failure_prob is split between them.
"""

from __future__ import annotations

import numpy as np

from voful.compiled import kernel
from voful.confidence.betting.constant_risk import ConstantRiskSet, risk_holds
from voful.confidence.betting.ellipsoid import BettingEllipsoid
from voful.confidence.betting.questions import bet_holds
from voful.confidence.betting.risk_round import risk_observe
from voful.confidence.betting.round import bet_observe
from voful.typing import FloatArray
from voful.validation import ObservationSpace

RISK_SHARE = 0.05  # of failure_prob, for the constant-risk set


@kernel
def cut_observe(
    memory: FloatArray,
    history: FloatArray,
    risk: FloatArray,
    x: FloatArray,
    reward: float,
    variance: float,
) -> bool:
    """`Rule.observe`, where the history has room; `risk` is the constant-risk set's memory."""
    risk_observe(risk, x, reward, variance)
    return bet_observe(memory, history, x, reward, variance)


@kernel
def cut_holds(memory: FloatArray, history: FloatArray, risk: FloatArray, theta: FloatArray) -> bool:
    """`Rule.holds`: whether theta is in both sets."""
    return bet_holds(memory, history, theta) and risk_holds(risk, theta)


class CutBettingEllipsoid(BettingEllipsoid):
    """The mixed betting ellipsoids at .95 failure_prob, cut with a `ConstantRiskSet` at the rest.

    With probability at least 1 - failure_prob theta* is in both at all times. What `rad`, `views`
    and `center` show is the mixed set's; `constant_risk` is the other one. `width_scale` multiplies
    the mixed set's widths only.
    """

    _parts = ("constant_risk",)

    def __init__(
        self,
        space: ObservationSpace,
        *,
        failure_prob: float,
        theta_norm: float = 1.0,
        theta_center: FloatArray | None = None,
        refresh: bool = True,
        width_scale: float = 1.0,
    ) -> None:
        super().__init__(
            space,
            failure_prob=(1.0 - RISK_SHARE) * failure_prob,
            theta_norm=theta_norm,
            theta_center=theta_center,
            refresh=refresh,
            width_scale=width_scale,
        )
        self.failure_prob = failure_prob
        self.constant_risk = ConstantRiskSet(
            space,
            failure_prob=RISK_SHARE * failure_prob,
            theta_norm=theta_norm,
            theta_center=theta_center,
        )

    @property
    def is_empty(self) -> bool:
        """Whether one of the sets is."""
        return super().is_empty or self.constant_risk.is_empty

    def _contains(self, theta: FloatArray) -> bool:
        return super()._contains(theta) and self.constant_risk._contains(theta)

    def _interval(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        lower, upper = super()._interval(X)
        low, high = self.constant_risk._interval(X)
        return np.maximum(lower, low), np.minimum(upper, high)

    def _observe(self, x: FloatArray, reward: float) -> None:
        super()._observe(x, reward)
        risk_observe(self.constant_risk.memory, x, reward, 0.0)
