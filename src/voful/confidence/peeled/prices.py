"""Right sides of the tests: what each pays so that all hold at all times together."""

from __future__ import annotations

import math

import numpy as np

from voful.concentration import kt_log_price
from voful.confidence.peeled.own_direction import SLOPES, OwnDirection
from voful.confidence.peeled.parameters import PeeledParameters
from voful.confidence.peeled.tests import Tests

OFFERED_SHARE = 0.05  # of failure_prob, for directions offered on the way


class Prices:
    """kappa, beta0 and beta1 of the tests of one set.

    Parameters
    ----------
    given
        The set's arguments.
    iota
        The printed price.
    n_designed
        How many tests there are from the start.
    """

    def __init__(self, given: PeeledParameters, iota: float, n_designed: int) -> None:
        self._given = given
        self._iota = given.iota_scale * iota
        self._n_designed = n_designed
        self.clip, self._bias = clipping(given)
        low, high = given.reward_range if self._bias == 0.0 else (-self.clip, self.clip)
        half, middle = 0.5 * (high - low), 0.5 * abs(high + low)
        # At theta = theta*, |eps| <= half + |x.theta - middle| <= half + middle + |theta|: the
        # range that this theta itself implies, used where it never exceeds high - low.
        own = given.constants == "kt" and given.directions is None and middle + 1.0 <= half + 1e-12
        self._range = (half + middle, 1.0) if own else (high - low, 0.0)
        self._limits = low, high, self._bias

    def set_on(self, tests: Tests, n_observations: int) -> None:
        """Write the prices of now."""
        given, w = self._given, self._given.width_scale
        if given.constants == "paper":
            iota = self._iota
            tests.kappa[:], tests.beta0[:], tests.beta1[:] = w * w * iota, w * iota, 0.0
            return
        # KT holds with the price of n rounds at every n; the literal set keeps that of K.
        literal = given.directions is not None
        n = given.n_rounds if literal else max(n_observations, 1)
        share = given.failure_prob * (1.0 if literal else 1.0 - OFFERED_SHARE)
        designed, offered = self._n_designed, np.arange(1, len(tests.a) - self._n_designed + 1)
        delta = np.full(len(tests.a), share / max(designed, 1))
        delta[designed:] = OFFERED_SHARE * given.failure_prob * 6.0 / (math.pi * offered) ** 2
        xi = given.iota_scale * np.array([kt_log_price(n, price) for price in delta])
        # Clipped rewards: sum |c| bias <= K bias in S, and sqrt(V) is off by sqrt(K) bias. Centring
        # moves the range by the bias too; `clipping` counts two tails where one suffices, which
        # covers it as long as xi <= K, and for more (at scales 1) nothing is eliminated.
        shift = self._bias * (given.n_rounds + np.sqrt(2.0 * xi * given.n_rounds))
        tests.kappa[:] = 2.0 * w * w * xi
        tests.beta0[:] = w * (self._range[0] * xi + shift)
        tests.beta1[:] = w * self._range[1] * xi

    def own_direction(self) -> OwnDirection:
        """Lines along each theta's own direction, which share what is not set aside."""
        given = self._given
        share = given.failure_prob * (1.0 - OFFERED_SHARE)
        price = given.iota_scale * math.log(len(SLOPES) / share)
        return OwnDirection(given.dim, self._limits, price, given.width_scale)


def clipping(given: PeeledParameters) -> tuple[float, float]:
    """(threshold, bias): clip where |noise| > c = R sqrt(2 ln K) may be the cause.

    E (|noise| - c)_+ <= integral_c 2 exp(-u^2 / 2R^2) du <= (2 R^2 / c) exp(-c^2 / 2R^2).
    """
    if given.reward_noise == "bounded":
        return math.inf, 0.0
    c = given.noise_scale * math.sqrt(2.0 * math.log(given.n_rounds))
    return 1.0 + c, 2.0 * given.noise_scale**2 / c / given.n_rounds
