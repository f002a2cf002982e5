"""MVP: monotonic value propagation."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from voful import validation
from voful.compiled import kernel
from voful.mdp.model import LinearMixtureModel
from voful.mdp.planning import FIXED_POINT, OptimisticPlan, backward_induction
from voful.mdp.tabular import TabularAgent, empirical_moments
from voful.mdp.trajectories import successor_index
from voful.typing import BoolArray, FloatArray, IntArray, Seed

SHARP = 0.5 * (math.sqrt(2.0) + math.sqrt(34.0 / 3.0))
"""The least c with sqrt(2) u + 7/3 w <= max(c u, c^2 w) for u, w >= 0: c^2 = sqrt(2) c + 7/3."""


@kernel
def count_and_freeze(
    successors: IntArray,
    n_successors: IntArray,
    states: IntArray,
    actions: IntArray,
    lengths: IntArray,
    counts: IntArray,
    visits: IntArray,
    frozen: IntArray,
) -> bool:
    """Count; where n(s, a) becomes a power of 2, its row is frozen anew. Whether one was."""
    triggered = False
    for k in range(lengths.shape[0]):
        for h in range(lengths[k]):
            s, a = states[k, h], actions[k, h]
            b = successor_index(successors, n_successors, s, a, states[k, h + 1])
            counts[s, a, b] += 1
            visits[s, a] += 1
            n = visits[s, a]
            if n & (n - 1) == 0:
                frozen[s, a] = counts[s, a]
                triggered = True
    return triggered


@kernel
def mvp_backup(
    successors: IntArray,
    frozen: IntArray,
    rewards: FloatArray,
    known: BoolArray,
    V: FloatArray,
    c1: float,
    c2: float,
    iota: float,
    less: int,
    add: bool,
    Q: FloatArray,
) -> None:
    """Q = r + P_hat V + bonus(n - less) from the frozen counts; 1 where there are fewer than two.

    The bonus is the sum of its two terms, or the larger one.
    """
    for s in range(Q.shape[0]):
        for a in range(Q.shape[1]):
            n, mean, variance = empirical_moments(frozen[s, a], successors[s, a], V)
            if known[s]:
                Q[s, a] = 0.0
            elif n < 2:
                Q[s, a] = 1.0
            else:
                rate = iota / (n - less)
                root, rest = c1 * math.sqrt(variance * rate), c2 * rate
                bonus = root + rest if add else max(root, rest)
                Q[s, a] = min(1.0, rewards[s, a] + mean + bonus)


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
    of the epochs of other agents, O(S A log(K H)) plans. `plan.episodes` is 1, for a
    count may double in any episode, and `plan` returns the same plan until one did.

    Differs from the paper: (1) rewards are known, so the bonus has no term for their estimation;
    (2) absorbing states are known; (3) of actions that tie, a least tried one is played; (4) the
    constants and iota of "paper" are those of [2].

    Parameters
    ----------
    model
        What is known of the MDP; see `TabularAgent`.
    n_episodes
        K.
    failure_prob
        delta.
    constants
        "tight", "sharp" or "paper".
    known_absorbing, width_scale
        See `TabularAgent`.
    seed
        Unused by the algorithm itself, which is deterministic.

    References
    ----------
    [1] Zhang, Ji, Du. Is reinforcement learning more difficult than bandits? A near-optimal
        algorithm escaping the curse of horizon. COLT 2021.
    [2] Zhang, Chen, Lee, Du. Settling the sample complexity of online reinforcement learning.
        COLT 2024.
    [3] Maurer, Pontil. Empirical Bernstein bounds and sample variance penalization. COLT 2009.
    """

    _arrays: ClassVar[tuple[str, ...]] = (
        *TabularAgent._arrays,
        "_visits",
        "_frozen",
        "_triggered",
    )

    def __init__(
        self,
        model: LinearMixtureModel,
        *,
        n_episodes: int,
        failure_prob: float = 0.05,
        constants: str = "tight",
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
        self.constants = validation.choice("constants", constants, ("tight", "sharp", "paper"))
        S, A, H, K = model.n_states, model.n_actions, model.horizon, self.n_episodes
        if self.constants == "paper":
            self._c1, self._c2 = 460.0 / 9.0, 544.0 / 9.0
            self._iota = math.log(200.0 * S * A * H**2 * K**2 / self.failure_prob)
        else:
            self._c1 = 4.0 if self.constants == "tight" else SHARP
            self._c2 = self._c1**2
            powers = math.log2(K * H) + 1.0
            self._iota = math.log(2.0 * S * A * H * powers / self.failure_prob)
        self._visits = np.zeros((S, A), dtype=np.int64)  # N(s, a), all of them
        self._frozen = np.zeros_like(self._counts)
        self._triggered = np.zeros(1, dtype=np.bool_)

    def _count(self, states: IntArray, actions: IntArray, lengths: IntArray) -> None:
        model = self.model
        if count_and_freeze(
            model.successors,
            model.n_successors,
            states,
            actions,
            lengths,
            self._counts,
            self._visits,
            self._frozen,
        ):
            self._triggered[0] = True

    def _epoch_length(self) -> int:
        return 1

    def _plan_is_over(self) -> bool:
        return bool(self._triggered[0]) and super()._plan_is_over()

    def _make_plan(self) -> OptimisticPlan:
        self._triggered[0] = False
        model, w = self.model, self.width_scale
        add, less = self.constants == "paper", int(self.constants == "sharp")
        Q = np.empty((model.n_states, model.n_actions))

        def backup(V: FloatArray) -> FloatArray:
            mvp_backup(
                model.successors,
                self._frozen,
                model.rewards,
                self._known,
                V,
                w * self._c1,
                w * self._c2,
                self._iota,
                less,
                add,
                Q,
            )
            return Q

        # A monotone backup that commutes with constants never enlarges a difference of rows.
        contracting = not add and w <= 1.0
        tolerance = FIXED_POINT if contracting else 0.0
        return backward_induction(model, backup, tolerance, self._counts.sum(axis=2))
