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
from numba import types as numba_types
from numba.core.typing import templates
from numba.extending import lower_builtin as numba_lower_builtin

from voful.compiled import calling
from voful.typing import BoolArray, FloatArray

# Numba's are not all typed.
types: Any = numba_types
signature: Any = templates.signature
infer_global: Any = templates.infer_global
lower_builtin: Any = numba_lower_builtin


class Rule(NamedTuple):
    """The functions of a policy, all of them kernels.

    Attributes
    ----------
    choose
        (*state, arms, mask) -> row of arms; ~row where the set is empty, so that means decide.
    observe
        (*state, x, reward, variance): learn; the variance counts where the policy is told it.
    holds
        (*state, theta) -> whether theta is in the set, given that it is in the set's ball; None
        where the policy has no set.
    draw
        (*state, rng, arms, mask): before each `choose`, put what chance decides into the state.
        Apart, and no kernel: to hand over a generator costs ten times as much as to choose.
    """

    choose: Callable[..., int]
    observe: Callable[..., None]
    holds: Callable[..., bool] | None
    draw: Callable[..., None] | None = None


_RULES: dict[type, Rule] = {}


def rule(
    state: type,
    choose: Callable[..., int],
    observe: Callable[..., None],
    holds: Callable[..., bool] | None,
    draw: Callable[..., None] | None = None,
) -> Rule:
    """The rule of all policies with this type of state, which is one class's own."""
    if state in _RULES:
        raise TypeError(f"{state.__name__} has a rule already")
    _RULES[state] = Rule(choose, observe, holds, draw)
    return _RULES[state]


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
    """`Rule.holds`; False where there is no set."""
    function = _RULES[type(state)].holds
    return function is not None and function(*state, theta)


def _in_kernels(function: Callable[..., Any], name: str) -> None:
    """Let kernels that call this function call the kernel of the state's policy itself.

    Numba's low-level way, by typing and lowering the call: an `overload` would stand between them
    as a function of its own, with all of the policy optimised once more.
    """

    def policy_and_types(context: Any, args: Any) -> tuple[Any, Any]:
        state, *others = args
        policy = getattr(_RULES[state.instance_class], name)
        return policy and context.resolve_value_type(policy), (*state.types, *others)

    class Call(templates.AbstractTemplate):
        key = function

        def generic(self, args: Any, kws: Any) -> Any:
            policy, inner = policy_and_types(self.context, args)
            if policy is None:
                return signature(types.boolean, *args)
            made = self.context.resolve_function_type(policy, inner, kws)
            return signature(made.return_type, *args)

    def lower(context: Any, builder: Any, call: Any, args: Any) -> Any:
        policy, inner = policy_and_types(context.typing_context, call.args)
        if policy is None:
            return context.get_constant(types.boolean, False)
        made = context.typing_context.resolve_function_type(policy, inner, {})
        fields = [builder.extract_value(args[0], i) for i in range(len(call.args[0].types))]
        return context.get_function(policy, made)(builder, (*fields, *args[1:]))

    infer_global(function, types.Function(Call))
    lower_builtin(function, types.VarArg(types.Any))(lower)


for _function in (choose, draw, observe, holds):
    _in_kernels(_function, _function.__name__)


@calling("bandits")
def observe_many(state: Any, X: FloatArray, rewards: FloatArray, variances: FloatArray) -> None:
    """`observe` for the rows of X, in their order."""
    for i in range(X.shape[0]):
        observe(state, X[i], rewards[i], variances[i])
