"""The table of algorithms, `algorithms.csv`, one line each.

Reading it imports no algorithm: whoever asks for one shall not wait for the others.
"""

from __future__ import annotations

import ast
import csv
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, get_args

if TYPE_CHECKING:
    from voful.persistence import Persistent

Kind = Literal["bandit", "episodic"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True)
class Entry:
    """One algorithm (or one named setting of it): a line of the table.

    Parameters
    ----------
    id
        Name on the command line, in studies and in results.
    location
        Of the class, as "module:Class" below `voful`.
    arguments
        Of the constructor, where this entry differs from its class's defaults: a Python dict.
    variance
        "known" where `update` wants the true variance of the noise, else "not needed".
    horizon
        "known" where the constructor wants the number of rounds or episodes, else "anytime".
    paper
        Where it was published.
    guarantee
        Regret, up to logarithms (K rounds or episodes, dimension d, variances sigma_k^2).
    cost
        Per round, with A arms; of episodic agents per plan, with n_rows distinct rows of values
        and, for tabular ones, B successors of a state and action.
    """

    id: str
    location: str
    arguments: str
    variance: str
    horizon: str
    paper: str
    guarantee: str
    cost: str

    @property
    def module(self) -> str:
        """Where the class is defined."""
        return "voful." + self.location.partition(":")[0]

    @property
    def name(self) -> str:
        """Of the class."""
        return self.location.partition(":")[2]

    @property
    def kind(self) -> Kind:
        """Policies of bandits and episodic agents live in packages of their own."""
        return "bandit" if self.module.startswith("voful.bandits.") else "episodic"

    @cached_property
    def cls(self) -> type[Persistent]:
        """The class, imported when somebody first asks for it."""
        found: type[Persistent] = getattr(import_module(self.module), self.name)
        return found

    @cached_property
    def params(self) -> Mapping[str, Any]:
        """`arguments`, read."""
        found: dict[str, Any] = ast.literal_eval(self.arguments or "{}")
        return found

    @property
    def needs_variance(self) -> bool:
        """Whether `update` wants the true variance of the noise."""
        return self.variance == "known"

    @property
    def anytime(self) -> bool:
        """Whether it runs without knowing the number of rounds or episodes."""
        return self.horizon == "anytime"


_WANTED = {
    "location": r"(bandits|mdp\.agents)\.\w+:\w+",
    "arguments": r"(\{.*\})?",
    "variance": "known|not needed",
    "horizon": "known|anytime",
}


def _entry(line: dict[Any, Any], number: int) -> Entry:
    wanted, fields = len(Entry.__annotations__), [v for v in line.values() if v is not None]
    if len(line) != wanted or len(fields) != wanted:
        raise ValueError(
            f"algorithms.csv, line {number}: got {', '.join(map(str, fields))}; expected {wanted} "
            "fields: quote one with commas, keep the comma of an empty one"
        )
    for name, pattern in _WANTED.items():
        if not re.fullmatch(pattern, line[name]):
            raise ValueError(
                f"algorithms.csv, line {number}, {name}: got {line[name]!r}; expected {pattern}"
            )
    return Entry(**line)


with open(f"{os.path.splitext(__file__)[0]}.csv", encoding="utf-8", newline="") as _table:
    _lines = csv.DictReader(_table)
    ENTRIES = tuple(_entry(line, _lines.line_num) for line in _lines)


def homes(package: str) -> dict[str, str]:
    """Names of the algorithms inside a package, each with its module there."""
    inside = f"{package}."
    return {
        entry.name: entry.module.removeprefix(inside)
        for entry in ENTRIES
        if entry.module.startswith(inside)
    }
