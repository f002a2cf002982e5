"""A small table as a Parquet file: one row group, plain encoding, no compression, no statistics.

Polars takes a seventh of a second to import and half a millisecond to write the fifty rows of a
run; studies are made of many short runs. Reading and packing are left to Polars.

The format: https://parquet.apache.org/docs/file-format; metadata is Thrift's compact protocol.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Container, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np

MAGIC: Final = b"PAR1"
CREATED_BY: Final = b"voful"

# Physical types
BOOLEAN, INT64, DOUBLE, BYTE_ARRAY = 0, 2, 5, 6
# Encodings, repetition, and the annotation that a byte array is text
PLAIN, RLE = 0, 3
OPTIONAL = 1
UTF8 = 0

# Thrift's compact types
_I32, _I64, _BINARY, _LIST, _STRUCT = 5, 6, 8, 9, 12


def parquet(
    n_rows: int,
    columns: Mapping[str, list[Any] | str | int],
    numbers: Container[str] = (),
) -> bytes:
    """The file of columns of truths, whole numbers, numbers or words; None is a missing value.

    A word or a number in place of a list stands in every row. Where all values of a column are
    missing, it is one of numbers if `numbers` says so, else of truths.
    """
    pages: list[bytes] = []
    layout = []
    for name, values in columns.items():
        kind, present, data = _encoded(n_rows, name, values, name in numbers)
        body = struct.pack("<I", len(present)) + present + data
        page = _page_header(n_rows, len(body)) + body
        pages.append(page)
        layout.append((name, kind, len(page)))
    footer = _footer(n_rows, tuple(layout))
    return b"".join([MAGIC, *pages, footer, struct.pack("<I", len(footer)), MAGIC])


def is_whole(path: Path) -> bool:
    """Whether a file ends as a Parquet file does."""
    with open(path, "rb") as file:
        end = file.seek(0, os.SEEK_END)
        file.seek(max(end - len(MAGIC), 0))
        return file.read() == MAGIC


# --- columns ----------------------------------------------------------------------------------


def _encoded(
    n: int, name: str, values: list[Any] | str | int, number: bool
) -> tuple[int, bytes, bytes]:
    """Physical type, which rows have a value, and the values."""
    if isinstance(values, str):
        return BYTE_ARRAY, _all_present(n), _text(values) * n
    if isinstance(values, int):
        return INT64, _all_present(n), struct.pack("<q", values) * n
    if len(values) != n:
        raise ValueError(f"{name}: got {len(values)} values; expected {n}")
    types = set(map(type, values))
    present = _all_present(n)
    if type(None) in types:
        types.remove(type(None))
        present = _some_present([value is not None for value in values])
        values = [value for value in values if value is not None]
    if types == {bool} or not (types or number):
        return BOOLEAN, present, _bits(values)
    if types == {int}:
        return INT64, present, struct.pack(f"<{len(values)}q", *values)
    if types <= {int, float}:
        return DOUBLE, present, struct.pack(f"<{len(values)}d", *values)
    if types == {str}:
        return BYTE_ARRAY, present, b"".join(map(_text, values))
    names = ", ".join(sorted(cls.__name__ for cls in types))
    raise TypeError(f"{name}: got {names}; expected truths, numbers or words")


def _bits(truths: Sequence[bool]) -> bytes:
    return np.packbits(np.array(truths, dtype=np.bool_), bitorder="little").tobytes()


def _text(word: str) -> bytes:
    encoded = word.encode()
    return struct.pack("<I", len(encoded)) + encoded


def _all_present(n: int) -> bytes:
    """Definition levels, all 1, as one run."""
    return _varint(n << 1) + b"\x01"


def _some_present(levels: list[bool]) -> bytes:
    """Definition levels as bits, in groups of eight."""
    packed = _bits(levels)
    return _varint(len(packed) << 1 | 1) + packed


# --- metadata: the same for all runs of a study ------------------------------------------------


@lru_cache
def _footer(n: int, layout: tuple[tuple[str, int, int], ...]) -> bytes:
    """The metadata of pages with these names, types and sizes, one after the other."""
    chunks = []
    place = len(MAGIC)
    for name, kind, size in layout:
        chunks.append(_chunk(name, kind, n, size, place))
        place += size
    group = _struct(
        (1, _LIST, _list(_STRUCT, chunks)),
        (2, _I64, _integer(place - len(MAGIC))),
        (3, _I64, _integer(n)),
    )
    schema = [_struct((4, _BINARY, _binary(b"schema")), (5, _I32, _integer(len(layout))))]
    schema += [_leaf(name, kind) for name, kind, _ in layout]
    return _struct(
        (1, _I32, _integer(1)),
        (2, _LIST, _list(_STRUCT, schema)),
        (3, _I64, _integer(n)),
        (4, _LIST, _list(_STRUCT, [group])),
        (6, _BINARY, _binary(CREATED_BY)),
    )


@lru_cache
def _page_header(n: int, size: int) -> bytes:
    data_page = _struct(
        (1, _I32, _integer(n)),
        (2, _I32, _integer(PLAIN)),
        (3, _I32, _integer(RLE)),
        (4, _I32, _integer(RLE)),
    )
    return _struct(
        (1, _I32, _integer(0)),  # a data page
        (2, _I32, _integer(size)),
        (3, _I32, _integer(size)),
        (5, _STRUCT, data_page),
    )


def _chunk(name: str, kind: int, n: int, size: int, place: int) -> bytes:
    metadata = _struct(
        (1, _I32, _integer(kind)),
        (2, _LIST, _list(_I32, [_integer(PLAIN), _integer(RLE)])),
        (3, _LIST, _list(_BINARY, [_binary(name.encode())])),
        (4, _I32, _integer(0)),  # no compression
        (5, _I64, _integer(n)),
        (6, _I64, _integer(size)),
        (7, _I64, _integer(size)),
        (9, _I64, _integer(place)),
    )
    return _struct((2, _I64, _integer(place)), (3, _STRUCT, metadata))


def _leaf(name: str, kind: int) -> bytes:
    fields = [
        (1, _I32, _integer(kind)),
        (3, _I32, _integer(OPTIONAL)),
        (4, _BINARY, _binary(name.encode())),
    ]
    if kind == BYTE_ARRAY:
        text = _struct((1, _STRUCT, _struct()))
        fields += [(6, _I32, _integer(UTF8)), (10, _STRUCT, text)]
    return _struct(*fields)


# --- Thrift's compact protocol ----------------------------------------------------------------


def _struct(*fields: tuple[int, int, bytes]) -> bytes:
    """(id, type, value) of each field, by id."""
    parts = []
    last = 0
    for id, kind, value in fields:
        parts += [bytes([(id - last) << 4 | kind]), value]
        last = id
    return b"".join([*parts, b"\0"])


def _list(kind: int, items: Sequence[bytes]) -> bytes:
    n = len(items)
    head = bytes([n << 4 | kind]) if n < 15 else bytes([0xF0 | kind]) + _varint(n)
    return head + b"".join(items)


def _binary(content: bytes) -> bytes:
    return _varint(len(content)) + content


def _integer(number: int) -> bytes:
    return _varint(number << 1)  # zigzag, of a number >= 0


def _varint(number: int) -> bytes:
    if number < 0x80:
        return bytes([number])
    return bytes([number & 0x7F | 0x80]) + _varint(number >> 7)
