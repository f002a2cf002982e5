"""What every bandit policy shares: checked input, seeds, save, repr."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Generic, Never, TypeVar, overload

import numpy as np
import numpy.typing as npt

from voful import persistence, validation
from voful.bandits import arguments as given
from voful.bandits.optimism import most_optimistic
from voful.bandits.propensities import Chooser
from voful.confidence.algebra import dots
from voful.confidence.base import BallSet, BaseConfidenceSet, RuleSet
from voful.confidence.rule import Rule, observe_by, observe_many, rule_of
from voful.confidence.standing import EDGE, EMPTY, OK, STATUSES, Standing
from voful.parameters import Declared, parameter
from voful.typing import BoolArray, FloatArray, IntArray, Path

Set = TypeVar("Set", bound=RuleSet)
SomeSet = TypeVar("SomeSet", bound=BaseConfidenceSet)


def square(config: Mapping[str, Any]) -> int:
    """Numbers of one matrix of the policy's dimension."""
    return int(config["dim"]) ** 2


class Policy(Chooser, Declared):
    """A linear bandit policy: `select` an arm, `update` with its reward.

    A policy declares its parameters (`voful.bandits.arguments`), makes the rest in ``_build``, and
    defines ``_choose``, ``_observe``, ``_predict`` and ``_index`` on checked input; the public
    methods are here, once. A `CompiledPolicy` has the first two as functions of a state that
    kernels call too. One that must be told the noise's variance sets ``needs_variance``.
    """

    needs_variance: ClassVar[bool] = False

    dim: int = parameter(given.dimension, "Dimension d of the arms.", kw_only=False)

    def _build(self) -> None:
        self._space = validation.ObservationSpace(
            self.dim,
            getattr(self, "feature_norm", 1.0),
            getattr(self, "reward_range", None),
            getattr(self, "n_rounds", None),
        )
        self._rng = np.random.default_rng(validation.seed(getattr(self, "seed", 0)))

    @property
    @abstractmethod
    def confidence_set(self) -> BaseConfidenceSet | None:
        """Live view of the confidence set, None where the policy has no such set."""

    @property
    @abstractmethod
    def n_observations(self) -> int:
        """How many rewards were learnt."""

    @property
    def lineage(self) -> dict[str, int]:
        """How many rows were learnt of each source: by itself, from files, from merged policies."""
        return self._lineage.rows(self.n_observations)

    @property
    def total_failure_prob(self) -> float | None:
        """What `failure_prob` and the sets that were merged into this one may fail with together.

        None where the policy has no set.
        """
        own = getattr(self, "failure_prob", None)
        return None if own is None or self.confidence_set is None else own + self._lineage.spent

    @property
    def status(self) -> str:
        """One of "ok", "empty", "refuted", "edge".

        "empty" and "refuted": no parameter fits the data, and intervals are the reward range.
        "edge": the centre is within 1 % of the parameter ball's surface, so that theta_norm may be
        too small. One RuntimeWarning tells when "ok" is left. A policy without a set is "ok".
        """
        return STATUSES[OK]

    @property
    def status_since(self) -> int:
        """Rewards learnt when the status was noticed."""
        return 0

    @overload
    def select(
        self,
        arms: npt.ArrayLike,
        mask: npt.ArrayLike | None = None,
        *,
        k: None = None,
        pending: npt.ArrayLike | None = None,
    ) -> int: ...

    @overload
    def select(
        self,
        arms: npt.ArrayLike,
        mask: npt.ArrayLike | None = None,
        *,
        k: int,
        pending: npt.ArrayLike | None = None,
    ) -> IntArray: ...

    def select(
        self,
        arms: npt.ArrayLike,
        mask: npt.ArrayLike | None = None,
        *,
        k: int | None = None,
        pending: npt.ArrayLike | None = None,
    ) -> int | IntArray:
        """Choose an arm.

        Parameters
        ----------
        arms
            (n_arms, dim) array; may change each round.
        mask
            (n_arms,) booleans: which arms may be played; None: all.
        k
            So many arms to play at once, each of which pays a reward of its own, rewards adding up:
            those with the k largest upper bounds; of Thompson sampling the k best of one draw.
        pending
            (m, dim) array: arms that were played and whose rewards are still to come, each as
            often as it waits; `BetOFUL` and `CertifiedUCB` then look elsewhere, others refuse it.

        Returns
        -------
        int
            Row of `arms` to play; with `k` an array of k rows.
        """
        rows = self._space.arms(arms)
        allowed = self._space.mask(mask, rows.shape[0])
        self._turn += 1
        try:
            if pending is not None:
                self._pending = self._awaited(pending)
            if k is not None:
                return self._choose_several(rows, allowed, k)
            return self._choose(rows, allowed)
        finally:
            self._turn += 1
            self._pending = None

    def update(self, x: npt.ArrayLike, reward: float, *, variance: float | None = None) -> None:
        """Learn that playing x paid reward (delayed and off-policy rewards work).

        Parameters
        ----------
        x
            The arm, shape (dim,).
        reward
            What it paid.
        variance
            True variance of the reward's noise: needed by policies with `needs_variance`, refused
            by the others.
        """
        row = self._space.arm(x)
        reward = self._space.reward(reward)
        if self._space.n_rounds is not None:
            self._space.check_rounds(self.n_observations, 1)
        if self.needs_variance:
            variance = self._space.variance(variance)
        elif variance is not None:
            self._refuse("variance", variance)
        if not self._lineage.own:
            self._lineage = self._lineage.begun()
        self._turn += 1
        try:
            self._observe(row, reward, variance or 0.0)
        finally:
            self._turn += 1

    def partial_fit(
        self,
        X: npt.ArrayLike,
        rewards: npt.ArrayLike,
        *,
        variances: npt.ArrayLike | None = None,
    ) -> None:
        """Learn many rewards at once: the same result as one by one, in this order."""
        rows, y = self._space.batch(X, rewards)
        self._space.check_rounds(self.n_observations, len(y))
        if self.needs_variance:
            told = self._space.variances([] if variances is None else variances, len(y))
        elif variances is not None:
            self._refuse("variances", variances)
        else:
            told = np.zeros(len(y))
        if len(y):
            self._lineage = self._lineage.begun()
        self._turn += 1
        try:
            self._observe_many(rows, y, told)
        finally:
            self._turn += 1

    def _rows_learnt(self) -> int:
        return self.n_observations

    def _refuse(self, name: str, value: object) -> Never:
        raise validation.fail(name, value, f"nothing: {type(self).__name__} is not told it")

    def index(self, arms: npt.ArrayLike) -> tuple[FloatArray, FloatArray, FloatArray]:
        """(mean, lower, upper) of each arm's expected reward, each of shape (n_arms,)."""
        return self._index(self._space.arms(arms))

    def predict(self, X: npt.ArrayLike) -> FloatArray:
        """Estimated expected reward of the rows of X."""
        return self._predict(validation.matrix("X", X, self.dim))

    def save(self, path: Path) -> None:
        """Write the policy to one file (arrays and JSON); `voful.load` continues it exactly."""
        persistence.save(self, path)

    @abstractmethod
    def _choose(self, arms: FloatArray, mask: BoolArray) -> int: ...

    @abstractmethod
    def _observe(self, x: FloatArray, reward: float, variance: float) -> None: ...

    @abstractmethod
    def _predict(self, X: FloatArray) -> FloatArray: ...

    @abstractmethod
    def _index(self, arms: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]: ...

    def _observe_many(self, X: FloatArray, rewards: FloatArray, variances: FloatArray) -> None:
        for x, reward, variance in zip(X, rewards, variances, strict=True):
            self._observe(x, float(reward), float(variance))

    def __repr__(self) -> str:
        return f"{super().__repr__()} after {self.n_observations} observations"


