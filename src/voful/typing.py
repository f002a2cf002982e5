"""Array aliases and the protocols that tie the layers together.

A confidence set is an object; an algorithm assembles one; an environment knows neither.
"""

from __future__ import annotations

from os import PathLike
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
Path: TypeAlias = str | PathLike[str]
Seed: TypeAlias = int | np.random.SeedSequence


@runtime_checkable
class ConfidenceSet(Protocol):
    """A random set Theta that contains theta* with probability at least 1 - failure_prob."""

    @property
    def dim(self) -> int:
        """Dimension d of the parameter."""

    @property
    def center(self) -> FloatArray:
        """Point estimate, shape (dim,); not necessarily a member."""

    @property
    def is_empty(self) -> bool:
        """True only off the 1 - failure_prob event or under misspecification."""

    def contains(self, theta: npt.ArrayLike) -> bool:
        """Whether theta is a member (non-strict, 1e-9 relative slack)."""

    def support(self, X: npt.ArrayLike) -> FloatArray:
        """sup of <x, theta> over the set (or an upper bound of it) for the rows x of X."""

    def interval(self, X: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
        """(lower, upper) = (-support(-X), support(X))."""


@runtime_checkable
class BanditPolicy(Protocol):
    """What the loop needs of a linear bandit algorithm."""

    @property
    def dim(self) -> int:
        """Dimension d of the arms."""

    @property
    def confidence_set(self) -> ConfidenceSet | None:
        """Live view of the policy's confidence set, None where it has no such set."""

    def select(self, arms: npt.ArrayLike, mask: npt.ArrayLike | None = None) -> int:
        """Index of the arm to play."""

    def update(self, x: npt.ArrayLike, reward: float, *, variance: float | None = None) -> None:
        """Learn that playing x paid reward (with the true variance, if the policy asks)."""

    def partial_fit(
        self, X: npt.ArrayLike, rewards: npt.ArrayLike, *, variances: npt.ArrayLike | None = None
    ) -> None:
        """Many updates at once, the same result as one by one."""

    def save(self, path: Path) -> None:
        """Write the policy to one file that `voful.load` continues bit for bit."""


class Plan(Protocol):
    """The optimistic plan of an episodic agent."""

    @property
    def value(self) -> float:
        """Optimistic value at the initial state."""

    @property
    def episodes(self) -> int:
        """How many episodes to run before planning again."""

    @property
    def actions(self) -> IntArray:
        """(N+1, S) actions by the number n of steps to go; row N stands for n >= N as well."""

    def action(self, h: int, s: int) -> int:
        """Action at step h = 0..H-1 in state s."""


@runtime_checkable
class EpisodicAgent(Protocol):
    """What the loop needs of an algorithm for linear mixture MDPs."""

    @property
    def confidence_set(self) -> ConfidenceSet | None:
        """Live view over theta in R^d, None for tabular agents."""

    def plan(self) -> Plan:
        """The current plan; the same one until `plan.episodes` updates arrived."""

    def update(self, states: npt.ArrayLike, actions: npt.ArrayLike) -> None:
        """Learn from one trajectory, states (T+1,) and actions (T,)."""

    def update_many(
        self, states: npt.ArrayLike, actions: npt.ArrayLike, lengths: npt.ArrayLike
    ) -> None:
        """Learn from trajectories states[i, :T_i+1], actions[i, :T_i]; as one by one."""
