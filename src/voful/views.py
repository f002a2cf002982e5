"""Named parts of a block of memory, as kernels and Python see them."""

from __future__ import annotations

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


def _as_numba_makes_it(_: Any, block: Any, start: Any, shape: Any) -> Any:
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
            meminfo=source.meminfo,
            parent=source.parent,
        )
        return _results.impl_ret_borrowed(context, builder, kind, made._getvalue())

    lengths: Any = _types.UniTuple(types.intp, len(shape))
    return kind(block, types.intp, lengths), make


_view: Any = intrinsic(_as_numba_makes_it)


@overload(view, strict=False)
def _in_kernels(block: Any, start: Any, shape: Any) -> Any:
    return lambda block, start, shape: _view(block, start, shape)
