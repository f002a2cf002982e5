"""The linear mixture MDP: a model and its theta*. It never computes regret."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from voful import validation
from voful.compiled import kernel
from voful.envs.bandit.streams import TRAJECTORIES, episode_stream, stream_key, uniform_at
from voful.mdp.model import LinearMixtureModel
from voful.typing import BoolArray, FloatArray, IntArray, Seed

FIXED_POINT = 1e-15
"""Values that change by no more in a step of a stationary policy are final (rounding)."""

MAX_CELLS = 1 << 22
"""States that one batch of episodes may hold (64 MB with their actions)."""


class Trajectories(NamedTuple):
    """Episodes of one rollout.

    Episode i is states[i, :lengths[i]+1] and actions[i, :lengths[i]]; behind that, the last state
    and action 0 are repeated.
    """

    states: IntArray  # (n, W+1), W = the largest length
    actions: IntArray  # (n, W)
    lengths: IntArray  # (n,)


class Chain(NamedTuple):
    """Where steps lead and what they pay, for kernels."""

    successors: IntArray  # (S, A, B)
    n_successors: IntArray  # (S, A)
    transition: FloatArray  # (S, A, B), their true probabilities
    rewards: FloatArray  # (S, A)
    absorbing: BoolArray  # (S,)
    initial_state: int
    horizon: int


@kernel
def draw_successor(chain: Chain, s: int, a: int, u: float) -> int:
    """Next state at the uniform u, by the inverse CDF over the list of successors."""
    last = 0
    total = 0.0
    for b in range(chain.n_successors[s, a]):
        p = chain.transition[s, a, b]
        if p > 0.0:
            last = b
            total += p
            if u < total:
                break
    return int(chain.successors[s, a, last])


@kernel
def _simulate(chain: Chain, plan: IntArray, key: np.uint64, first: int, kept: Trajectories) -> None:
    """Play episodes first, first+1, ...; keep as many steps as actions have columns."""
    states, actions, lengths = kept
    rows, width = plan.shape[0], actions.shape[1]
    for i in range(lengths.shape[0]):
        stream = episode_stream(key, first + i)
        s = chain.initial_state
        h = 0
        while h < chain.horizon and not chain.absorbing[s]:
            a = plan[min(chain.horizon - h, rows - 1), s]
            if h < width:
                states[i, h] = s
                actions[i, h] = a
            s = draw_successor(chain, s, a, uniform_at(stream, h))
            h += 1
        lengths[i] = h
        if h <= width:
            states[i, h:] = s
            actions[i, h:] = 0


@kernel
def _evaluate(chain: Chain, plan: IntArray) -> float:
    """V of a policy in the initial state, with `horizon` steps to go."""
    S = chain.rewards.shape[0]
    last_row = plan.shape[0] - 1
    old = np.zeros(S)
    new = np.zeros(S)
    for n in range(1, chain.horizon + 1):
        row = min(n, last_row)
        change = 0.0
        for s in range(S):
            a = plan[row, s]
            value = chain.rewards[s, a]
            for b in range(chain.n_successors[s, a]):
                value += chain.transition[s, a, b] * old[chain.successors[s, a, b]]
            new[s] = value
            change = max(change, abs(value - old[s]))
        old, new = new, old
        # From the last row on the policy is stationary, and a step changes values by no more
        # than the step before it: nothing but rounding is left.
        if n >= last_row and change <= FIXED_POINT:
            break
    return float(old[chain.initial_state])


@kernel
def _optimize(chain: Chain, values: FloatArray, actions: IntArray, filled: int) -> tuple[int, bool]:
    """Fill rows `filled`.. of values and actions; (rows filled, whether the last is final)."""
    S, A = chain.rewards.shape
    for n in range(filled, values.shape[0]):
        change = 0.0
        for s in range(S):
            best = -1.0
            for a in range(A):
                value = chain.rewards[s, a]
                for b in range(chain.n_successors[s, a]):
                    after = values[n - 1, chain.successors[s, a, b]]
                    value += chain.transition[s, a, b] * after
                if value > best:
                    best = value
                    actions[n, s] = a
            values[n, s] = best
            change = max(change, abs(best - values[n - 1, s]))
        if change <= FIXED_POINT:
            return n + 1, True
    return values.shape[0], False


class LinearMixtureMDP:
    """A linear mixture model together with the true parameter.

    A policy is an (N+1, S) array of actions by the number n of steps to go (row N stands for all
    n >= N as well; row 0 is not used unless N = 0), as in ``plan.actions`` of an agent.

    Parameters
    ----------
    model
        Base models, rewards, horizon and initial state.
    theta_star
        The parameter, shape (dim,): every row of sum_i theta*_i P_i must be a probability.
    seed
        The uniform that drives step h of episode k is a pure function of (seed, k, h), so that
        any two agents meet the same chances.
    """

    def __init__(
        self, model: LinearMixtureModel, theta_star: npt.ArrayLike, seed: Seed = 0
    ) -> None:
        if not isinstance(model, LinearMixtureModel):
            raise validation.fail_type("model", model, "a LinearMixtureModel")
        theta = model.check_parameter("theta_star", theta_star)
        transition = model.probabilities @ theta
        slack = validation.TOLERANCE
        if transition.min() < -slack or np.abs(transition.sum(axis=2) - 1.0).max() > slack:
            raise validation.fail("theta_star", theta, "a mixture whose rows are probabilities")
        theta.flags.writeable = False
        self._model = model
        self._theta_star = theta
        transition = np.ascontiguousarray(np.maximum(transition, 0.0))
        known = model.rewards, model.absorbing, model.initial_state, model.horizon
        self._chain = Chain(model.successors, model.n_successors, transition, *known)
        self._key = stream_key(validation.seed(seed), TRAJECTORIES)
        self._episode = 0

    @property
    def model(self) -> LinearMixtureModel:
        """What an agent may know."""
        return self._model

    @property
    def theta_star(self) -> FloatArray:
        """The parameter, shape (dim,), read-only."""
        return self._theta_star

    @property
    def chain(self) -> Chain:
        """What `draw_successor` needs, to be read only."""
        return self._chain

    @property
    def transition(self) -> FloatArray:
        """(S, A, B) true probabilities of `model.successors`, the caller's own copy."""
        return self._chain.transition.copy()

    @property
    def episode(self) -> int:
        """Number of finished episodes."""
        return self._episode

    @property
    def optimal_value(self) -> float:
        """Largest expected sum of rewards of an episode."""
        return self._best[0]

    @property
    def optimal_actions(self) -> IntArray:
        """A best policy."""
        return self._best[1].copy()

    @cached_property
    def _best(self) -> tuple[float, IntArray]:
        model = self._model
        values = np.zeros((1, model.n_states))
        actions = np.zeros((1, model.n_states), dtype=np.int64)
        final = False
        while not final and len(values) <= model.horizon:
            filled = len(values)
            room = np.zeros((min(filled + 255, model.horizon + 1 - filled), model.n_states))
            values = np.concatenate([values, room])
            actions = np.concatenate([actions, room.astype(np.int64)])
            rows, final = _optimize(self._chain, values, actions, filled)
            values, actions = values[:rows], actions[:rows]
        return float(values[-1, model.initial_state]), actions.copy()

    def policy_value(self, actions: npt.ArrayLike) -> float:
        """Exact expected sum of rewards of an episode under a policy.

        Where the policy is stationary, the cost ends with the fixed point of its values.
        """
        return _evaluate(self._chain, self._policy(actions))

    def rollout(self, actions: npt.ArrayLike, n_episodes: int = 1) -> Trajectories:
        """Play the next episodes with one policy; an episode ends early in an absorbing state."""
        policy, first, lengths = self._begin(actions, n_episodes)
        return self._play(policy, first, lengths, int(lengths.max(initial=0)))

    def rollouts(
        self, actions: npt.ArrayLike, n_episodes: int, max_cells: int = MAX_CELLS
    ) -> Iterator[Trajectories]:
        """The episodes of `rollout` in batches of at most `max_cells` states (but one episode)."""
        return self._batches(*self._begin(actions, n_episodes), max_cells)

    def _batches(
        self, policy: IntArray, first: int, lengths: IntArray, max_cells: int
    ) -> Iterator[Trajectories]:
        while len(lengths):
            cells = np.arange(1, len(lengths) + 1) * (np.maximum.accumulate(lengths) + 1)
            count = max(1, int(np.searchsorted(cells, max_cells, side="right")))
            yield self._play(policy, first, lengths[:count].copy(), int(lengths[:count].max()))
            first, lengths = first + count, lengths[count:]

    def _begin(self, actions: npt.ArrayLike, n_episodes: int) -> tuple[IntArray, int, IntArray]:
        """(policy, number of the first episode, lengths) of the next episodes."""
        n = validation.nonnegative_int("n_episodes", n_episodes)
        policy = self._policy(actions)
        first = self._episode
        lengths = np.full(n, self._model.horizon, dtype=np.int64)
        if self._model.absorbing.any():
            # Played once for the lengths alone: memory is for the steps that there are, however
            # far the horizon.
            self._play(policy, first, lengths, 0)
        self._episode += n
        return policy, first, lengths

    def _play(self, policy: IntArray, first: int, lengths: IntArray, width: int) -> Trajectories:
        """Episodes first, first+1, ...; as many steps as `width` are kept, and lengths written."""
        n = len(lengths)
        kept = Trajectories(
            np.empty((n, width + 1), np.int64), np.empty((n, width), np.int64), lengths
        )
        with np.errstate(over="ignore"):  # streams count modulo 2^64: in plain Python NumPy warns
            _simulate(self._chain, policy, self._key, first, kept)
        return kept

    def _policy(self, actions: npt.ArrayLike) -> IntArray:
        S, A = self._model.n_states, self._model.n_actions
        allowed = f"actions from 0 to {A - 1}, shape (N+1, {S})"
        policy = validation.integer_array("actions", actions, 2, allowed)
        if policy.shape[1] != S or policy.shape[0] == 0:
            raise validation.fail_shape("actions", policy.shape, allowed)
        if policy.min() < 0 or policy.max() >= A:
            bad = int(policy.min() if policy.min() < 0 else policy.max())
            raise validation.fail("actions", bad, allowed)
        return policy

    def __repr__(self) -> str:
        theta = np.array2string(self._theta_star, precision=3, threshold=6)
        return f"LinearMixtureMDP({self._model!r}, theta_star={theta}, episode={self._episode})"
