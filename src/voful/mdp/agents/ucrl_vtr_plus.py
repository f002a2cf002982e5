"""UCRL-VTR+: regression on values, weighted by estimated variances."""

from __future__ import annotations

import math

import numpy as np

from voful import validation
from voful.concentration import log_det_growth, self_normalized_bernstein
from voful.mdp.model import LinearMixtureModel
from voful.mdp.value_targets import Radius, ValueTargetedAgent
from voful.typing import FloatArray, Seed

CONSTANTS = ("tight", "paper")
RIDGE = 1.0  # lambda = 1 / B^2 in the paper's units, see the class


class UCRLVTRPlus(ValueTargetedAgent):
    """UCRL-VTR with observations weighted by an upper bound on their variance [1].

    Two regressions on the steps: theta_hat on V with weights 1 / sigma_bar^2, and theta_tilde on
    V^2 without. With [.] the clip to [0, 1], everything as it was at the start of the episode,

        sigma_bar^2 = max(1/d, [<x_2, theta_tilde>] - [<x_1, theta_hat>]^2 + E),
        E = min(1, beta_tilde |x_2|_{M_2^-1}) + min(1, 2 beta_check |x_1|_{M_1^-1}),

    x_1 and x_2 the features of V and V^2: the variance of V(s') is at most sigma_bar^2 while theta*
    is in both ellipsoids. The plan is optimistic over |theta - theta_hat|_{M_1} <= beta_hat.

    - "tight": beta_hat by `voful.concentration.self_normalized_bernstein` and beta_tilde that of a
      1/2-sub-Gaussian noise, at failure_prob / 2 each; beta_check = beta_hat. Both hold for noise
      that is set to 0 from the moment theta* leaves one of the ellipsoids; until then
      sigma_bar^2 bounds the variance, so by induction over the episodes it never leaves.
    - "paper": with t = ln(48 K^2 H^2 / failure_prob) and D = ln(1 + d K H),
      beta_hat = 8 sqrt(d D t) + 4 sqrt(d) t + 1, beta_check = 8 d sqrt(D t) + 4 sqrt(d) t + 1,
      beta_tilde = 8 sqrt(d D t) + 4 t + 1.

    Regret O~(sqrt(d^2 H + d H^2) sqrt(K) + d^2 H^2 + d^3 H) for rewards that sum up to at most 1.

    Differs from the paper: values in [0, 1] instead of [0, H], and one regression for all steps
    (transitions do not depend on the step); in the paper's units, |x|_2 <= 1, features are divided
    by sqrt(d) and |theta*|_2 <= B = sqrt(d), so that its lambda = 1 / B^2 is 1 here. Plans last
    for an epoch. `cut`.

    Parameters
    ----------
    model
        What is known of the MDP.
    n_episodes
        K.
    failure_prob
        delta.
    constants
        "tight" or "paper".
    cut
        Whether upper ends are also cut at those of the simplex (or the L1 ball); None: with the
        tight constants.
    width_scale
        Multiplies the radii (1 = the theory).
    seed
        Unused by the algorithm itself, which is deterministic.

    References
    ----------
    [1] Zhou, Gu, Szepesvari. Nearly minimax optimal reinforcement learning for linear mixture
        Markov decision processes. COLT 2021.
    """

    def __init__(
        self,
        model: LinearMixtureModel,
        *,
        n_episodes: int,
        failure_prob: float = 0.05,
        constants: str = "tight",
        cut: bool | None = None,
        width_scale: float = 1.0,
        seed: Seed = 0,
    ) -> None:
        self.constants = validation.choice("constants", constants, CONSTANTS)
        super().__init__(
            model,
            n_episodes=n_episodes,
            failure_prob=failure_prob,
            n_regressions=2,
            ridge=RIDGE,
            width_scale=width_scale,
            cut=self.constants == "tight" if cut is None else cut,
            seed=seed,
        )
        self._alpha_squared = 1.0 / self.dim
        tight = self.constants == "tight"
        self._radius, self._radius_check, self._radius_tilde = (
            self._tight() if tight else self._printed()
        )

    def _tight(self) -> tuple[Radius, Radius, Radius]:
        d, delta = self.dim, 0.5 * self.failure_prob
        # |eta| / sigma_bar <= sqrt(d), while w / (1 + w^2) <= 1/2 and w / sqrt(1 + w^2) <= 1.
        bound = self_normalized_bernstein(
            variance=1.0,
            linear=0.5 * math.sqrt(d),
            square=math.sqrt(d),
            log_det_bound=log_det_growth(
                self.n_episodes * self.model.horizon,
                d,
                self.largest_features * math.sqrt(d),
                RIDGE,
            ),
            delta=delta,
        )
        hat = Radius(math.sqrt(RIDGE), bound.slope, bound.offset)
        return hat, hat, Radius(math.sqrt(RIDGE), 0.25, -0.5 * math.log(delta))

    def _printed(self) -> tuple[Radius, Radius, Radius]:
        d, steps = self.dim, self.n_episodes * self.model.horizon
        t = math.log(48.0 * steps * steps / self.failure_prob)
        growth = math.log1p(d * steps)
        root = math.sqrt(growth * t)
        return (
            Radius(8.0 * math.sqrt(d) * root + 4.0 * math.sqrt(d) * t + 1.0),
            Radius(8.0 * d * root + 4.0 * math.sqrt(d) * t + 1.0),
            Radius(8.0 * math.sqrt(d) * root + 4.0 * t + 1.0),
        )

    @property
    def radius(self) -> float:
        """beta_hat, width_scale included."""
        return self.width_scale * self._radius.at(self._regressions.log_det_ratio(0))

    def _radii(self, n: int) -> FloatArray:
        return np.tile(np.array([self._radius_check, self._radius_tilde]), (n, 1, 1))
