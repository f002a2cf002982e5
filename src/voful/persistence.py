"""Save and load: arrays and JSON in one file, never pickle.

A file is a zip archive (NumPy's ``.npz``) that holds ``header.json`` and the arrays. An object is
its constructor's arguments plus its arrays, so a file says what it is and any reader can open it.
"""

from __future__ import annotations

import inspect
import io
import json
import os
import tempfile
import zipfile
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from voful.typing import Path

FORMAT = "voful"
FORMAT_VERSION = 1


class FileFormatError(ValueError):
    """The file is truncated, foreign, or from a newer version."""


class Persistent:
    """An object that is its constructor's arguments plus named arrays.

    Every constructor parameter is kept as an attribute of the same name, and all that changes
    later lives in the arrays named in ``_arrays`` (those in ``_growing`` may change their length),
    in the parts named in ``_parts`` or in the random generator ``_rng``. Saving, loading and
    `repr` then need no further code.
    """

    _arrays: ClassVar[tuple[str, ...]] = ()
    _growing: ClassVar[tuple[str, ...]] = ()
    _parts: ClassVar[tuple[str, ...]] = ()

    def config(self) -> dict[str, Any]:
        """The constructor's arguments that make this object anew."""
        names = list(inspect.signature(type(self).__init__).parameters)[1:]
        return {name: getattr(self, name) for name in names}

    def state(self) -> dict[str, np.ndarray[Any, Any]]:
        """The arrays that change, parts as ``part/array``."""
        arrays = {name: np.asarray(getattr(self, name)) for name in self._arrays}
        for part in self._parts:
            nested = getattr(self, part).state()
            arrays |= {f"{part}/{name}": array for name, array in nested.items()}
        return arrays

    def restore(self, arrays: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Take over the arrays of another object's `state`."""
        for name in self._arrays:
            current = np.asarray(getattr(self, name))
            loaded = arrays[name]
            fixed = slice(1 if name in self._growing else 0, None)
            if loaded.dtype != current.dtype or loaded.shape[fixed] != current.shape[fixed]:
                raise ValueError(f"array {name!r} is {loaded.dtype} of shape {loaded.shape}")
            setattr(self, name, np.array(loaded, order="C"))
        for part in self._parts:
            prefix = part + "/"
            nested = {
                name.removeprefix(prefix): array
                for name, array in arrays.items()
                if name.startswith(prefix)
            }
            getattr(self, part).restore(nested)
        self._restored()

    def _restored(self) -> None:
        """Hook: derive what is not stored from what is."""

    def __repr__(self) -> str:
        arguments = ", ".join(f"{name}={_brief(value)}" for name, value in self.config().items())
        return f"{type(self).__name__}({arguments})"


def _brief(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"<array {value.shape}>"
    return f"{value:g}" if isinstance(value, float) else repr(value)


def save(thing: Persistent, path: Path) -> None:
    """Write `thing` to `path`, atomically: either the old file stays or the new one is whole."""
    rng = getattr(thing, "_rng", None)
    header = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "class": type(thing).__name__,
        "config": thing.config(),
        "rng": None if rng is None else rng.bit_generator.state,
    }
    target = os.path.abspath(os.fspath(path))
    handle, temporary = tempfile.mkstemp(prefix=".voful-", dir=os.path.dirname(target))
    try:
        with os.fdopen(handle, "wb") as file:
            with zipfile.ZipFile(file, "w") as archive:
                archive.writestr("header.json", json.dumps(header, default=_as_json))
                for name, array in thing.state().items():
                    buffer = io.BytesIO()
                    np.lib.format.write_array(buffer, array, allow_pickle=False)
                    archive.writestr(f"{name}.npy", buffer.getvalue())
            file.flush()
            os.fsync(file.fileno())
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)  # mkstemp's 0600 would surprise whoever shares it
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


def _as_json(value: object) -> object:
    if isinstance(value, np.ndarray):
        return value.tolist()  # Python prints floats so that they are read back exactly
    if isinstance(value, np.random.SeedSequence):
        return {"entropy": value.entropy, "spawn_key": list(value.spawn_key)}
    raise TypeError(f"cannot store {type(value).__name__} in a header")


def read_header(path: Path) -> dict[str, Any]:
    """The header of a saved file, with a clear error for any other file."""
    with _open(path) as archive:
        return _header(archive, path)


def load_into(cls: type[Persistent], path: Path) -> Any:
    """Make a `cls` from the file's configuration and take over its arrays."""
    with _open(path) as archive:
        header = _header(archive, path)
        try:
            arrays = {
                name.removesuffix(".npy"): np.lib.format.read_array(
                    io.BytesIO(archive.read(name)), allow_pickle=False
                )
                for name in archive.namelist()
                if name.endswith(".npy")
            }
            thing = cls(**_from_json(header["config"]))
            thing.restore(arrays)
            if header["rng"] is not None:
                thing._rng.bit_generator.state = header["rng"]  # type: ignore[attr-defined]
        except (KeyError, TypeError, ValueError, EOFError, zipfile.BadZipFile) as error:
            raise FileFormatError(f"{os.fspath(path)}: damaged voful file ({error})") from error
    return thing


def _from_json(config: dict[str, Any]) -> dict[str, Any]:
    seed = config.get("seed")
    if isinstance(seed, dict):
        config["seed"] = np.random.SeedSequence(seed["entropy"], spawn_key=seed["spawn_key"])
    return config


def _open(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except zipfile.BadZipFile as error:
        raise FileFormatError(
            f"{os.fspath(path)}: not a voful file, or a truncated one ({error})"
        ) from error


def _header(archive: zipfile.ZipFile, path: Path) -> dict[str, Any]:
    try:
        header = json.loads(archive.read("header.json"))
        known = header["format"] == FORMAT
        version = int(header["format_version"])
    except (KeyError, TypeError, ValueError, zipfile.BadZipFile) as error:
        raise FileFormatError(f"{os.fspath(path)}: not a voful file ({error})") from error
    if not known:
        raise FileFormatError(f"{os.fspath(path)}: not a voful file")
    if version > FORMAT_VERSION:
        raise FileFormatError(
            f"{os.fspath(path)}: written by a newer voful (format {version}; "
            f"this one reads up to {FORMAT_VERSION})"
        )
    return dict(header)


__all__ = ["FileFormatError", "Persistent", "load_into", "read_header", "save"]
