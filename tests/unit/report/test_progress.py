from __future__ import annotations

import io

from rich.console import Console

from voful.experiments.play.execute import Outcome
from voful.experiments.study.run import Contender, Problem, Run
from voful.report.terminal.progress import LiveProgress, PlainProgress, Tally, make_progress

RUNS = [
    Run(Problem("easy", {}, 100), Contender(name, "oful"), replicate, 0)
    for name in ("a", "b")
    for replicate in range(2)
]


def outcome(regret: float) -> Outcome:
    return Outcome({"regret": [0.0, regret]})


class Clock:
    """Time as the test says."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_tally_knows_speed_time_left_and_the_best() -> None:
    clock = Clock()
    tally = Tally(clock)
    tally.begin(RUNS)
    assert "getting ready" in tally.line()
    clock.now += 500.0  # compiling does not count
    tally.start_clock()
    assert tally.line() == "0/4 runs"
    clock.now += 10.0
    tally.count(RUNS[0], outcome(7.0))
    tally.count(RUNS[1], outcome(5.0))
    assert tally.line() == "2/4 runs, 20 rounds/s, 0:10 left"
    tally.count(RUNS[2], None)
    assert "3/4 runs, 1 failed" in tally.line()
    assert tally.standings["a"].best == 5.0
    assert tally.standings["a"].total == 12.0
    assert tally.standings["b"].runs == 0


def test_plain_lines_off_a_terminal() -> None:
    text = io.StringIO()
    progress = make_progress(Console(file=text))
    assert isinstance(progress, PlainProgress)
    with progress:
        progress.started(RUNS, 3)
        progress.ready()
        progress.failed(RUNS[0], "Traceback\nZeroDivisionError: [bold]no[/bold]", again=True)
        progress.failed(RUNS[0], "Traceback\nZeroDivisionError: no", again=False)
        for run in RUNS[1:]:
            progress.finished(run, outcome(1.0))
    lines = text.getvalue().splitlines()
    assert lines[0] == "4 runs to play, 3 are stored already"
    assert "easy/a/0 failed, trying once more:" in lines
    assert "ZeroDivisionError: [bold]no[/bold]" in lines
    assert "easy/a/0 failed again, given up:" in lines
    assert lines[-1].startswith("4/4 runs, 1 failed, ")


def test_a_live_display_on_a_terminal() -> None:
    text = io.StringIO()
    progress = make_progress(Console(file=text, force_terminal=True, width=80))
    assert isinstance(progress, LiveProgress)
    with progress:
        progress.started(RUNS, 0)
        progress.ready()
        progress.finished(RUNS[0], outcome(7.0))
        progress.failed(RUNS[1], "why", again=False)
    shown = text.getvalue()
    for part in ("4 runs to play", "2/4 runs, 1 failed", "rounds/s", "regret 7.0", "why"):
        assert part in shown


def test_nothing_to_do() -> None:
    text = io.StringIO()
    with make_progress(Console(file=text)) as progress:
        progress.started([], 8)
    assert text.getvalue() == "nothing to do: all 8 runs are stored\n"
