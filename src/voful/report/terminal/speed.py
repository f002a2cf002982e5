"""Tables of measured speed: headings with their columns, for the terminal and for Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from voful.bench.clock import Speed
from voful.bench.episodic import AgentSpeed
from voful.bench.sweep import Growth

Columns = dict[str, list[str]]


def speed_table(speeds: Sequence[Speed]) -> Columns:
    """Rounds per second."""
    return {
        "": [speed.name for speed in speeds],
        "rounds": [str(speed.rounds) for speed in speeds],
        "µs a round": [_short(speed.microseconds) for speed in speeds],
        "rounds/s": [f"{speed.rounds_per_second:,.0f}" for speed in speeds],
        "times lean NumPy": [f"{speed.ratio:.2f}" for speed in speeds],
        "last/first quarter": [f"{speed.growth:.2f}" for speed in speeds],
        "kB": [
            "-" if speed.state_bytes is None else _short(1e-3 * speed.state_bytes)
            for speed in speeds
        ],
    }


def growth_table(grown: Sequence[Growth]) -> Columns:
    """Microseconds a round over sizes, and the exponents."""
    return {
        "": [row.name for row in grown],
        "along": [f"{row.along} ({row.setting})" for row in grown],
        "sizes": [", ".join(map(str, row.sizes)) for row in grown],
        "µs a round": [", ".join(map(_short, row.microseconds)) for row in grown],
        "exponent": [f"{row.exponent:.2f}" for row in grown],
    }


def episodic_table(agents: Sequence[AgentSpeed]) -> Columns:
    """Episodes per second, and where the time goes."""
    return {
        "": [row.name for row in agents],
        "H": [str(row.horizon) for row in agents],
        "S A": [str(row.pairs) for row in agents],
        "d": [str(row.dim) for row in agents],
        "K": [str(row.episodes) for row in agents],
        "episodes/s": [_short(row.episodes_per_second) for row in agents],
        "plans": [str(row.plans) for row in agents],
        "ms a plan": [_short(row.plan_milliseconds) for row in agents],
        "µs update an episode": [_short(row.update_microseconds) for row in agents],
        "time in plans": [f"{row.plan_share:.0%}" for row in agents],
    }


def markdown(columns: Columns) -> str:
    """The table as Markdown."""
    head = "| " + " | ".join(columns) + " |\n|---" + "|--:" * (len(columns) - 1) + "|\n"
    return head + "".join(
        "| " + " | ".join(row) + " |\n" for row in zip(*columns.values(), strict=True)
    )


def _short(number: float) -> str:
    """Three digits."""
    if number >= 100.0:
        return f"{number:,.0f}"
    return f"{number:.1f}" if number >= 10.0 else f"{number:.2f}"
