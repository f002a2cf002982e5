"""Views of a flat block of memory that kernels make for free."""

from __future__ import annotations

from typing import Any

from numba.core import cgutils, imputils, types
from numba.extending import intrinsic
from numba.np import arrayobj

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
