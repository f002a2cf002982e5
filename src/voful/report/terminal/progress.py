"""Progress of a study: a live display on a terminal, plain lines elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from time import monotonic

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from voful.experiments.play.execute import Outcome
from voful.experiments.study.run import Run
from voful.report.terminal.console import and_failed

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
        text = f"{self.done}/{self.pending} runs{and_failed(self.failed)}"
        if self.steps:
            left = (self.all_steps - self.steps) / self.speed
            text += f", {self.speed:,.0f} {self.unit}/s, {_duration(left)} left"
        return text


class Progress(ExitStack):
    """Hears what happens, as `run_study` tells it, and says so."""

    def __init__(self, console: Console) -> None:
        super().__init__()
        self.tally = Tally()
        self.console = console

    def started(self, pending: Sequence[Run], stored: int) -> None:
        """Say what is to be done."""
        self.tally.begin(pending)
        self.say(_opening(len(pending), stored))
        if pending:
            self.show()

    def ready(self) -> None:
        """Time runs from here."""
        self.tally.start_clock()

    def finished(self, run: Run, outcome: Outcome) -> None:
        """Count it."""
        self.tally.count(run, outcome)

    def failed(self, run: Run, error: str, *, again: bool) -> None:
        """Say what went wrong."""
        if not again:
            self.tally.count(run, None)
        fate = "failed, trying once more" if again else "failed again, given up"
        self.say(f"{run.label} {fate}:\n{error.rstrip()}", style="red")

    def say(self, text: str, style: str | None = None) -> None:
        """Print a line."""
        self.console.print(text, style=style, soft_wrap=True, highlight=False, markup=False)

    def show(self) -> None:
        """Show the tally."""


class PlainProgress(Progress):
    """A line now and then."""

    def ready(self) -> None:
        """Time runs from here."""
        super().ready()
        self._last = monotonic()

    def finished(self, run: Run, outcome: Outcome) -> None:
        """Say how far it is, if that was some time ago."""
        super().finished(run, outcome)
        if self.tally.done == self.tally.pending or monotonic() - self._last > SECONDS:
            self._last = monotonic()
            self.show()

    def show(self) -> None:
        """Print the tally's line."""
        self.say(self.tally.line())


class LiveProgress(Progress):
    """A bar, and how each policy stands; lines are printed above."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self._live = Live(console=console, refresh_per_second=4, get_renderable=self._render)

    def show(self) -> None:
        """Show the bar, to the end."""
        self.enter_context(self._live)

    def _render(self) -> RenderableType:
        bar = ProgressBar(total=max(self.tally.pending, 1), completed=self.tally.done, width=40)
        table = Table.grid(padding=(0, 2))
        for name, standing in self.tally.standings.items():
            if standing.runs:
                runs, mean = standing.runs, standing.total / standing.runs
                numbers = f"{runs} runs", f"regret {mean:.1f}", f"best {standing.best:.1f}"
                table.add_row(Text(name), *numbers)
        return Group(bar, Text(self.tally.line()), table)


def make_progress(console: Console) -> Progress:
    """Live on a terminal, plain elsewhere."""
    return LiveProgress(console) if console.is_terminal else PlainProgress(console)


def _opening(pending: int, stored: int) -> str:
    if not pending:
        return f"nothing to do: all {stored} runs are stored"
    return f"{pending} runs to play" + (f", {stored} are stored already" if stored else "")


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
