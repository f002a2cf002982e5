"""LOFAV: linear bandits that adapt to unknown variances, layer by layer."""

from __future__ import annotations

import math
from typing import ClassVar, NamedTuple

import numpy as np

from voful import validation
from voful.bandits.base import IntersectionPolicy
from voful.bandits.rounds import Kernels, Ridge, State, choose_in_ellipsoids, in_ellipsoids
from voful.compiled import kernel
from voful.confidence.algebra import dot, whiten
from voful.confidence.compensated import add_number
from voful.confidence.ellipsoids.intersection import EllipsoidIntersection
from voful.confidence.ellipsoids.ridge import check_conditioning, ridge_update
from voful.typing import BoolArray, FloatArray, IntArray, Seed
from voful.validation import ObservationSpace

# Where LofavSet.sums keeps what a layer has learnt.
SHRUNK = 0  # sum F_s^2 f_s(theta_hat_{s-1})
LOSS = 1  # sum f_s(theta_hat_{s-1})
GAP = 2  # K(theta_bar) - L(theta_hat) >= 0, in two parts
DISTANCE = 4  # largest bound so far on |theta* - theta_hat|^2_Sigma / 2
BETA = 5
GAMMA = 6

RANGE_PRICE = 3.4  # sum over k >= 1 of 1 / (k ln^2(1 + k)) is 3.388


@kernel
def lofav_radii(
    sums: FloatArray,
    layer: int,
    n_layers: int,
    t: int,
    noise_bound: float,
    variance: float,
    delta: float,
    as_printed: bool,
) -> None:
    """beta_t and gamma_t of one layer, and the range that round t + 1 may use."""
    rho = 0.5 ** (layer + 1)
    start = 0.5 * (rho * noise_bound) ** 2  # lambda S^2 / 2
    distance = sums[DISTANCE]
    k = max(1.0, math.ceil(0.5 * math.log2(distance / start)))
    price = 2.0 * n_layers * RANGE_PRICE * k * math.log(1.0 + k) ** 2 / delta
    steps = math.pi * (t + 1.0) if as_printed else math.pi * t + 1.0
    xi = 0.5 * math.log(steps) + math.log(price)
    noise = sums[LOSS] + variance * math.log(2.0 * n_layers / delta)  # >= sum f_s(theta*)
    # KT for sum w^2 eta <x, theta* - theta_hat>, terms of size <= 2^k rho R sqrt(2 start)
    root = rho * math.sqrt(8.0 * xi) * math.sqrt(distance) * math.sqrt(noise)
    bound = start + sums[SHRUNK] + root + 2.0**k * rho * noise_bound * math.sqrt(2.0 * start) * xi
    sums[BETA] = bound - (sums[GAP] + sums[GAP + 1])
    sums[GAMMA] = start + sums[SHRUNK] + variance * math.log(2.0 * n_layers / delta)
    proved = sums[BETA] if as_printed else min(bound, sums[GAMMA])
    sums[DISTANCE] = max(distance, proved)


@kernel
def lofav_update(
    precisions: FloatArray,
    whiteners: FloatArray,
    responses: FloatArray,
    centers: FloatArray,
    tallies: FloatArray,
    sums: FloatArray,
    learnt: IntArray,
    X: FloatArray,
    y: FloatArray,
    noise_bound: float,
    variance: float,
    delta: float,
    as_printed: bool,
) -> None:
    """The rows of X, in their order, in every layer: theta_hat, theta_bar, beta and gamma.

    theta_bar regresses on (y + <x, theta_hat_{s-1}>) / 2 with twice the weight. With the residual
    e = y - <x, theta_hat>, u = <x, theta_hat - theta_bar> and the growths g of Sigma and h of Q
    (all before the update), the gap K(theta_bar) - L(theta_hat) grows by

        w^2 (u (u + e) / (1 + h) + e^2 (2 g - h + g h) / (4 (1 + g) (1 + h))),   g <= h <= 2 g.

    Nothing of the size of the rewards is subtracted: the terms are small with e and u.
    """
    n_layers = sums.shape[0]
    whitened = np.empty(X.shape[1])
    for i in range(X.shape[0]):
        learnt[0] += 1
        for layer in range(n_layers):
            bar = n_layers + layer
            rho = 0.5 ** (layer + 1)
            leverage = whiten(whiteners[layer], X[i], whitened)
            weight = min(1.0, rho * rho / leverage) if leverage > 0.0 else 1.0  # w^2
            prediction = dot(X[i], centers[layer])
            g, e = ridge_update(
                precisions[layer],
                whiteners[layer],
                responses[layer],
                centers[layer],
                tallies[layer],
                X[i],
                y[i],
                weight,
            )
            h, midway = ridge_update(
                precisions[bar],
                whiteners[bar],
                responses[bar],
                centers[bar],
                tallies[bar],
                X[i],
                0.5 * (y[i] + prediction),
                2.0 * weight,
            )
            loss = 0.5 * weight * e * e
            u = midway - 0.5 * e
            spread = 0.25 * e * e * (2.0 * g - h + g * h) / (1.0 + g)
            sums[layer, SHRUNK] += g / (1.0 + g) * loss
            sums[layer, LOSS] += loss
            add_number(sums[layer, GAP : GAP + 2], weight * (u * (u + e) + spread) / (1.0 + h))
            lofav_radii(
                sums[layer], layer, n_layers, learnt[0], noise_bound, variance, delta, as_printed
            )


