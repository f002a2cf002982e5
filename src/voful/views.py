"""Named parts of a block of memory, as kernels and Python see them."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from numba.core import cgutils, imputils, types
from numba.extending import intrinsic, overload
from numba.np import arrayobj

from voful.typing import FloatArray

_types: Any = types
_arrays: Any = arrayobj
_tools: Any = cgutils
_results: Any = imputils


def view(block: FloatArray, start: int, shape: tuple[int, ...]) -> FloatArray:
    """block[start : start + prod(shape)].reshape(shape), of a contiguous block with one axis.

    Kernels get it for free, and unchecked: their own `reshape` takes 45 ns, and a round of OFUL
    would need six (figures in docs/decisions.md).
    """
    return block[start : start + prod(shape)].reshape(shape)


def borrowed(block: FloatArray, start: int, shape: tuple[int, ...]) -> FloatArray:
    """`view` of a block that lives longer: one that the kernel was given, not one that it made.

    In kernels it does not keep the block alive. To count references to eight views, three times a
    round, took a third of OFUL's time. A kernel never returns what it borrowed.
    """
    return view(block, start, shape)


def _intrinsic(keeps_alive: bool) -> Any:
    """As kernels make it."""

    def typed(_: Any, block: Any, start: Any, shape: Any) -> Any:
        kind = types.Array(block.dtype, len(shape), "C")

        def make(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            source = _arrays.make_array(signature.args[0])(context, builder, arguments[0])
            first, lengths = arguments[1], _tools.unpack_tuple(builder, arguments[2], len(shape))
            strides: list[Any] = []
            step = source.itemsize
            for length in reversed(lengths):
                strides.insert(0, step)
                step = builder.mul(step, length)
            made = _arrays.make_array(kind)(context, builder)
            _arrays.populate_array(
                made,
                data=builder.gep(source.data, [first]),
                shape=lengths,
                strides=strides,
                itemsize=source.itemsize,
                meminfo=source.meminfo if keeps_alive else None,
                parent=source.parent if keeps_alive else None,
            )
            return _results.impl_ret_borrowed(context, builder, kind, made._getvalue())

        lengths: Any = _types.UniTuple(types.intp, len(shape))
        return kind(block, types.intp, lengths), make

    return intrinsic(typed)


def _in_kernels(function: Callable[..., FloatArray], keeps_alive: bool) -> None:
    made = _intrinsic(keeps_alive)

    @overload(function, strict=False)
    def implementation(block: Any, start: Any, shape: Any) -> Any:
        return lambda block, start, shape: made(block, start, shape)


_in_kernels(view, keeps_alive=True)
_in_kernels(borrowed, keeps_alive=False)
