"""What tabular agents share: they count transitions, and know nothing of the base models.

Such an agent knows S, A, H, the rewards and, if `known_absorbing`, which states are never left and
pay nothing. Counts lie in the model's lists of successors, which is a matter of memory only: a
state that was never reached has count 0, as in a full table, and no formula asks how many
states could be reached. So base models that agree in S, A, H, rewards and absorbing states make
no difference.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from voful import validation
from voful.compiled import kernel
from voful.mdp.base import Agent
from voful.mdp.model import LinearMixtureModel
from voful.typing import FloatArray, IntArray, Seed


@kernel
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
def complete_by_plan(
    states: IntArray, actions: IntArray, lengths: IntArray, plan: IntArray, horizon: int
) -> tuple[IntArray, IntArray, IntArray]:
    """The same trajectories with all steps: where they stopped, they stay and follow the plan."""
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
    return paths, taken, np.full(n, horizon, dtype=np.int64)


class TabularAgent(Agent):
    """Optimism with a bonus for each state and action; there is no set of parameters.

    Parameters
    ----------
    model, n_episodes, failure_prob, seed
        See `Agent`; of the model only S, A, H, the rewards and the absorbing states are used.
    known_absorbing
        Whether the agent is told which states are never left and pay nothing. If not, it has to
        find out; a trajectory that stops there goes on in its view, with the plan's actions.
    width_scale
        Multiplies every bonus (1 = the theory).
    """

    _arrays: ClassVar[tuple[str, ...]] = (*Agent._arrays, "_counts")

    def __init__(
        self,
        model: LinearMixtureModel,
        *,
        n_episodes: int,
        failure_prob: float,
        known_absorbing: bool,
        width_scale: float,
        seed: Seed,
    ) -> None:
        super().__init__(model, n_episodes=n_episodes, failure_prob=failure_prob, seed=seed)
        self.known_absorbing = validation.boolean("known_absorbing", known_absorbing)
        self.width_scale = validation.positive_float("width_scale", width_scale)
        self._known = model.absorbing & self.known_absorbing  # states whose value is known to be 0
        self._counts = np.zeros(model.successors.shape, dtype=np.int64)

    @property
    def confidence_set(self) -> None:
        """None: nothing is said about the weights of base models."""
        return None

    def _learn(self, states: IntArray, actions: IntArray, lengths: IntArray) -> None:
        if not self.known_absorbing:
            states, actions, lengths = complete_by_plan(
                states, actions, lengths, self._plan.actions, self.model.horizon
            )
        self._count(states, actions, lengths)

    @abstractmethod
    def _count(self, states: IntArray, actions: IntArray, lengths: IntArray) -> None:
        """Add what happened to the counts."""
