"""A backend that plays the runs of a study in this process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from voful.experiments.play.execute import Outcome, attempt, rehearse
from voful.experiments.runner import runner
from voful.experiments.runner.backends import make_backend
from voful.experiments.study.run import Run


class Inline:
    """One run at a time; for tests that are not about processes, each of which takes a second."""

    def __init__(self) -> None:
        self.queue: list[Run] = []

    def open(self, rehearsal: Sequence[Run]) -> list[str | None]:
        return rehearse(rehearsal)

    def has_room(self) -> bool:
        return not self.queue

    def start(self, run: Run) -> None:
        self.queue.append(run)

    def next_finished(self) -> tuple[Run, Outcome]:
        run = self.queue.pop()
        return run, attempt(run)

    def close(self) -> None:
        self.queue.clear()


@contextmanager
def inline() -> Iterator[None]:
    """Studies that are played in here are played in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner, "make_backend", _make_backend)
        yield


def _make_backend(*arguments: Any) -> Inline:
    make_backend(*arguments)  # refuses what it would refuse
    return Inline()
