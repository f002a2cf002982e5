"""PeeledSet: Algorithm 1's confidence set, with a support function that can be computed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal, overload

import numpy as np
import numpy.typing as npt

from voful import validation
from voful.concentration import kt_log_price
from voful.confidence.base import BaseConfidenceSet
from voful.confidence.directions import collapse, spread_lines
from voful.confidence.ellipsoids.ridge import COUNT, LOG_DET, ridge_update
from voful.confidence.levels import PEELINGS, n_lines, notable_growth
from voful.confidence.peeled.cuts import supports
from voful.confidence.peeled.dual_simplex import Polytope
from voful.confidence.peeled.outer_polytope import (
    MAX_CUTS,
    TOLERANCE,
    OuterPolytope,
    new_polytope,
    shrink_to,
)
from voful.confidence.peeled.tests import (
    Tests,
    able,
    add_observation,
    flat_size,
    move_origin,
    passes,
    passes_since,
    select_tests,
    unpack,
    worst,
)
from voful.typing import FloatArray

CHECK_GROWTH = 1.05  # check times: powers of this
PEEL = (1e-6, 1e-3)  # rho of the predictable directions: |nu| <= rho^(-1/2)
OFFERED_SHARE = 0.05  # of failure_prob, for directions offered on the way

# Where PeeledSet.clock keeps its counters.
VERSION, NEXT_CHECK, NEXT_MOVE, NEXT_TURN, OFFERED, REMEMBERED = 0, 1, 2, 3, 4, 5


class PeeledSet(BaseConfidenceSet):
    """The confidence set of VOFUL [1]: theta stays while every peeled test accepts it.

    Theta = {theta in B(1): |sum c eps(theta)| <= sqrt(iota sum c^2 eps(theta)^2) + l_j iota for all
    mu and j}, with c = clip(x.mu, l_j) and eps(theta) = y - x.theta, sums over the past.

    With `directions` the set is literally this, for exactly these mu and all levels j. Without, the
    tests are chosen here and elimination is permanent (the paper's Remark): the set is the running
    intersection over checks at rounds that grow by 5 % (at least by 1). Differs from the paper: the
    net of all directions is replaced by few lines u, tested along nu = (mean of xx' + rho I)^(-1/2)
    u, the mean over the past, for two scales rho. nu is known before the reward it weighs, so each
    test is a martingale and pays ln N only; |nu| <= rho^(-1/2) takes the place of the level.

    Parameters
    ----------
    dim, n_rounds, failure_prob
        d, K, delta.
    reward_range
        (low, high). The paper's is (-1, 1).
    constants
        "paper": the printed iota as factor and as additive term, for rewards in [-1, 1]. "kt":
        sqrt(2 V xi) + b xi, valid for any N tests and much smaller. With given directions
        xi = 1/2 ln(pi K + 1) + ln(N L / delta) for N directions and L levels, b = l_j (high - low);
        with chosen ones xi = 1/2 ln(pi n + 1) + ln(N / .95 delta) at round n, and b at theta is the
        range that theta itself implies.
    directions
        (N, dim) array of mu; None: chosen here.
    iota_scale
        Multiplies iota ("paper") or xi ("kt").
    width_scale
        Multiplies both terms of the right side.
    reward_noise
        "bounded", or "subgaussian": rewards are not bounded, their noise is `noise_scale`-
        sub-Gaussian; they are clipped at O(log K) and the clipping's bias is added to the
        threshold (the paper's Remark in its Preliminaries).
    noise_scale
        For "subgaussian" only.
    peeling
        "voful" or "voful2" (levels and price of [2]).

    Notes
    -----
    O(N d^2) an update, no history of rounds; one copy of the tests' statistics per check is kept
    for `contains`: N d^2 log K numbers, some 5 MB at d = 5 and 90 MB at d = 20 for K = 10^6.
    `support` is an upper bound: see `cuts`.

    References
    ----------
    [1] Zhang, Yang, Ji, Du. Improved variance-aware confidence sets for linear bandits and linear
        mixture MDP. NeurIPS 2021, Algorithm 1.
    [2] Kim, Yang, Jun. Improved regret analysis for variance-adaptive linear bandits and
        horizon-free linear mixture MDPs. NeurIPS 2022.
    """

    _arrays = (
        "_flat",
        "_history",
        "_precision",
        "_whitener",
        "_response",
        "_ridge_center",
        "_tally",
        "_clock",
    )
    _growing = ("_flat", "_history")
    costly = True  # a cutting-plane problem a row and side

    def __init__(
        self,
        dim: int,
        *,
        n_rounds: int,
        failure_prob: float = 0.05,
        reward_range: tuple[float, float] = (-1.0, 1.0),
        constants: str = "kt",
        directions: npt.ArrayLike | None = None,
        iota_scale: float = 1.0,
        width_scale: float = 1.0,
        reward_noise: str = "bounded",
        noise_scale: float = 1.0,
        peeling: str = "voful",
    ) -> None:
        dim = validation.positive_int("dim", dim)
        self.n_rounds = validation.positive_int("n_rounds", n_rounds)
        if self.n_rounds < 2:
            raise validation.fail("n_rounds", n_rounds, "a whole number >= 2")
        self.failure_prob = validation.probability("failure_prob", failure_prob)
        self.reward_range = validation.reward_range(reward_range)
        self.constants = validation.choice("constants", constants, ("kt", "paper"))
        self.iota_scale = validation.positive_float("iota_scale", iota_scale)
        self.width_scale = validation.positive_float("width_scale", width_scale)
        self.reward_noise = validation.choice(
            "reward_noise", reward_noise, ("bounded", "subgaussian")
        )
        self.noise_scale = validation.positive_float("noise_scale", noise_scale)
        self.peeling = validation.choice("peeling", peeling, tuple(PEELINGS))
        self.directions = None
        if directions is not None:
            self.directions = validation.matrix("directions", directions, dim).copy()
            if len(self.directions) == 0:
                raise validation.fail_shape("directions", (0, dim), "at least one direction")
            self.directions.flags.writeable = False
        bounded = self.reward_noise == "bounded"
        if self.constants == "paper":
            if not bounded:
                raise validation.fail(
                    "reward_noise", reward_noise, "'bounded' with printed constants"
                )
            if self.reward_range[0] < -1.0 or self.reward_range[1] > 1.0:
                raise validation.fail(
                    "reward_range", reward_range, "inside (-1, 1) with printed constants"
                )
        super().__init__(
            validation.ObservationSpace(
                dim, 1.0, self.reward_range if bounded else None, self.n_rounds
            )
        )
        self._set_up()

    def _set_up(self) -> None:
        dim, K = self.dim, self.n_rounds
        self._peeling = PEELINGS[self.peeling](dim, K, self.failure_prob)
        levels = np.array(self._peeling.levels)
        if self.directions is not None:
            nu = collapse(self.directions, levels)
        else:
            self._lines = spread_lines(dim, n_lines(dim))
            if self.constants == "kt":
                nu = np.concatenate([self._lines / math.sqrt(rho) for rho in PEEL])
            else:
                nu = collapse(2.0 * self._lines, levels)
        self._n_designed = len(nu)
        self._clock = np.array([0.0, 1.0, 16.0, 0.0, 0.0, 0.0])
        self._clip, bias = self._clipping()
        low, high = self.reward_range if bias == 0.0 else (-self._clip, self._clip)
        half, middle = 0.5 * (high - low), 0.5 * abs(high + low)
        # At theta = theta*, |eps| <= half + |x.theta - middle| <= half + middle + |theta|: the
        # range that this theta itself implies, used where it never exceeds high - low.
        own = self.constants == "kt" and self.directions is None and middle + 1.0 <= half + 1e-12
        self._range = (half + middle, 1.0) if own else (high - low, 0.0)
        self._bias = bias
        self._flat = np.zeros(flat_size(len(nu), dim))
        self._unpacked().nu[:] = nu
        self._history = np.zeros((0, self._flat.shape[0]))
        self._precision, self._whitener = np.eye(dim), np.eye(dim)
        self._response, self._ridge_center = np.zeros(dim), np.zeros(dim)
        self._tally = np.zeros(2)
        self._seen: tuple[bytes, int] = (b"", 0)
        self._answers: tuple[int, Polytope, FloatArray, bool] | None = None
        self._set_prices()

    # --- data -----------------------------------------------------------------------------------

    @property
    def n_observations(self) -> int:
        """How many rewards were learnt."""
        return int(self._tally[COUNT])

    @property
    def log_det(self) -> float:
        """ln det(I + sum xx'), for rarely-switching rules."""
        return float(self._tally[LOG_DET])

    @property
    def version(self) -> int:
        """Changes whenever the set does."""
        return self.n_observations if self.directions is not None else int(self._clock[VERSION])

    @property
    def center(self) -> FloatArray:
        """The ridge estimate, projected to the unit ball."""
        return _into_ball(self._ridge_center)

    def offer(self, direction: npt.ArrayLike) -> None:
        """Test along nu = `direction` too, from the next reward on.

        The direction may depend on the data seen so far. The n-th offered direction pays
        ln(pi^2 n^2 / (6 delta')) with delta' = 5 % of failure_prob, set aside from the start. To
        test it on the data it was computed from at such a price would not be valid.
        """
        if self.directions is not None:
            raise validation.fail("direction", direction, "nothing: this set has fixed directions")
        nu = validation.vector("direction", direction, self.dim)
        n, dim = self.n_tests, self.dim
        history = np.zeros((len(self._history), flat_size(n + 1, dim)))
        for k in range(self._n_remembered):
            history[k] = _padded(self._history[k], n, dim)
        self._flat, self._history = _padded(self._flat, n, dim), history
        self._clock[OFFERED] += 1.0
        self._unpacked().nu[-1] = nu
        self._set_prices()

    def _observe(self, x: FloatArray, reward: float) -> None:
        ridge_update(
            self._precision,
            self._whitener,
            self._response,
            self._ridge_center,
            self._tally,
            x,
            reward,
            1.0,
        )
        add_observation(self._flat, self.n_tests, x, min(max(reward, -self._clip), self._clip))
        n = self.n_observations
        if n >= self._clock[NEXT_MOVE]:
            move_origin(self._flat, self.n_tests, self.center)
            self._clock[NEXT_MOVE] = 2.0 * n
        if self.directions is not None:
            return
        if n >= self._clock[NEXT_CHECK]:
            self._take_stock()
        if self.constants == "kt" and self.log_det >= self._clock[NEXT_TURN]:
            self._unpacked().nu[: self._n_designed] = self._whitened_lines()
            self._clock[NEXT_TURN] = self.log_det + notable_growth(self.dim)

    def _take_stock(self) -> None:
        """The tests of now count for ever: elimination is permanent (the paper, Remark)."""
        n = self.n_observations
        self._clock[VERSION] += 1.0
        self._clock[NEXT_CHECK] = max(n + 1.0, math.ceil(CHECK_GROWTH * n))
        self._set_prices()
        if able(self._unpacked(), n).any():  # else every test accepts every theta
            self._remember(self._flat)

    def _remember(self, flat: FloatArray) -> None:
        """Append to the history, whose room doubles when it is full."""
        n = self._n_remembered
        if n == len(self._history):
            room = np.zeros((max(8, 2 * n), len(flat)))
            room[:n] = self._history
            self._history = room
        self._history[n] = flat
        self._clock[REMEMBERED] = n + 1.0

    @property
    def _n_remembered(self) -> int:
        return int(self._clock[REMEMBERED])

    def _whitened_lines(self) -> FloatArray:
        """nu = (mean of xx' + rho I)^(-1/2) u: weights of order one whatever the norms of x."""
        mean = (self._precision - np.eye(self.dim)) / max(self.n_observations, 1)
        spectrum, Q = np.linalg.eigh(mean)
        spectrum = np.maximum(spectrum, 0.0)
        return np.concatenate([self._lines @ (Q / np.sqrt(spectrum + rho)) @ Q.T for rho in PEEL])

    def _set_prices(self) -> None:
        tests, w = self._unpacked(), self.width_scale
        if self.constants == "paper":
            iota = self.iota_scale * self._peeling.iota
            tests.kappa[:], tests.beta0[:], tests.beta1[:] = w * w * iota, w * iota, 0.0
            return
        # KT holds with the price of n rounds at every n; the literal set keeps that of K.
        literal = self.directions is not None
        n = self.n_rounds if literal else max(self.n_observations, 1)
        share = self.failure_prob * (1.0 if literal else 1.0 - OFFERED_SHARE)
        delta = np.full(len(tests.a), share / self._n_designed)
        order = np.arange(1, len(tests.a) - self._n_designed + 1)
        delta[self._n_designed :] = OFFERED_SHARE * self.failure_prob * 6.0 / (math.pi * order) ** 2
        xi = self.iota_scale * np.array([kt_log_price(n, price) for price in delta])
        # Clipped rewards: sum |c| bias <= K bias in S, and sqrt(V) is off by sqrt(K) bias. Centring
        # moves the range by the bias too; `_clipping` counts two tails where one suffices, which
        # covers it as long as xi <= K, and for more (at scales 1) nothing is eliminated.
        shift = self._bias * (self.n_rounds + np.sqrt(2.0 * xi * self.n_rounds))
        tests.kappa[:] = 2.0 * w * w * xi
        tests.beta0[:] = w * (self._range[0] * xi + shift)
        tests.beta1[:] = w * self._range[1] * xi

    def _clipping(self) -> tuple[float, float]:
        """(threshold, bias): clip where |noise| > c = R sqrt(2 ln K) may be the cause.

        E (|noise| - c)_+ <= integral_c 2 exp(-u^2 / 2R^2) du <= (2 R^2 / c) exp(-c^2 / 2R^2).
        """
        if self.reward_noise == "bounded":
            return math.inf, 0.0
        c = self.noise_scale * math.sqrt(2.0 * math.log(self.n_rounds))
        return 1.0 + c, 2.0 * self.noise_scale**2 / c / self.n_rounds

    # --- questions ------------------------------------------------------------------------------

    @property
    def is_empty(self) -> bool:
        """Whether it is certain that nothing is left."""
        return self._outer()[2]

    def contains(self, theta: npt.ArrayLike) -> bool:
        """Whether theta is a member (non-strict, 1e-9 relative slack)."""
        inside = self._contains(validation.vector("theta", theta, self.dim))
        if not inside:  # a member is proof enough that the set is not empty
            self.warn_if_empty()
        return inside

    @overload
    def support(self, X: npt.ArrayLike, return_gap: Literal[False] = False) -> FloatArray: ...

    @overload
    def support(
        self, X: npt.ArrayLike, return_gap: Literal[True]
    ) -> tuple[FloatArray, FloatArray]: ...

    def support(
        self, X: npt.ArrayLike, return_gap: bool = False
    ) -> FloatArray | tuple[FloatArray, FloatArray]:
        """Upper bound of sup <x, theta> for the rows of X.

        Parameters
        ----------
        X
            (n, dim) array.
        return_gap
            Also return the distance to the best value found among points that pass the last
            check's tests: members, with given directions (inf if none was found).
        """
        rows = validation.matrix("X", X, self.dim)
        upper, lower = self._bounds(rows)
        return (upper, np.maximum(upper - lower, 0.0)) if return_gap else upper

    def _bounds(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        P, reference, empty = self._outer()
        if empty:
            self.warn_empty()
            return self._means(X), np.full(len(X), -math.inf)
        flat = self._defining()[-1]
        upper, lower, _ = supports(flat, self.n_tests, P, X, reference, MAX_CUTS, TOLERANCE)
        return upper, lower

    def _outer(self) -> tuple[Polytope, FloatArray, bool]:
        """(outer polytope, a point to aim at, whether it is empty): a function of the data alone.

        Cut by the tests of the last check and of checks 1, 2, 4, 8, ... before it: those between
        would add little.
        """
        if self._answers is None or self._answers[0] != self.version:
            P = new_polytope(self.dim)
            defining = self._defining()
            reference = self._reference(defining[-1])
            for age, flat in enumerate(defining):
                shrink_to(P, flat, self.n_tests, reference, float(age))
            empty = not self._passes(self.center) and self._has_proof_of_emptiness(P, reference)
            self._answers = (self.version, P, reference, empty)
        return self._answers[1:]

    def _has_proof_of_emptiness(self, P: Polytope, reference: FloatArray) -> bool:
        axis = np.eye(self.dim)[:1]
        flat = self._defining()[-1]
        return supports(flat, self.n_tests, P, axis, reference, MAX_CUTS, TOLERANCE)[2]

    def _defining(self) -> list[FloatArray]:
        """The tests that bound the support, oldest first."""
        if self.directions is not None:
            return [self._flat]
        n = self._n_remembered
        if n == 0:
            return [np.zeros_like(self._flat)]
        ages = [0, *(2**k for k in range(n.bit_length()) if 2**k < n)]
        return [self._history[n - 1 - age] for age in reversed(ages)]

    def cut_by_now(self, outer: OuterPolytope) -> None:
        """Let an outer polytope be cut by the tests as they are now, for a rule that freezes it.

        The tests are valid at all times at once, so elimination by those of now is as sound as at
        a check; `contains` and `support` wait for the next check all the same.
        """
        self._set_prices()
        keep = self.directions is None
        tests = self._unpacked()
        flat = select_tests(tests, able(tests, self.n_observations))
        outer.renew(flat, self._reference(self._flat), keep_cuts=keep)

    def _support(self, X: FloatArray) -> FloatArray:
        return self._bounds(X)[0]

    def _contains(self, theta: FloatArray) -> bool:
        if math.hypot(*theta) > 1.0 + validation.TOLERANCE:
            return False
        if self.directions is not None:
            return self._passes(theta)
        key = theta.tobytes()
        passed = self._seen[1] if self._seen[0] == key else 0  # asked before: the rest is new
        if not self._passes(theta, passed):
            return False
        self._seen = (key, self._n_remembered)
        return True

    def _passes(self, theta: FloatArray, first: int = 0) -> bool:
        """Whether every test accepts theta, from check `first` on."""
        slack = validation.TOLERANCE
        if self.directions is not None:
            return passes(self._flat, self.n_tests, theta, slack)
        return passes_since(self._history, first, self._n_remembered, self.n_tests, theta, slack)

    def _assign(self, arrays: Mapping[str, np.ndarray[Any, Any]]) -> None:
        super()._assign(arrays)
        self._answers, self._seen = None, (b"", 0)  # they spoke of other data

    def _reference(self, flat: FloatArray) -> FloatArray:
        """A point to aim at: the most regularised ridge estimate that passes these tests."""
        tests = unpack(flat, self.n_tests, self.dim)
        for ridge in (1.0, 1e-2, 1e-4, 1e-7):
            gram = self._precision + (ridge - 1.0) * np.eye(self.dim)
            estimate = np.asarray(np.linalg.solve(gram, self._response), dtype=np.float64)
            if worst(tests, _into_ball(estimate))[0] <= 0.0:
                return _into_ball(estimate)
        return self.center

    @property
    def n_tests(self) -> int:
        """How many tests there are."""
        return self._n_designed + int(self._clock[OFFERED])

    def _unpacked(self) -> Tests:
        return unpack(self._flat, self.n_tests, self.dim)


def _into_ball(theta: FloatArray) -> FloatArray:
    return theta / max(1.0, math.hypot(*theta))


def _padded(flat: FloatArray, n: int, dim: int) -> FloatArray:
    """The same n tests and one more, which accepts everything while it has seen nothing."""
    wide = np.zeros(flat_size(n + 1, dim))
    old, new = unpack(flat, n, dim), unpack(wide, n + 1, dim)
    for source, target in zip(old[:-1], new[:-1], strict=True):
        target[:n] = source
    new.o[:] = old.o
    return wide
