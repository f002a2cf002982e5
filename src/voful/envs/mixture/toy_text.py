"""Linear mixture models from the transition tables of Gymnasium's toy-text environments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from voful import validation
from voful.envs.mixture.linear_mixture import LinearMixtureMDP
from voful.mdp.model import LinearMixtureModel
from voful.typing import FloatArray, IntArray, Seed


class Label(NamedTuple):
    """What a state of the model stands for: an observation and how it was entered."""

    observation: int | None  # None: before the first, or after the last observation
    reward: float | None  # paid on the next step; None: nothing was paid yet
    terminated: bool


START = Label(None, None, False)
END = Label(None, None, True)

Table = Mapping[int, Mapping[int, Sequence[tuple[float, int, float, bool]]]]
Rows = list[dict[Label, FloatArray]]  # by action: next label -> its probability by base model


@dataclass(frozen=True)
class GymnasiumMixture:
    """A model made of Gymnasium tables, and the way back to the environment's own terms.

    Attributes
    ----------
    model
        The linear mixture model, one base model per environment.
    labels
        What each state of the model stands for.
    steps
        Paid steps of an episode. The model's horizon is larger by one (rewards are paid one step
        later), and by one more where the first observation is random.
    shift, scale
        A step that paid rho in the environment pays (rho + shift) / scale in the model.
    """

    model: LinearMixtureModel
    labels: tuple[Label, ...]
    steps: int
    shift: float
    scale: float

    def original_return(self, total: float) -> float:
        """Sum of the environment's own rewards, of an episode (or a value) that is `total` here."""
        return total * self.scale - self.shift * self.steps

    def mdp(self, theta_star: npt.ArrayLike, seed: Seed = 0) -> LinearMixtureMDP:
        """The MDP in which each step follows environment i with probability theta_star[i]."""
        return LinearMixtureMDP(self.model, theta_star, seed)

    def state(self, observation: int, reward: float | None = None, terminated: bool = False) -> int:
        """State of the model after `step` returned these (after `reset`: the observation only)."""
        label = Label(int(observation), None if reward is None else float(reward), bool(terminated))
        if label not in self._number:
            allowed = "an observation, a reward and an end that some table allows together"
            raise validation.fail("observation, reward, terminated", tuple(label), allowed)
        return self._number[label]

    @cached_property
    def _number(self) -> dict[Label, int]:
        return {label: s for s, label in enumerate(self.labels)}

    def trajectory(
        self,
        observations: Sequence[int],
        actions: Sequence[int],
        rewards: Sequence[float],
        terminated: bool,
    ) -> tuple[IntArray, IntArray]:
        """States and actions for an agent's `update`, of an episode played in Gymnasium.

        Parameters
        ----------
        observations, actions, rewards
            What `reset` and then `step` returned, and the actions between: n+1, n and n of them.
        terminated
            Whether the last step ended the episode. If not, it must be steps + 1 steps long: the
            last one is not paid, it is the one on which the model pays the reward before it.
        """
        path = [self.state(observations[0])]
        taken = [int(action) for action in actions]
        ends = [False] * (len(taken) - 1) + [terminated]
        path += map(self.state, observations[1:], rewards, ends)
        if START in self._number:  # the step that draws the first observation
            path, taken = [self._number[START], *path], [0, *taken]
        if terminated:
            # One step from the last observation to the end; the end pays where there is a shift.
            missing = max(0, self.model.horizon - len(taken))
            added = missing if self.shift > 0.0 else min(1, missing)
            path += [self._number[END]] * added
            taken += [0] * added
        return self.model.check_trajectory(path, taken)


def from_gymnasium(envs: Any, horizon: int | None = None) -> GymnasiumMixture:
    """Base models from environments that differ in their dynamics (slip settings, say).

    Works with every environment that shows its transition table as ``env.unwrapped.P`` and its
    first observations as ``initial_state_distrib``: FrozenLake, CliffWalking, Taxi. Only the
    table counts.

    Rewards of these tables depend on the next state, so they are moved into the state: a step
    that enters s' with reward rho leads to a copy (s', rho) that pays on the next step, and the
    horizon is larger by one. A terminal copy leads to an end that is never left.

    Rewards are shifted by one constant per step so that none is negative (also at the end, where
    the environment would pay 0: otherwise a long episode would gain from the shift), and divided
    by the largest possible sum, so that an episode's total lies in [0, 1]. The original scale is
    ``original = scale * total - shift * steps``, which is `GymnasiumMixture.original_return`.

    Parameters
    ----------
    envs
        One environment, or a sequence of environments with the same states and actions.
    horizon
        Paid steps of an episode; default: the environment's own time limit.

    Examples
    --------
    >>> import gymnasium
    >>> from voful.envs import from_gymnasium
    >>> lakes = [gymnasium.make("FrozenLake-v1", is_slippery=slip) for slip in (False, True)]
    >>> lake = from_gymnasium(lakes, horizon=50)
    >>> round(lake.mdp([0.5, 0.5]).optimal_value, 3)
    0.73
    """
    members = list(envs) if isinstance(envs, Sequence) else [envs]
    if not members:
        raise validation.fail("envs", envs, "at least one environment")
    tables = [_table(env) for env in members]
    steps = _time_limit(members[0], horizon)
    n_actions = _common_actions(tables)
    first = np.array([_first_observations(env, len(tables[0])) for env in members])
    certain = np.flatnonzero((first == 1.0).all(axis=0))
    root = Label(int(certain[0]), None, False) if len(certain) else START
    rows = _explore(tables, n_actions, first, root)
    labels = tuple(rows)
    successors, probabilities = _lists(rows, len(tables), n_actions)

    paid = [label.reward for label in labels if label.reward is not None]
    shift = max(0.0, -min(paid))
    pays = np.array([_payment(label, shift) for label in labels])
    longer = steps + (2 if root == START else 1)
    scale = _largest_sum(successors, pays, longer) or 1.0
    model = LinearMixtureModel.from_successors(
        successors, probabilities, np.repeat(pays[:, np.newaxis] / scale, n_actions, axis=1), longer
    )
    return GymnasiumMixture(model, labels, steps, shift, scale)


