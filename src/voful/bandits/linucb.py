"""LinUCB: one ridge estimate, and a width that is right for each arm by itself."""

from __future__ import annotations

from typing import NamedTuple

from voful.bandits import arguments as given
from voful.bandits.armwise import ArmBounds, ArmwisePolicy, arm_bounds, arm_width
from voful.bandits.optimism import most_optimistic_in_ellipsoid
from voful.compiled import kernel
from voful.confidence.ellipsoids.ridge import open_ridge, ridge_update
from voful.confidence.rule import rule
from voful.typing import BoolArray, FloatArray, Seed


class LinUCBState(NamedTuple):
    """The estimate, and what its width needs."""

    blocks: FloatArray  # behind the ridge: how many rewards came
    constants: FloatArray  # ArmBounds


@kernel
def linucb_choose(
    blocks: FloatArray, constants: FloatArray, arms: FloatArray, mask: BoolArray
) -> int:
    """Optimism with the width that belongs to the number of arms."""
    n, d = arms.shape
    ridge, alpha = open_ridge(blocks[0], d), arm_width(arm_bounds(constants), n, 1)
    return most_optimistic_in_ellipsoid(arms, mask, ridge.center, ridge.whitener, alpha)


@kernel
def linucb_observe(
    blocks: FloatArray, constants: FloatArray, x: FloatArray, reward: float, variance: float
) -> None:
    """Ridge regression."""
    blocks[0, -1] += 1.0
    ridge_update(open_ridge(blocks[0], x.shape[0]), x, reward, 1.0)


class LinUCB(ArmwisePolicy):
    """Linear upper confidence bounds [1].

    With A = I + sum x x' and the ridge estimate theta_hat, the policy plays the argmax over the K
    arms of the round of <x, theta_hat> + alpha |x|_{A^-1}, alpha = sigma sqrt(2 ln(2 T K / delta)).
    The width would be right for samples that are independent of each other; those of an adaptive
    policy are not, and no regret bound is known for this rule (`SupLinUCB` is the one with a
    proof). It has no confidence set: `index` gives the bounds that it uses. O(d^2) an update and an
    arm.

    References
    ----------
    [1] Chu, Li, Reyzin, Schapire. Contextual bandits with linear payoff functions. AISTATS 2011,
        Algorithm 1.
    """

    _chooses_by_upper = True
    _rule = rule(LinUCBState, linucb_choose, linucb_observe, None)

    n_rounds: int = given.n_rounds("T: how many rewards will be learnt at most.")
    failure_prob: float = given.failure_prob("delta of alpha.")
    reward_range: tuple[float, float] | None = given.reward_range_or_none("noise_scale")
    noise_scale: float = given.noise_scale(
        "sigma: the noise is sigma-sub-Gaussian. Default: half the reward range."
    )
    feature_norm: float = given.feature_norm()
    width_scale: float = given.width_scale("Multiplies alpha.")
    seed: Seed = given.seed()

    def _build(self) -> None:
        super()._build()
        bounds = ArmBounds(
            self.noise_scale, float(self.n_rounds), self.failure_prob, 0.0, self.width_scale
        )
        self._state = LinUCBState(*self._start(1, bounds))

    def alpha(self, n_arms: int) -> float:
        """The width's factor among n_arms arms, width_scale included."""
        return self._width(n_arms)
