"""What every confidence set shares: checked input, intervals, and what an empty set answers."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from voful import notice, validation
from voful.confidence.rule import holds, observe_by, observe_many
from voful.confidence.standing import EMPTY, NEAR_EDGE, Standing
from voful.persistence import Stateful
from voful.typing import FloatArray

CROSSED = 2e-9
"""Ends that cross by more than this, over the size of the rewards, leave no parameter."""


class ParameterSet(Stateful, ABC):
    """The questions that every set of parameters answers, on top of two unchecked methods.

    A set defines `center`, ``_contains`` and ``_support``; input is checked here, once. How it
    learns is another matter: from rewards (`BaseConfidenceSet`), from halfspaces or transitions.

    A set that is empty, or refuted by the data, never answers with certainty: `contains` says
    False, `interval` what holds of any parameter (``_whatever``), `center` the estimate.
    """

    costly: ClassVar[bool] = False
    """Whether `support` and `interval` take as long as hundreds of updates."""

    standing: Standing | None = None
    """That of the policy whose set it is: what is known of the model beyond the set."""

    def __init__(self, dim: int) -> None:
        self._dim = dim
        self._warned_empty = False

    @property
    def dim(self) -> int:
        """Dimension d of the parameter."""
        return self._dim

    @property
    @abstractmethod
    def center(self) -> FloatArray:
        """Point estimate, shape (dim,); not necessarily a member."""

    @property
    def is_empty(self) -> bool:
        """True only off the 1 - failure_prob event or under misspecification."""
        return False

    @property
    def is_refuted(self) -> bool:
        """Whether the data refute the model, though something may be left of the set."""
        return self.standing is not None and self.standing.answers_nothing

    def contains(self, theta: npt.ArrayLike) -> bool:
        """Whether theta is a member (non-strict, 1e-9 relative slack)."""
        theta = validation.vector("theta", theta, self.dim)
        return not self.answers_nothing() and self._contains(theta)

    def support(self, X: npt.ArrayLike) -> FloatArray:
        """sup of <x, theta> over the set (or an upper bound of it) for the rows x of X."""
        rows = validation.matrix("X", X, self.dim)
        return self._whatever_support(rows) if self.answers_nothing() else self._support(rows)

    def interval(self, X: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
        """(lower, upper) = (-support(-X), support(X)); of an empty set, the reward range."""
        return self.checked_interval(validation.matrix("X", X, self.dim))

    def checked_interval(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """`interval` for rows that were checked already."""
        if self.answers_nothing():
            return self._whatever(X)
        lower, upper = self._interval(X)
        if (lower > upper).any():
            if self._cross(X, lower, upper):
                return self._whatever(X)
            lower, upper = np.minimum(lower, upper), np.maximum(lower, upper)
        return lower, upper

    def _cross(self, X: FloatArray, lower: FloatArray, upper: FloatArray) -> bool:
        """Whether ends cross by more than rounding: no parameter is left, which is told."""
        crossed = lower - upper > CROSSED * (self._scale(X) + np.abs(lower) + np.abs(upper))
        if crossed.any():
            self.warn_empty()
        return bool(crossed.any())

    def is_empty_along(self, X: FloatArray) -> bool:
        """Whether the ends for these rows show that no parameter is left."""
        lower, upper = self._interval(X)
        return bool((lower > upper).any()) and self._cross(X, lower, upper)

    def _upper_ends(self, X: FloatArray) -> FloatArray:
        """``_support`` of a set that defines ``_interval``."""
        lower, upper = self._interval(X)
        crossed = (lower > upper).any() and self._cross(X, lower, upper)
        return self._whatever_support(X) if crossed else upper

    @abstractmethod
    def _contains(self, theta: FloatArray) -> bool: ...

    @abstractmethod
    def _support(self, X: FloatArray) -> FloatArray: ...

    def _interval(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Ends for the rows of X; where they cross, nothing is left of the set."""
        return -self._support(-X), self._support(X)

    def _whatever(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Ends that hold whatever the parameter."""
        return np.full(len(X), -np.inf), np.full(len(X), np.inf)

    def _scale(self, X: FloatArray) -> FloatArray:
        """What ends are compared with to tell rounding from emptiness; 1 where nobody knows."""
        low, high = self._whatever(X)
        return np.where(np.isfinite(high - low), high - low, 1.0)

    def _whatever_support(self, X: FloatArray) -> FloatArray:
        """Upper bounds that hold whatever the parameter."""
        return self._whatever(X)[1]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} in R^{self.dim}>"

    def answers_nothing(self) -> bool:
        """Whether the set is empty or refuted; the first time that it is empty, say so."""
        if self.is_empty:
            self.warn_empty()
            return True
        return self.is_refuted

    def warn_empty(self) -> None:
        """Say, once, that nothing is left."""
        told = self._warned_empty
        if self.standing is not None:
            told = not self.standing.note(EMPTY, self._learnt()) or told
        if not told:
            notice.warn(
                f"{type(self).__name__} is empty: the failure_prob event happened, or the data do "
                "not fit the model (reward range, linearity, norm bound); intervals are the reward "
                "range from now on"
            )
        self._warned_empty = True

    def _learnt(self) -> int:
        """How many observations were learnt, where that is counted."""
        return 0


class BaseConfidenceSet(ParameterSet):
    """A set that learns from rewards, on top of unchecked methods.

    A set defines `center`, `n_observations`, ``_contains``, ``_support`` and ``_observe`` (and
    ``_observe_many``, where a compiled loop serves a batch).
    """

    def __init__(self, space: validation.ObservationSpace) -> None:
        super().__init__(space.dim)
        self._space = space

    @property
    @abstractmethod
    def n_observations(self) -> int:
        """How many rewards were learnt."""

    def update(self, x: npt.ArrayLike, reward: float) -> None:
        """Learn that playing x paid reward."""
        row = self._space.arm(x)
        reward = self._space.reward(reward)
        self._space.check_rounds(self.n_observations, 1)
        self._observe(row, reward)

    def partial_fit(self, X: npt.ArrayLike, rewards: npt.ArrayLike) -> None:
        """Many updates at once, the same result as one by one."""
        rows, y = self._space.batch(X, rewards)
        self._space.check_rounds(self.n_observations, len(y))
        self._observe_many(rows, y)

    def _learnt(self) -> int:
        return self.n_observations

    def _whatever(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        low, high = self._space.reward_limits
        return np.full(len(X), low), np.full(len(X), high)

    def _scale(self, X: FloatArray) -> FloatArray:
        return np.ones(len(X)) if self._space.reward_range is None else super()._scale(X)

    @abstractmethod
    def _observe(self, x: FloatArray, reward: float) -> None: ...

    def _observe_many(self, X: FloatArray, rewards: FloatArray) -> None:
        for x, reward in zip(X, rewards, strict=True):
            self._observe(x, float(reward))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} in R^{self.dim} after {self.n_observations} observations>"


class BallSet(BaseConfidenceSet):
    """A set whose members lie in the ball |theta - theta_center| <= theta_norm."""

    theta_norm: float
    theta_center: FloatArray

    def in_ball(self, theta: FloatArray) -> bool:
        """Whether theta lies in the ball (1e-9 relative slack)."""
        return self.offset(theta) <= self.theta_norm * (1.0 + validation.TOLERANCE)

    def offset(self, theta: FloatArray) -> float:
        """|theta - theta_center|."""
        return math.hypot(*(theta - self.theta_center))

    @property
    def is_at_edge(self) -> bool:
        """Whether the centre is within 1 % of the ball's surface, or beyond it."""
        return self.offset(self.center) >= NEAR_EDGE * self.theta_norm

    def _whatever_support(self, X: FloatArray) -> FloatArray:
        in_ball: FloatArray = X @ self.theta_center + self.theta_norm * np.linalg.norm(X, axis=1)
        return np.minimum(super()._whatever_support(X), in_ball)


class RuleSet(BallSet):
    """A set that learns, and says who is in it, by the functions of a policy's rule.

    Parameters
    ----------
    space
        What is accepted as an arm and a reward.
    state
        The policy's, whose type names the rule.
    unknown_variance
        What is taken for the variance of an observation that comes without one.
    """

    def __init__(
        self, space: validation.ObservationSpace, state: Any, unknown_variance: float
    ) -> None:
        super().__init__(space)
        self.rule_state = state
        self.unknown_variance = unknown_variance

    def _contains(self, theta: FloatArray) -> bool:
        return self.in_ball(theta) and bool(holds(self.rule_state, theta))

    def _observe(self, x: FloatArray, reward: float) -> None:
        observe_by(self.rule_state, x, reward, self.unknown_variance)

    def _observe_many(self, X: FloatArray, rewards: FloatArray) -> None:
        observe_many(self.rule_state, X, rewards, np.full(len(rewards), self.unknown_variance))
