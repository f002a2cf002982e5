"""What every confidence set shares: checked input, intervals, and what an empty set answers."""

from __future__ import annotations

import math
import warnings
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from voful import validation
from voful.confidence.algebra import dots
from voful.confidence.rule import Rule, holds, observe_many
from voful.persistence import Stateful
from voful.typing import FloatArray


class ParameterSet(Stateful, ABC):
    """The questions that every set of parameters answers, on top of two unchecked methods.

    A set defines `center`, ``_contains`` and ``_support``; input is checked here, once. How it
    learns is another matter: from rewards (`BaseConfidenceSet`), from halfspaces or transitions.
    """

    costly: ClassVar[bool] = False
    """Whether `support` and `interval` take as long as hundreds of updates."""

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

    def contains(self, theta: npt.ArrayLike) -> bool:
        """Whether theta is a member (non-strict, 1e-9 relative slack)."""
        theta = validation.vector("theta", theta, self.dim)
        return not self.warn_if_empty() and self._contains(theta)

    def support(self, X: npt.ArrayLike) -> FloatArray:
        """sup of <x, theta> over the set (or an upper bound of it) for the rows x of X."""
        rows = validation.matrix("X", X, self.dim)
        return self._means(rows) if self.warn_if_empty() else self._support(rows)

    def interval(self, X: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
        """(lower, upper) = (-support(-X), support(X))."""
        return self.checked_interval(validation.matrix("X", X, self.dim))

    def checked_interval(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """`interval` for rows that were checked already."""
        if self.warn_if_empty():
            mean = self._means(X)
            return mean, mean.copy()
        return self._interval(X)

    @abstractmethod
    def _contains(self, theta: FloatArray) -> bool: ...

    @abstractmethod
    def _support(self, X: FloatArray) -> FloatArray: ...

    def _interval(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        return -self._support(-X), self._support(X)

    def _means(self, X: FloatArray) -> FloatArray:
        return dots(X, self.center)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} in R^{self.dim}>"

    def warn_if_empty(self) -> bool:
        """Whether the set is empty; the first time that it is, say so."""
        empty = self.is_empty
        if empty:
            self.warn_empty()
        return empty

    def warn_empty(self) -> None:
        """Say, once, that nothing is left."""
        if not self._warned_empty:
            self._warned_empty = True
            warnings.warn(
                f"{type(self).__name__} is empty: the failure_prob event happened, or the data do "
                "not fit the model (reward range, linearity, norm bound); falling back to center",
                RuntimeWarning,
                stacklevel=4,
            )


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
        offset = math.hypot(*(theta - self.theta_center))
        return offset <= self.theta_norm * (1.0 + validation.TOLERANCE)


class RuleSet(BallSet):
    """A set that learns, and says who is in it, by the functions of a policy's rule.

    Parameters
    ----------
    space
        What is accepted as an arm and a reward.
    state, rule
        The policy's.
    unknown_variance
        What is taken for the variance of an observation that comes without one.
    """

    def __init__(
        self, space: validation.ObservationSpace, state: Any, rule: Rule, unknown_variance: float
    ) -> None:
        super().__init__(space)
        self.rule_state = state
        self.rule = rule
        self.unknown_variance = unknown_variance

    def _contains(self, theta: FloatArray) -> bool:
        return self.in_ball(theta) and bool(holds(self.rule_state, theta))

    def _observe(self, x: FloatArray, reward: float) -> None:
        self.rule.observe(*self.rule_state, x, reward, self.unknown_variance)

    def _observe_many(self, X: FloatArray, rewards: FloatArray) -> None:
        observe_many(self.rule_state, X, rewards, np.full(len(rewards), self.unknown_variance))
