"""Where what was learnt came from: so that no row counts twice when policies are merged."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from voful.archive import Arrays
from voful.invariants import MOST

MOST_SOURCES = 10_000
_NAME = re.compile(r"[0-9a-f]{32}")


class Lineage(NamedTuple):
    """What an object has learnt, source by source.

    Attributes
    ----------
    sources
        Rows of each source that is complete: files, and policies that were merged.
    own
        Name of the rows that the object learns by itself, from the first one on; copies share it.
        "" before.
    spent
        Failure probability that the sources' own sets have taken, besides the object's.
    """

    sources: Mapping[str, int] = {}
    own: str = ""
    spent: float = 0.0

    def begun(self) -> Lineage:
        """With a name for the rows to come; the same where there is one."""
        return self if self.own else self._replace(own=secrets.token_hex(16))

    def rows(self, learnt: int) -> dict[str, int]:
        """Rows of every source, of an object that has learnt so many in all."""
        rest = learnt - sum(self.sources.values())
        return {**self.sources, **({self.own: rest} if self.own and rest > 0 else {})}

    def as_json(self) -> dict[str, Any]:
        """For a file's header."""
        return {"sources": dict(self.sources), "own": self.own, "spent": self.spent}

    @classmethod
    def from_json(cls, told: Any) -> Lineage:
        """What `as_json` wrote, from a file of anyone: ValueError where it is something else."""
        if not isinstance(told, dict) or told.keys() != {"sources", "own", "spent"}:
            raise ValueError("lineage: no table of sources, own and spent")
        sources, own, spent = told["sources"], told["own"], told["spent"]
        if not isinstance(sources, dict) or len(sources) > MOST_SOURCES:
            raise ValueError("lineage: no table of sources")
        names = [*sources, *([own] if own != "" else [])]
        if not all(isinstance(name, str) and _NAME.fullmatch(name) for name in names):
            raise ValueError("lineage: names that are no digests")
        if own in sources or not all(
            type(rows) is int and 0 <= rows <= MOST for rows in sources.values()
        ):
            raise ValueError("lineage: rows that are no counts")
        if type(spent) not in (int, float) or not 0.0 <= spent <= 1e9:
            raise ValueError("lineage: a failure probability that is none")
        return cls(dict(sources), own, float(spent))


def of_arrays(arrays: Arrays) -> str:
    """The name of a state of which nothing else is known: two copies of it share it."""
    digest = hashlib.blake2b(digest_size=16)
    for name in sorted(arrays):
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(arrays[name]).tobytes())
    return digest.hexdigest()


def repeated(tables: Iterable[Mapping[str, int]]) -> list[str]:
    """Sources that occur in more than one table."""
    seen: set[str] = set()
    twice: list[str] = []
    for table in tables:
        twice += [name for name in table if name in seen]
        seen |= table.keys()
    return twice
