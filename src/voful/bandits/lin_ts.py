"""Linear Thompson sampling, with the paper's scale and with the one that people use."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from voful import validation
from voful.bandits.base import OptimisticPolicy
from voful.bandits.oful import (
    SelfNormalized,
    current_radius,
    self_normalized_radius,
    self_normalized_rule,
)
from voful.bandits.optimism import best_for
from voful.bandits.rounds import Kernels, Ridge, State, in_ellipsoid
from voful.compiled import kernel, shared
from voful.confidence.algebra import unwhiten
from voful.confidence.ellipsoids.ridge import (
    COUNT,
    RidgeEllipsoid,
    check_conditioning,
    ridge_update,
)
from voful.typing import BoolArray, FloatArray, Seed
from voful.validation import ObservationSpace


@shared
def paper_scale(t: float, dim: int, noise_scale: float, delta: float) -> float:
    """v_t = R sqrt(9 d ln(t/delta))  (Section 2.1 of [1])."""
    return noise_scale * math.sqrt(9.0 * dim * math.log(t / delta))


@kernel
def choose_by_sample(
    arms: FloatArray,
    mask: BoolArray,
    center: FloatArray,
    whitener: FloatArray,
    scale: float,
    normals: FloatArray,
) -> int:
    """argmax_x <x, mu~>, mu~ = center + v W'z ~ N(center, v^2 B^-1) for standard normal z."""
    sample = np.empty(center.shape[0])
    unwhiten(whitener, normals, sample)
    for i in range(sample.shape[0]):
        sample[i] = center[i] + scale * sample[i]
    return best_for(arms, mask, sample)


class LinTSState(NamedTuple):
    """The set, its radius' constants, and what the draws need."""

    ridge: Ridge
    rule: SelfNormalized
    rng: np.random.Generator
    as_printed: bool


@kernel
def lin_ts_choose(state: LinTSState, arms: FloatArray, mask: BoolArray) -> int:
    """`select`."""
    rule, d = state.rule, arms.shape[1]
    v = rule.noise_scale
    if state.as_printed:
        v = paper_scale(state.ridge[4][COUNT] + 1.0, d, v, rule.delta)
    normals = state.rng.standard_normal((d,))
    return choose_by_sample(
        arms, mask, state.ridge[3], state.ridge[1], rule.width_scale * v, normals
    )


@kernel
def lin_ts_observe(state: LinTSState, x: FloatArray, reward: float, variance: float) -> None:
    """`update`."""
    ridge_update(*state.ridge, x, reward, 1.0)


@kernel
def lin_ts_holds(state: LinTSState, theta: FloatArray) -> bool:
    """`contains`."""
    return in_ellipsoid(state.ridge, current_radius(state.ridge[4], state.rule), theta)


class LinTS(OptimisticPolicy):
    """Linear Thompson sampling [1]: draw a parameter, play the arm that is best for it.

    With B = lambda I + sum x x' and the ridge estimate mu_hat, each `select` draws
    mu~ ~ N(mu_hat, v^2 B^-1) and plays argmax_x <x, mu~>. Anytime; O(d^2) an update and a draw,
    O(d) an arm.

    constants="posterior": v = R, the posterior for Gaussian noise of standard deviation R and the
    prior N(0, R^2/lambda I). No frequentist guarantee; this is what people use.
    constants="paper": v_t = R sqrt(9 d ln(t/failure_prob)), with regret
    O~(d^1.5 sqrt(K)) proved in [1]; in practice it explores for thousands of rounds.

    The set is no part of the rule: it is the self-normalised ellipsoid of [2] about the same
    estimate, which holds however the arms are chosen.

    Parameters
    ----------
    dim
        Dimension d of the arms.
    failure_prob
        Probability that theta* ever leaves the set; delta of the paper's scale.
    reward_range
        (low, high); None where rewards are unbounded (then `noise_scale` is needed).
    noise_scale
        R: the noise is R-sub-Gaussian. Default: half the reward range (Hoeffding's lemma).
    theta_norm
        |theta*| <= theta_norm; only the set needs it.
    feature_norm
        Arms must satisfy |x| <= feature_norm.
    ridge
        lambda; 1 in [1].
    constants
        "posterior" or "paper": which v.
    width_scale
        Multiplies v and the set's radius (1 = the theory).
    seed
        Of the draws.

    References
    ----------
    [1] Agrawal, Goyal. Thompson sampling for contextual bandits with linear payoffs. ICML 2013.
    [2] Abbasi-Yadkori, Pal, Szepesvari. Improved algorithms for linear stochastic bandits.
        NeurIPS 2011.
    """

    _kernels = Kernels(lin_ts_choose, lin_ts_observe, lin_ts_holds)

    def __init__(
        self,
        dim: int,
        *,
        failure_prob: float = 0.05,
        reward_range: tuple[float, float] | None = (-1.0, 1.0),
        noise_scale: float | None = None,
        theta_norm: float = 1.0,
        feature_norm: float = 1.0,
        ridge: float = 1.0,
        constants: str = "posterior",
        width_scale: float = 1.0,
        seed: Seed = 0,
    ) -> None:
        bounds = validation.reward_range_or_none(reward_range)
        space = ObservationSpace.checked(dim, bounds, feature_norm=feature_norm)
        super().__init__(space, seed=seed)
        self.failure_prob = validation.probability("failure_prob", failure_prob)
        self.noise_scale = validation.noise_scale(noise_scale, bounds)
        self.theta_norm = validation.positive_float("theta_norm", theta_norm)
        self.ridge = validation.positive_float("ridge", ridge)
        check_conditioning(space.feature_norm, self.ridge)
        self.constants = validation.choice("constants", constants, ("posterior", "paper"))
        self.width_scale = validation.positive_float("width_scale", width_scale)
        if not self.noise_scale * self.width_scale <= 1e100:  # else draws overflow
            name = "noise_scale" if self.noise_scale > self.width_scale else "width_scale"
            raise validation.fail(name, getattr(self, name), "noise_scale * width_scale <= 1e100")
        self._set = RidgeEllipsoid(
            space,
            ridge=self.ridge,
            radius=self._radius,
            theta_norm=self.theta_norm,
            width_scale=self.width_scale,
        )

    @property
    def confidence_set(self) -> RidgeEllipsoid:
        """Live view of the ellipsoid about the estimate."""
        return self._set

    @property
    def sampling_scale(self) -> float:
        """v of the next draw, width_scale included."""
        v = self.noise_scale
        if self.constants == "paper":
            v = paper_scale(self.n_observations + 1, self.dim, v, self.failure_prob)
        return self.width_scale * v

    def _radius(self, Theta: RidgeEllipsoid) -> float:
        return self_normalized_radius(Theta, self.noise_scale, self.failure_prob)

    def _choose(self, arms: FloatArray, mask: BoolArray) -> int:
        Theta = self._set
        normals = self._rng.standard_normal(self.dim)
        return choose_by_sample(
            arms, mask, Theta._center, Theta.whitener, self.sampling_scale, normals
        )

    def _state(self, n_arms: int) -> State:
        rule = self_normalized_rule(self._set, self.noise_scale, self.failure_prob)
        return LinTSState(self._set._matrices(), rule, self._rng, self.constants == "paper")
