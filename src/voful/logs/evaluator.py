"""The evaluator: bets on a log's rows as they come, and its interval at any time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from voful import persistence, validation
from voful.archive import Arrays
from voful.confidence.ellipsoids.ridge import new_ridges, ridge_size
from voful.confidence.ellipsoids.sound import sound_ridges
from voful.invariants import Invariants, between, whole
from voful.logs import wealth
from voful.logs.bets import Bets, mixture
from voful.logs.faults import Fault, floor_faults, law_faults, raise_first, range_faults
from voful.logs.log import Log, pieces
from voful.logs.targets import Target, rows_of
from voful.parameters import Declared, parameter
from voful.typing import FloatArray, Path

ESTIMATORS = ("snips", "ips", "dr")
VERSUS = ("baseline", "logged")
ROWS = 1 << 16  # worked on at a time, for memory's sake
N_TESTS = 21  # bets that test the weights
SUSPICIOUS = 100.0


class Weighed(NamedTuple):
    """Rows as kernels take them."""

    actions: Any
    y: FloatArray
    weights: FloatArray
    base_weights: FloatArray
    rho: FloatArray  # (n, A), or (n, 0) where only logged actions are known
    h: FloatArray  # (n, A): at most the propensities; 0 where they are not known
    features: FloatArray


def _maybe(check: Any) -> Any:
    return lambda name, value: None if value is None else check(name, value)


def _one_of(words: tuple[str, ...]) -> Any:
    return lambda name, value: validation.choice(name, value, words)


def _propensity(name: str, value: object) -> float:
    number = validation.finite_float(name, value)
    if not 1e-100 <= number <= 1.0:
        raise validation.fail(name, value, "a number in (0, 1]")
    return number


class Evaluator(Declared):
    """The value of a target policy from logged decisions, with an interval true at all times.

    `update` with rows in the order of their decisions, as often as you like; `interval` whenever
    you like: with probability at least 1 - failure_prob it holds the running mean of the target's
    values at all times at once. The logging policy may learn, the target and the world may change,
    weights need no bound, and the target may play arms that were never logged [1].

    Fixed bets on sum_a rho(a) q(a) + w (y - q(a)) share a mixture (the docs' page on evaluation has
    theorem and proof). Rewards are never clipped. Memory is constant.

    Notes
    -----
    `estimator` chooses q. "ips": none; needs propensities of the logged actions only. "snips": the
    weighted mean of earlier rewards; narrower, where the row's largest weight is known from all
    propensities or from `min_propensity`. "dr": ridge regression with an intercept on earlier rows;
    needs features and full targets too.

    References
    ----------
    [1] Waudby-Smith, Wu, Ramdas, Karampatziakis, Mineiro. Anytime-valid off-policy inference for
        contextual bandits. 2022 (the setting; the fixed mixture is this library's).
    """

    _arrays = ("_sums", "_logs", "_products", "_tests", "_blocks")

    estimator: str = parameter(_one_of(ESTIMATORS), '"snips", "ips" or "dr".', default="snips")
    failure_prob: float = parameter(validation.probability, "alpha of the interval.", default=0.05)
    reward_range: tuple[float, float] = parameter(
        validation.reward_range, "(low, high); a reward outside is an error.", default=(0.0, 1.0)
    )
    min_propensity: float | None = parameter(
        _maybe(_propensity),
        "What every arm's propensity is at least, where not all of them are logged.",
        default=None,
    )
    horizon: int | None = parameter(
        _maybe(validation.positive_int),
        "The number of rows after which the interval shall be narrowest; it is true always.",
        default=None,
    )
    versus: str | None = parameter(
        _maybe(_one_of(VERSUS)),
        'None: the target\'s value. "baseline": its difference to another policy\'s. "logged": its '
        "difference to the policy that logged.",
        default=None,
    )
    dim: int | None = parameter(
        _maybe(lambda name, value: validation.positive_int(name, value, 10_000)),
        'Features of an arm or a context: "dr" needs it.',
        default=None,
    )
    n_models: int = parameter(
        lambda name, value: validation.positive_int(name, value, 100_000),
        'Of "dr": 1 for arms; the number of actions for contexts, each with its own.',
        default=1,
    )

    def _build(self) -> None:
        if (self.estimator == "dr") != (self.dim is not None):
            raise validation.fail("dim", self.dim, 'the number of features with "dr", else None')
        if self.estimator == "dr" and self.versus == "logged":
            raise validation.fail(
                "estimator", "dr", 'snips or ips against the policy that logged; or pass its '
                "probabilities as baseline"
            )  # fmt: skip
        difference = self.versus is not None
        self._bets: Bets = mixture(self.failure_prob, self.horizon, difference)
        self._kind = {None: wealth.VALUE, "baseline": wealth.DIFFERENCE}.get(
            self.versus, wealth.AGAINST_LOGGED
        )
        pairs = len(self._bets.b)
        self._sums = np.zeros(wealth.N_SUMS)
        self._logs, self._products = np.zeros((2, pairs)), np.ones((2, pairs))
        self._tests = np.ones(N_TESTS)
        models = self.n_models if self.estimator == "dr" else 0
        size = (self.dim or 0) + 1
        self._blocks = new_ridges(size, np.ones(models), np.zeros(models))

    @classmethod
    def _least_numbers(cls, config: Mapping[str, Any]) -> int:
        if config.get("dim") is None:
            return wealth.N_SUMS
        return int(config["n_models"]) * ridge_size(int(config["dim"]) + 1)

    def _invariants(self, state: Arrays) -> Invariants:
        sums, n = state["_sums"], state["_sums"][wealth.ROWS]
        yield "a whole number of rows", whole(n)
        yield "no negative sums", bool((np.delete(sums, wealth.MODELLED) >= 0.0).all())
        totals = np.delete(sums, [wealth.SQUARES, wealth.EVALUE])
        yield "sums that can be squared", bool((np.abs(totals) <= 1e120).all())
        yield "rewards in the range", between(sums[wealth.REWARD], 0.0, n)
        pending = sums[wealth.PENDING]
        yield "a few rows in the products", whole(pending, 0, min(n, wealth.EVERY - 1))
        products = state["_products"]
        yield "positive products", bool((products > 0.0).all()) and between(products, 0.0, 1e120)
        yield "logarithms that can be added", bool((np.abs(state["_logs"]) <= 1e18).all())
        tests = state["_tests"]
        yield "wealth that tests the weights", bool((tests >= 0.0).all())
        yield "no more of it than is kept", bool((tests <= wealth.MOST).all())
        yield "its largest", bool(sums[wealth.EVALUE] <= wealth.MOST)
        yield from sound_ridges(state["_blocks"], self._blocks, (self.dim or 0) + 1, 1.0)

    # --- rows -----------------------------------------------------------------------------------

    def update(self, log: Log, target: Target, baseline: Target = None) -> None:
        """Bet on the rows of a log, which come after all earlier ones.

        Parameters
        ----------
        log
            One row or many; one bad row, and nothing is changed.
        target
            (n,) probabilities of the logged actions, (n, n_arms) of all arms, a frozen Policy, or a
            function of a row's arms.
        baseline
            Likewise, for ``versus="baseline"``: probabilities of all arms.
        """
        n = len(log)
        self._check_baseline(baseline)
        laws = [rows_of("target", target, n)(log, slice(0, n))]
        if baseline is not None:
            laws.append(rows_of("baseline", baseline, n)(log, slice(0, n)))
        self.check(log, *laws)
        self.bet(log, *laws)

    def check(self, log: Log, *laws: FloatArray) -> None:
        """ValueError about what is wrong with rows: probabilities (n,) or (n, n_arms)."""
        self._check_shapes(log, laws)
        for rows in pieces(len(log), ROWS):
            part = log[rows]
            raise_first(self.faults(part, *(law[rows] for law in laws)), part.first_row)

    def bet(self, log: Log, *laws: FloatArray) -> None:
        """Bet on rows that `check` has seen."""
        self._lineage = self._lineage.begun()
        self._turn += 1
        try:
            for rows in pieces(len(log), ROWS):
                self._bet(self._weigh(log[rows], [law[rows] for law in laws]))
        finally:
            self._turn += 1

    def faults(self, log: Log, *laws: FloatArray) -> Iterator[Fault]:
        """What may be wrong with rows besides what `Log` has seen."""
        low, high = self.reward_range
        yield from range_faults(log.rewards, low, high)
        yield from floor_faults(log.propensities, self.min_propensity)
        for name, law in zip(("target", "baseline"), laws, strict=False):
            yield from law_faults(name, law)
            if law.ndim == 2:
                outside = log.actions >= law.shape[1]
                few = f"an action among the {law.shape[1]} arms of {name}"
                yield Fault("actions", outside, log.actions, few)

    def _check_baseline(self, baseline: object) -> None:
        if (baseline is not None) != (self.versus == "baseline"):
            raise validation.fail("baseline", baseline, 'one with versus="baseline", else None')

    def _check_shapes(self, log: Log, laws: tuple[FloatArray, ...]) -> None:
        """ValueError where probabilities or features are missing or do not fit."""
        n = len(log)
        for name, law in zip(("target", "baseline"), laws, strict=False):
            needs = self.estimator == "dr" or self.versus == "baseline"
            if len(law) != n or law.ndim > 2:
                raise validation.fail_shape(name, law.shape, f"({n},) or ({n}, n_arms)")
            if needs and law.ndim == 1:
                why = "dr" if self.estimator == "dr" else "a comparison of two policies"
                raise validation.fail_shape(
                    name, law.shape, f"({n}, n_arms): {why} needs the probabilities of all arms"
                )
            if law.ndim == 2 and log.law is not None and law.shape != log.law.shape:
                raise validation.fail_shape(name, law.shape, f"{log.law.shape}, as propensities")
            if law.ndim == 2 and law.shape != laws[0].shape:
                raise validation.fail_shape(name, law.shape, f"{laws[0].shape}, as the target")
        if self.estimator != "dr":
            return
        features = log.arms if log.contexts is None else log.contexts
        if features is None or features.shape[-1] != self.dim:
            found = None if features is None else features.shape
            raise validation.fail("arms", found, f"a Log with {self.dim} features: dr needs them")
        if log.law is None and self.min_propensity is None:
            raise validation.fail(
                "min_propensity", None, "a number, or a Log with all propensities: dr needs one"
            )
        width = log.arms.shape[1] if log.arms is not None else self.n_models
        if laws[0].shape[1] != width:
            raise validation.fail_shape("target", laws[0].shape, f"({n}, {width}), as the arms")

    def _weigh(self, log: Log, laws: list[FloatArray]) -> Weighed:
        low, high = self.reward_range
        y = np.clip((log.rewards - low) / (high - low), 0.0, 1.0)
        rows, n = np.arange(len(log)), len(log)
        played = [law if law.ndim == 1 else law[rows, log.actions] for law in laws]
        weights = [chosen / log.propensities for chosen in played]
        if self.versus is None:
            weights.append(np.zeros(n))
        elif self.versus == "logged":
            weights.append(np.ones(n))
        empty = np.empty((n, 0))
        if laws[0].ndim == 1 or self.versus == "logged":
            return Weighed(log.actions, y, weights[0], weights[1], empty, empty, empty[None])
        rho = laws[0] - laws[1] if self.versus == "baseline" else laws[0]
        h = log.law if log.law is not None else np.full(rho.shape, self.min_propensity or 0.0)
        if log.contexts is not None:
            features = log.contexts[:, None, :]
        else:
            features = log.arms if log.arms is not None else empty[None]
        return Weighed(log.actions, y, weights[0], weights[1], rho, h, features)

    def _bet(self, row: Weighed) -> None:
        state = self._sums, self._logs, self._products, self._tests
        b, limit, _ = self._bets
        if self.estimator == "dr":
            known = row.rho, row.h, row.features, self._blocks
            wealth.bet_modelled(
                self._kind,
                row.actions,
                row.weights,
                row.base_weights,
                row.y,
                *known,
                b,
                limit,
                *state,
            )
            return
        n = len(row.y)
        if row.rho.shape[1]:
            plus, minus = (np.maximum(sign * row.rho, 0.0).sum(axis=1) for sign in (1.0, -1.0))
            with np.errstate(divide="ignore", invalid="ignore"):
                largest = np.where(row.rho == 0.0, 0.0, np.abs(row.rho) / row.h).max(axis=1)
        else:
            plus, minus = np.ones(n), np.zeros(n)
            largest = np.full(
                n, math.inf if self.min_propensity is None else 1.0 / self.min_propensity
            )
        if self.estimator == "ips":
            largest = np.full(n, math.inf)
        wealth.bet_alike(
            self._kind, row.weights, row.base_weights, row.y, largest, plus, minus, b, limit, *state
        )

    # --- answers --------------------------------------------------------------------------------

    @property
    def n(self) -> int:
        """How many rows there were."""
        return int(self._sums[wealth.ROWS])

    def _rows_learnt(self) -> int:
        return self.n

    @property
    def lineage(self) -> dict[str, int]:
        """How many rows there were of each source, see `Policy.lineage`."""
        return self._lineage.rows(self.n)

    def interval(self) -> tuple[float, float]:
        """(lower, upper) of the value, or of the difference, after the rows so far."""
        low, high = self.reward_range
        b, _, log_prior = self._bets
        least = 0.0 if self.versus is None else -1.0
        threshold = math.log(2.0 / self.failure_prob)
        below, above = (
            wealth.lower_end(float(self.n), logs, products, b, log_prior, threshold, least, 1.0)
            for logs, products in zip(self._logs, self._products, strict=True)
        )
        if self.versus is None:
            return low + (high - low) * below, high - (high - low) * above
        return (high - low) * below, -(high - low) * above

    @property
    def estimate(self) -> float:
        """The point estimate, clipped into the interval."""
        return self.look()[0]

    def look(self) -> tuple[float, float, float]:
        """(estimate, lower, upper) after the rows so far."""
        lower, upper = self.interval()
        low, high = self.reward_range
        scaled = (high - low) * self._raw_estimate() + (low if self.versus is None else 0.0)
        return min(max(scaled, lower), upper), lower, upper

    def _raw_estimate(self) -> float:
        sums, n = self._sums, max(self._sums[wealth.ROWS], 1.0)
        if self.estimator == "dr":
            return float(sums[wealth.MODELLED] / n)
        ends = (wealth.WEIGHT, wealth.WEIGHTED), (wealth.BASE_WEIGHT, wealth.BASE_WEIGHTED)
        if self.estimator == "ips":
            return float(sum(s * sums[y] for s, (_, y) in zip((1.0, -1.0), ends, strict=True)) / n)
        means = [sums[y] / sums[w] if sums[w] > 0.0 else 0.0 for w, y in ends]
        return float(means[0] - means[1])

    @property
    def effective_n(self) -> float:
        """(sum w)^2 / sum w^2: so many rows of equal weight say as much."""
        squares = self._sums[wealth.SQUARES]
        return float(self._sums[wealth.TESTED] ** 2 / squares) if squares > 0.0 else 0.0

    @property
    def max_weight(self) -> float:
        """The largest weight pi(a)/h(a) that was seen."""
        return float(self._sums[wealth.LARGEST_WEIGHT])

    @property
    def weight_evalue(self) -> float:
        """Evidence that weights average more than 1, so that propensities are wrong.

        The largest wealth so far of bets on it: with right propensities it ever reaches 100 with
        probability at most 1/100.
        """
        return max(1.0, float(self._sums[wealth.EVALUE]))

    def save(self, path: Path) -> None:
        """Write the evaluator to one file; `voful.load` continues it exactly."""
        persistence.save(self, path)

    def __repr__(self) -> str:
        return f"{super().__repr__()} after {self.n} rows"