class OptimisticPolicy(Policy):
    """Optimism over one confidence set, which learns everything there is to learn."""

    _chooses_by_upper = True
    _parts: ClassVar[tuple[str, ...]] = ("confidence_set", "_standing")

    def _build(self) -> None:
        super()._build()
        self._standing = Standing()

    @classmethod
    def _least_numbers(cls, config: Mapping[str, Any]) -> int:
        return square(config)  # a set keeps at least a matrix

    @property
    @abstractmethod
    def confidence_set(self) -> BaseConfidenceSet:
        """Live view of the confidence set."""

    @property
    def status(self) -> str:
        """See `Policy.status`."""
        Theta = self.confidence_set
        if not self._standing.answers_nothing:
            at_edge = isinstance(Theta, BallSet) and Theta.is_at_edge
            code = EMPTY if Theta.is_empty else EDGE if at_edge else OK
            if self._standing.note(code, self.n_observations):
                self._standing.tell(self)
        return STATUSES[self._standing.code]

    @property
    def status_since(self) -> int:
        """Rewards learnt when the status was noticed: by an answer, a choice, or when asked."""
        return self._standing.since if self.status != STATUSES[OK] else 0

    def _heed(self, Theta: SomeSet) -> SomeSet:
        """Let the set answer as the policy's standing allows."""
        Theta.standing = self._standing
        return Theta

    def _choose(self, arms: FloatArray, mask: BoolArray) -> int:
        lower, upper = self.confidence_set.checked_interval(arms)
        if self.confidence_set.answers_nothing():  # estimates decide
            lower = upper = self._predict(arms)
        return int(most_optimistic(upper, upper - lower, mask))

    def _observe(self, x: FloatArray, reward: float, variance: float) -> None:
        self.confidence_set._observe(x, reward)

    def _observe_many(self, X: FloatArray, rewards: FloatArray, variances: FloatArray) -> None:
        self.confidence_set._observe_many(X, rewards)

    def _predict(self, X: FloatArray) -> FloatArray:
        return dots(X, self.confidence_set.center)

    def _index(self, arms: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        lower, upper = self.confidence_set.checked_interval(arms)
        # The estimate may lie outside of what several sets have in common.
        return np.minimum(np.maximum(self._predict(arms), lower), upper), lower, upper

    @property
    def n_observations(self) -> int:
        """How many rewards were learnt."""
        return self.confidence_set.n_observations


class CompiledPolicy(Policy):
    """A policy whose rule is functions of its state.

    ``_rule`` names them; ``_state``, whose type finds them, is made in ``_build``. Everything that
    learns or chooses calls them: `select`, `update`, `partial_fit`, the set, and compiled loops,
    which never leave compiled code. A policy without them (VOFUL, and those of the user's own)
    plays the same loops in Python.
    """

    _rule: ClassVar[Rule]
    _learns_in_python = False
    """Whether there is more to learning than the rule: then no compiled loop plays it."""

    def _play_on(self, state: Any) -> None:
        """Let the rule work on this state."""
        self._state = state

    def _choose(self, arms: FloatArray, mask: BoolArray) -> int:
        state = self._state
        rule = rule_of(state)
        if rule.draw is not None:
            rule.draw(*state, self._rng, arms, mask)
        if self._pending is None:
            choice = rule.choose(*state, arms, mask)
        else:
            assert rule.choose_awaiting is not None  # by `_takes_pending`
            choice = rule.choose_awaiting(*state, arms, mask, self._pending)
        if choice >= 0:
            return choice
        self._tell_empty()
        return ~choice

    def _tell_empty(self) -> None:
        """A choice found nothing left of the set."""
        if self.confidence_set is not None:
            self.confidence_set.warn_empty()

    def _observe(self, x: FloatArray, reward: float, variance: float) -> None:
        self._reserve(1, 1)
        if observe_by(self._state, x, reward, variance):
            self._tell_news()

    def _observe_many(self, X: FloatArray, rewards: FloatArray, variances: FloatArray) -> None:
        self._reserve(len(X), len(X))
        observe_many(self._state, X, rewards, variances)
        self._tell_news()

    def _reserve(self, rounds: int, n_arms: int) -> None:
        """Room for so many more rewards, of at most so many arms, where the state grows."""

    def _tell_news(self) -> None:
        """Warn or raise, once, if learning has refuted or emptied the set."""


class SetPolicy(CompiledPolicy, OptimisticPolicy, Generic[Set]):
    """A compiled policy that keeps all it learns in one confidence set."""

    def _learn_in(self, Theta: Set) -> None:
        """Choose by this set, whose state is the policy's."""
        self._set: Set = self._heed(Theta)
        self._play_on(Theta.rule_state)

    @property
    def confidence_set(self) -> Set:
        """Live view of the set."""
        return self._set
