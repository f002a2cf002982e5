"""What tabular agents share: they count transitions, and know nothing of the base models.

Such an agent knows S, A, H, the rewards and, if `known_absorbing`, which states are never left and
pay nothing. Counts lie in the model's lists of successors, which is a matter of memory only: a
state that was never reached has count 0, as in a full table, and no formula asks how many
states could be reached. So base models that agree in S, A, H, rewards and absorbing states make
no difference.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import ClassVar, NamedTuple

import numpy as np

from voful import validation
from voful.archive import Arrays
from voful.compiled import kernel, part
from voful.invariants import Invariants, whole
from voful.mdp import arguments as given
from voful.mdp.base import Agent
from voful.mdp.model import LinearMixtureModel
from voful.mdp.trajectories import Walks
from voful.parameters import parameter
from voful.typing import BoolArray, FloatArray, IntArray

MOST_STEPS = 10**6
"""Of an episode that is completed by the plan: 16 megabytes."""


class Table(NamedTuple):
    """What a backup sees."""

    successors: IntArray  # (S, A, B)
    counts: IntArray  # (S, A, B)
    rewards: FloatArray  # (S, A)
    known: BoolArray  # (S,): states whose value is known to be 0


@part
def empirical_moments(
    count: IntArray, successor: IntArray, V: FloatArray
) -> tuple[int, float, float]:
    """(n, mean of V, variance of V) under the empirical distribution of the next state."""
    n, total = 0, 0.0
    for b in range(count.shape[0]):
        n += count[b]
        total += count[b] * V[successor[b]]
    if n == 0:
        return 0, 0.0, 0.0
    mean = total / n
    squares = 0.0
    for b in range(count.shape[0]):
        squares += count[b] * (V[successor[b]] - mean) ** 2
    return n, mean, squares / n


@kernel
def mean_log_visits(counts: IntArray) -> float:
    """The mean over pairs (s, a) of ln(1 + N(s, a)), from counts (S, A, B)."""
    S, A, B = counts.shape
    total = 0.0
    for s in range(S):
        for a in range(A):
            n = 0
            for b in range(B):
                n += counts[s, a, b]
            total += math.log1p(n)
    return float(total / (S * A))


@kernel
def complete_by_plan(walks: Walks, plan: IntArray, horizon: int) -> Walks:
    """The same trajectories with all steps: where they stopped, they stay and follow the plan."""
    states, actions, lengths = walks
    n, last = lengths.shape[0], plan.shape[0] - 1
    paths = np.empty((n, horizon + 1), dtype=np.int64)
    taken = np.empty((n, horizon), dtype=np.int64)
    for k in range(n):
        paths[k, 0] = states[k, 0]
        for h in range(horizon):
            if h < lengths[k]:
                taken[k, h], paths[k, h + 1] = actions[k, h], states[k, h + 1]
            else:
                taken[k, h] = plan[min(horizon - h, last), paths[k, h]]
                paths[k, h + 1] = paths[k, h]
    return Walks(paths, taken, np.full(n, horizon, dtype=np.int64))


class TabularAgent(Agent):
    """Optimism with a bonus for each state and action; there is no set of parameters.

    An agent defines ``_count`` and ``_make_plan``; of the model it uses only S, A, H, the rewards
    and the absorbing states.
    """

    _arrays: ClassVar[tuple[str, ...]] = (*Agent._arrays, "_counts")

    model: LinearMixtureModel = parameter(
        given.mixture_model,
        "What is known of the MDP: S, A, H, the rewards and the absorbing states are used.",
        kw_only=False,
    )
    n_episodes: int = given.n_episodes("K.")
    failure_prob: float = given.failure_prob("delta.")
    known_absorbing: bool
    width_scale: float

    def _build(self) -> None:
        super()._build()
        if not self.known_absorbing and self.model.horizon > MOST_STEPS:
            allowed = f"at most {MOST_STEPS:.0e} steps unless absorbing states are known"
            raise validation.fail("model.horizon", self.model.horizon, allowed)
        self._counts = np.zeros(self.model.successors.shape, dtype=np.int64)

    def _invariants(self, state: Arrays) -> Invariants:
        yield from super()._invariants(state)
        counts = state["_counts"]
        padding = np.arange(counts.shape[2]) >= self.model.n_successors[:, :, None]
        yield "counts of transitions", whole(counts) and not counts[padding].any()

    @property
    def confidence_set(self) -> None:
        """None: nothing is said about the weights of base models."""
        return None

    def _table(self, counts: IntArray) -> Table:
        """The empirical transitions by these counts."""
        known = self.model.absorbing & self.known_absorbing
        return Table(self.model.successors, counts, self.model.rewards, known)

    def _learn(self, states: IntArray, actions: IntArray, lengths: IntArray) -> None:
        walks = Walks(states, actions, lengths)
        if not self.known_absorbing:
            walks = complete_by_plan(walks, self._plan.actions, self.model.horizon)
        self._count(walks)

    def _information(self) -> float:
        """Of the pairs (s, a): the mean of ln(1 + N(s, a))."""
        return mean_log_visits(self._counts)

    @abstractmethod
    def _count(self, walks: Walks) -> None:
        """Add what happened to the counts."""