@kernel
def radii_of(sums: FloatArray) -> FloatArray:
    """sqrt(2 gamma) of each layer, then sqrt(2 beta); -1 where that is not defined."""
    n_layers = sums.shape[0]
    radii = np.full(2 * n_layers, -1.0)
    for layer in range(n_layers):
        if sums[layer, GAMMA] >= 0.0:
            radii[layer] = math.sqrt(2.0 * sums[layer, GAMMA])
        if sums[layer, BETA] >= 0.0:
            radii[n_layers + layer] = math.sqrt(2.0 * sums[layer, BETA])
    return radii


class LofavSet(EllipsoidIntersection):
    """Two ellipsoids a layer, intersected.

    Parts 0..L-1: |theta - theta_hat|^2_Sigma / 2 <= gamma; parts L..2L-1:
    |theta - theta_bar|^2_Q / 2 <= beta.
    """

    _arrays: ClassVar[tuple[str, ...]] = (*EllipsoidIntersection._arrays, "sums")

    def __init__(
        self,
        space: ObservationSpace,
        *,
        n_layers: int,
        failure_prob: float,
        noise_bound: float,
        noise_scale: float,
        theta_norm: float,
        as_printed: bool,
        width_scale: float = 1.0,
    ) -> None:
        rho = 0.5 ** np.arange(1.0, n_layers + 1.0)
        ridges = (rho * noise_bound / theta_norm) ** 2
        super().__init__(
            space,
            ridges=np.concatenate([ridges, ridges]),
            theta_norm=theta_norm,
            width_scale=width_scale,
        )
        self._rules = noise_bound, noise_scale**2, failure_prob, as_printed
        self.sums: FloatArray = np.zeros((n_layers, GAMMA + 1))
        for column in (DISTANCE, BETA, GAMMA):  # the ball |theta*| <= S
            self.sums[:, column] = 0.5 * (rho * noise_bound) ** 2

    def _radii(self) -> FloatArray:
        return radii_of(self.sums)

    def _observe(self, x: FloatArray, reward: float) -> None:
        self._observe_many(x[np.newaxis], np.array([reward]))

    def _observe_many(self, X: FloatArray, rewards: FloatArray) -> None:
        lofav_update(
            self.precisions,
            self.whiteners,
            self.responses,
            self.centers,
            self.tallies,
            self.sums,
            self.learnt,
            X,
            rewards,
            *self._rules,
        )


def lofav_layers(n_rounds: int, dim: int) -> int:
    """L = max(1, ceil(log2(T / d) / 2))."""
    return max(1, math.ceil(0.5 * math.log2(n_rounds / dim)))


class LofavState(NamedTuple):
    """The set and its constants."""

    ridges: Ridge
    sums: FloatArray
    learnt: IntArray
    rules: tuple[float, float, float, bool]
    width_scale: float


@kernel
def lofav_choose(state: LofavState, arms: FloatArray, mask: BoolArray) -> int:
    """`select`."""
    radii = state.width_scale * radii_of(state.sums)
    return choose_in_ellipsoids(state.ridges, radii, arms, mask)


@kernel
def lofav_observe(state: LofavState, x: FloatArray, reward: float, variance: float) -> None:
    """`update`."""
    X, y = x.reshape(1, -1), np.full(1, reward)
    noise_bound, sigma_squared, delta, as_printed = state.rules
    lofav_update(
        *state.ridges, state.sums, state.learnt, X, y, noise_bound, sigma_squared, delta, as_printed
    )


@kernel
def lofav_holds(state: LofavState, theta: FloatArray) -> bool:
    """`contains`."""
    return in_ellipsoids(state.ridges, state.width_scale * radii_of(state.sums), theta)


