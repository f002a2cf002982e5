"""id -> class: the one table from which the CLI, the tests and the docs enumerate."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from voful.bandits.oful import OFUL
from voful.persistence import FileFormatError, Persistent, load_into, read_header
from voful.typing import Path

Kind = Literal["bandit", "episodic"]


@dataclass(frozen=True)
class Entry:
    """One algorithm (or one named setting of it).

    Parameters
    ----------
    id
        Name on the command line, in studies and in results.
    cls
        The class.
    kind
        "bandit" or "episodic".
    paper
        Where it was published.
    guarantee
        Regret, up to logarithms (K rounds, dimension d, variances sigma_k^2).
    needs_variance
        Whether `update` wants the true variance of the noise.
    anytime
        Whether it runs without knowing the number of rounds.
    cost
        Per round, with A arms.
    params
        Constructor arguments that make this entry different from its class's defaults.
    """

    id: str
    cls: type[Persistent]
    kind: Kind
    paper: str
    guarantee: str
    needs_variance: bool
    anytime: bool
    cost: str
    params: Mapping[str, Any] = field(default_factory=dict)


_ENTRIES = (
    Entry(
        id="oful",
        cls=OFUL,
        kind="bandit",
        paper="Abbasi-Yadkori, Pal, Szepesvari 2011",
        guarantee="d sqrt(K)",
        needs_variance=False,
        anytime=True,
        cost="A d^2",
    ),
    Entry(
        id="oful-rare",
        cls=OFUL,
        kind="bandit",
        paper="Abbasi-Yadkori, Pal, Szepesvari 2011, Section 5.1",
        guarantee="d sqrt(K), O(d log K) switches",
        needs_variance=False,
        anytime=True,
        cost="A d^2",
        params={"det_growth": 1.0},
    ),
)

_TABLE: dict[str, Entry] = {entry.id: entry for entry in _ENTRIES}


def entries(kind: Kind | None = None) -> Iterator[Entry]:
    """All entries in the order of the table, or those of one kind."""
    return (entry for entry in _ENTRIES if kind is None or entry.kind == kind)


def lookup(id: str) -> Entry:
    """The entry of an id; an unknown id raises KeyError that names the nearest one."""
    if id in _TABLE:
        return _TABLE[id]
    near = difflib.get_close_matches(id, _TABLE, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise KeyError(f"no algorithm {id!r}{hint} Known: {', '.join(_TABLE)}")


def create(id: str, *args: Any, n_rounds: int | None = None, **params: Any) -> Any:
    """Make the algorithm of an id; `n_rounds` reaches only those that are not anytime."""
    entry = lookup(id)
    if n_rounds is not None and "n_rounds" in inspect.signature(entry.cls).parameters:
        params["n_rounds"] = n_rounds
    return entry.cls(*args, **{**entry.params, **params})


def load(path: Path, cls: type[Persistent] | None = None) -> Any:
    """Load what `save` wrote; it continues bit for bit.

    Parameters
    ----------
    path
        The file.
    cls
        The class to make, for classes that are not in the registry.
    """
    name = read_header(path)["class"]
    known = {entry.cls.__name__: entry.cls for entry in _ENTRIES}
    if cls is not None and cls.__name__ != name:
        raise FileFormatError(f"{path}: holds a {name}, not a {cls.__name__}")
    if cls is None and name not in known:
        raise FileFormatError(f"{path}: holds a {name}, unknown here; pass its class as cls=")
    return load_into(cls or known[name], path)
