"""Grids in a study: a table whose values may be ``{ grid = [...] }`` stands for many."""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import dataclass
from typing import Any

from voful import validation

MOST_CELLS = 10_000


@dataclass(frozen=True)
class Cell:
    """One table of a grid.

    Attributes
    ----------
    where
        The table in the file, for errors.
    name
        Its name with the values filled in, None where it has none.
    table
        Keys and values but the name.
    varied
        Keys with a grid.
    """

    where: str
    name: str | None
    table: dict[str, Any]
    varied: tuple[str, ...]

    def named(self, default: str) -> str:
        """The name, or one made of the default and the values of the grid."""
        if self.name is not None:
            return self.name
        return " ".join([default, *_settings(self.table, set(self.varied) - {"id"})])


def expand(table: dict[str, Any], where: str) -> list[Cell]:
    """All cells of a table: the product of its grids, the last one fastest.

    A name may hold ``{key}``, which becomes the key's value. Where it does not, the values of the
    grid are added to it.
    """
    grids = {key: _grid(key, value, where) for key, value in table.items() if _is_grid(value)}
    name = table.get("name")
    if name is not None and (not isinstance(name, str) or not name):
        raise validation.fail(f"{where}: name", name, "a word or two, in quotes")
    n_cells = math.prod(len(values) for values in grids.values())
    if n_cells > MOST_CELLS:
        raise validation.fail(f"{where}: grids", f"{n_cells} cells", f"at most {MOST_CELLS}")
    cells = []
    for values in itertools.product(*grids.values()):
        filled = {**table, **dict(zip(grids, values, strict=True))}
        filled.pop("name", None)
        cells.append(Cell(where, _fill(name, filled, tuple(grids), where), filled, tuple(grids)))
    return cells


def _is_grid(value: Any) -> bool:
    return isinstance(value, dict) and "grid" in value


def _grid(key: str, value: dict[str, Any], where: str) -> list[Any]:
    values = value["grid"]
    if len(value) > 1 or not isinstance(values, list) or not values or key == "name":
        raise validation.fail(f"{where}: {key}", value, "{ grid = [one or more values] }")
    return values


def _fill(
    name: str | None, table: dict[str, Any], varied: tuple[str, ...], where: str
) -> str | None:
    if name is None:
        # A problem of a grid is named by its values; a policy has its id for a name.
        return None if "id" in table or not varied else " ".join(_settings(table, set(varied)))
    used: set[str] = set()

    def value_of(match: re.Match[str]) -> str:
        key = match[1]
        if key not in table:
            raise validation.fail(f"{where}: name", name, f"only keys of the table in {{}}: {key}")
        used.add(key)
        return _show(table[key])

    filled = re.sub(r"\{(\w+)\}", value_of, name)
    return " ".join([filled, *_settings(table, set(varied) - used)])


def _settings(table: dict[str, Any], keys: set[str]) -> list[str]:
    return [f"{key}={_show(value)}" for key, value in table.items() if key in keys]


def _show(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
