"""The one way in which this library compiles a function, and views that kernels make for free."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, ParamSpec, TypeVar, cast

import numba
from numba.core import cgutils, imputils, types
from numba.extending import intrinsic, register_jitable
from numba.np import arrayobj

P = ParamSpec("P")
R = TypeVar("R")


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile with Numba, cached on disk, compiled at the first call.

    No fastmath: floating-point order is as written, so that a batch gives the same bits as
    one call a row, and a loaded policy continues exactly.
    """
    return _compiled(function, inline="never")


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """As `kernel`, but written into the kernels that call it: no call, no arrays handed over."""
    return _compiled(function, inline="always")


def _compiled(function: Callable[P, R], inline: Literal["never", "always"]) -> Callable[P, R]:
    try:
        compiled = numba.njit(cache=True, error_model="numpy", inline=inline)(function)
    except RuntimeError:  # neither the package's folder nor a home can be written to
        compiled = numba.njit(error_model="numpy", inline=inline)(function)
    return cast(Callable[P, R], compiled)


def shared(function: Callable[P, R]) -> Callable[P, R]:
    """A formula that both sides need: plain Python when Python calls it, compiled in kernels."""
    return register_jitable(function)


_arrays: Any = arrayobj
_tools: Any = cgutils
_results: Any = imputils


def _view(_: Any, memory: Any, start: Any, shape: Any) -> Any:
    kind = types.Array(memory.dtype, len(shape), "C")

    def make(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        source = _arrays.make_array(signature.args[0])(context, builder, arguments[0])
        lengths = _tools.unpack_tuple(builder, arguments[2], len(shape))
        strides: list[Any] = []
        step = source.itemsize
        for length in reversed(lengths):
            strides.insert(0, step)
            step = builder.mul(step, length)
        made = _arrays.make_array(kind)(context, builder)
        _arrays.populate_array(
            made,
            data=builder.gep(source.data, [arguments[1]]),
            shape=lengths,
            strides=strides,
            itemsize=source.itemsize,
            meminfo=source.meminfo,
            parent=source.parent,
        )
        return _results.impl_ret_borrowed(context, builder, kind, made._getvalue())

    return kind(memory, start, shape), make


view: Any = intrinsic(_view)
"""view(memory, start, shape), inside kernels: memory[start : start + prod(shape)].reshape(shape).

For a contiguous `memory` with one axis, and without any check: `reshape` asks a dozen nanoseconds
for each of the views that a state of one block consists of.
"""
