"""MVP: monotonic value propagation."""

from __future__ import annotations

import math
from typing import ClassVar, NamedTuple

import numpy as np

from voful.archive import Arrays
from voful.compiled import kernel
from voful.invariants import Invariants, whole
from voful.mdp import arguments as given
from voful.mdp.planning import FIXED_POINT, OptimisticPlan, backward_induction
from voful.mdp.tabular import Table, TabularAgent, empirical_moments
from voful.mdp.trajectories import Transitions, Walks, successor_index
from voful.typing import FloatArray, IntArray, Seed

SHARP = 0.5 * (math.sqrt(2.0) + math.sqrt(34.0 / 3.0))
"""The least c with sqrt(2) u + 7/3 w <= max(c u, c^2 w) for u, w >= 0: c^2 = sqrt(2) c + 7/3."""


class Bonus(NamedTuple):
    """c1 sqrt(Var iota / m) and c2 iota / m, m = n - less: their sum, or the larger one."""

    c1: float
    c2: float
    iota: float
    less: int
    add: bool


@kernel
def count_and_freeze(
    transitions: Transitions, walks: Walks, counts: IntArray, visits: IntArray, frozen: IntArray
) -> bool:
    """Count; where n(s, a) becomes a power of 2, its row is frozen anew. Whether one was."""
    successors, n_successors, _ = transitions
    states, actions, lengths = walks
    triggered = False
    for k in range(lengths.shape[0]):
        for h in range(lengths[k]):
            s, a = states[k, h], actions[k, h]
            b = successor_index(successors, n_successors, s, a, states[k, h + 1])
            counts[s, a, b] += 1
            visits[s, a] += 1
            n = visits[s, a]
            if n & (n - 1) == 0:
                for i in range(counts.shape[2]):
                    frozen[s, a, i] = counts[s, a, i]
                triggered = True
    return triggered


@kernel
def mvp_backup(table: Table, V: FloatArray, bonus: Bonus, Q: FloatArray) -> None:
    """Q = r + P_hat V + bonus, at most 1; 1 where there are fewer than two counts."""
    for s in range(Q.shape[0]):
        for a in range(Q.shape[1]):
            n, mean, variance = empirical_moments(table.counts[s, a], table.successors[s, a], V)
            if table.known[s]:
                Q[s, a] = 0.0
            elif n < 2:
                Q[s, a] = 1.0
            else:
                rate = bonus.iota / (n - bonus.less)
                root, rest = bonus.c1 * math.sqrt(variance * rate), bonus.c2 * rate
                b = root + rest if bonus.add else max(root, rest)
                Q[s, a] = min(1.0, table.rewards[s, a] + mean + b)