class LOFAV(IntersectionPolicy):
    """Linear optimism with full adaptivity to the variances [1].

    For noise with |eta| <= R and |theta*| <= S, layer l = 1..L keeps rho = 2^-l,
    lambda = (rho R / S)^2, w_t = min(1, rho / |x_t|_{Sigma_{t-1}^-1}), Sigma_t = lambda I +
    sum w_s^2 x_s x_s', its ridge estimate theta_hat, f_s(theta) = w_s^2 (y_s - <x_s, theta>)^2 / 2,
    F_s = |w_s x_s|_{Sigma_s^-1}; and Q_t = lambda I + 2 sum w_s^2 x_s x_s' with
    theta_bar = Q_t^-1 sum w_s^2 (y_s + <x_s, theta_hat_{s-1}>) x_s. With probability at least
    1 - failure_prob, in all layers at all times

        |theta* - theta_hat_t|^2_Sigma / 2 <= gamma_t
            = lambda S^2 / 2 + sum F_s^2 f_s(theta_hat_{s-1}) + sigma_0^2 ln(2L / failure_prob),
        |theta* - theta_bar_t|^2_Q / 2 <= beta_t = L_t(theta_hat_t) - K_t(theta_bar_t) + B_t,

    where B_t replaces the last term of gamma_t by the KT bound of sum w^2 eta <x, theta* -
    theta_hat>, whose range and variance are known from the bounds of the rounds before. The policy
    plays the argmax over the arms of the least of the 2L upper bounds. O(L d^2) an update and an
    arm, L = max(1, ceil(log2(n_rounds / d) / 2)).

    Differs from the authors' code: all sums are updated recursively, theirs go through all rounds;
    and (constants="tight") the bound on |theta* - theta_hat_s|^2 that the range of round s + 1
    needs is min(B_s, gamma_s), which the proof gives, instead of beta_s, which bounds the distance
    to another centre; sigma_0 is half the reward range instead of R.

    Parameters
    ----------
    dim
        Dimension d of the arms.
    n_rounds
        T: how many rewards will be learnt at most.
    failure_prob
        Probability that theta* ever leaves the set.
    reward_range
        (low, high); None where rewards are unbounded (then `noise_bound` is needed).
    noise_bound
        R: |eta| <= R. Default: the whole reward range.
    theta_norm
        S: |theta*| <= S.
    feature_norm
        Arms must satisfy |x| <= feature_norm.
    constants
        "tight" (proved) or "paper" (as in the authors' code).
    width_scale
        Multiplies the radii (1 = the theory).
    seed
        Unused by the rule itself, which is deterministic.

    References
    ----------
    [1] Jun, Kim. Noise-adaptive confidence sets for linear bandits and application to Bayesian
        optimization. ICML 2024.
    """

    _kernels = Kernels(lofav_choose, lofav_observe, lofav_holds)

    def __init__(
        self,
        dim: int,
        *,
        n_rounds: int,
        failure_prob: float = 0.05,
        reward_range: tuple[float, float] | None = (-1.0, 1.0),
        noise_bound: float | None = None,
        theta_norm: float = 1.0,
        feature_norm: float = 1.0,
        constants: str = "tight",
        width_scale: float = 1.0,
        seed: Seed = 0,
    ) -> None:
        bounds = validation.reward_range_or_none(reward_range)
        self.n_rounds = validation.positive_int("n_rounds", n_rounds)
        space = ObservationSpace.checked(
            dim, bounds, feature_norm=feature_norm, n_rounds=self.n_rounds
        )
        super().__init__(space, seed=seed)
        self.failure_prob = validation.probability("failure_prob", failure_prob)
        self.noise_bound = validation.noise_bound(noise_bound, bounds)
        self.theta_norm = validation.scale("theta_norm", theta_norm)
        self.constants = validation.choice("constants", constants, ("tight", "paper"))
        self.width_scale = validation.positive_float("width_scale", width_scale)
        self.n_layers = lofav_layers(self.n_rounds, space.dim)
        least_ridge = (0.5**self.n_layers * self.noise_bound / self.theta_norm) ** 2
        root = f"2^-{self.n_layers} noise_bound / theta_norm"
        check_conditioning(space.feature_norm, least_ridge, root)
        self._set = LofavSet(
            space,
            n_layers=self.n_layers,
            failure_prob=self.failure_prob,
            noise_bound=self.noise_bound,
            noise_scale=self._noise_scale(),
            theta_norm=self.theta_norm,
            as_printed=self.constants == "paper",
            width_scale=self.width_scale,
        )

    def _noise_scale(self) -> float:
        """sigma_0: the noise is sigma_0-sub-Gaussian (Hoeffding's lemma)."""
        if self.constants == "paper" or self.reward_range is None:
            return self.noise_bound
        return min(self.noise_bound, validation.noise_scale(None, self.reward_range))

    @property
    def confidence_set(self) -> LofavSet:
        """Live view of the intersection of the 2L ellipsoids."""
        return self._set

    def _state(self, n_arms: int) -> State:
        Theta = self._set
        return LofavState(
            Theta._all_matrices(), Theta.sums, Theta.learnt, Theta._rules, self.width_scale
        )
