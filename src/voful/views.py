"""Named parts of a block of memory, as kernels and Python see them."""

from __future__ import annotations

from math import prod
from typing import Any, TypeVar

import numpy.typing as npt
from numba.core import cgutils, imputils, types
from numba.extending import intrinsic, overload
from numba.np import arrayobj

from voful.typing import FloatArray

A = TypeVar("A", bound=npt.NDArray[Any])

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


def lent(array: A) -> A:
    """An argument, which the caller keeps alive: kernels count no references to it.

    For what goes on to many parts and loops: counts of rows, arms and scratch took a fifth of a
    round of BetOFUL. For arguments only, and not in what is written into its caller (`inlined`):
    an array is freed after the last line that names it, and no caller is left there to hold it.
    """
    return array


@intrinsic
def _viewed(_: Any, block: Any, start: Any, shape: Any) -> Any:
    kind = types.Array(block.dtype, len(shape), "C")

    def make(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        source = _arrays.make_array(block)(context, builder, arguments[0])
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
            meminfo=source.meminfo,
            parent=source.parent,
        )
        return _results.impl_ret_borrowed(context, builder, kind, made._getvalue())

    lengths: Any = _types.UniTuple(types.intp, len(shape))
    return kind(block, types.intp, lengths), make


@intrinsic
def _uncounted(_: Any, array: Any) -> Any:
    def make(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        source = _arrays.make_array(array)(context, builder, arguments[0])
        made = _arrays.make_array(array)(context, builder)
        _arrays.populate_array(
            made,
            data=source.data,
            shape=source.shape,
            strides=source.strides,
            itemsize=source.itemsize,
            meminfo=None,
        )
        return _results.impl_ret_borrowed(context, builder, array, made._getvalue())

    return array(array), make


_make_view: Any = _viewed
_count_not: Any = _uncounted


@overload(view, strict=False)
def _view_in_kernels(block: Any, start: Any, shape: Any) -> Any:
    return lambda block, start, shape: _make_view(block, start, shape)


@overload(borrowed, strict=False)
def _borrowed_in_kernels(block: Any, start: Any, shape: Any) -> Any:
    return lambda block, start, shape: _make_view(_count_not(block), start, shape)


@overload(lent, strict=False)
def _lent_in_kernels(array: Any) -> Any:
    return lambda array: _count_not(array)
