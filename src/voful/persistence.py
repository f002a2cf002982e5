"""Save and load: arrays and JSON in one file, never pickle.

A file is a zip archive (NumPy's ``.npz``) that holds ``header.json`` and the arrays. An object is
its constructor's arguments plus its arrays, so a file says what it is and any reader can open it.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import json
import os
import secrets
import zipfile
from collections.abc import Callable, Iterator, Mapping
from typing import Any, BinaryIO, ClassVar, TypeAlias

import numpy as np

from voful.typing import Path

Arrays: TypeAlias = dict[str, np.ndarray[Any, Any]]

FORMAT = "voful"
FORMAT_VERSION = 2


class FileFormatError(ValueError):
    """The file is truncated, foreign, or from a newer version."""


class Stateful:
    """An object whose changing state is named arrays.

    All that changes after construction lives in the arrays named in ``_arrays`` (those in
    ``_growing`` may change their shape) or in the parts named in ``_parts``, each a Stateful or a
    sequence of them.
    """

    _arrays: ClassVar[tuple[str, ...]] = ()
    _growing: ClassVar[tuple[str, ...]] = ()
    _parts: ClassVar[tuple[str, ...]] = ()

    def state(self) -> Arrays:
        """The arrays that change; those of parts as ``part/array`` or ``part/0/array``."""
        arrays = {name: np.asarray(getattr(self, name)) for name in self._arrays}
        for prefix, part in self._named_parts():
            arrays |= {f"{prefix}/{name}": array for name, array in part.state().items()}
        return arrays

    def restore(self, arrays: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Take over the arrays of another object's `state`; all of them, or none on error."""
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
        for name in self._arrays:
            current, loaded = np.asarray(getattr(self, name)), arrays[name]
            grown = name in self._growing and loaded.ndim == current.ndim
            if loaded.dtype != current.dtype or not (grown or loaded.shape == current.shape):
                raise ValueError(f"array {name!r} is {loaded.dtype} of shape {loaded.shape}")
        for prefix, part in self._named_parts():
            part._check(_below(prefix, arrays))

    def _assign(self, arrays: Mapping[str, np.ndarray[Any, Any]]) -> None:
        for name in self._arrays:
            if name in self._growing:
                setattr(self, name, np.array(arrays[name], order="C"))
            else:
                getattr(self, name)[...] = arrays[name]  # in place: kernels hold views of it
        for prefix, part in self._named_parts():
            part._assign(_below(prefix, arrays))


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

    def config(self) -> dict[str, Any]:
        """The constructor's arguments that make this object anew."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Persistent:
        """A new object from what `config` returned."""
        return cls(**config)

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
    """Write `thing` to `path`, atomically: either the old file stays or the new one is whole."""
    rng = getattr(thing, "_rng", None)
    config, arrays = _split_config(thing)
    header = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "class": type(thing).__name__,
        "config": config,
        "rng": None if rng is None else rng.bit_generator.state,
    }
    with atomic_file(path) as file, zipfile.ZipFile(file, "w") as archive:
        archive.writestr("header.json", json.dumps(header, default=_as_json))
        for name, array in (arrays | thing.state()).items():
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, array, allow_pickle=False)
            archive.writestr(f"{name}.npy", buffer.getvalue())


@contextlib.contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """A file to write that takes the place of `path` at the end, on disk, or not at all."""
    target = os.path.realpath(path)
    temporary = f"{target}.{secrets.token_hex(8)}.tmp"
    # Not tempfile: its files are private (0600); the kernel applies the user's umask here.
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


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
        config["seed"] = np.random.SeedSequence(**plain["seed"])
    for name, argument in cls._arguments.items():
        if plain[name] is not None:
            nested = _join_config(argument, plain[name], arrays, f"{prefix}/{name}")
            config[name] = argument.from_config(nested)
    return config


def _as_json(value: object) -> object:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.random.SeedSequence):
        return value.state
    raise TypeError(f"cannot store {type(value).__name__} in a header")


def load(path: Path, wanted: type[Persistent] | Callable[[str], type[Persistent]]) -> Any:
    """Make the object that `save` wrote: of this class, or of the one found by the stored name."""
    with open(path, "rb") as file, _clear_errors(path), zipfile.ZipFile(file) as archive:
        header = _header(archive, path)
        name = header["class"]
        cls: Any = wanted if isinstance(wanted, type) else wanted(name)
        if cls.__name__ != name:
            raise FileFormatError(f"{path}: holds a {name}, not a {cls.__name__}")
        arrays = {
            name.removesuffix(".npy"): np.lib.format.read_array(
                io.BytesIO(archive.read(name)), allow_pickle=False
            )
            for name in archive.namelist()
            if name.endswith(".npy")
        }
        thing = cls.from_config(_join_config(cls, header["config"], arrays))
        thing.restore(arrays)
        if header["rng"] is not None:
            thing._rng.bit_generator.state = header["rng"]
        return thing


@contextlib.contextmanager
def _clear_errors(path: Path) -> Iterator[None]:
    """Whatever a damaged archive makes zipfile, NumPy or a constructor say, say it in one voice."""
    try:
        yield
    except FileFormatError:
        raise
    except Exception as error:
        raise FileFormatError(
            f"{os.fspath(path)}: not a voful file, or a damaged one ({error})"
        ) from error


def _header(archive: zipfile.ZipFile, path: Path) -> dict[str, Any]:
    header = json.loads(archive.read("header.json"))
    if header["format"] != FORMAT or type(header["format_version"]) is not int:
        raise FileFormatError(f"{os.fspath(path)}: not a voful file")
    if header["format_version"] > FORMAT_VERSION:
        raise FileFormatError(
            f"{os.fspath(path)}: written by a newer voful (format {header['format_version']}; "
            f"this one reads up to {FORMAT_VERSION})"
        )
    if header["format_version"] < FORMAT_VERSION:
        raise FileFormatError(
            f"{os.fspath(path)}: written by voful 0.1 (format {header['format_version']}; this one "
            f"reads format {FORMAT_VERSION}): load and play it with voful<0.2, or learn it anew"
        )
    return dict(header)
