"""A policy as functions of its state, which every way of playing it goes through.

A state is a NamedTuple of one or a few arrays: blocks of memory, to which functions such as
`open_ridge` give names, constants, and a history where there is one. Python and kernels call the
same functions: `select`, `update`, `contains`, batches, and the compiled loop. They take the arrays
one by one: for a tuple, a call from Python costs twice as much.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba.core import config

from voful.compiled import address, kernel, part
from voful.typing import BoolArray, FloatArray


class Rule(NamedTuple):
    """The functions of a policy, all of them kernels.

    Attributes
    ----------
    choose
        (*state, arms, mask) -> row of arms; ~row where the set is empty: nothing is certain then.
    observe
        (*state, x, reward, variance): learn; the variance counts where the policy is told it. What
        is due after it, where there is a `refresh`: `REFRESH`, `RESPOND`, `TELL`, added up.
    holds
        (*state, theta) -> whether theta is in the set, given that it is in the set's ball; None
        where the policy has no set.
    draw
        (*state, rng, arms, mask): before each `choose`, put what chance decides into the state.
        Apart, and no kernel: to hand over a generator costs ten times as much as to choose.
    refresh
        (state[0], state[1]): what is long, after each `observe` that found it due. None: `observe`
        does all.
    respond
        (*state) -> whether the state was begun anew: what is rare, likewise.
    choose_awaiting
        (*state, arms, mask, pending): `choose` while these arms wait for their rewards. None where
        `pending` is refused.
    """

    choose: Callable[..., int]
    observe: Callable[..., int | None]
    holds: Callable[..., bool] | None
    draw: Callable[..., None] | None = None
    refresh: Callable[..., None] | None = None
    respond: Callable[..., bool] | None = None
    choose_awaiting: Callable[..., int] | None = None


class _Rules(dict[type, Rule]):
    def __missing__(self, state: type) -> Rule:
        raise TypeError(
            f"{state.__name__} has no rule: its policy's class says _rule = rule({state.__name__}, "
            "choose, observe, holds), in a module that every process imports"
        )


_RULES = _Rules()


def rule(
    state: type,
    choose: Callable[..., int],
    observe: Callable[..., int | None],
    holds: Callable[..., bool] | None,
    draw: Callable[..., None] | None = None,
    refresh: Callable[..., None] | None = None,
    respond: Callable[..., bool] | None = None,
    choose_awaiting: Callable[..., int] | None = None,
) -> Rule:
    """The rule of all policies with this type of state, which is one class's own."""
    if state in _RULES:
        raise TypeError(f"{state.__name__} has a rule already")
    if respond is not None and refresh is None:
        raise TypeError(f"{state.__name__}: compiled loops ask what is due for the sake of refresh")
    _check(state, "choose", choose, "arms", "mask")
    _check(state, "observe", observe, "x", "reward", "variance")
    if holds is not None:
        _check(state, "holds", holds, "theta")
    _RULES[state] = Rule(choose, observe, holds, draw, refresh, respond, choose_awaiting)
    return _RULES[state]


def _check(state: type, role: str, function: Any, *last: str) -> None:
    """Where one is misspelt or two are swapped, play would go wrong without a word."""
    n, code = len(getattr(state, "_fields", ())), getattr(function, "py_func", function).__code__
    names = code.co_varnames[: code.co_argcount]
    is_kernel = config.DISABLE_JIT or hasattr(function, "py_func")  # type: ignore[attr-defined]
    if names[n : n + len(last)] != last or not is_kernel:
        raise TypeError(
            f"{role} of {state.__name__}: got {code.co_name}({', '.join(names)}); expected a "
            f"@kernel of the state's {n} arrays, then {', '.join(last)}"
        )


def rule_of(state: Any) -> Rule:
    """The rule of a state's policy."""
    return _RULES[type(state)]


def observe_by(state: Any, x: FloatArray, reward: float, variance: float) -> int | None:
    """`Rule.observe`, and what it finds due; 0 or None: nothing was, nor is there news to tell."""
    rule = _RULES[type(state)]
    due = rule.observe(*state, x, reward, variance)
    if due:
        finish(rule, due, state)
    return due


# What `Rule.observe` returns, added up.
REFRESH, RESPOND, TELL = 1, 2, 4


@part
def what_is_due(refresh: bool, respond: bool, news: float) -> int:
    """What `Rule.observe` returns, of a policy that has all three; news: 0 or 1."""
    return (REFRESH if refresh else 0) + (RESPOND if respond else 0) + TELL * int(news)


def finish(rule: Rule, due: int, state: Any) -> None:
    """After `Rule.observe`, the rest of the round; a state begun anew has nothing to refresh.

    Compiled loops refresh by themselves and break off where there is more to do: most runs never
    respond, so that `Rule.respond` is compiled with the first alarm.
    """
    anew = due & RESPOND and rule.respond is not None and rule.respond(*state)
    if due & REFRESH and rule.refresh is not None and not anew:
        rule.refresh(state[0], state[1])


def holds(state: Any, theta: FloatArray) -> bool:
    """`Rule.holds`; False where there is no set."""
    function = _RULES[type(state)].holds
    return function is not None and function(*state, theta)


class Addresses(NamedTuple):
    """A rule as arguments of a kernel, which calls them with its own arguments."""

    choose: Any
    observe: Any
    holds: Any
    draw: Any
    refresh: Any


def addresses(state: Any, rng: np.random.Generator, arms: FloatArray, mask: BoolArray) -> Addresses:
    """The rule of a state's policy for compiled loops; None where it has no such function."""
    known, x = _RULES[type(state)], arms[0]
    return Addresses(
        address(known.choose, *state, arms, mask),
        address(known.observe, *state, x, 0.0, 0.0),
        None if known.holds is None else address(known.holds, *state, x),
        None if known.draw is None else address(_kernel(known.draw), *state, rng, arms, mask),
        _refresh(known, state),
    )


def _refresh(known: Rule, state: Any) -> Any:
    return None if known.refresh is None else address(known.refresh, state[0], state[1])


_kernel = cache(kernel)


def observe_many(state: Any, X: FloatArray, rewards: FloatArray, variances: FloatArray) -> None:
    """`observe_by` for the rows of X, in their order."""
    known = _RULES[type(state)]
    to_call: tuple[Any, Any] = (known.observe, known.refresh)
    if not config.DISABLE_JIT and len(X) > 0:  # type: ignore[attr-defined]
        to_call = (address(known.observe, *state, X[0], 0.0, 0.0), _refresh(known, state))
    learnt = 0
    while learnt < len(X):
        learnt, due = _observe_rows(*to_call, tuple(state), learnt, X, rewards, variances)
        finish(known, due, state)


@kernel
def _observe_rows(
    observe: Any,
    refresh: Any,
    state: Any,
    first: int,
    X: FloatArray,
    rewards: FloatArray,
    variances: FloatArray,
) -> tuple[int, int]:
    """Rows from the first on: how many are learnt now, and what is due for the last of them."""
    for i in range(first, X.shape[0]):
        due = observe(*state, X[i], rewards[i], variances[i])
        if refresh is not None:
            if due & RESPOND:
                return i + 1, due
            if due & REFRESH:
                refresh(state[0], state[1])
    return X.shape[0], 0
