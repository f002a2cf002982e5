"""Files that carry a digest of their content in their name, so that damage is noticed.

``NAME-DIGEST.parquet``, the digest of name and content. Without it, a bit that flips on a disk or
in a copy changes a number in silence, or makes the reader crash.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
from pathlib import Path
from typing import TYPE_CHECKING

from voful.persistence import FileFormatError

if TYPE_CHECKING:
    import polars as pl

LENGTH = 32  # hexadecimal digits: 128 bits
SUFFIX = ".parquet"


def name_of(path: Path) -> str:
    """What a file holds, by its name."""
    return path.name.removesuffix(SUFFIX)[: -LENGTH - 1]


def path_for(directory: Path, name: str, content: bytes) -> Path:
    """Where this content belongs."""
    digest = hashlib.sha256(name.encode() + b"\0" + content).hexdigest()[:LENGTH]
    return directory / f"{name}-{digest}{SUFFIX}"


def is_sound(path: Path) -> bool:
    """Whether name and content are those that were written together."""
    return path.name == path_for(path.parent, name_of(path), path.read_bytes()).name


def read(path: Path, columns: list[str] | None = None) -> pl.DataFrame:
    """The frame of a file; FileFormatError where it is not as it was written."""
    import polars as pl

    content = path.read_bytes()
    if path.name != path_for(path.parent, name_of(path), content).name:
        raise FileFormatError(
            f"{path}: damaged; run the study again, which sets it aside and plays its runs anew"
        )
    return pl.read_parquet(io.BytesIO(content), columns=columns)


def as_parquet(frame: pl.DataFrame) -> bytes:
    """Through memory, so that a full disk is an OSError and not one of Polars' own."""
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    return buffer.getvalue()


def set_aside(path: Path, directory: Path) -> str:
    """Move a file out of the way; where it is now."""
    directory.mkdir(exist_ok=True)
    place = directory / path.name
    with contextlib.suppress(FileNotFoundError):
        os.replace(path, place)
    return str(place)
