"""Progress of a study: a live display on a terminal, plain lines elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic
from types import TracebackType

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from voful.experiments.play.execute import Outcome
from voful.experiments.study.run import Run

SECONDS = 10.0  # between two plain lines


@dataclass
class Standing:
    """How a policy has done so far: final regrets of its finished runs."""

    runs: int = 0
    total: float = 0.0
    best: float = float("inf")

    def add(self, regret: float) -> None:
        """One more run."""
        self.runs += 1
        self.total += regret
        self.best = min(self.best, regret)


class Tally:
    """Counts what happens; the displays show it."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._start: float | None = None
        self.pending = self.done = self.failed = self.steps = self.all_steps = 0
        self.unit = "rounds"
        self.standings: dict[str, Standing] = {}

    def begin(self, pending: Sequence[Run]) -> None:
        """Runs to come."""
        self.pending = len(pending)
        self.all_steps = sum(run.problem.length for run in pending)
        self.unit = "episodes" if any(r.problem.kind == "episodic" for r in pending) else "rounds"
        self.standings = {run.contender.name: Standing() for run in pending}

    def start_clock(self) -> None:
        """The first run begins."""
        self._start = self._clock()

    def count(self, run: Run, outcome: Outcome | None) -> None:
        """A run came to its end; without an outcome, in failure."""
        self.done += 1
        self.steps += run.problem.length
        if outcome is None or outcome.columns is None:
            self.failed += 1
        else:
            self.standings[run.contender.name].add(outcome.columns["regret"][-1])

    @property
    def speed(self) -> float:
        """Rounds (or episodes) a second."""
        return self.steps / max(self._clock() - (self._start or 0.0), 1e-9)

    def line(self) -> str:
        """Runs done, speed, time left."""
        if self._start is None:
            return "getting ready (a new installation compiles its kernels now)"
        text = f"{self.done}/{self.pending} runs"
        if self.failed:
            text += f", {self.failed} failed"
        if self.steps:
            left = (self.all_steps - self.steps) / self.speed
            text += f", {self.speed:,.0f} {self.unit}/s, {_duration(left)} left"
        return text


class PlainProgress:
    """A line now and then."""

    def __init__(self, console: Console, tally: Tally | None = None) -> None:
        self.tally = tally or Tally()
        self._console = console
        self._last = monotonic()

    def __enter__(self) -> PlainProgress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        pass

    def started(self, pending: Sequence[Run], stored: int) -> None:
        """Say what is to be done."""
        self.tally.begin(pending)
        self._say(_opening(len(pending), stored))
        if pending:
            self._say(self.tally.line())

    def ready(self) -> None:
        """Time runs from here."""
        self.tally.start_clock()
        self._last = monotonic()

    def finished(self, run: Run, outcome: Outcome) -> None:
        """Say how far it is, if that was some time ago."""
        self.tally.count(run, outcome)
        if self.tally.done == self.tally.pending or monotonic() - self._last > SECONDS:
            self._last = monotonic()
            self._say(self.tally.line())

    def failed(self, run: Run, error: str, *, again: bool) -> None:
        """Say what went wrong."""
        if not again:
            self.tally.count(run, None)
        self._say(_failure(run, error, again))

    def _say(self, text: str) -> None:
        self._console.print(text, soft_wrap=True, highlight=False, markup=False)


class LiveProgress:
    """A bar, and how each policy stands."""

    def __init__(self, console: Console) -> None:
        self.tally = Tally()
        self._console = console
        self._live = Live(console=console, refresh_per_second=4, get_renderable=self._render)

    def __enter__(self) -> LiveProgress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._live.stop()

    def started(self, pending: Sequence[Run], stored: int) -> None:
        """Show the bar, if there is anything to do."""
        self.tally.begin(pending)
        self._console.print(_opening(len(pending), stored), soft_wrap=True, highlight=False)
        if pending:
            self._live.start()

    def ready(self) -> None:
        """Time runs from here."""
        self.tally.start_clock()

    def finished(self, run: Run, outcome: Outcome) -> None:
        """Count it."""
        self.tally.count(run, outcome)

    def failed(self, run: Run, error: str, *, again: bool) -> None:
        """Say what went wrong, above the bar."""
        if not again:
            self.tally.count(run, None)
        self._live.console.print(Text(_failure(run, error, again), style="red"), soft_wrap=True)

    def _render(self) -> RenderableType:
        bar = ProgressBar(total=max(self.tally.pending, 1), completed=self.tally.done, width=40)
        table = Table.grid(padding=(0, 2))
        for name, standing in self.tally.standings.items():
            if standing.runs:
                mean = standing.total / standing.runs
                table.add_row(
                    Text(name),
                    f"{standing.runs} runs",
                    f"regret {mean:.1f}",
                    f"best {standing.best:.1f}",
                )
        return Group(bar, Text(self.tally.line()), table)


def make_progress(console: Console) -> PlainProgress | LiveProgress:
    """Live on a terminal, plain elsewhere."""
    return LiveProgress(console) if console.is_terminal else PlainProgress(console)


def _opening(pending: int, stored: int) -> str:
    if not pending:
        return f"nothing to do: all {stored} runs are stored"
    return f"{pending} runs to play" + (f", {stored} are stored already" if stored else "")


def _failure(run: Run, error: str, again: bool) -> str:
    fate = "failed, trying once more" if again else "failed again, given up"
    return f"{run.label} {fate}:\n{error.rstrip()}"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
