"""HF-UCRL-VTR+: regression on values and their powers, weighted by variance and leverage."""

from __future__ import annotations

import math

from voful.concentration import log_det_growth, self_normalized_bernstein, zhou_gu_radius
from voful.mdp.value_targets import Radius, ValueTargetedAgent


class HFUCRLVTRPlus(ValueTargetedAgent):
    """Horizon-free UCRL-VTR+ [1]: weights by variances of variances, and by leverage.

    M = ceil(log2(3 K H)) regressions, the m-th on V^(2^m) with features x_m and weights
    1 / sigma_bar_m^2. The (m+1)-th bounds the variance of the m-th (HOME, high-order moment
    estimation): with everything as it was at the start of the episode, but for the leverage,

        sigma_bar_m^2 = max(gamma^2 |x_m|_{S_m^-1}, alpha^2,
                            [<x_{m+1}, theta_{m+1}>] - [<x_m, theta_m>]^2
                            + min(1, 2 beta_m |x_m|_{M_m^-1}) + min(1, beta_{m+1} |x_{m+1}|)),

    S_m the M_m of the present step, and 1 in place of the last bound for the last moment;
    alpha = 1 / sqrt(H), gamma = d^(-1/4), lambda = d / B^2. The plan is optimistic over the first
    ellipsoid, which is `confidence_set`.

    - "tight": beta_m by `voful.concentration.self_normalized_bernstein` at failure_prob / M. It
      holds for noise that is set to 0 from the moment theta* leaves one of the ellipsoids; until
      then sigma_bar^2 bounds the variance, so by induction over the episodes it never leaves.
    - "paper": beta = 12 sqrt(d ln(1 + k H / (alpha^2 d lambda)) t) + 30 t / gamma^2
      + sqrt(lambda) B in episode k, t = ln(32 (ln(gamma^2 / alpha) + 1) k^2 H^2 / failure_prob).

    Regret O~(d sqrt(K) + d^2), whatever the horizon, with the paper's plans. O(M d^2) a step.

    Differs from the paper: in its units, |x|_2 <= 1, features are divided by sqrt(d), and
    |theta*|_2 <= B = sqrt(d); here neither is, B = 1, and its lambda = 1 becomes d. 1 / gamma^2 is
    replaced by 1 / alpha where that is smaller (H < d). Plans are renewed when there is
    news, not for each episode. `cut`.

    References
    ----------
    [1] Zhou, Gu. Computationally efficient horizon-free reinforcement learning for linear mixture
        MDPs. NeurIPS 2022.
    """

    def _build(self) -> None:
        super()._build()
        d, H, ridge = self.dim, self.model.horizon, float(self.dim)
        alpha, gamma = 1.0 / math.sqrt(H), d**-0.25
        self._floor = math.sqrt(ridge)  # sqrt(lambda) B
        # |eta| w <= |x|_{M^-1} / sigma_bar^2 <= 1 / gamma^2 and |eta| / sigma_bar <= 1 / alpha.
        self._alpha, self._largest = alpha, min(gamma**-2, 1.0 / alpha)
        largest_weighted = self.largest_features / alpha
        bound = self_normalized_bernstein(
            variance=1.0,
            linear=min(self._largest, 0.5 / alpha),
            square=self._largest,
            log_det_bound=log_det_growth(self.n_episodes * H, d, largest_weighted, ridge),
            delta=self.failure_prob / self.moments,
        )
        self._tight = Radius(self._floor, bound.slope, bound.offset)
        self._regress(
            self.moments, ridge=ridge, alpha_squared=alpha * alpha, gamma_squared=gamma * gamma
        )

    @property
    def moments(self) -> int:
        """M."""
        return math.ceil(math.log2(3 * self.n_episodes * self.model.horizon))

    def _radius(self, learnt: int) -> Radius:
        if self.constants == "tight":
            return self._tight
        printed = zhou_gu_radius(
            (learnt + 1) * self.model.horizon,
            self.dim,
            variance=1.0,
            b=1.0 / self._alpha,
            largest=self._largest,
            feature_norm=self.largest_features / self._alpha,
            ridge=float(self.dim),
            delta=self.failure_prob,
        )
        return Radius(self._floor + printed)
