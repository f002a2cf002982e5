"""UCBVI: value iteration with an exploration bonus on the empirical transitions."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from voful import validation
from voful.compiled import kernel
from voful.mdp.model import LinearMixtureModel
from voful.mdp.planning import OptimisticPlan, backward_induction
from voful.mdp.tabular import TabularAgent, empirical_moments
from voful.mdp.trajectories import successor_index
from voful.typing import BoolArray, FloatArray, IntArray, Seed

MOST_NUMBERS = 10**8
"""In the table of Q, which has H S A of them."""


@kernel
def count_steps(
    successors: IntArray,
    n_successors: IntArray,
    states: IntArray,
    actions: IntArray,
    lengths: IntArray,
    counts: IntArray,
    visits: IntArray,
) -> None:
    """counts[s, a, b] += 1 for each transition, visits[h, s] += 1 where visits has such a row."""
    rows = visits.shape[0]
    for k in range(lengths.shape[0]):
        for h in range(lengths[k] + 1):
            s = states[k, h]
            if h < rows:
                visits[h, s] += 1
            if h < lengths[k]:
                a = actions[k, h]
                b = successor_index(successors, n_successors, s, a, states[k, h + 1])
                counts[s, a, b] += 1


@kernel
def hoeffding_backup(
    successors: IntArray,
    counts: IntArray,
    rewards: FloatArray,
    known: BoolArray,
    V: FloatArray,
    L: float,
    width: float,
    Q: FloatArray,
) -> None:
    """Lower Q to r + P_hat V + 7 L / sqrt(N) where that is less."""
    for s in range(Q.shape[0]):
        for a in range(Q.shape[1]):
            N, mean, _ = empirical_moments(counts[s, a], successors[s, a], V)
            if known[s]:
                Q[s, a] = 0.0
            elif N > 0:
                bonus = 7.0 * L / math.sqrt(N)  # Algorithm 3
                Q[s, a] = min(Q[s, a], rewards[s, a] + mean + width * bonus)


@kernel
def bernstein_backup(
    successors: IntArray,
    counts: IntArray,
    rewards: FloatArray,
    known: BoolArray,
    V: FloatArray,
    errors: FloatArray,
    L: float,
    width: float,
    Q: FloatArray,
) -> None:
    """Lower Q to r + P_hat V + bonus; errors[y] bounds the square of V(y) - V*(y)."""
    for s in range(Q.shape[0]):
        for a in range(Q.shape[1]):
            N, mean, variance = empirical_moments(counts[s, a], successors[s, a], V)
            if known[s]:
                Q[s, a] = 0.0
            elif N > 0:
                error = 0.0
                for b in range(counts.shape[2]):
                    error += counts[s, a, b] / N * errors[successors[s, a, b]]
                bonus = (  # Algorithm 4
                    math.sqrt(8.0 * L * variance / N)
                    + 14.0 * L / (3.0 * N)
                    + math.sqrt(8.0 * error / N)
                )
                Q[s, a] = min(Q[s, a], rewards[s, a] + mean + width * bonus)


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
    O~(sqrt(S A K) + sqrt(H K) + H S^2 A) with bernstein.

    Differs from the paper: (1) values up to 1, as above; (2) plans last for an epoch of episodes
    (see `Agent`) instead of one; (3) absorbing states are known, with value 0 and no error;
    (4) of actions that tie, a least tried one is played.

    Parameters
    ----------
    model
        What is known of the MDP; see `TabularAgent`.
    n_episodes
        K.
    failure_prob
        delta.
    bonus
        "hoeffding" (UCBVI-CH) or "bernstein" (UCBVI-BF).
    known_absorbing, width_scale
        See `TabularAgent`.
    seed
        Unused by the algorithm itself, which is deterministic.

    References
    ----------
    [1] Azar, Osband, Munos. Minimax regret bounds for reinforcement learning. ICML 2017.
    """

    _arrays: ClassVar[tuple[str, ...]] = (*TabularAgent._arrays, "_Q", "_visits")

    def __init__(
        self,
        model: LinearMixtureModel,
        *,
        n_episodes: int,
        failure_prob: float = 0.05,
        bonus: str = "bernstein",
        known_absorbing: bool = True,
        width_scale: float = 1.0,
        seed: Seed = 0,
    ) -> None:
        super().__init__(
            model,
            n_episodes=n_episodes,
            failure_prob=failure_prob,
            known_absorbing=known_absorbing,
            width_scale=width_scale,
            seed=seed,
        )
        self.bonus = validation.choice("bonus", bonus, ("hoeffding", "bernstein"))
        S, A, H = model.n_states, model.n_actions, model.horizon
        if H * S * A > MOST_NUMBERS:
            allowed = f"horizon x states x actions at most {MOST_NUMBERS:.0e}"
            raise validation.fail("model", model, allowed)
        self._L = math.log(5.0 * S * A * self.n_episodes * H / self.failure_prob)
        self._Q = np.ones((H, S, A))
        rows = H + 1 if self.bonus == "bernstein" else 0
        self._visits = np.zeros((rows, S), dtype=np.int64)  # N'

    def _count(self, states: IntArray, actions: IntArray, lengths: IntArray) -> None:
        model = self.model
        count_steps(
            model.successors,
            model.n_successors,
            states,
            actions,
            lengths,
            self._counts,
            self._visits,
        )

    def _make_plan(self) -> OptimisticPlan:
        steps = iter(range(self.model.horizon - 1, -1, -1))

        def backup(V: FloatArray) -> FloatArray:  # Algorithm 2
            h = next(steps)
            Q: FloatArray = self._Q[h]
            self._lower(Q, V, h)
            return Q

        tried = self._counts.sum(axis=2)
        # Every step has its own row.
        return backward_induction(self.model, backup, tolerance=-1.0, tried=tried)

    def _lower(self, Q: FloatArray, V: FloatArray, h: int) -> None:
        model, L = self.model, self._L
        known, width = self._known, self.width_scale
        if self.bonus == "hoeffding":
            hoeffding_backup(model.successors, self._counts, model.rewards, known, V, L, width, Q)
        else:
            bernstein_backup(
                model.successors,
                self._counts,
                model.rewards,
                known,
                V,
                self._errors(h + 1),
                L,
                width,
                Q,
            )

    def _errors(self, h: int) -> FloatArray:
        """min(100^2 H S^2 A L^2 / N'_h(y), 1) for each state y."""
        S, A, H = self.model.n_states, self.model.n_actions, self.model.horizon
        errors: FloatArray = np.minimum(
            1e4 * H * S**2 * A * self._L**2 / np.maximum(self._visits[h], 1), 1.0
        )
        errors[self._known] = 0.0
        return errors
