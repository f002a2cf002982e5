"""Files that are replaced as a whole or not at all, whatever happens on the way."""

from __future__ import annotations

import contextlib
import fcntl
import glob
import os
import secrets
import stat
from collections.abc import Iterator
from typing import BinaryIO

from voful.typing import Path


@contextlib.contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """A file to write that takes the place of `path` at the end, on disk, or not at all.

    A file that is replaced hands on its permissions. What killed writers left behind is removed:
    a writer holds a lock on its temporary file, which the system frees when it dies.
    """
    target = os.path.realpath(path)
    _remove_leftovers(target)
    temporary = f"{target}.{secrets.token_hex(8)}.tmp"
    try:
        with _private(temporary, target) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            os.replace(temporary, target)  # still locked: nobody takes it for a leftover
    finally:
        with contextlib.suppress(FileNotFoundError):  # it has taken its place
            os.unlink(temporary)


def _private(temporary: str, target: str) -> BinaryIO:
    """The new file, locked, with the permissions of what it will replace."""
    try:
        mode = stat.S_IMODE(os.stat(target).st_mode)
    except OSError:  # not tempfile, whose files are private: the kernel applies the user's umask
        mode = None
    new = 0o666 if mode is None else 0o600
    while True:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, new)
        try:
            with contextlib.suppress(OSError):  # file systems without locks: leftovers stay
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(handle).st_nlink:
                if mode is not None:
                    os.fchmod(handle, mode)
                return os.fdopen(handle, "wb")
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)  # another writer was faster, and took it for a leftover


def _remove_leftovers(target: str) -> None:
    for leftover in glob.glob(f"{glob.escape(target)}.{'[0-9a-f]' * 16}.tmp"):
        with contextlib.suppress(OSError), open(leftover, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.unlink(leftover)
