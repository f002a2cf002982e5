"""PeeledSet: Algorithm 1's confidence set, with a support function that can be computed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any, Literal, overload

import numpy as np
import numpy.typing as npt

from voful import validation
from voful.archive import Arrays
from voful.confidence.base import BallSet
from voful.confidence.ellipsoids.ridge import new_ridges, open_ridge
from voful.confidence.ellipsoids.sound import scale_of, sound_ridge
from voful.confidence.levels import PEELINGS, notable_growth
from voful.confidence.peeled.chosen import (
    designed,
    goes_its_own_way,
    least_numbers,
    whitened_lines,
)
from voful.confidence.peeled.cuts import TOLERANCE, supports
from voful.confidence.peeled.dual_simplex import Polytope
from voful.confidence.peeled.outer_polytope import OuterPolytope, new_polytope, shrink_to
from voful.confidence.peeled.own_direction import OwnDirection
from voful.confidence.peeled.parameters import PeeledParameters
from voful.confidence.peeled.prices import Prices
from voful.confidence.peeled.sound import sound_tests
from voful.confidence.peeled.tests import (
    Tests,
    able,
    flat_size,
    into_ball,
    learn,
    move_origin,
    one_more,
    passes,
    passes_since,
    passing_estimate,
    select_tests,
    unpack,
)
from voful.invariants import Invariants, between, whole
from voful.parameters import parameter
from voful.typing import FloatArray

CHECK_GROWTH = 1.05  # check times: powers of this

CLOCK = np.dtype(
    [
        ("version", float),
        ("next_check", float),  # in rounds
        ("next_move", float),  # of the origin, in rounds
        ("next_turn", float),  # of the directions, in ln det
        ("remembered", float),  # checks in the history
    ]
)


class PeeledSet(PeeledParameters, BallSet):
    """The confidence set of VOFUL [1]: theta stays while every peeled test accepts it.

    Theta = {theta in B(1): |sum c eps(theta)| <= sqrt(iota sum c^2 eps(theta)^2) + l_j iota for all
    mu and j}, with c = clip(x.mu, l_j) and eps(theta) = y - x.theta, sums over the past.

    With `directions` the set is literally this, for exactly these mu and all levels j. Without, the
    tests are chosen here and elimination is permanent (the paper's Remark): the set is the running
    intersection over checks at rounds that grow by 5 % (at least by 1). Differs from the paper: the
    net of all directions is replaced by few lines u, tested along nu = (mean of xx' + rho I)^(-1/2)
    u, the mean over the past, for two scales rho. nu is known before the reward it weighs, so each
    test is a martingale and pays ln N only; |nu| <= rho^(-1/2) takes the place of the level. Above
    d = 10 ("kt") each theta is tested along its own direction, theta_hat - theta, which needs no
    union over directions: see `own_direction`; `offer`ed directions then count for `contains` only.

    Notes
    -----
    constants="paper": the printed iota as factor and as additive term, for rewards in [-1, 1].
    constants="kt": sqrt(2 V xi) + b xi, valid for any N tests and much smaller. With given
    directions xi = 1/2 ln(pi K + 1) + ln(N L / delta) for N directions and L levels,
    b = l_j (high - low); with chosen ones xi = 1/2 ln(pi n + 1) + ln(N / .95 delta) at round n, and
    b at theta is the range that theta itself implies.

    O(N d^2) an update, no history of rounds; one copy of the tests' statistics per check is kept
    for `contains`: N d^2 log K numbers, some 5 MB at d = 5 for K = 10^6; above d = 10 an ellipsoid
    a check. `support` is an upper bound: see `cuts`.

    References
    ----------
    [1] Zhang, Yang, Ji, Du. Improved variance-aware confidence sets for linear bandits and linear
        mixture MDP. NeurIPS 2021, Algorithm 1.
    [2] Kim, Yang, Jun. Improved regret analysis for variance-adaptive linear bandits and
        horizon-free linear mixture MDPs. NeurIPS 2022.
    """

    _arrays = ("_flat", "_history", "_block", "_clock")
    _growing = ("_flat", "_history")
    _parts = ("_own",)
    costly = True  # a cutting-plane problem a row and side
    __repr__ = BallSet.__repr__

    peeling: str = parameter(
        partial(validation.choice, allowed=tuple(PEELINGS)),
        '"voful" or "voful2" (levels and price of [2]).',
        default="voful",
    )

    def _build(self) -> None:
        if self.directions is not None:
            self.directions = validation.matrix("directions", self.directions, self.dim).copy()
            if len(self.directions) == 0:
                raise validation.fail_shape("directions", (0, self.dim), "at least one direction")
            self.directions.flags.writeable = False
        bounded = self.reward_noise == "bounded"
        if self.constants == "paper":
            if not bounded:
                raise validation.fail(
                    "reward_noise", self.reward_noise, "'bounded' with printed constants"
                )
            if self.reward_range[0] < -1.0 or self.reward_range[1] > 1.0:
                raise validation.fail(
                    "reward_range", self.reward_range, "inside (-1, 1) with printed constants"
                )
        bounds = self.reward_range if bounded else None
        space = validation.ObservationSpace(self.dim, 1.0, bounds, self.n_rounds)
        BallSet.__init__(self, space)
        self.theta_norm, self.theta_center = 1.0, np.zeros(self.dim)
        self._peeling = PEELINGS[self.peeling](self.dim, self.n_rounds, self.failure_prob)
        nu = designed(self, self._peeling)
        self._n_designed = len(nu)
        self._prices = Prices(self, self._peeling.iota, len(nu))
        self._flat = np.zeros(flat_size(len(nu), self.dim))
        self._unpacked().nu[:] = nu
        self._history = np.zeros((0, len(self._flat)))
        self._block = new_ridges(self.dim, np.ones(1), np.zeros(1))[0]
        self._clock = np.array((0.0, 1.0, 16.0, 0.0, 0.0), dtype=CLOCK)
        self._own: tuple[OwnDirection, ...] = ()
        if goes_its_own_way(self):
            self._own = (self._prices.own_direction(),)
        self._forget_answers()
        self._set_prices()

    @classmethod
    def _least_numbers(cls, config: Mapping[str, Any]) -> int:
        directions = config.get("directions")
        return least_numbers(int(config["dim"]), 0 if directions is None else len(directions))

    def _invariants(self, state: Arrays) -> Invariants:
        flat, history, clock = state["_flat"], state["_history"], state["_clock"]
        yield from sound_ridge(state["_block"], self._block, self.dim, scale_of(self._space))
        n = open_ridge(state["_block"], self.dim).n[0]
        yield "no more rounds than n_rounds", bool(n <= self.n_rounds)
        each, designed = flat_size(1, self.dim) - self.dim, flat_size(self._n_designed, self.dim)
        yield "the tests of its arguments", (more := len(flat) - designed) >= 0 and more % each == 0
        yield "no further tests", self.directions is None or more == 0
        yield "checks of as many tests", history.shape[1] == len(flat)
        counters = [float(clock[name]) for name in ("version", "remembered")]
        yield "whole numbers of checks", whole(counters) and counters[1] <= len(history)
        yield "times to come", whole([clock["next_check"], clock["next_move"]], 1)
        yield "a turn to come", between(clock["next_turn"], -1.0, 1000.0 * self.dim)
        for tests in (flat, *history[: int(clock["remembered"])]):
            yield from sound_tests(tests, self.dim, float(n), scale_of(self._space))

    def _forget_answers(self) -> None:
        """What is kept between questions: of the data of now."""
        self._ridge = open_ridge(self._block, self.dim)
        self._seen: tuple[bytes, int] = (b"", 0)
        self._answers: tuple[int, Polytope, FloatArray, bool] | None = None

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._ridge = open_ridge(self._block, self.dim)  # a copy's views are of its own memory

    # --- data -----------------------------------------------------------------------------------

    @property
    def n_observations(self) -> int:
        """How many rewards were learnt."""
        return int(self._ridge.n[0])

    @property
    def log_det(self) -> float:
        """ln det(I + sum xx'), for rarely-switching rules."""
        return float(self._ridge.log_det[0])

    @property
    def own_direction(self) -> OwnDirection | None:
        """The tests along each theta's own direction, where there are such."""
        return self._own[0] if self._own else None

    @property
    def version(self) -> int:
        """Changes whenever the set does."""
        return self.n_observations if self.directions is not None else int(self._clock["version"])

    @property
    def center(self) -> FloatArray:
        """The ridge estimate, projected to the unit ball."""
        return into_ball(self._ridge.center)

    def offer(self, direction: npt.ArrayLike) -> None:
        """Test along nu = `direction` too, from the next reward on.

        The direction may depend on the data seen so far. The n-th offered direction pays
        ln(pi^2 n^2 / (6 delta')) with delta' = 5 % of failure_prob, set aside from the start. To
        test it on the data it was computed from at such a price would not be valid.
        """
        if self.directions is not None:
            raise validation.fail("direction", direction, "nothing: this set has fixed directions")
        nu = validation.vector("direction", direction, self.dim)
        self._flat = one_more(self._flat, self.dim)
        wider = [one_more(flat, self.dim) for flat in self._history]
        self._history = np.array(wider).reshape(len(wider), len(self._flat))
        self._unpacked().nu[-1] = nu
        self._set_prices()

    def _observe(self, x: FloatArray, reward: float) -> None:
        own, clip = self.own_direction, self._prices.clip
        if own is not None:
            own.bet(self._block, x, min(max(reward, -clip), clip))
        learn(self._block, self._flat, x, reward, clip)
        n, clock = self.n_observations, self._clock
        if own is not None:
            own.grow(self._block)
        if n >= clock["next_move"]:
            move_origin(self._flat, self.center)
            if own is not None:
                own.move_origin(self.center)
            clock["next_move"] = 2.0 * n
        if self.directions is not None:
            return
        if n >= clock["next_check"]:
            self._take_stock()
        if self.constants == "kt" and own is None and self.log_det >= clock["next_turn"]:
            mean = (self._ridge.precision - np.eye(self.dim)) / n
            self._unpacked().nu[: self._n_designed] = whitened_lines(mean)
            clock["next_turn"] = self.log_det + notable_growth(self.dim)

    def _take_stock(self) -> None:
        """The tests of now count for ever: elimination is permanent (the paper, Remark)."""
        n = self.n_observations
        self._clock["version"] += 1.0
        self._clock["next_check"] = max(n + 1.0, math.ceil(CHECK_GROWTH * n))
        self._set_prices()
        if able(self._unpacked(), n).any():  # else every test accepts every theta
            self._remember(self._flat)
        if self.own_direction is not None:
            self.own_direction.check(self._block)

    def _remember(self, flat: FloatArray) -> None:
        """Append to the history, whose room doubles when it is full."""
        n = self._n_remembered
        if n == len(self._history):
            room = np.zeros((max(8, 2 * n), len(flat)))
            room[:n] = self._history
            self._history = room
        self._history[n] = flat
        self._clock["remembered"] = n + 1.0

    @property
    def _n_remembered(self) -> int:
        return int(self._clock["remembered"])

    def _set_prices(self) -> None:
        self._prices.set_on(self._unpacked(), self.n_observations)

    # --- questions ------------------------------------------------------------------------------

    @property
    def is_empty(self) -> bool:
        """Whether it is certain that nothing is left."""
        own = self.own_direction
        return self._outer()[2] if own is None else own.is_empty

    def contains(self, theta: npt.ArrayLike) -> bool:
        """Whether theta is a member (non-strict, 1e-9 relative slack)."""
        inside = self._contains(validation.vector("theta", theta, self.dim)) and not self.is_refuted
        if not inside:  # a member is proof enough that the set is not empty
            self.answers_nothing()
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
        upper, lower = self._bounds(rows, members=return_gap)
        return (upper, np.maximum(upper - lower, 0.0)) if return_gap else upper

    def _bounds(self, X: FloatArray, members: bool = False) -> tuple[FloatArray, FloatArray]:
        if self.answers_nothing():
            return self._whatever_support(X), np.full(len(X), -math.inf)
        if self.own_direction is not None:
            return self.own_direction.ends(X)[1:]
        P, reference, _ = self._outer()
        return supports(self._defining()[-1], P, X, reference, TOLERANCE, members)[:2]

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
                shrink_to(P, flat, reference, float(age))
            axis = np.eye(self.dim)[:1]  # a question whose cuts may leave nothing
            empty = (
                not self._passes(self.center)
                and supports(defining[-1], P, axis, reference, TOLERANCE, False)[2]
            )
            self._answers = (self.version, P, reference, empty)
        return self._answers[1:]

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
        if self.directions is not None or not self.in_ball(theta):
            return self.in_ball(theta) and self._passes(theta)
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
            return passes(self._flat, theta, slack)
        passed = passes_since(self._history, first, self._n_remembered, theta, slack)
        return passed and (self.own_direction is None or self.own_direction.holds(theta))

    def _assign(self, arrays: Mapping[str, np.ndarray[Any, Any]]) -> None:
        super()._assign(arrays)
        self._forget_answers()

    def _reference(self, flat: FloatArray) -> FloatArray:
        """A point to aim at: the most regularised ridge estimate that passes these tests."""
        return passing_estimate(flat, self._ridge)

    @property
    def n_tests(self) -> int:
        """How many tests there are."""
        return len(self._unpacked().a)

    def _unpacked(self) -> Tests:
        return unpack(self._flat, self.dim)
