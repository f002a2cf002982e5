"""Families of linear mixture MDPs that stay comparable as the horizon grows.

The first three refine one continuous-time problem: P_i = I + (T/H) G_i with generators G_i over
a fixed time T, so that H is only how finely time is cut.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from voful import validation
from voful.envs.bandit.streams import FAMILY, generator
from voful.envs.mixture.linear_mixture import LinearMixtureMDP
from voful.mdp.model import LinearMixtureModel
from voful.typing import FloatArray, Seed

Weights: TypeAlias = npt.ArrayLike | None
N_CHAIN: Final = 5  # places of the chain before the goal


def default_theta(dim: int) -> FloatArray:
    """(.15, .25, .6) for three base models; in general .6 for the last, the others as 3, 5, 7..."""
    if dim == 1:
        return np.ones(1)
    others = 2.0 * np.arange(dim - 1) + 3.0
    return np.append(0.4 * others / others.sum(), 0.6)


def ctgoal(
    horizon: int, *, dim: int = 3, theta_star: Weights = None, seed: Seed = 0
) -> LinearMixtureMDP:
    """Reach the goal before the deadline: a chain of five places, a goal, an end; A = d.

    Action a moves forward at rate .9 under base model a and .05 under the others; it slips back
    at rate .25. The goal pays 1 once. T = 12.
    """
    dim = validation.positive_int("dim", dim)
    step = _time_step(horizon, 12.0, 0.9 + 0.25)
    P, rewards = _chain(dim, 0.9 * step, 0.05 * step, 0.25 * step)
    return _mdp(P, rewards, horizon, 0, theta_star, seed)


def mortal(
    horizon: int, *, dim: int = 3, killing: float = 0.02, theta_star: Weights = None, seed: Seed = 0
) -> LinearMixtureMDP:
    """The chain of `ctgoal` at a fixed time step of 1/2, and every step may be the last one.

    With probability `killing` a step leads to the end, so values reach a fixed point and the
    horizon hardly matters.
    """
    dim = validation.positive_int("dim", dim)
    killing = validation.probability("killing", killing)
    P, rewards = _chain(dim, 0.45, 0.025, 0.125)
    P *= 1.0 - killing
    P[..., -1] += killing
    return _mdp(P, rewards, horizon, 0, theta_star, seed)


def ctqueue(
    horizon: int, *, dim: int = 3, capacity: int = 7, theta_star: Weights = None, seed: Seed = 0
) -> LinearMixtureMDP:
    """A queue with d service modes, half full at first; A = d.

    Arrivals at rate .35; mode a serves at rate .65 under base model a, .1 under the others. With
    n waiting a step pays (1 - n / capacity) / H. T = 8.
    """
    dim = validation.positive_int("dim", dim)
    capacity = validation.positive_int("capacity", capacity)
    step = _time_step(horizon, 8.0, 0.35 + 0.65)
    S = capacity + 1
    P = np.zeros((dim, S, dim, S))
    for n in range(S):
        P[:, n, :, min(n + 1, capacity)] += 0.35 * step
        P[:, n, :, max(n - 1, 0)] += 0.1 * step + 0.55 * step * np.eye(dim)
    _fill_diagonal(P)
    rewards = np.repeat((1.0 - np.arange(S) / capacity)[:, np.newaxis] / horizon, dim, axis=1)
    return _mdp(P, rewards, horizon, S // 2, theta_star, seed)


def ctrandom(
    horizon: int,
    *,
    dim: int = 3,
    n_states: int = 10,
    n_actions: int = 4,
    n_successors: int = 3,
    theta_star: Weights = None,
    seed: Seed = 0,
) -> LinearMixtureMDP:
    """Random jumps at rate 1, to `n_successors` random states with random probabilities.

    Every (base model, state, action) has its own; a step pays u(s, a) / H with u uniform on
    [0, 1]. T = 10. The problem itself is drawn from `seed`.
    """
    sizes = {"dim": dim, "n_states": n_states, "n_actions": n_actions}
    d, S, A = (validation.positive_int(name, size) for name, size in sizes.items())
    B = validation.positive_int("n_successors", n_successors)
    if B > S:
        raise validation.fail("n_successors", B, f"at most n_states = {S}")
    step = _time_step(horizon, 10.0, 1.0)
    rng = generator(validation.seed(seed), FAMILY)
    P = np.zeros((d, S, A, S))
    targets = np.argsort(rng.random((d, S, A, S)), axis=3)[..., :B]
    np.put_along_axis(P, targets, step * rng.dirichlet(np.ones(B), size=(d, S, A)), axis=3)
    s = np.arange(S)
    P[:, s, :, s] += 1.0 - step
    rewards = rng.random((S, A)) / horizon
    return _mdp(P, rewards, horizon, 0, theta_star, seed)


def riverswim(
    horizon: int = 100, *, n_states: int = 10, theta_star: Weights = None, seed: Seed = 0
) -> LinearMixtureMDP:
    """RiverSwim [1]: to swim right against the stream is slow and pays, to drift left is easy.

    Action 0 moves left for sure. Action 1 moves left, stays or moves right: these three are the
    base models, and theta* = (.05, .05, .9) as in [2]. A step pays .005 / H at the left end under
    action 0 and 1 / H at the right end under action 1.

    References
    ----------
    [1] Strehl, Littman. An analysis of model-based interval estimation for Markov decision
        processes. Journal of Computer and System Sciences 2008.
    [2] Huang, Zhong, Wang, Yang. Horizon-free and instance-dependent regret bounds for
        reinforcement learning with general function approximation. AISTATS 2024.
    """
    S = validation.positive_int("n_states", n_states)
    horizon = validation.positive_int("horizon", horizon)
    P = np.zeros((3, S, 2, S))
    s = np.arange(S)
    left, right = np.maximum(s - 1, 0), np.minimum(s + 1, S - 1)
    P[:, s, 0, left] = 1.0
    for i, target in enumerate((left, s, right)):
        P[i, s, 1, target] = 1.0
    rewards = np.zeros((S, 2))
    rewards[0, 0] = 0.005 / horizon
    rewards[S - 1, 1] = 1.0 / horizon
    theta = (0.05, 0.05, 0.9) if theta_star is None else theta_star
    return _mdp(P, rewards, horizon, 0, theta, seed)


def gridworld(
    horizon: int, *, size: int = 5, theta_star: Weights = None, seed: Seed = 0
) -> LinearMixtureMDP:
    """A size x size grid with pits between start and goal along the bottom row; A = 4.

    Actions are up, right, down, left. The base models: the step goes as meant; it slips to one of
    the two sides; it fails. theta* = (.7, .2, .1). The goal pays 1 once; a pit ends the episode.
    """
    size = validation.positive_int("size", size)
    if size < 2:
        raise validation.fail("size", size, "a whole number >= 2")
    end = size * size
    start, goal = end - size, end - 1
    pits = np.arange(start + 1, goal)
    cells = np.arange(end)
    y, x = np.divmod(cells, size)
    moves = ((-1, 0), (0, 1), (1, 0), (0, -1))
    reached = [
        np.clip(y + dy, 0, size - 1) * size + np.clip(x + dx, 0, size - 1) for dy, dx in moves
    ]
    P = np.zeros((3, end + 1, 4, end + 1))
    for a in range(4):
        P[0, cells, a, reached[a]] = 1.0
        P[1, cells, a, reached[(a + 1) % 4]] += 0.5
        P[1, cells, a, reached[(a - 1) % 4]] += 0.5
        P[2, cells, a, cells] = 1.0
    last = np.append(pits, [goal, end])
    P[:, last] = 0.0
    P[:, last, :, end] = 1.0
    rewards = np.zeros((end + 1, 4))
    rewards[goal] = 1.0
    theta = (0.7, 0.2, 0.1) if theta_star is None else theta_star
    return _mdp(P, rewards, horizon, int(start), theta, seed)


FAMILIES: Final[Mapping[str, Callable[..., LinearMixtureMDP]]] = {
    family.__name__: family for family in (ctgoal, ctqueue, ctrandom, gridworld, mortal, riverswim)
}
"""Families by name, for studies and the command line."""


def mixture_family(family: str, **params: Any) -> LinearMixtureMDP:
    """Build a member of a family from plain values, as declared in a study."""
    return FAMILIES[validation.choice("family", family, tuple(FAMILIES))](**params)


def _mdp(
    P: FloatArray,
    rewards: FloatArray,
    horizon: int,
    initial_state: int,
    theta_star: Weights,
    seed: Seed,
) -> LinearMixtureMDP:
    model = LinearMixtureModel(P, rewards, horizon, initial_state)
    theta = default_theta(model.dim) if theta_star is None else theta_star
    return LinearMixtureMDP(model, theta, seed)


def _time_step(horizon: int, time: float, rate: float) -> float:
    """T / H, where no state is left with a probability above 1 in a step."""
    horizon = validation.positive_int("horizon", horizon)
    if time * rate > horizon:
        least = int(np.ceil(time * rate))
        raise validation.fail("horizon", horizon, f"a whole number >= {least} in this family")
    return time / horizon


def _chain(
    dim: int, works: float, else_works: float, slips: float
) -> tuple[FloatArray, FloatArray]:
    """(d, S, A, S) and rewards (S, A): five places, the goal, the end."""
    goal, end = N_CHAIN, N_CHAIN + 1
    P = np.zeros((dim, N_CHAIN + 2, dim, N_CHAIN + 2))
    for s in range(N_CHAIN):
        P[:, s, :, s + 1] = else_works + (works - else_works) * np.eye(dim)
        if s > 0:
            P[:, s, :, s - 1] = slips
    P[:, [goal, end], :, end] = 1.0
    _fill_diagonal(P)
    rewards = np.zeros((N_CHAIN + 2, dim))
    rewards[goal] = 1.0
    return P, rewards


def _fill_diagonal(P: FloatArray) -> None:
    """What is left of each row stays where it is."""
    s = np.arange(P.shape[1])
    P[:, s, :, s] += np.maximum(1.0 - P.sum(axis=3).transpose(1, 0, 2), 0.0)