class MVP(TabularAgent):
    """Monotonic value propagation [1]: regret O~(sqrt(S A K) + S^2 A), free of the horizon.

    With P_hat and n = n(s, a) of the last time that n(s, a) was a power of 2,

        Q_h(s, a) = min(1, r + P_hat V_{h+1} + b),   Q = 1 where n < 2,
        tight:  b = max(4 sqrt(Var_{P_hat}(V_{h+1}) iota / n), 16 iota / n),
        sharp:  b = max(c sqrt(Var_{P_hat}(V_{h+1}) iota / (n-1)), c^2 iota / (n-1)), c = 2.39...,
                both with iota = ln(2 S A H (log2(K H) + 1) / delta),
        paper:  b = 460/9 sqrt(Var_{P_hat}(V_{h+1}) iota / n) + 544/9 iota / n,
                iota = ln(200 S A H^2 K^2 / delta).

    Proof that V >= V* in the first two forms. With c2 >= c1^2 and e = sqrt(iota / m) the map
    v -> p v + max(c1 e sqrt(Var_p(v)), c2 e^2) grows with each v(s): the root matters only where
    sqrt(Var) >= c1 e, and its slope is then at least -c1 e p(s) / sqrt(Var) >= -p(s).
    So V >= V* at step h + 1 gives at least the bound of V* at step h, and that is at least P V*
    by the empirical Bernstein inequality of [3], sqrt(2 Var iota / (n-1)) + 7/3 iota / (n-1), which
    "sharp" bounds by the least max of this kind, and "tight" using n - 1 >= n / 2. It holds for all
    S A H targets and all log2(K H) + 1 powers of 2 at once. The paper's sum is above a max with
    c1 = 20/3, c2 = c1^2, a bonus with width_scale > 1 above that of 1: V >= V* there too.

    Plans are made anew only after some n(s, a) reached a power of 2: the paper's own rule in place
    of that of other agents, O(S A log(K H)) plans. `plan.episodes` is 1, for a
    count may double in any episode, and `plan` returns the same plan until one did.

    Differs from the paper: (1) rewards are known, so the bonus has no term for their estimation;
    (2) absorbing states are known; (3) of actions that tie, a least tried one is played; (4) the
    constants and iota of "paper" are those of [2].

    References
    ----------
    [1] Zhang, Ji, Du. Is reinforcement learning more difficult than bandits? A near-optimal
        algorithm escaping the curse of horizon. COLT 2021.
    [2] Zhang, Chen, Lee, Du. Settling the sample complexity of online reinforcement learning.
        COLT 2024.
    [3] Maurer, Pontil. Empirical Bernstein bounds and sample variance penalization. COLT 2009.
    """

    _arrays: ClassVar[tuple[str, ...]] = (*TabularAgent._arrays, "_visits", "_frozen", "_triggered")

    constants: str = given.choice(
        '"tight", "sharp" or "paper".', "tight", "sharp", "paper", default="tight"
    )
    known_absorbing: bool = given.known_absorbing()
    width_scale: float = given.width_scale("Multiplies every bonus (1 = the theory).")
    seed: Seed = given.seed()

    def _build(self) -> None:
        super()._build()
        self._visits = self._counts.sum(axis=2)  # N(s, a), all of them
        self._frozen = np.zeros_like(self._counts)
        self._triggered = np.zeros(1, dtype=np.bool_)

    def _invariants(self, state: Arrays) -> Invariants:
        yield from super()._invariants(state)
        counts, frozen = state["_counts"], state["_frozen"]
        yield "visits of each pair", np.array_equal(state["_visits"], counts.sum(axis=2))
        yield "counts of an earlier time", whole(frozen) and bool((frozen <= counts).all())

    def _bonus(self) -> Bonus:
        S, A, H, K = self.model.n_states, self.model.n_actions, self.model.horizon, self.n_episodes
        w, add, less = self.width_scale, self.constants == "paper", int(self.constants == "sharp")
        if add:
            iota = math.log(200.0 * S * A * H**2 * K**2 / self.failure_prob)
            return Bonus(w * (460.0 / 9.0), w * (544.0 / 9.0), iota, less, add)
        c = SHARP if less else 4.0
        iota = math.log(2.0 * S * A * H * (math.log2(K * H) + 1.0) / self.failure_prob)
        return Bonus(w * c, w * c**2, iota, less, add)

    def _count(self, walks: Walks) -> None:
        tables = self._counts, self._visits, self._frozen
        if count_and_freeze(self.model.transitions, walks, *tables):
            self._triggered[0] = True

    def _epoch_length(self) -> int:
        return 1

    def _plan_is_over(self) -> bool:
        return bool(self._triggered[0])

    def _make_plan(self) -> OptimisticPlan:
        self._triggered[0] = False
        table, bonus = self._table(self._frozen), self._bonus()
        Q = np.empty((self.model.n_states, self.model.n_actions))

        def backup(V: FloatArray) -> FloatArray:
            mvp_backup(table, V, bonus, Q)
            return Q

        # A monotone backup that commutes with constants never enlarges a difference of rows.
        contracting = not bonus.add and self.width_scale <= 1.0
        tolerance = FIXED_POINT if contracting else 0.0
        return backward_induction(self.model, backup, tolerance, self._visits)
