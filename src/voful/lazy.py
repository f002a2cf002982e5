"""Names of a package that are imported when somebody first asks for them (PEP 562)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any


def on_demand(
    package: str, homes: Mapping[str, str], others: Iterable[str] = ()
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """``__all__``, ``__getattr__`` and ``__dir__`` of a package.

    Declaring the kernels of a module takes milliseconds, and there are a hundred modules: who
    asks for one algorithm shall not wait for the others.

    Parameters
    ----------
    package
        Its ``__name__``.
    homes
        Module below the package where each name is defined. Modules of the package are found
        without.
    others
        Public names besides: modules, or what the package defines itself.
    """
    public = sorted({*homes, *others})
    names = vars(sys.modules[package])

    def get(name: str) -> Any:
        if name in homes:
            value = names[name] = getattr(import_module(f"{package}.{homes[name]}"), name)
            return value
        path = f"{package}.{name}"
        if name.startswith("__") or find_spec(path) is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return import_module(path)

    def listed() -> list[str]:
        return sorted({*names, *public})

    return public, get, listed
