"""What can be done with the table of algorithms: enumerate, look up, create, load."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from voful.algorithms import ENTRIES, KINDS, Entry, Kind

if TYPE_CHECKING:
    from voful.persistence import Persistent
    from voful.typing import Path

__all__ = [
    "KINDS",
    "Entry",
    "Kind",
    "build",
    "class_named",
    "create",
    "entries",
    "keywords",
    "load",
    "lookup",
]

_OTHERS = {
    "Evaluator": "voful.logs.evaluator",
    "LinearMixtureModel": "voful.mdp.model",
    "PerAction": "voful.bandits.per_action",
    "Tickets": "voful.tickets",
}
"""What is saved and has no id: class -> module."""

_BY_ID = {entry.id: entry for entry in ENTRIES}


def entries(kind: Kind | None = None) -> Iterator[Entry]:
    """All entries in the order of the table, or those of one kind."""
    return (entry for entry in ENTRIES if kind is None or entry.kind == kind)


def lookup(id: str) -> Entry:
    """The entry of an id; the error for an unknown id names the nearest one."""
    if isinstance(id, str) and id in _BY_ID:
        return _BY_ID[id]
    from voful import validation

    near = difflib.get_close_matches(str(id), _BY_ID, n=1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    raise validation.fail("id", id, "one of " + ", ".join(_BY_ID) + hint)


def create(
    id: str, *args: Any, n_rounds: int | None = None, n_episodes: int | None = None, **params: Any
) -> Any:
    """Make the algorithm of an id.

    `n_rounds` and `n_episodes` reach only those algorithms that want to know them.
    """
    entry = lookup(id)
    offered = {"n_rounds": n_rounds, "n_episodes": n_episodes}
    known = {name: n for name, n in offered.items() if n is not None}
    return build(entry.cls, *args, offered=known, **{**entry.params, **params})


def build(
    factory: Callable[..., Any], *args: Any, offered: Mapping[str, Any], **params: Any
) -> Any:
    """Call `factory` with those of the `offered` arguments that it accepts; `params` win."""
    accepted = keywords(factory)
    wanted = {name: x for name, x in offered.items() if accepted is None or name in accepted}
    return factory(*args, **{**wanted, **params})


@cache
def keywords(factory: Callable[..., Any]) -> tuple[str, ...] | None:
    """Names of the arguments of a class or function; None where it takes any."""
    parameters = inspect.signature(factory).parameters
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        return None
    return tuple(parameters)


def load(path: Path, cls: type[Persistent] | None = None) -> Any:
    """Load what `save` wrote; it continues bit for bit.

    Parameters
    ----------
    path
        The file.
    cls
        The class to make, for classes that are not in the registry.
    """
    from voful import persistence

    def find(name: str) -> type[Persistent]:
        if name in _OTHERS:
            found: type[Persistent] = getattr(import_module(_OTHERS[name]), name)
            return found
        try:
            return class_named(name)
        except KeyError:
            raise persistence.FileFormatError(
                f"{path}: holds a {name}, unknown here; pass its class as cls="
            ) from None

    return persistence.load(path, cls or find)


def class_named(name: str) -> type[Persistent]:
    """The algorithm whose class has this name; KeyError where there is none."""
    return {entry.name: entry for entry in ENTRIES}[name].cls
