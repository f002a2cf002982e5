"""Save and load: arrays and JSON in one file, never pickle.

An object is its constructor's arguments plus its arrays, so a file says what it is and any reader
can open it (`voful.archive` has the format). A file may come from anyone: what its arrays must
satisfy is stated by each class, once, in ``_invariants``, and checked here, in one place.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
import io
import os
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, BinaryIO, ClassVar

import numpy as np

from voful.archive import Arrays, read_archive, write_archive
from voful.atomic import atomic_file
from voful.invariants import Invariants
from voful.lineage import Lineage, of_arrays
from voful.typing import Path

FORMAT = "voful"
FORMAT_VERSION = 2
LARGEST = 1e250  # of any number in a state
TRIES = 500  # to copy a state while another thread changes it: some seconds
HEADER = {"format", "format_version", "class", "config", "rng"}
LINEAGE = "lineage"  # in the header, where the object has learnt


class FileFormatError(ValueError):
    """The file is truncated, foreign, damaged, crafted, or from a newer version."""


class Stateful:
    """An object whose changing state is named arrays.

    All that changes after construction lives in the arrays named in ``_arrays`` (those in
    ``_growing`` may change their shape) or in the parts named in ``_parts``, each a Stateful or a
    sequence of them. What arrays from a file must satisfy is what ``_invariants`` yields.
    """

    _arrays: ClassVar[tuple[str, ...]] = ()
    _growing: ClassVar[tuple[str, ...]] = ()
    _parts: ClassVar[tuple[str, ...]] = ()

    def _invariants(self, state: Arrays) -> Invariants:
        """What must hold of a state, for all that is done with it to end and to stay in bounds.

        `state` has this object's arrays, and those of its parts as ``part/array``; names, types
        and shapes (of arrays that do not grow) are right, floats are finite, and the parts' own
        invariants hold. Of `self` only what never changes may be used.
        """
        yield from ()

    def state(self) -> Arrays:
        """The arrays that change; those of parts as ``part/array`` or ``part/0/array``."""
        arrays = {name: np.asarray(getattr(self, name)) for name in self._arrays}
        for prefix, part in self._named_parts():
            arrays |= {f"{prefix}/{name}": array for name, array in part.state().items()}
        return arrays

    def restore(self, arrays: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Take over the arrays of another object's `state`; all of them, or none on error."""
        if arrays.keys() != self.state().keys():
            odd = sorted(arrays.keys() ^ self.state().keys())
            raise ValueError(f"unknown or missing arrays {odd[:5]}")
        self._check(arrays)
        self._assign(arrays)

    def _named_parts(self) -> Iterator[tuple[str, Stateful]]:
        for name in self._parts:
            part = getattr(self, name)
            if isinstance(part, Stateful):
                yield name, part
            else:
                yield from ((f"{name}/{i}", item) for i, item in enumerate(part))

    def _check(self, arrays: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """ValueError where a state has wrong types, shapes or numbers, or breaks an invariant."""
        for name in self._arrays:
            current, loaded = np.asarray(getattr(self, name)), arrays[name]
            grown = name in self._growing and loaded.ndim == current.ndim
            if loaded.dtype != current.dtype or not (grown or loaded.shape == current.shape):
                raise ValueError(f"array {name!r} is {loaded.dtype} of shape {loaded.shape}")
            if not _moderate(loaded):
                raise ValueError(f"array {name!r} holds numbers that are not finite or too large")
        for prefix, part in self._named_parts():
            part._check(_below(prefix, arrays))
        for what, holds in self._invariants(dict(arrays)):
            if not holds:
                raise ValueError(f"{type(self).__name__} does not satisfy: {what}")

    def _assign(self, arrays: Mapping[str, np.ndarray[Any, Any]]) -> None:
        for name in self._arrays:
            if name in self._growing:
                setattr(self, name, np.array(arrays[name], order="C"))
            else:
                getattr(self, name)[...] = arrays[name]  # in place: kernels hold views of it
        for prefix, part in self._named_parts():
            part._assign(_below(prefix, arrays))


def _moderate(array: np.ndarray[Any, Any]) -> bool:
    """Whether all floats are finite and of a size that can be computed with."""
    if array.dtype.names is not None:
        return all(_moderate(array[name]) for name in array.dtype.names)
    return array.dtype.kind != "f" or bool((np.abs(array) <= LARGEST).all())


def _below(prefix: str, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Arrays:
    start = prefix + "/"
    return {
        name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)
    }


class Persistent(Stateful):
    """A Stateful that can be made anew: its constructor's arguments are attributes.

    Every constructor parameter is kept as an attribute of the same name. Saving, loading and
    `repr` then need no further code; a random generator ``_rng`` is saved too. A constructor
    argument that is a Persistent itself, and never changes, is named with its class in
    ``_arguments``; it is saved along with the object.
    """

    _arguments: ClassVar[Mapping[str, type[Persistent]]] = {}
    _turn: int = 0
    """Odd while a public method changes the object: `save` waits, in whatever thread."""
    _lineage: Lineage = Lineage()
    """Where what it has learnt came from, of policies and evaluators."""

    @classmethod
    def _least_numbers(cls, config: Mapping[str, Any]) -> int:
        """How many numbers the state of such an object has at least.

        A file with fewer is refused before the object is made, so that a short file cannot ask for
        a large one. The arguments are not checked yet.
        """
        return 0

    @classmethod
    def _nested(cls, config: Mapping[str, Any]) -> Mapping[str, type[Persistent]]:
        """The classes of arguments that are Persistent; a file's `config` may name them."""
        return cls._arguments

    def config(self) -> dict[str, Any]:
        """The constructor's arguments that make this object anew."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Persistent:
        """A new object from what `config` returned."""
        return cls(**config)

    def _rows_learnt(self) -> int:
        """How many rows it has learnt, of what can be merged."""
        return 0

    def __repr__(self) -> str:
        arguments = ", ".join(f"{name}={_brief(value)}" for name, value in self.config().items())
        return f"{type(self).__name__}({arguments})"


def _brief(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"<array {value.shape}>"
    if isinstance(value, np.random.SeedSequence):
        return f"<SeedSequence {value.entropy} {value.spawn_key}>"
    return f"{value:g}" if isinstance(value, float) else repr(value)


def save(thing: Persistent, path: Path) -> None:
    """Write `thing` to `path`, atomically: either the old file stays or the new one is whole.

    Another thread may change the object meanwhile: what is written is its state between two calls.
    """
    content = content_of(thing)
    with atomic_file(path) as file:
        file.write(content.getbuffer())


def content_of(thing: Persistent) -> io.BytesIO:
    """What `save` writes."""
    config, arrays = _split_config(thing)
    state, rng = _still_picture(thing)
    header = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "class": type(thing).__name__,
        "config": _as_json(config),
        "rng": rng,
    }
    if thing._lineage != Lineage():
        header[LINEAGE] = thing._lineage.as_json()
    content = io.BytesIO()
    write_archive(content, header, arrays | state)
    return content


def _still_picture(thing: Persistent) -> tuple[Arrays, dict[str, Any] | None]:
    """A copy of the arrays and of the generator's state that nobody changed meanwhile, checked."""
    for tried in range(TRIES):
        turn = thing._turn
        if turn % 2 == 0:
            try:
                state = {name: array.copy() for name, array in thing.state().items()}
                rng = getattr(thing, "_rng", None)
                drawn = None if rng is None else copy.deepcopy(rng.bit_generator.state)
                if thing._turn == turn:
                    thing._check(state)
                    return state, drawn
            except Exception:
                if thing._turn == turn:
                    raise
        time.sleep(min(1e-4 * tried, 1e-2))
    raise RuntimeError(
        f"save: another thread changes this {type(thing).__name__} all the time; save it between "
        "two of its updates"
    )


def _split_config(thing: Persistent, prefix: str = "config") -> tuple[dict[str, Any], Arrays]:
    """The configuration as what goes into the header and what is stored as an array."""
    plain: dict[str, Any] = {}
    arrays: Arrays = {}
    for name, value in thing.config().items():
        if isinstance(value, Persistent):
            plain[name], below = _split_config(value, f"{prefix}/{name}")
            arrays |= below
        elif isinstance(value, np.ndarray):
            arrays[f"{prefix}/{name}"] = value
        else:
            plain[name] = value
    return plain, arrays


def _join_config(
    cls: type[Persistent], plain: Mapping[str, Any], arrays: Arrays, prefix: str = "config"
) -> dict[str, Any]:
    """What `_split_config` took apart."""
    own = {name: array for name, array in _below(prefix, arrays).items() if "/" not in name}
    config = {**plain, **own}
    if isinstance(plain.get("seed"), dict):
        config["seed"] = _seed_sequence(**plain["seed"])
    for name, argument in cls._nested(plain).items():
        if plain[name] is not None:
            nested = _join_config(argument, plain[name], arrays, f"{prefix}/{name}")
            _check_size(argument, nested, arrays)
            config[name] = argument.from_config(nested)
    return config


def _check_size(cls: type[Persistent], config: Mapping[str, Any], arrays: Arrays) -> None:
    """ValueError where the arguments describe a larger object than the arrays can fill."""
    if cls._least_numbers(config) > sum(array.size for array in arrays.values()):
        raise ValueError("its arguments ask for more than the file holds")


def _seed_sequence(
    entropy: Any, spawn_key: list[int], pool_size: int, n_children_spawned: int
) -> np.random.SeedSequence:
    """The sequence that was stored, if it is of a size that somebody may have used."""
    words = entropy if isinstance(entropy, list) else [entropy]
    small = len(words) <= 1000 and len(spawn_key) <= 1000 and 4 <= pool_size <= 1000
    numbers = [*words, *spawn_key, pool_size, n_children_spawned]
    if not small or not all(type(n) is int and n >= 0 for n in numbers):
        raise ValueError("seed: no sequence of whole numbers of a moderate size")
    return np.random.SeedSequence(
        entropy,
        spawn_key=tuple(spawn_key),
        pool_size=pool_size,
        n_children_spawned=n_children_spawned,
    )


def _as_json(value: Any) -> Any:
    """The same without NumPy's types."""
    if isinstance(value, dict):
        return {name: _as_json(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_as_json(item) for item in value]
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.random.SeedSequence):
        return _as_json(value.state)
    if value is None or isinstance(value, (str, int, float)):
        return value
    raise TypeError(f"cannot store {type(value).__name__} in a header")


def load(path: Path, wanted: type[Persistent] | Callable[[str], type[Persistent]]) -> Any:
    """Make the object that `save` wrote: of this class, or of the one found by the stored name.

    The file may come from anyone: FileFormatError, or an object whose state is valid.
    """
    with open(path, "rb") as file:
        return load_from(file, path, wanted)


def load_from(
    file: BinaryIO, path: Path, wanted: type[Persistent] | Callable[[str], type[Persistent]]
) -> Any:
    """`load` from an open file, which errors call `path`."""
    with _clear_errors(path):
        header, arrays = read_archive(file)
        name = _class_name(header, path)
        cls: Any = wanted if isinstance(wanted, type) else wanted(name)
        if cls.__name__ != name:
            raise FileFormatError(f"{os.fspath(path)}: holds a {name}, not a {cls.__name__}")
        state = {k: array for k, array in arrays.items() if not k.startswith("config/")}
        config = _join_config(cls, header["config"], arrays)
        _check_size(cls, config, state)
        thing = cls.from_config(config)
        thing.restore(state)
        if header["rng"] is not None:
            thing._rng.bit_generator.state = header["rng"]
        told = header.get(LINEAGE)
        if told is not None:
            thing._lineage = Lineage.from_json(told)
        elif thing._rows_learnt() > 0:  # of a file without: every copy of its state has its name
            thing._lineage = Lineage(own=of_arrays(state))
        return thing


@contextlib.contextmanager
def _clear_errors(path: Path) -> Iterator[None]:
    """Whatever a damaged archive makes zipfile, NumPy or a constructor say, say it in one voice."""
    try:
        yield
    except FileFormatError:
        raise
    except Exception as error:
        said = "".join(c if c.isprintable() else "?" for c in str(error)[:300])
        raise FileFormatError(
            f"{os.fspath(path)}: not a voful file, or a damaged one ({said})"
        ) from error


def _class_name(header: dict[str, Any], path: Path) -> str:
    """What the file says that it holds, if it is one of this format."""
    place, number, name = os.fspath(path), header["format_version"], header["class"]
    if header["format"] != FORMAT or type(number) is not int:
        raise FileFormatError(f"{place}: not a voful file")
    if number > FORMAT_VERSION:
        raise FileFormatError(
            f"{place}: written by a newer voful (format {number:.0f}; this one reads up to "
            f"{FORMAT_VERSION})"
        )
    if number < FORMAT_VERSION:
        raise FileFormatError(
            f"{place}: written by voful 0.1 (format {number}; this one reads format "
            f"{FORMAT_VERSION}): load and play it with voful<0.2, or learn it anew"
        )
    named = isinstance(name, str) and name.isidentifier() and len(name) <= 100
    if header.keys() - {LINEAGE} != HEADER or not named:
        raise FileFormatError(f"{place}: not a voful file, or a damaged one (its header)")
    return str(name)
