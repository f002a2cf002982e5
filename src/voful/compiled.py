"""The one way in which this library compiles a function.

With NUMBA_DISABLE_JIT=1 everything is plain Python: for debuggers and coverage tools.
"""

from __future__ import annotations

import gc
import hashlib
import os
import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from typing import Any, ParamSpec, TypeVar, cast
from uuid import uuid4

import numba
from numba.core import config, event, types
from numba.core.typing.templates import infer_global
from numba.extending import typeof_impl
from numba.np import linalg as numba_linalg

from voful import notice
from voful.kernel_cache import forgive

P = ParamSpec("P")
R = TypeVar("R")

_ROOT = os.path.dirname(os.path.abspath(__file__))
_OPTIONS: Any = {"error_model": "numpy"}
_ONLY_IN_KERNELS: Any = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
_PARTS: list[object] = []
_stands_for: Any = infer_global


def _spare_scipy() -> None:
    """Keep Numba from importing scipy.linalg only to note that it is there.

    That takes half of the time until a first kernel runs (figures in docs/decisions.md). Kernels
    that need BLAS or LAPACK ask again, and get it.
    """
    ask = getattr(numba_linalg, "ensure_blas", None)
    if ask is None:
        return
    numba_linalg.ensure_blas = lambda: None
    try:
        arraymath: Any = import_module("numba.np.arraymath")
        arraymath.ensure_blas = ask
    finally:
        numba_linalg.ensure_blas = ask


_spare_scipy()


class _PausedCollector(event.Listener):
    """Python's garbage collector rests while Numba compiles (figures in docs/decisions.md)."""

    def __init__(self) -> None:
        self.depth, self.was_on = 0, False

    def on_start(self, event: event.Event) -> None:
        if self.depth == 0:
            self.was_on = gc.isenabled()
            gc.disable()
        self.depth += 1

    def on_end(self, event: event.Event) -> None:
        self.depth -= 1
        if self.depth == 0 and self.was_on:
            gc.enable()


_listen: Any = event.register
_listen("numba:compile", _PausedCollector())


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """A function that Python calls compiled: by Numba, at the first call, cached on disk.

    No fastmath: floating-point order is as written, so that a batch gives the same bits as
    one call a row, and a loaded policy continues exactly.
    """
    made: Callable[P, R] = _kept(function, _OPTIONS)
    return made


def _kept(function: Any, options: Any) -> Any:
    """Compiled at the first call, and kept on disk where that is possible."""
    try:
        compiled: Any = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # neither the package's folder nor a home can be written to
        notice.cannot_keep("neither its own folder nor a home can be written to")
        compiled = numba.njit(**options)(function)
    _stamp(compiled, function.__code__.co_filename)
    forgive(compiled)
    return compiled


def part(function: Callable[P, R]) -> Callable[P, R]:
    """A piece of kernels: compiled with those that call it, plain Python when Python calls it.

    Compiled once for all its callers; `register_jitable` would compile it twice, for kernels and
    for other parts.
    """
    if not config.DISABLE_JIT:  # type: ignore[attr-defined]
        compiled = _kept(function, {**_OPTIONS, **_ONLY_IN_KERNELS})
        _for_types_only(compiled)
        dispatcher: Any = types.Dispatcher(compiled)
        _stands_for(function, dispatcher)
        _PARTS.append(compiled)  # Numba's own reference is a weak one
    return function


def _for_types_only(compiled: Any) -> None:
    """Keep Numba from compiling a function once more for every literal that it is called with."""
    template, plain = compiled.get_call_template, cast(Any, types.unliteral)
    compiled.get_call_template = lambda args, kws: template(
        tuple(map(plain, args)), {name: plain(arg) for name, arg in kws.items()}
    )


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """As `part`, but written into what calls it: no call, no arrays handed over.

    For a piece that one kernel calls once: what is a function of its own is compiled once more
    inside of every function around it.
    """
    made: Callable[P, R] = numba.njit(inline="always", **_OPTIONS)(function)
    return made


_Protocol: Any = types.WrapperAddressProtocol  # Numba's are not all typed
_typeof: Any = numba.typeof


class Address(_Protocol):  # type: ignore[misc]
    """A compiled kernel as an argument of others, which call it where it stands.

    What is called by its name would be compiled once more inside of every caller; and a kernel that
    is given addresses is compiled once for all functions of the same types.
    """

    def __init__(self, compiled: Any) -> None:
        self._signature = compiled.signature
        name = compiled.fndesc.llvm_cfunc_wrapper_name
        self._address: int = compiled.library.get_pointer_to_function(name)
        self.type: Any = types.FunctionType(compiled.signature)

    def __wrapper_address__(self) -> int:
        return self._address

    def signature(self) -> Any:
        """Types of the result and the arguments."""
        return self._signature


typeof_impl.register(Address, lambda value, context: value.type)


def address(function: Callable[..., Any], *arguments: Any) -> Address:
    """The address of a kernel for arguments like these."""
    return _address(function, tuple(_typeof(argument) for argument in arguments))


@cache
def _address(function: Any, argument_types: tuple[Any, ...]) -> Address:
    function.compile(argument_types)
    return Address(function.overloads[argument_types])


def _stamp(compiled: Any, file: str) -> None:
    """Let the kernel's place on disk depend on all sources that it is made of.

    Numba asks whether the kernel's own file has changed, not those of the functions that it calls:
    old code would run on. And it numbers the files of a kernel's signatures, so that two processes
    that compile two signatures at once would write one file: names of their own keep them apart.
    """
    cached: Any = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if hasattr(cached, "_data_name"):
        numbered = cached._data_name
        cached._data_name = lambda number: f"{numbered(number)[:-4]}-{uuid4().hex}.nbc"
    if hasattr(cached, "_source_stamp"):
        cached._source_stamp = (cached._source_stamp, _sources(file))


@cache
def _sources(file: str) -> str:
    """A digest of name, time and size of a file and of all that it imports of this library."""
    found, queue = {file}, [file]
    while queue:
        for path in _imports(queue.pop()):
            if path not in found:
                found.add(path)
                queue.append(path)
    states = [(path, os.stat(path)) for path in sorted(found)]
    known = [(os.path.relpath(path, _ROOT), s.st_mtime_ns, s.st_size) for path, s in states]
    return hashlib.sha256(repr(known).encode()).hexdigest()[:16]


@cache
def _imports(file: str) -> tuple[str, ...]:
    """The library's files that the import lines of a file name."""
    with open(file, encoding="utf-8") as source:
        text = source.read()
    return tuple(dict.fromkeys(_files(text)))


_IMPORT = re.compile(
    r"^\s*(?:from\s+voful((?:\.\w+)*)\s+import\s+(\([^)]*\)|.*)|import\s+voful((?:\.\w+)*))", re.M
)


def _files(text: str) -> Iterator[str]:
    for module, names, plain in _IMPORT.findall(text):
        home = os.path.join(_ROOT, *(module or plain).split(".")[1:])
        inside = (os.path.join(home, f"{name}.py") for name in re.findall(r"\w+", names))
        for path in (f"{home}.py", os.path.join(home, "__init__.py"), *inside):
            if os.path.isfile(path):
                yield path
