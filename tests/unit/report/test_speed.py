from __future__ import annotations

from voful.bench.clock import Speed
from voful.bench.episodic import AgentSpeed
from voful.bench.sweep import Growth
from voful.report.terminal.speed import episodic_table, growth_table, markdown, speed_table


def test_tables_say_what_was_measured() -> None:
    speed = Speed("oful", 20_000, 5.5, 181_818.0, 2.6, 0.99, 2_672)
    unknown = Speed("peer", 500, 1633.6, 612.0, 0.009, 1.0, None)
    text = markdown(speed_table([speed, unknown]))
    assert "| oful | 20000 | 5.50 | 181,818 | 2.60 | 0.99 | 2.67 |" in text
    assert "| peer | 500 | 1,634 | 612 | 0.01 | 1.00 | - |" in text
    grown = Growth("betoful", "dim", "1000 arms", [25, 50], [12.34, 49.0], 1.99)
    assert "| betoful | dim (1000 arms) | 25, 50 | 12.3, 49.0 | 1.99 |" in markdown(
        growth_table([grown])
    )
    agent = AgentSpeed("varlin", 40, 30, 3, 500, 1234.5, 42, 1.5, 250.0, 0.25)
    assert "| varlin | 40 | 30 | 3 | 500 | 1,234 | 42 | 1.50 | 250 | 25% |" in markdown(
        episodic_table([agent])
    )
