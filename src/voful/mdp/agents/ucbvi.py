"""UCBVI: value iteration with an exploration bonus on the empirical transitions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from voful import validation
from voful.archive import Arrays
from voful.compiled import kernel
from voful.invariants import Invariants, between, whole
from voful.mdp import arguments as given
from voful.mdp.counting import count_transitions
from voful.mdp.planning import OptimisticPlan, backward_induction
from voful.mdp.tabular import Table, TabularAgent, empirical_moments
from voful.mdp.trajectories import Walks
from voful.typing import FloatArray, Seed

MOST_NUMBERS = 10**8
"""In the table of Q, which has H S A of them."""


@kernel
def ucbvi_backup(
    table: Table, V: FloatArray, errors: FloatArray, L: float, width: float, Q: FloatArray
) -> None:
    """Lower Q to r + P_hat V + bonus where that is less.

    errors[y] bounds the square of V(y) - V*(y); empty: Hoeffding's bonus, which needs none.
    """
    for s in range(Q.shape[0]):
        for a in range(Q.shape[1]):
            count, successors = table.counts[s, a], table.successors[s, a]
            N, mean, variance = empirical_moments(count, successors, V)
            if table.known[s]:
                Q[s, a] = 0.0
            elif N > 0:
                if errors.shape[0] == 0:
                    bonus = 7.0 * L / math.sqrt(N)  # Algorithm 3
                else:
                    error = 0.0
                    for b in range(count.shape[0]):
                        error += count[b] / N * errors[successors[b]]
                    bonus = (  # Algorithm 4
                        math.sqrt(8.0 * L * variance / N)
                        + 14.0 * L / (3.0 * N)
                        + math.sqrt(8.0 * error / N)
                    )
                Q[s, a] = min(Q[s, a], table.rewards[s, a] + mean + width * bonus)


class UCBVI(TabularAgent):
    """Upper confidence bound value iteration [1], Algorithms 1-4, for known rewards.

    With L = ln(5 S A K H / delta), N visits of (s, a) and N'_h(y) visits of y at step h,

        Q_h(s, a) = min(Q_h of the last plan, 1, r + P_hat V_{h+1} + b_h(s, a)),
        hoeffding:  b = 7 L / sqrt(N),
        bernstein:  b = sqrt(8 L Var_{P_hat}(V_{h+1}) / N) + 14 L / (3 N)
                        + sqrt((8 / N) sum_y P_hat(y) min(100^2 H S^2 A L^2 / N'_{h+1}(y), 1)).

    The paper has rewards in [0, 1], so values up to H; here no episode pays more than 1 in all.
    Its b with values up to R is linear in R: 7 R L / sqrt(N), 14 R L / (3 N), R^2 in place of
    H^2, and R^2 H in place of H^3: that term is the square of a bound R L sqrt(H S^2 A / N') on the
    error V - V*, a sum of bonuses of H steps averaged over N' visits. R = H is the paper, R = 1
    is this. So rewards in [0, 1], divided by H, make the printed algorithm with all its values
    divided by H.

    Regret (the paper's, divided by H): O~(sqrt(H S A K) + H S^2 A) with hoeffding and
    O~(sqrt(S A K) + sqrt(H K) + H S^2 A) with bernstein, for plans that are made for each episode.
    Here V >= V* is proved, regret is measured.

    Differs from the paper: (1) values up to 1, as above; (2) plans are renewed when there is news
    (see `Agent`), not for each episode; (3) absorbing states are known, with value 0 and no error;
    (4) of actions that tie, a least tried one is played.

    References
    ----------
    [1] Azar, Osband, Munos. Minimax regret bounds for reinforcement learning. ICML 2017.
    """

    _arrays: ClassVar[tuple[str, ...]] = (*TabularAgent._arrays, "_Q", "_visits")

    bonus: str = given.choice(
        '"hoeffding" (UCBVI-CH) or "bernstein" (UCBVI-BF).',
        "hoeffding",
        "bernstein",
        default="bernstein",
    )
    known_absorbing: bool = given.known_absorbing()
    width_scale: float = given.width_scale("Multiplies every bonus (1 = the theory).")
    seed: Seed = given.seed()

    def _build(self) -> None:
        super()._build()
        S, A, H = self.model.n_states, self.model.n_actions, self.model.horizon
        if H * S * A > MOST_NUMBERS:
            allowed = f"horizon x states x actions at most {MOST_NUMBERS:.0e}"
            raise validation.fail("model", self.model, allowed)
        self._L = math.log(5.0 * S * A * self.n_episodes * H / self.failure_prob)
        self._Q = np.ones((H, S, A))
        rows = H + 1 if self.bonus == "bernstein" else 0
        self._visits = np.zeros((rows, S), dtype=np.int64)  # N'

    @classmethod
    def _least_numbers(cls, config: Mapping[str, Any]) -> int:
        model = config["model"]
        return int(model.horizon * model.n_states * model.n_actions)

    def _invariants(self, state: Arrays) -> Invariants:
        yield from super()._invariants(state)
        yield "bounds in [0, 1]", between(state["_Q"], 0.0, 1.0)
        yield "visits", whole(state["_visits"])

    def _count(self, walks: Walks) -> None:
        model, one_target = self.model, np.zeros(1, dtype=np.int64)
        count_transitions(model.transitions, one_target, model.horizon, walks, self._counts[None])
        if self.bonus == "bernstein":
            for path, length in zip(walks.states, walks.lengths, strict=True):
                self._visits[np.arange(length + 1), path[: length + 1]] += 1

    def _make_plan(self) -> OptimisticPlan:
        table = self._table(self._counts)
        steps = iter(range(self.model.horizon - 1, -1, -1))

        def backup(V: FloatArray) -> FloatArray:  # Algorithm 2 of [1]
            h = next(steps)
            Q: FloatArray = self._Q[h]
            ucbvi_backup(table, V, self._errors(h + 1, table), self._L, self.width_scale, Q)
            return Q

        tried = self._counts.sum(axis=2)
        # Every step has its own row.
        return backward_induction(self.model, backup, tolerance=-1.0, tried=tried)

    def _errors(self, h: int, table: Table) -> FloatArray:
        """min(100^2 H S^2 A L^2 / N'_h(y), 1) for each state y; of Hoeffding's bonus, none."""
        if self.bonus == "hoeffding":
            return np.empty(0)
        S, A, H = self.model.n_states, self.model.n_actions, self.model.horizon
        errors: FloatArray = np.minimum(
            1e4 * H * S**2 * A * self._L**2 / np.maximum(self._visits[h], 1), 1.0
        )
        errors[table.known] = 0.0
        return errors
