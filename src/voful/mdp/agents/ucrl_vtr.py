"""UCRL-VTR: optimism over a ridge regression on values."""

from __future__ import annotations

from voful.mdp import arguments as given
from voful.mdp.value_targets import Radius, ValueTargetedAgent, sub_gaussian
from voful.parameters import parameter
from voful.typing import Seed
from voful.validation import boolean


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
    [0, H]; plans are renewed when there is news, not for each episode, which the bound on regret is
    about; `cut`.

    References
    ----------
    [1] Ayoub, Jia, Szepesvari, Wang, Yang. Model-based reinforcement learning with value-targeted
        regression. ICML 2020.
    [2] Jia, Yang, Szepesvari, Wang. Model-based reinforcement learning with value-targeted
        regression. L4DC 2020.
    """

    constants = "tight"
    cut: bool = parameter(
        boolean,
        "Whether upper ends are those over the ellipsoid within the simplex: the maximum over the "
        "models that are possible at all, which is what [1] asks for (signed base models: the "
        "lesser of the ellipsoid's end and max_i |x_i|); False: the closed form of [2] alone.",
        default=True,
    )
    width_scale: float = given.width_scale("Multiplies the radius (1 = the theory).")
    seed: Seed = given.seed()

    def _build(self) -> None:
        super()._build()
        self._regress(1, ridge=1.0)

    def _radius(self, learnt: int) -> Radius:
        return sub_gaussian(self.failure_prob)
