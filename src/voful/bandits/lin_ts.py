"""Linear Thompson sampling, with the paper's scale and with the one that people use."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from voful import validation
from voful.bandits import arguments as given
from voful.bandits.base import SetPolicy
from voful.bandits.oful import (
    SelfNormalized,
    oful_holds,
    oful_observe,
    self_normalized,
    self_normalized_blocks,
)
from voful.bandits.optimism import best_for
from voful.compiled import kernel, part
from voful.confidence.algebra import unwhiten
from voful.confidence.ellipsoids.ridge import check_conditioning, open_ridge
from voful.confidence.ellipsoids.sets import RidgeEllipsoid
from voful.confidence.rule import rule
from voful.parameters import parameter
from voful.typing import BoolArray, FloatArray, Seed


@part
def paper_scale(t: float, dim: int, noise_scale: float, delta: float) -> float:
    """v_t = R sqrt(9 d ln(t/delta))  (Section 2.1 of [1])."""
    return noise_scale * math.sqrt(9.0 * dim * math.log(t / delta))


class LinTSState(NamedTuple):
    """OFUL's set, which learns as OFUL's does, and what was drawn."""

    blocks: FloatArray
    constants: FloatArray  # SelfNormalized, whether v is the paper's
    normals: FloatArray  # (d,)


@part
def lin_ts_draw(
    blocks: FloatArray,
    constants: FloatArray,
    normals: FloatArray,
    rng: np.random.Generator,
    arms: FloatArray,
    mask: BoolArray,
) -> None:
    """z of the next choice."""
    normals[:] = rng.standard_normal((arms.shape[1],))


@part
def draw_scale(count: float, dim: int, constants: FloatArray) -> float:
    """v of the next draw, width_scale included."""
    radius, as_printed = self_normalized(constants), constants[-1]
    v = radius.noise_scale
    if as_printed:
        v = paper_scale(count + 1.0, dim, v, radius.delta)
    return radius.width_scale * v


@kernel
def lin_ts_choose(
    blocks: FloatArray,
    constants: FloatArray,
    normals: FloatArray,
    arms: FloatArray,
    mask: BoolArray,
) -> int:
    """argmax_x <x, mu~>, mu~ = center + v W'z ~ N(center, v^2 B^-1) for standard normal z."""
    d = arms.shape[1]
    ridge = open_ridge(blocks[0], d)
    scale = draw_scale(ridge.n[0], d, constants)
    sample = np.empty(d)
    unwhiten(ridge.whitener, normals, sample)
    for i in range(d):
        sample[i] = ridge.center[i] + scale * sample[i]
    return best_for(arms, mask, sample)


@kernel
def lin_ts_votes(
    blocks: FloatArray,
    constants: FloatArray,
    normals: FloatArray,
    arms: FloatArray,
    mask: BoolArray,
) -> FloatArray:
    """For how many rows of normals each arm is best."""
    votes = np.zeros(arms.shape[0])
    for i in range(normals.shape[0]):
        votes[lin_ts_choose(blocks, constants, normals[i], arms, mask)] += 1.0
    return votes


class LinTS(SetPolicy[RidgeEllipsoid]):
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

    References
    ----------
    [1] Agrawal, Goyal. Thompson sampling for contextual bandits with linear payoffs. ICML 2013.
    [2] Abbasi-Yadkori, Pal, Szepesvari. Improved algorithms for linear stochastic bandits.
        NeurIPS 2011.
    """

    _chooses_by_upper = False
    _rule = rule(LinTSState, lin_ts_choose, oful_observe, oful_holds, lin_ts_draw)

    failure_prob: float = given.failure_prob(
        "Probability that theta* ever leaves the set; delta of the paper's scale."
    )
    reward_range: tuple[float, float] | None = given.reward_range_or_none("noise_scale")
    noise_scale: float = given.noise_scale(
        "R: the noise is R-sub-Gaussian. Default: half the reward range (Hoeffding's lemma)."
    )
    theta_norm: float = given.theta_norm("|theta*| <= theta_norm; only the set needs it.")
    feature_norm: float = given.feature_norm()
    ridge: float = parameter(validation.positive_float, "lambda; 1 in [1].", default=1.0)
    constants: str = given.constants('"posterior" or "paper": which v.', ("posterior", "paper"))
    width_scale: float = given.width_scale("Multiplies v and the set's radius (1 = the theory).")
    seed: Seed = given.seed("Of the draws.")

    def _build(self) -> None:
        super()._build()
        check_conditioning(self.feature_norm, self.ridge)
        if not self.noise_scale * self.width_scale <= 1e100:  # else draws overflow
            name = "noise_scale" if self.noise_scale > self.width_scale else "width_scale"
            raise validation.fail(name, getattr(self, name), "noise_scale * width_scale <= 1e100")
        radius = SelfNormalized(
            self.noise_scale, self.failure_prob, self.ridge, self.theta_norm, self.width_scale
        )
        state = LinTSState(
            self_normalized_blocks(self.dim, radius),
            np.array([*radius, self.constants == "paper"]),
            np.zeros(self.dim),
        )
        self._learn_in(RidgeEllipsoid(self._space, state, theta_norm=self.theta_norm))

    def _law(self, arms: FloatArray, mask: BoolArray, draws: int | None) -> tuple[int, FloatArray]:
        # The arm is drawn from the votes: their shares are its law exactly, and on average LinTS's.
        # To draw once and estimate how probable that was biases every estimate from the log.
        if draws is None:
            raise TypeError("LinTS has no probabilities without draws: ask `choose`, and log them")
        normals = self._rng.standard_normal((draws, self.dim))
        blocks, constants, _ = self._state
        shares = lin_ts_votes(blocks, constants, normals, arms, mask) / draws
        return int(np.argmax(shares)), shares

    def _next(self, arms: FloatArray, left: BoolArray) -> int:
        return self._rule.choose(*self._state, arms, left)  # of the same draw

    @property
    def sampling_scale(self) -> float:
        """v of the next draw, width_scale included."""
        return float(draw_scale(self.n_observations, self.dim, self._state.constants))
