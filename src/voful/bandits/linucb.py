"""LinUCB: one ridge estimate, and a width that is right for each arm by itself."""

from __future__ import annotations

from typing import NamedTuple

from voful import validation
from voful.bandits import arguments as given
from voful.bandits.armwise import ArmBounds, ArmwisePolicy, arm_bounds, arm_width
from voful.bandits.optimism import most_optimistic_in_ellipsoid
from voful.compiled import kernel
from voful.confidence.ellipsoids.ridge import open_ridge, ridge_update
from voful.confidence.rule import rule
from voful.parameters import parameter
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

    With `alpha` given the factor is this number, at any time and for any number of arms: the form
    of practice (and the input of Algorithm 1 in [1]). It needs neither T nor sigma, and its bounds
    hold with no stated probability: `failure_prob` and `noise_scale` have no effect.

    References
    ----------
    [1] Chu, Li, Reyzin, Schapire. Contextual bandits with linear payoff functions. AISTATS 2011,
        Algorithm 1.
    """

    _chooses_by_upper = True
    _rule = rule(LinUCBState, linucb_choose, linucb_observe, None)

    alpha: float | None = parameter(
        validation.nonnegative_float,
        "The width's factor. Default: the value above, from T, K, sigma and delta.",
        default=None,
    )
    n_rounds: int | None = parameter(
        validation.positive_int,
        "T: how many rewards will be learnt at most. Required unless `alpha` is given.",
        default=None,
    )
    failure_prob: float = given.failure_prob("delta of the default alpha; else of no effect.")
    reward_range: tuple[float, float] | None = given.reward_range_or_none("noise_scale")
    noise_scale: float | None = parameter(
        validation.positive_float,
        "sigma of the default alpha: the noise is sigma-sub-Gaussian. Default: half the range.",
        default=None,
    )
    feature_norm: float = given.feature_norm()
    width_scale: float = given.width_scale("Multiplies alpha.")
    seed: Seed = given.seed()

    def _build(self) -> None:
        super()._build()
        if self.noise_scale is None and (self.alpha is None or self.reward_range is not None):
            self.noise_scale = given.half_range(self.reward_range)
        self._state = LinUCBState(*self._start(1, self._bounds()))

    def _bounds(self) -> ArmBounds:
        delta, scale = self.failure_prob, self.width_scale
        if self.alpha is not None or self.noise_scale is None:
            return ArmBounds(0.0, 1.0, delta, self.alpha or 0.0, scale)
        if self.n_rounds is None:
            raise validation.fail("n_rounds", None, "a whole number >= 1 where alpha is None")
        return ArmBounds(self.noise_scale, float(self.n_rounds), delta, 0.0, scale)

    def width(self, n_arms: int) -> float:
        """The factor of |x|_{A^-1} among n_arms arms, width_scale included."""
        return self._width(n_arms)
