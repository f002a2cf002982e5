"""What code a run executes, as digests that comments, docstrings and layout do not move."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import voful

ROOT = Path(voful.__file__).parent
NOT_PLAYED = (  # the registry's arguments are in a run's definition
    *("__main__.py", "cli.py", "registry.py", "bench/", "checks/", "report/"),
    *("experiments/runner/", "experiments/store/", "experiments/study/"),
)


def code_digest(content: bytes) -> str:
    """Of a module's text; of the bytes themselves where they are no Python."""
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError):
        return _hash(content)
    return _digest_of(tree)


@cache
def library_digest(*modules: str) -> str:
    """Of modules of this library and of all others here that they import, and so on."""
    todo = [path for module in modules for path in _files(module)]
    digests: dict[str, str] = {}
    while todo:
        path = todo.pop()
        place = path.relative_to(ROOT).as_posix()
        if place not in digests:
            digests[place], imported = _read(path)
            todo += imported
    return _hash(repr(sorted(digests.items())).encode())


@cache
def _read(path: Path) -> tuple[str, list[Path]]:
    """A module's digest, and the files that it imports."""
    tree = ast.parse(path.read_bytes())
    return _digest_of(tree), [file for name in _imports(tree) for file in _files(name)]


def _imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name.startswith("voful"))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("voful"):
            yield from (f"{node.module}.{name.name}" for name in node.names)


def _files(name: str) -> list[Path]:
    """The file of a module, or of the module that a name is in; all files of a package."""
    place = ROOT.joinpath(*name.split(".")[1:])
    if place.with_suffix(".py").is_file():
        return [place.with_suffix(".py")]
    if not place.is_dir():
        return _files(name.rpartition(".")[0])
    played = (path.relative_to(ROOT).as_posix() for path in place.rglob("*.py"))
    return [ROOT / path for path in played if not path.startswith(NOT_PLAYED)]


def _digest_of(tree: ast.Module) -> str:
    return _hash(repr(_shape(tree)).encode())


def _shape(node: Any) -> Any:
    """A tree as tuples: as `ast.dump`, but without docstrings and the same in every Python."""
    if isinstance(node, list):
        return [_shape(item) for item in node if not _is_docstring(item)]
    if not isinstance(node, ast.AST):
        return node
    fields = ((name, _shape(value)) for name, value in ast.iter_fields(node))
    return (type(node).__name__, *(field for field in fields if field[1] not in (None, [])))


def _is_docstring(node: Any) -> bool:
    """Or any other text that stands alone."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]
