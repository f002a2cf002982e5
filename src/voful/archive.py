"""One file that holds a JSON header and named arrays: written atomically, read with suspicion.

A file is a zip archive without compression (NumPy's ``.npz``): ``header.json`` and a ``.npy`` for
each array. A reader that trusts such a file can be made to work for minutes or to fill the memory
by a file of a few kilobytes. So every size that a file states is compared with the size that it
has, before anything is made of it.
"""

from __future__ import annotations

import io
import json
import math
import os
import struct
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, TypeAlias

import numpy as np

Arrays: TypeAlias = dict[str, np.ndarray[Any, Any]]

HEADER = "header.json"
MOST_MEMBERS = 2_000
LONGEST_HEADER = 1_000_000  # bytes
LONGEST_NAME = 200
_END = struct.Struct("<4s4H2LH")  # the end of a zip archive without a comment
_LARGE = 2**31 - 1  # archives above have a second end, with larger numbers


def write_archive(file: BinaryIO, header: Mapping[str, Any], arrays: Arrays) -> None:
    """Write header and arrays."""
    archive = zipfile.ZipFile(file, "w")
    try:
        archive.writestr(_member(HEADER), json.dumps(header))
        for name, array in arrays.items():
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, array, allow_pickle=False)
            archive.writestr(_member(f"{name}.npy"), buffer.getvalue())
        archive.close()
    except BaseException:
        archive.fp = None  # else closing a half-written member replaces Ctrl-C by a ValueError
        raise


def _member(name: str) -> zipfile.ZipInfo:
    """Without the time: the same content is the same file."""
    member = zipfile.ZipInfo(name)
    member.external_attr = 0o600 << 16  # as `writestr` does for names
    return member


def read_archive(file: BinaryIO) -> tuple[dict[str, Any], Arrays]:
    """(header, arrays) of a file from anyone; any Exception where it is not as `write_archive`'s.

    Time and memory are at most proportional to the length of the file. The arrays are read only.
    """
    _check_end(file)
    with zipfile.ZipFile(file) as archive:
        members = dict(_members(archive, file.seek(0, os.SEEK_END)))
        header = json.loads(archive.read(members.pop(HEADER)))
        if not isinstance(header, dict):
            raise ValueError("the header is no table")
        return header, {
            name.removesuffix(".npy"): _array(archive.read(member))
            for name, member in members.items()
        }


def _check_end(file: BinaryIO) -> None:
    """How many members there are, before a list of them is made."""
    length = file.seek(0, os.SEEK_END)
    file.seek(max(length - _END.size, 0))
    signature, _, _, _, count, directory, _, comment = _END.unpack(file.read())
    if signature != b"PK\x05\x06" or comment:
        raise ValueError("no end of an archive")
    if length <= _LARGE:
        file.seek(max(length - _END.size - 20, 0))
        if file.read(4) == b"PK\x06\x07":
            raise ValueError("a small archive with the end of a large one")
    if count > MOST_MEMBERS or directory > count * (LONGEST_NAME + 100):
        raise ValueError(f"{count} members with a list of {directory} bytes")


def _members(archive: zipfile.ZipFile, length: int) -> Iterator[tuple[str, zipfile.ZipInfo]]:
    """The members by name, none of them compressed, together no longer than the file."""
    seen: set[str] = set()
    total = 0
    for member in archive.infolist():
        name = member.filename
        total += member.file_size
        stored = member.compress_type == zipfile.ZIP_STORED
        if not stored or member.compress_size != member.file_size or member.flag_bits & 1:
            raise ValueError(f"member {name[:LONGEST_NAME]!r} is compressed or encrypted")
        if total > length:
            raise ValueError("the members are longer than the file")
        if name in seen or not (name == HEADER or name.endswith(".npy")):
            raise ValueError(f"unknown or repeated member {name[:LONGEST_NAME]!r}")
        if name == HEADER and member.file_size > LONGEST_HEADER:
            raise ValueError(f"a header of {member.file_size} bytes")
        seen.add(name)
        yield name, member


def _array(content: bytes) -> np.ndarray[Any, Any]:
    """An array as NumPy writes it, whose shape says how many bytes follow."""
    file = io.BytesIO(content)
    version = np.lib.format.read_magic(file)
    if version != (1, 0):
        raise ValueError(f"an array of format {version}")
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(file)
    begins = file.tell()
    if dtype.hasobject or dtype.itemsize == 0 or not all(n >= 0 for n in shape):
        raise ValueError(f"an array of {dtype} and shape {shape}")
    if len(shape) > 8 or math.prod(shape) * dtype.itemsize != len(content) - begins:
        raise ValueError(f"an array of shape {shape[:8]} in {len(content) - begins} bytes")
    flat = np.frombuffer(content, dtype, offset=begins)
    return flat.reshape(shape, order="F" if fortran else "C")
