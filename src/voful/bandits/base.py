"""What every bandit policy shares: checked input, seeds, save, repr."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Never

import numpy as np
import numpy.typing as npt

from voful import persistence, validation
from voful.bandits.optimism import (
    most_optimistic,
    most_optimistic_in_ellipsoid,
    most_optimistic_in_ellipsoids,
)
from voful.bandits.rounds import Kernels, State
from voful.confidence.algebra import dots
from voful.confidence.base import BaseConfidenceSet
from voful.confidence.ellipsoids.intersection import EllipsoidIntersection
from voful.confidence.ellipsoids.ridge import RidgeEllipsoid
from voful.typing import BoolArray, FloatArray, Path, Seed


class Policy(persistence.Persistent, ABC):
    """A linear bandit policy: `select` an arm, `update` with its reward.

    A policy defines ``_choose`` and ``_observe`` (and ``_observe_many`` where a compiled loop
    serves a batch) on checked input; the public methods are here, once. One that must be told the
    noise's variance sets ``needs_variance`` and defines ``_observe_with_variance`` instead.
    """

    needs_variance: ClassVar[bool] = False
    _kernels: ClassVar[Kernels | None] = None  # where compiled loops may play it: see `rounds`

    def __init__(self, space: validation.ObservationSpace, *, seed: Seed) -> None:
        self._space = space
        self._rng = np.random.default_rng(validation.seed(seed))
        self.seed = seed if isinstance(seed, np.random.SeedSequence) else int(seed)

    @property
    def dim(self) -> int:
        """Dimension d of the arms."""
        return self._space.dim

    @property
    def feature_norm(self) -> float:
        """Largest norm that an arm may have."""
        return self._space.feature_norm

    @property
    def reward_range(self) -> tuple[float, float] | None:
        """(low, high) of the rewards; None: any finite reward."""
        return self._space.reward_range

    @property
    @abstractmethod
    def confidence_set(self) -> BaseConfidenceSet | None:
        """Live view of the confidence set, None where the policy has no such set."""

    @property
    @abstractmethod
    def n_observations(self) -> int:
        """How many rewards were learnt."""

    def select(self, arms: npt.ArrayLike, mask: npt.ArrayLike | None = None) -> int:
        """Choose an arm.

        Parameters
        ----------
        arms
            (n_arms, dim) array; may change each round.
        mask
            (n_arms,) booleans: which arms may be played; None: all.

        Returns
        -------
        int
            Row of `arms` to play.
        """
        rows = self._space.arms(arms)
        return self._choose(rows, self._space.mask(mask, rows.shape[0]))

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
            self._observe_with_variance(row, reward, self._space.variance(variance))
            return
        if variance is not None:
            self._refuse("variance", variance)
        self._observe(row, reward)

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
            for row, reward, variance in zip(rows, y, told, strict=True):
                self._observe_with_variance(row, float(reward), float(variance))
            return
        if variances is not None:
            self._refuse("variances", variances)
        self._observe_many(rows, y)

    def _refuse(self, name: str, value: object) -> Never:
        raise validation.fail(name, value, f"nothing: {type(self).__name__} is not told it")

    def index(self, arms: npt.ArrayLike) -> tuple[FloatArray, FloatArray, FloatArray]:
        """(mean, lower, upper) of each arm's expected reward, each of shape (n_arms,)."""
        rows = self._space.arms(arms)
        return self._index(rows)

    def predict(self, X: npt.ArrayLike) -> FloatArray:
        """Estimated expected reward of the rows of X."""
        return self._predict(validation.matrix("X", X, self.dim))

    def save(self, path: Path) -> None:
        """Write the policy to one file (arrays and JSON); `voful.load` continues it exactly."""
        persistence.save(self, path)

    @abstractmethod
    def _choose(self, arms: FloatArray, mask: BoolArray) -> int: ...

    def _observe(self, x: FloatArray, reward: float) -> None:
        raise AttributeError(f"{type(self).__name__} must define _observe")

    def _observe_with_variance(self, x: FloatArray, reward: float, variance: float) -> None:
        raise AttributeError(f"{type(self).__name__} must define _observe_with_variance")

    @abstractmethod
    def _predict(self, X: FloatArray) -> FloatArray: ...

    @abstractmethod
    def _index(self, arms: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]: ...

    def _observe_many(self, X: FloatArray, rewards: FloatArray) -> None:
        for x, reward in zip(X, rewards, strict=True):
            self._observe(x, float(reward))

    def _state(self, n_arms: int) -> State:
        """What the kernels of ``_kernels`` take first, among n_arms arms; live until it grows."""
        raise AttributeError(f"{type(self).__name__} must define _state")

    def _reserve(self, rounds: int, n_arms: int) -> None:
        """Room for so many more rewards, of at most so many arms, where the state grows."""

    def __repr__(self) -> str:
        return f"{super().__repr__()} after {self.n_observations} observations"


class OptimisticPolicy(Policy):
    """Optimism over one confidence set, which learns everything there is to learn."""

    _parts: ClassVar[tuple[str, ...]] = ("confidence_set",)

    @property
    @abstractmethod
    def confidence_set(self) -> BaseConfidenceSet:
        """Live view of the confidence set."""

    def _choose(self, arms: FloatArray, mask: BoolArray) -> int:
        lower, upper = self.confidence_set.checked_interval(arms)
        return int(most_optimistic(upper, upper - lower, mask))

    def _observe(self, x: FloatArray, reward: float) -> None:
        self.confidence_set._observe(x, reward)

    def _observe_many(self, X: FloatArray, rewards: FloatArray) -> None:
        self.confidence_set._observe_many(X, rewards)

    def _predict(self, X: FloatArray) -> FloatArray:
        return dots(X, self.confidence_set.center)

    def _index(self, arms: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        return self._predict(arms), *self.confidence_set.checked_interval(arms)

    @property
    def n_observations(self) -> int:
        """How many rewards were learnt."""
        return self.confidence_set.n_observations


class EllipsoidPolicy(OptimisticPolicy):
    """Optimism over one ellipsoid: argmax_x <x, center> + radius |x|_{M^-1}, in one kernel."""

    @property
    @abstractmethod
    def confidence_set(self) -> RidgeEllipsoid:
        """Live view of the ellipsoid."""

    def _choose(self, arms: FloatArray, mask: BoolArray) -> int:
        Theta = self.confidence_set
        return most_optimistic_in_ellipsoid(
            arms, mask, Theta._center, Theta.whitener, Theta.usable_radius()
        )


class IntersectionPolicy(OptimisticPolicy):
    """Optimism over several ellipsoids: the index is the least of their bounds, in one kernel."""

    @property
    @abstractmethod
    def confidence_set(self) -> EllipsoidIntersection:
        """Live view of the intersection."""

    def _choose(self, arms: FloatArray, mask: BoolArray) -> int:
        Theta = self.confidence_set
        return most_optimistic_in_ellipsoids(
            arms, mask, Theta.centers, Theta.whiteners, Theta.usable_radii()
        )
