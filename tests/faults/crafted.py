"""Crafted files: valid archives with valid checksums and one or two things in them changed."""

from __future__ import annotations

import contextlib
import io
import json
import zipfile
from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np

Members: TypeAlias = dict[str, Any]
"""Name -> the header's table, or an array."""

NUMBERS = (
    np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 16.0, 1e3, -1e3, 1e9, -1e9, 1e18,
    2.0**53, 1e-9, 1e-300, 5e-324, 1e100, -1e100, 1e150, 1e200, -1e200, 1.7e308,
)  # fmt: skip
WHOLE = (0, 1, -1, 2, 3, 7, 64, 10**6, 10**9, -(10**9), 2**53, 2**62, -(2**63), 2**63 - 1)
VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 3, 100, 10**6, 10**9, 2**53, 2**62, 10**30, 10**400, -(10**9),
    0.5, 1e-300, 5e-324, 1e300, -1e300, float("nan"), float("inf"), "", "x", "paper", "tight",
    "a" * 10000, [], [1], [0.0, 1.0], [1.0, 0.0], [-1e300, 1e300], [1e-300, 2e-300], {},
    {"entropy": 1}, [[1.0]],
    {"entropy": 1, "spawn_key": [], "pool_size": 10**8, "n_children_spawned": 0},
)  # fmt: skip
TYPES = ("<f4", ">f8", "<i8", "<i4", "|b1", "<c16", "<f8", "<u8", "S8", "<f2")


def read(content: bytes) -> Members:
    """What is in a file."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {
            name: json.loads(archive.read(name))
            if name.endswith(".json")
            else np.lib.format.read_array(io.BytesIO(archive.read(name)))
            for name in archive.namelist()
        }


def write(members: Members) -> bytes:
    """The file of these members, with checksums that are right."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, member in members.items():
            buffer = io.BytesIO()
            if isinstance(member, np.ndarray):
                np.lib.format.write_array(buffer, member, allow_pickle=False)
            else:
                buffer.write(json.dumps(member).encode())
            archive.writestr(name, buffer.getvalue())
    return file.getvalue()


def craft(members: Members, rng: np.random.Generator) -> Members:
    """The same with one change, or two."""
    changed = dict(members)
    for _ in range(1 if rng.random() < 0.8 else 2):
        kind = rng.random()
        arrays = [name for name, member in changed.items() if isinstance(member, np.ndarray)]
        if kind < 0.7 and arrays:
            name = str(rng.choice(arrays))
            changed[name] = _other_array(changed[name], rng)
        elif kind < 0.95 and isinstance(changed.get("header.json"), dict):
            changed["header.json"] = _other_header(changed["header.json"], rng)
        else:
            changed = _other_members(changed, rng)
    return changed


def _other_array(array: np.ndarray[Any, Any], rng: np.random.Generator) -> np.ndarray[Any, Any]:
    if rng.random() < 0.2:
        return _other_form(array, rng)
    new = array.copy()
    if new.dtype.names is not None:
        field = str(rng.choice(new.dtype.names))
        new[field] = rng.choice(NUMBERS) if new.dtype[field].kind == "f" else not new[field]
        return new
    if new.size == 0 or new.dtype.kind not in "fi" or new.dtype.itemsize != 8:
        return _other_form(array, rng)
    flat = new.reshape(-1)
    start = int(rng.integers(new.size))
    width = int(rng.choice([1, 1, 1, 1, 2, new.shape[-1] if new.ndim else 1, new.size]))
    place = slice(start, start + width)
    old = flat[place].copy()
    kind = rng.random()
    if kind < 0.5:
        flat[place] = rng.choice(NUMBERS if new.dtype.kind == "f" else WHOLE)
    elif kind < 0.6:
        with np.errstate(all="ignore"):
            flat[place] = (old * 10.0 ** rng.integers(-20, 21)).astype(new.dtype)
    elif kind < 0.7:
        flat[place] = -old
    elif kind < 0.8:
        flat[place] = old + (rng.standard_normal() if new.dtype.kind == "f" else 1)
    elif kind < 0.9:
        bits = new.view(np.uint64).reshape(-1)
        bits[place] ^= np.uint64(1) << np.uint64(rng.integers(64))
    else:
        rng.shuffle(flat)
    return new


def _other_form(array: np.ndarray[Any, Any], rng: np.random.Generator) -> np.ndarray[Any, Any]:
    kind = int(rng.integers(8))
    if kind == 0:
        return array[:-1] if array.ndim else array[None]
    if kind == 1:
        return np.concatenate([array, array[-1:]]) if array.ndim else array[None]
    if kind == 2:
        return array[None]
    if kind == 3:
        return array[..., :-1] if array.ndim else array[None]
    if kind == 4:
        return array.T.copy() if array.ndim > 1 else array[:0] if array.ndim else array[None]
    if kind == 5:
        return array.reshape(-1)
    if kind == 6:
        return array[:0] if array.ndim else array[None]
    if array.dtype.names is not None:
        return np.array(array[array.dtype.names[0]])
    with np.errstate(all="ignore"), contextlib.suppress(ValueError):  # of words
        return array.astype(str(rng.choice(TYPES)))
    return array[None]


def paths(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where a header can be changed."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        yield (*above, key)
        if isinstance(item, (dict, list)):
            yield from paths(item, (*above, key))


def _other_header(header: Any, rng: np.random.Generator) -> Any:
    new = json.loads(json.dumps(header))
    if not isinstance(new, dict) or not new:
        return new
    places = list(paths(new))
    *above, last = places[int(rng.integers(len(places)))]
    inner = new
    for key in above:
        inner = inner[key]
    kind = rng.random()
    if kind < 0.1:
        del inner[last]
    elif kind < 0.15 and isinstance(inner, dict):
        inner["unknown"] = 1
    elif kind < 0.35 and isinstance(inner[last], (int, float)) and abs(inner[last]) < 1e300:
        inner[last] = inner[last] * float(10.0 ** rng.integers(-10, 11))
    else:
        inner[last] = VALUES[int(rng.integers(len(VALUES)))]
    return new


def _other_members(members: Members, rng: np.random.Generator) -> Members:
    names = list(members)
    name = names[int(rng.integers(len(names)))]
    kind = int(rng.integers(4))
    if kind == 0:
        return {key: value for key, value in members.items() if key != name}
    if kind == 1:
        return {**members, "more.npy": np.zeros(3)}
    if kind == 2:
        return {(key + "x" if key == name else key): value for key, value in members.items()}
    return {**members, name: members[names[int(rng.integers(len(names)))]]}
