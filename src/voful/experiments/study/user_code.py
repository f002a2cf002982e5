"""Code of the user's own, named in a study as ``path/to/file.py:Name`` or ``module:Name``.

A file travels with the run as text, so that every worker and every machine plays exactly the
code that the run's key was made from. A module must be importable wherever the run is played.
"""

from __future__ import annotations

import importlib
import importlib.util
import linecache
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from voful import validation
from voful.experiments.study.sources import code_digest


@dataclass(frozen=True)
class Code:
    """A class or function outside the library.

    Attributes
    ----------
    reference
        As the study names it.
    digest
        Of the code without comments and docstrings: a run of changed code is another run.
    text
        The file's content; None for a module.
    path
        Where the file was, for tracebacks.
    """

    reference: str
    digest: str
    text: str | None = field(default=None, repr=False)
    path: str = field(default="", compare=False)

    @property
    def name(self) -> str:
        """What stands behind the colon."""
        return self.reference.rpartition(":")[2]

    def load(self) -> Callable[..., Any]:
        """The class or function itself."""
        module = self.reference.rpartition(":")[0]
        found = importlib.import_module(module) if self.text is None else _module_of(self)
        thing = getattr(found, self.name, None)
        if not callable(thing):
            raise validation.fail("code", self.reference, f"a class or function in {module}")
        return thing  # type: ignore[no-any-return]


def is_code(reference: str) -> bool:
    """Whether it names code, not something of the library."""
    return ":" in reference


def find(reference: str, directory: Path) -> Code:
    """The code that a study in `directory` refers to; its file is read, not run."""
    place, _, name = reference.rpartition(":")
    allowed = "path/to/file.py:Name or module:Name"
    if not place or not name.isidentifier():
        raise validation.fail("code", reference, allowed)
    if place.endswith(".py"):
        path = (directory / place).resolve()
        try:
            content = path.read_bytes()
            text = content.decode()
        except (OSError, UnicodeDecodeError) as error:
            raise validation.fail("code", reference, f"{allowed} ({path}: {error})") from None
        return Code(reference, code_digest(content), text, str(path))
    try:
        spec = importlib.util.find_spec(place)
    except (ImportError, ValueError):
        spec = None
    if spec is None:
        raise validation.fail("code", reference, f"{allowed} (there is no module {place!r})")
    origin = Path(spec.origin) if spec.origin is not None else None
    content = origin.read_bytes() if origin is not None and origin.is_file() else b""
    return Code(reference, code_digest(content))


_MODULES: dict[str, ModuleType] = {}
_COPIES: list[tempfile.TemporaryDirectory[str]] = []  # until the process ends


def _module_of(code: Code) -> ModuleType:
    """The module that the text makes, once in a process."""
    if code.digest not in _MODULES:
        assert code.text is not None
        path = _file_of(code)
        module = ModuleType(f"voful_user_{code.digest}")
        module.__file__ = path
        linecache.checkcache(path)
        exec(compile(code.text, path, "exec"), module.__dict__)
        _MODULES[code.digest] = module
    return _MODULES[code.digest]


def _file_of(code: Code) -> str:
    """A file with the text, for tracebacks and compiled kernels: the user's, or a copy."""
    try:
        if Path(code.path).read_text(encoding="utf-8") == code.text:
            return code.path
    except (OSError, UnicodeDecodeError):
        pass
    directory = tempfile.TemporaryDirectory(prefix="voful-")
    _COPIES.append(directory)
    copy = Path(directory.name) / Path(code.path).name
    copy.write_text(code.text or "", encoding="utf-8")
    return str(copy)
