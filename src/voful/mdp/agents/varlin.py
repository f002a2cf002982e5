"""VARLin: the paper's Algorithm 2, computable."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import numpy.typing as npt

from voful import validation
from voful.confidence.mixture.moments import MomentSet
from voful.mdp.counting import CountingAgent
from voful.mdp.model import LinearMixtureModel
from voful.mdp.planning import OptimisticPlan, time_blocks
from voful.typing import FloatArray, Seed

FLAT = 1e-12
"""A row of values that spans less tells nothing about the next state."""


class VARLin(CountingAgent):
    """Variance-aware RL with linear function approximation [1], Algorithm 2.

    Regret O~(d^4.5 sqrt(K) + d^9) in expectation with the paper's set, whatever the horizon. The
    guarantee of the set (theta* stays with probability 1 - failure_prob) is proved for every
    setting here but scales below 1; regret of the computable version is measured, not proved.

    Differs from the paper: (1) the parameter set is the simplex where base models are
    probability kernels, which is exact; (2) one value row stands for a block of neighbouring
    steps, shifted and scaled to [0, 1]; (3) finitely many tests, see `MomentSet`; (4) the set
    is renewed when a plan's episodes are over, not after each episode; (5) from d = 5 on
    the maximum over the set is an upper bound by two boxes. With constants="paper" and given
    `directions` neither (2) nor (3) applies: every step has its own value row, as printed, and
    all moments, layers and levels are tested along these directions.

    Parameters
    ----------
    model
        What is known of the MDP.
    n_episodes
        K.
    failure_prob
        delta. None: 1 / K, with which the bound on the regret, at most K where the set fails,
        holds in expectation (the proof of Theorem "main_rl").
    constants, moments, directions, iota_scale, width_scale
        See `MomentSet`.
    seed
        Unused by the algorithm itself, which is deterministic.

    References
    ----------
    [1] Zhang, Yang, Ji, Du. Improved variance-aware confidence sets for linear bandits and linear
        mixture MDP. NeurIPS 2021.
    """

    _arrays: ClassVar[tuple[str, ...]] = (*CountingAgent._arrays, "_targets")
    _growing: ClassVar[tuple[str, ...]] = (*CountingAgent._growing, "_targets")
    _layering: ClassVar[str] = "varlin"

    def __init__(
        self,
        model: LinearMixtureModel,
        *,
        n_episodes: int,
        failure_prob: float | None = 0.05,
        constants: str = "bernstein",
        moments: int | None = None,
        directions: npt.ArrayLike | None = None,
        iota_scale: float = 1.0,
        width_scale: float = 1.0,
        seed: Seed = 0,
    ) -> None:
        if failure_prob is None:
            failure_prob = 1.0 / max(2, validation.positive_int("n_episodes", n_episodes))
        super().__init__(model, n_episodes=n_episodes, failure_prob=failure_prob, seed=seed)
        self._Theta = MomentSet(
            model.dim,
            horizon=model.horizon,
            n_episodes=self.n_episodes,
            failure_prob=self.failure_prob,
            constants=constants,
            moments=moments,
            directions=directions,
            iota_scale=iota_scale,
            width_scale=width_scale,
            simplex=model.stochastic,
            layering=self._layering,
        )
        self._targets = np.zeros((1, model.n_states))  # one row for each block of steps
        self._empty_counts(np.zeros(1, dtype=np.int64))

    @property
    def confidence_set(self) -> MomentSet:
        """Live view of Theta; it learns when the episodes of a plan are over."""
        return self._Theta

    @property
    def constants(self) -> str:
        """Which tests."""
        return self._Theta.constants

    @property
    def moments(self) -> int:
        """M: moments m = 0..M-1 are tested."""
        return self._Theta.moments

    @property
    def directions(self) -> FloatArray | None:
        """The given mu, if any."""
        return self._Theta.directions

    @property
    def iota_scale(self) -> float:
        """What iota is multiplied with."""
        return self._Theta.iota_scale

    @property
    def width_scale(self) -> float:
        """What the right side of the tests is multiplied with."""
        return self._Theta.width_scale

    # Lines 3-7 (optimistic planning) are `CountingAgent._make_plan`, lines 8-10 (what happened) its
    # `_count`; lines 11-16 (the confidence set) follow, once for all episodes of a plan.

    def _open(self, plan: OptimisticPlan) -> None:
        """Freeze what the coming transitions are tested with: V, or one row for a block of V's."""
        literal = self._Theta.literal
        row = np.arange(len(plan.values)) if literal else time_blocks(plan.values)
        rows, block = np.unique(row, return_inverse=True)
        self._empty_counts(block.astype(np.int64))
        self._targets = plan.values[rows] if literal else to_unit_span(plan.values[rows])

    def _construct_set(self) -> None:
        """Algorithm 2, lines 12-16, for all transitions that were counted."""
        seen = self._counts.any(axis=3) & (np.ptp(self._targets, axis=1) > 0.0)[:, None, None]
        block, s, a = np.nonzero(seen)
        self._Theta.learn(
            self.model.probabilities[s, a],
            self._targets[block[:, None], self.model.successors[s, a]],
            self._counts[block, s, a],
        )

    def inputs(self, states: npt.ArrayLike, actions: npt.ArrayLike, m: int = 0) -> FloatArray:
        """x^m_{k,h} (line 12) of the steps of a trajectory under the current plan, shape (T, d)."""
        power = 2.0 ** validation.nonnegative_int("m", m)
        path, taken = self.model.check_trajectory(states, actions)
        values = self.plan().values
        rows = np.minimum(self.model.horizon - 1 - np.arange(len(taken)), len(values) - 1)
        V = values[rows[:, None], self.model.successors[path[:-1], taken]] ** power
        X: FloatArray = np.einsum("hbi,hb->hi", self.model.probabilities[path[:-1], taken], V)
        return X


def to_unit_span(V: FloatArray) -> FloatArray:
    """(V - min V) / span(V) for each row; 0 where it is flat."""
    low = V.min(axis=1, keepdims=True)
    span = V.max(axis=1, keepdims=True) - low
    return np.where(span > FLAT, (V - low) / np.where(span > FLAT, span, 1.0), 0.0)
