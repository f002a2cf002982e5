"""The API reference: a page for each public name, a table for each package."""

from __future__ import annotations

import inspect
import shutil
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from plain_docstrings import escape
from sphinx.application import Sphinx
from sphinx.config import Config

# The first that has a name shows it; the others link to it.
PACKAGES = (
    "voful",
    "voful.bandits",
    "voful.mdp",
    "voful.confidence",
    "voful.monitor",
    "voful.envs",
    "voful.checks",
    "voful.report.figures",
)
# What users' own classes derive from, and modules of functions.
MODULES = ("voful.bandits.base", "voful.mdp.base", "voful.typing", "voful.concentration")
BUILTIN = "ABC, Exception, Generic, object, Protocol, tuple, ValueError"  # their methods: no news


def members(module: ModuleType) -> dict[str, Any]:
    """The public names of a package, or what a module defines."""
    if hasattr(module, "__all__"):
        return {name: getattr(module, name) for name in module.__all__}
    return {
        name: value
        for name, value in vars(module).items()
        if getattr(value, "__module__", None) == module.__name__
        and not name.startswith("_")
        and value.__doc__
        and (inspect.isclass(value) or inspect.isfunction(value))
    }


def directive(value: Any) -> str:
    """How autodoc shows a value."""
    if inspect.isclass(value):
        return f"autoclass:: {{}}\n   :members:\n   :inherited-members: {BUILTIN}\n"
    if inspect.isfunction(value):
        return "autofunction:: {}\n"
    return "py:data:: {}\n"


def summary(value: Any) -> str:
    """The first line of the docstring; of a constant, its size."""
    if inspect.isclass(value) or inspect.isfunction(value) or inspect.ismodule(value):
        return escape((inspect.getdoc(value) or "").partition("\n")[0])
    return f"A {type(value).__name__}."


def heading(text: str) -> str:
    """A title."""
    return f"{text}\n{'=' * len(text)}\n\n"


def write_pages(docs: Path) -> None:
    """All pages, anew."""
    folder = docs / "reference" / "api"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shown: dict[int, str] = {}
    for package in (*PACKAGES, *MODULES):
        module = import_module(package)
        rows, pages = [], []
        for name, value in members(module).items():
            path = shown.get(id(value)) if callable(value) else None
            if isinstance(value, ModuleType):
                path = value.__name__
            elif path is None:
                path = shown[id(value)] = f"{package}.{name}"
                text = heading(name) + ".. " + directive(value).format(path)
                (folder / f"{path}.rst").write_text(text)
                pages.append(f"   {path}\n")
            link = f"   * - :py:obj:`{name} <{path}>`\n     - {summary(value)}\n"
            rows.append(link)
        table = ".. list-table::\n   :widths: 30 70\n\n" + "".join(rows)
        contents = ".. toctree::\n   :hidden:\n\n" + "".join(pages) if pages else ""
        intro = f".. automodule:: {package}\n   :no-members:\n\n"
        (folder / f"{package}.rst").write_text(heading(package) + intro + table + "\n" + contents)


def setup(app: Sphinx) -> dict[str, bool]:
    """Before Sphinx looks for pages."""

    def write(app: Sphinx, config: Config) -> None:
        write_pages(Path(app.srcdir))

    app.connect("config-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
