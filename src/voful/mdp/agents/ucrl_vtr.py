"""UCRL-VTR: optimism over a ridge regression on values."""

from __future__ import annotations

import math

from voful.mdp.model import LinearMixtureModel
from voful.mdp.value_targets import Radius, ValueTargetedAgent
from voful.typing import Seed

RIDGE = 1.0  # lambda


class UCRLVTR(ValueTargetedAgent):
    """Optimistic planning over the ellipsoid of a regression on values [1, 2].

    With x = (P_i V_{h+1}(s_h, a_h))_i, y = V_{h+1}(s_{h+1}), M = I + sum x x' and theta_hat the
    ridge estimate, with probability at least 1 - failure_prob at all times

        |theta* - theta_hat|_M <= 1 + 1/2 sqrt(ln det M + 2 ln(1/failure_prob)):

    y lies in [0, 1], so its noise is 1/2-sub-Gaussian (Hoeffding), and |theta*|_2 <= 1. The plan is
    Q_h = r + <x, theta_hat> + beta |x|_{M^-1}, clipped to [0, 1]. Regret O~(d H sqrt(K)) where
    rewards sum up to at most 1: nothing in it sees that values hardly vary over a step.

    Differs from the papers: one M for all steps, since transitions do not depend on the step, and
    the radius of its largest noise, as their experiments have it, for values in [0, 1] instead of
    [0, H]; plans last for an epoch; `cut`.

    Parameters
    ----------
    model
        What is known of the MDP.
    n_episodes
        K.
    failure_prob
        delta.
    cut
        Whether upper ends are also cut at those of the simplex (or the L1 ball), max_i x_i: an
        upper bound of the maximum over the models that are possible at all, which is what [1] asks
        for; False: the closed form of [2] alone.
    width_scale
        Multiplies the radius (1 = the theory).
    seed
        Unused by the algorithm itself, which is deterministic.

    References
    ----------
    [1] Ayoub, Jia, Szepesvari, Wang, Yang. Model-based reinforcement learning with value-targeted
        regression. ICML 2020.
    [2] Jia, Yang, Szepesvari, Wang. Model-based reinforcement learning with value-targeted
        regression. L4DC 2020.
    """

    def __init__(
        self,
        model: LinearMixtureModel,
        *,
        n_episodes: int,
        failure_prob: float = 0.05,
        cut: bool = True,
        width_scale: float = 1.0,
        seed: Seed = 0,
    ) -> None:
        super().__init__(
            model,
            n_episodes=n_episodes,
            failure_prob=failure_prob,
            n_regressions=1,
            ridge=RIDGE,
            width_scale=width_scale,
            cut=cut,
            seed=seed,
        )
        # sqrt(lambda) |theta*| + R sqrt(ln det + 2 ln(1/delta)) with R = 1/2
        self._radius = Radius(math.sqrt(RIDGE), 0.25, -0.5 * math.log(self.failure_prob))

    @property
    def radius(self) -> float:
        """beta, width_scale included."""
        return self.width_scale * self._radius.at(self._regressions.log_det_ratio(0))