def _table(env: Any) -> Table:
    table = getattr(getattr(env, "unwrapped", env), "P", None)
    if not isinstance(table, Mapping) or not table:
        raise validation.fail_type("envs", env, "environments with a transition table unwrapped.P")
    return table


def _time_limit(env: Any, horizon: int | None) -> int:
    if horizon is None:
        horizon = getattr(getattr(env, "spec", None), "max_episode_steps", None)
    if horizon is None:
        raise validation.fail("horizon", None, "a number of steps: the environment has no limit")
    return validation.positive_int("horizon", horizon)


def _common_actions(tables: Sequence[Table]) -> int:
    shapes = [(len(table), {len(actions) for actions in table.values()}) for table in tables]
    if any(shape != shapes[0] for shape in shapes) or len(shapes[0][1]) != 1:
        raise validation.fail("envs", shapes, "the same states and actions in every environment")
    return shapes[0][1].pop()


def _first_observations(env: Any, n_states: int) -> FloatArray:
    given = getattr(getattr(env, "unwrapped", env), "initial_state_distrib", None)
    if given is None:
        raise validation.fail_type("envs", env, "environments with initial_state_distrib")
    return validation.vector("envs: initial_state_distrib", given, n_states)


def _explore(
    tables: Sequence[Table], n_actions: int, first: FloatArray, root: Label
) -> dict[Label, Rows]:
    """Every label that can be reached from the root, the root first, with its rows."""
    rows: dict[Label, Rows] = {}
    waiting = [root]
    while waiting:
        label = waiting.pop()
        if label in rows:
            continue
        rows[label] = [_row(tables, first, label, a) for a in range(n_actions)]
        waiting.extend(after for row in rows[label] for after in row)
    return rows


def _row(
    tables: Sequence[Table], first: FloatArray, label: Label, action: int
) -> dict[Label, FloatArray]:
    row: dict[Label, FloatArray] = {}
    for i, table in enumerate(tables):
        for probability, after in _steps(table, first[i], label, action):
            if probability > 0.0:
                row.setdefault(after, np.zeros(len(tables)))[i] += probability
    return row


def _steps(table: Table, first: FloatArray, label: Label, action: int) -> list[tuple[float, Label]]:
    """Probabilities and labels that may follow under one base model."""
    if label.terminated:
        return [(1.0, END)]
    if label.observation is None:
        return [(float(p), Label(s, None, False)) for s, p in enumerate(first)]
    entries = table[label.observation][action]
    return [(float(p), Label(int(s), float(rho), bool(end))) for p, s, rho, end in entries]


def _lists(rows: Mapping[Label, Rows], dim: int, n_actions: int) -> tuple[IntArray, FloatArray]:
    """Successors (S, A, B), padded by the first one, and probabilities (d, S, A, B)."""
    number = {label: s for s, label in enumerate(rows)}
    B = max(len(row) for by_action in rows.values() for row in by_action)
    successors = np.zeros((len(rows), n_actions, B), dtype=np.int64)
    probabilities = np.zeros((dim, len(rows), n_actions, B))
    for s, by_action in enumerate(rows.values()):
        for a, row in enumerate(by_action):
            reached = [number[label] for label in row]
            successors[s, a] = reached + reached[:1] * (B - len(row))
            probabilities[:, s, a, : len(row)] = np.transpose(list(row.values()))
    return successors, probabilities


def _payment(label: Label, shift: float) -> float:
    if label == END:
        return shift
    return 0.0 if label.reward is None else label.reward + shift


def _largest_sum(successors: IntArray, pays: FloatArray, horizon: int) -> float:
    """Largest sum of payments along any possible trajectory from state 0, where all start."""
    total = np.zeros(len(pays))
    for _ in range(horizon):
        longer = pays + total[successors].max(axis=(1, 2))
        if np.array_equal(longer, total):
            break
        total = longer
    return float(total[0])
