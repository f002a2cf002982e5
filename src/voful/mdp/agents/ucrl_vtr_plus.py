"""UCRL-VTR+: regression on values, weighted by estimated variances."""

from __future__ import annotations

import math

from voful.concentration import log_det_growth, self_normalized_bernstein
from voful.mdp.value_targets import Radius, ValueTargetedAgent, sub_gaussian

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
    by sqrt(d) and |theta*|_2 <= B = sqrt(d), so that its lambda = 1 / B^2 is 1 here. Plans are
    renewed when there is news, not for each episode: the regret is that of the paper's. `cut`.

    References
    ----------
    [1] Zhou, Gu, Szepesvari. Nearly minimax optimal reinforcement learning for linear mixture
        Markov decision processes. COLT 2021.
    """

    def _build(self) -> None:
        super()._build()
        self._beta_hat, self._beta_check, self._beta_tilde = (
            self._tight() if self.constants == "tight" else self._printed()
        )
        self._regress(2, ridge=RIDGE, alpha_squared=1.0 / self.dim)

    def _tight(self) -> tuple[Radius, Radius, Radius]:
        d, delta = self.dim, 0.5 * self.failure_prob
        steps, largest = self.n_episodes * self.model.horizon, self.largest_features * math.sqrt(d)
        # |eta| / sigma_bar <= sqrt(d), while w / (1 + w^2) <= 1/2 and w / sqrt(1 + w^2) <= 1.
        bound = self_normalized_bernstein(
            variance=1.0,
            linear=0.5 * math.sqrt(d),
            square=math.sqrt(d),
            log_det_bound=log_det_growth(steps, d, largest, RIDGE),
            delta=delta,
        )
        hat = Radius(math.sqrt(RIDGE), bound.slope, bound.offset)
        return hat, hat, sub_gaussian(delta)

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

    def _radius(self, learnt: int) -> Radius:
        return self._beta_hat

    def _radii(self, learnt: int) -> list[Radius]:
        return [self._beta_check, self._beta_tilde]
