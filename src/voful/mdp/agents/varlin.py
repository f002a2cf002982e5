"""VARLin: the paper's Algorithm 2, computable."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, cast

import numpy as np
import numpy.typing as npt

from voful import validation
from voful.confidence.mixture.moments import MomentSet
from voful.mdp import arguments as given
from voful.mdp.counting import CountingAgent, block_targets
from voful.mdp.planning import OptimisticPlan, plan_over_mixtures
from voful.parameters import parameter
from voful.typing import FloatArray, Seed


class VARLin(CountingAgent):
    """Variance-aware RL with linear function approximation [1], Algorithm 2.

    Regret O~(d^4.5 sqrt(K) + d^9) in expectation with the paper's set, whatever the horizon. The
    guarantee of the set (theta* stays with probability 1 - failure_prob) is proved for every
    setting here but scales below 1; regret of the computable version is measured, not proved.

    Differs from the paper: (1) the parameter set is the simplex where base models are
    probability kernels, which is exact; (2) one value row stands for a block of neighbouring
    steps, shifted and scaled to [0, 1]; (3) finitely many tests, see `MomentSet`; (4) the set
    is renewed when a plan is over, not after each episode; (5) from d = 5 on
    the maximum over the set is an upper bound by two boxes. With constants="paper" and given
    `directions` neither (2) nor (3) applies: every step has its own value row, as printed, and
    all moments, layers and levels are tested along these directions.

    References
    ----------
    [1] Zhang, Yang, Ji, Du. Improved variance-aware confidence sets for linear bandits and linear
        mixture MDP. NeurIPS 2021.
    """

    _layering: ClassVar[str] = "varlin"

    failure_prob: float | None = parameter(
        validation.probability,
        "delta. None: 1 / K, with which the bound on the regret, at most K where the set fails, "
        'holds in expectation (the proof of Theorem "main_rl").',
        default=0.05,
        derived=lambda agent: 1.0 / max(2, agent.n_episodes),
    )
    constants: str = given.of_the_set(
        '"bernstein", "mgf" or "paper": the tests, see `MomentSet`.', "bernstein"
    )
    moments: int | None = given.of_the_set(
        'M: m = 0..M-1. None: all of the paper\'s for "paper", else 3.', None
    )
    directions: npt.ArrayLike | None = given.of_the_set(
        '(n, d) the mu to test along (both signs), literal for "paper"; None: chosen by dimension.',
        None,
    )
    iota_scale: float = given.width_scale('Multiplies iota (constants="paper" only).')
    width_scale: float = given.width_scale(
        "Multiplies the right side of the tests (1 = the theory)."
    )
    seed: Seed = given.seed()

    def _build(self) -> None:
        super()._build()
        self._Theta = MomentSet(  # Algorithm 2, line 1
            self.dim,
            horizon=self.model.horizon,
            n_episodes=self.n_episodes,
            failure_prob=cast(float, self.failure_prob),
            constants=self.constants,
            moments=self.moments,
            directions=self.directions,
            iota_scale=self.iota_scale,
            width_scale=self.width_scale,
            simplex=self.model.stochastic,
            layering=self._layering,
        )
        self.moments, self.directions = self._Theta.moments, self._Theta.directions

    @classmethod
    def _least_numbers(cls, config: Mapping[str, Any]) -> int:
        dim, moments = int(config["model"].dim), config.get("moments")
        return (dim - 1) ** 2 + (moments or 0 if config.get("constants") != "paper" else 0)

    @property
    def confidence_set(self) -> MomentSet:
        """Live view of Theta; it learns when a plan is over."""
        return self._Theta

    def _make_plan(self) -> OptimisticPlan:
        """Algorithm 2, lines 3-7, and what transitions are tested with: V, or a row for a block."""
        self._end_epoch()  # episodes that were learnt beyond those of the last plan
        plan = plan_over_mixtures(self.model, self._Theta)
        if self._Theta.literal:
            self._counter.count_under(plan.values, np.arange(len(plan.values)))
        else:
            self._counter.count_under(*block_targets(plan.values))
        return plan

    def _end_epoch(self) -> None:
        """Algorithm 2, lines 11-16, once for all episodes of the plan, and for those after.

        Lines 8-10, what happened in some of them, were counted.
        """
        self._counter.hand_over(self._Theta.learn)

    def inputs(self, states: npt.ArrayLike, actions: npt.ArrayLike, m: int = 0) -> FloatArray:
        """x^m_{k,h} (line 12) of the steps of a trajectory under the current plan, shape (T, d)."""
        power = 2.0 ** validation.nonnegative_int("m", m)
        path, taken = self.model.check_trajectory(states, actions)
        values = self.plan().values
        rows = np.minimum(self.model.horizon - 1 - np.arange(len(taken)), len(values) - 1)
        V = values[rows[:, None], self.model.successors[path[:-1], taken]] ** power
        X: FloatArray = np.einsum("hbi,hb->hi", self.model.probabilities[path[:-1], taken], V)
        return X
