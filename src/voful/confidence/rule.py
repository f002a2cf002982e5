"""A policy as three functions of its state, which every way of playing it goes through.

A state is a NamedTuple of one or a few arrays: blocks of memory, to which functions such as
`open_ridge` give names, constants, and a history where there is one. Python and kernels call the
same functions: `select`, `update`, `contains`, batches, and the compiled loop. They take the arrays
one by one: for a tuple, a call from Python costs twice as much.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload

from voful.compiled import calling, kernel
from voful.typing import BoolArray, FloatArray


class Rule(NamedTuple):
    """The functions of a policy, all of them kernels.

    Attributes
    ----------
    choose
        (*state, arms, mask) -> row of arms; ~row where the set is empty, so that means decide.
    observe
        (*state, x, reward, variance): learn; the variance counts where the policy is told it.
    holds
        (*state, theta) -> whether theta is in the set, given that it is in the set's ball.
    draw
        (*state, rng, arms, mask): before each `choose`, put what chance decides into the state.
        Apart, and no kernel: to hand over a generator costs ten times as much as to choose.
    """

    choose: Callable[..., int]
    observe: Callable[..., None]
    holds: Callable[..., bool]
    draw: Callable[..., None] | None = None


_RULES: dict[type, Rule] = {}


def rule(
    state: type,
    choose: Callable[..., int],
    observe: Callable[..., None],
    holds: Callable[..., bool],
    draw: Callable[..., None] | None = None,
) -> Rule:
    """The rule of all policies with this type of state, which is one class's own."""
    if state in _RULES:
        raise TypeError(f"{state.__name__} has a rule already")
    _RULES[state] = Rule(choose, observe, holds, draw)
    return _RULES[state]


@kernel
def no_set(*state_and_theta: FloatArray) -> bool:
    """`Rule.holds` of a policy without a set; nobody asks."""
    return False


# By the type of the state, in kernels too: a kernel that took functions as arguments would be
# compiled anew in every process.


def choose(state: Any, arms: FloatArray, mask: BoolArray) -> int:
    """`Rule.choose` of a state's policy."""
    return _RULES[type(state)].choose(*state, arms, mask)


def draw(state: Any, rng: np.random.Generator, arms: FloatArray, mask: BoolArray) -> None:
    """`Rule.draw`, where chance decides anything."""
    function = _RULES[type(state)].draw
    if function is not None:
        function(*state, rng, arms, mask)


def observe(state: Any, x: FloatArray, reward: float, variance: float) -> None:
    """`Rule.observe`."""
    _RULES[type(state)].observe(*state, x, reward, variance)


def holds(state: Any, theta: FloatArray) -> bool:
    """`Rule.holds`."""
    return _RULES[type(state)].holds(*state, theta)


# Not strict: the arguments here have types. state[:]: Numba spreads plain tuples only.


@overload(choose, strict=False)
def _choose(state: Any, arms: Any, mask: Any) -> Any:
    function = _RULES[state.instance_class].choose
    return lambda state, arms, mask: function(*state[:], arms, mask)


@overload(draw, strict=False)
def _draw(state: Any, rng: Any, arms: Any, mask: Any) -> Any:
    function = _RULES[state.instance_class].draw
    if function is None:
        return lambda state, rng, arms, mask: None
    return lambda state, rng, arms, mask: function(*state[:], rng, arms, mask)


@overload(observe, strict=False)
def _observe(state: Any, x: Any, reward: Any, variance: Any) -> Any:
    function = _RULES[state.instance_class].observe
    return lambda state, x, reward, variance: function(*state[:], x, reward, variance)


@overload(holds, strict=False)
def _holds(state: Any, theta: Any) -> Any:
    function = _RULES[state.instance_class].holds
    return lambda state, theta: function(*state[:], theta)


@calling("bandits")
def observe_many(state: Any, X: FloatArray, rewards: FloatArray, variances: FloatArray) -> None:
    """`observe` for the rows of X, in their order."""
    for i in range(X.shape[0]):
        observe(state, X[i], rewards[i], variances[i])
