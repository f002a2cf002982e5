"""How far learning has come: one file beside the output, replaced as a whole."""

from __future__ import annotations

import hashlib
import io
import json
import os
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from voful.archive import Arrays, read_archive, write_archive
from voful.atomic import atomic_file
from voful.bandits.base import Policy
from voful.lineage import of_arrays
from voful.logs.files import LogFile
from voful.persistence import FileFormatError, content_of, load_from
from voful.typing import Path

FORMAT = "voful-learning"
EVERY = 5.0  # seconds between checkpoints, at least,
SHARE = 20.0  # and so many times what one takes


def fingerprint(files: Sequence[LogFile], policy: Policy, **how: Any) -> str:
    """What a result depends on."""
    told = [type(policy).__name__, repr(policy.config()), of_arrays(policy.state())]
    told += [file.digest for file in files] + [repr(sorted(how.items()))]
    return hashlib.blake2b(json.dumps(told).encode(), digest_size=16).hexdigest()


class Reached(NamedTuple):
    """What a checkpoint says."""

    place: tuple[int, ...]
    rows: dict[str, int]  # learnt of each file, by its digest
    skipped: Counter[str]
    arrays: Arrays

    def policy(self, cls: type[Policy]) -> Policy:
        """The policy as it was."""
        content = io.BytesIO(self.arrays["policy"].tobytes())
        found: Policy = load_from(content, "checkpoint", cls)
        return found


class Checkpoint:
    """The file of one run; without a path, none."""

    def __init__(self, path: Path | None, run: str) -> None:
        self.path, self._run = path, run
        self._cost, self._last = 0.0, time.monotonic()

    def reached(self) -> Reached | None:
        """What an earlier process of the same run has reached; ValueError where it is another's."""
        if self.path is None or not os.path.exists(self.path):
            return None
        try:
            with open(self.path, "rb") as file:
                header, arrays = read_archive(file)
            if header.get("format") != FORMAT:
                raise ValueError("no checkpoint")
            place, rows, skipped = (header[name] for name in ("place", "rows", "skipped"))
        except Exception as error:
            raise FileFormatError(f"{os.fspath(self.path)}: damaged ({error}); remove it") from None
        if header["run"] != self._run:
            raise ValueError(
                f"{os.fspath(self.path)}: got the checkpoint of other files, arguments or library "
                "code; expected the same command as before: remove the file to begin anew"
            )
        return Reached(tuple(place), dict(rows), Counter(skipped), arrays)

    def due(self) -> bool:
        """Whether it is time for the next one."""
        waited = time.monotonic() - self._last
        return self.path is not None and waited >= max(EVERY, SHARE * self._cost)

    def write(
        self,
        place: Sequence[int],
        rows: dict[str, int],
        skipped: Counter[str] | None,
        arrays: Arrays,
    ) -> None:
        """Replace the file."""
        if self.path is None:
            return
        began = time.monotonic()
        header = {"format": FORMAT, "run": self._run, "place": list(place), "rows": rows}
        header["skipped"] = dict(skipped or {})
        with atomic_file(self.path) as file:
            write_archive(file, header, arrays)
        self._last = time.monotonic()
        self._cost = self._last - began

    def remove(self) -> None:
        """The run is at its end, good or bad."""
        if self.path is not None and os.path.exists(self.path):
            os.unlink(self.path)


def packed(policy: Policy) -> Arrays:
    """A policy as what a checkpoint holds."""
    return {"policy": np.frombuffer(content_of(policy).getvalue(), dtype=np.uint8)}
