"""theta* stays in a set that is told how far off the line means may be, whoever chooses them."""

from __future__ import annotations

from itertools import cycle, islice, product

from helpers import assert_condemned, assert_exit_rate, coverage_runs, full
from shapes import loses

DELTA, ROUNDS = 0.1, 2000 if full() else 200
CELLS = list(product(("function", "adversary"), (0.05, 0.1), (False, True)))


def test_misfit_that_was_told_costs_no_coverage() -> None:
    """The cells in turn: a function of the arm or an adversary, fixed or changing arms."""
    runs = coverage_runs(DELTA)
    lost = [
        loses(kind, e, e, redraw, seed, ROUNDS, DELTA).lost
        for seed, (kind, e, redraw) in enumerate(islice(cycle(CELLS), runs))
    ]
    assert_exit_rate(sum(lost), runs, DELTA)


def test_misfit_that_was_not_told_does() -> None:
    """The control."""
    assert_condemned(
        lambda run: loses("adversary", 0.1, 0.0, False, run, 300, DELTA).lost, failure_prob=DELTA
    )
