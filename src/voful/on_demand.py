"""Names of a package that are imported when somebody first asks for them (PEP 562)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def on_demand(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a package.

    Declaring the kernels of a module takes milliseconds, and there are a hundred modules: who
    asks for one algorithm shall not wait for the others.

    Parameters
    ----------
    package
        Its ``__name__``.
    homes
        Module below the package where each name is defined; a name that is its own home is a
        module itself.
    """
    names = vars(sys.modules[package])

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = import_module(f"{package}.{homes[name]}")
        value = names[name] = home if name == homes[name] else getattr(home, name)
        return value

    def listed() -> list[str]:
        return sorted({*names, *homes})

    return get, listed
