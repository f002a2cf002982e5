"""Write what follows from the table of algorithms: stubs for type checkers."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("voful", "voful.bandits", "voful.confidence", "voful.mdp", "voful.monitor")


def derived() -> Iterator[tuple[Path, str]]:
    """Every derived file, and what it has to hold."""
    for name in PACKAGES:
        yield ROOT / "src" / name.replace(".", "/") / "__init__.pyi", stub(import_module(name))


def stub(package: ModuleType) -> str:
    """The public names of a package that imports them on demand, for type checkers."""
    imports, constants = [], []
    for name in package.__all__:
        value = getattr(package, name)
        if isinstance(value, ModuleType):
            imports.append((package.__name__, name))
        elif isinstance(value, str):
            constants.append(f"\n{name}: str\n")
        else:
            imports.append((value.__module__, name))
    lines = [f"from {home} import {name} as {name}\n" for home, name in sorted(imports)]
    return "".join(["# Written by `make derive`.\n", *lines, *constants])


if __name__ == "__main__":
    for path, text in derived():
        path.write_text(text)
