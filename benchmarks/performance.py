"""The numbers and tables of docs/performance.md.

python benchmarks/performance.py measure [PART ...]   # measures and keeps; default: all but peers
python benchmarks/performance.py take PART FILE       # keeps what a --json file says (peers)
python benchmarks/performance.py write                # tables from the numbers that are kept

Numbers are kept in docs/performance.json, tables stand between markers in the page.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from machine import Machine, oful_bytes, oful_flops, probe

from lofav import compare
from peers import table as peers_table
from start import measure_start
from start import table as start_table
from voful.bench.clock import Speed, measure
from voful.bench.contenders import REFERENCE, WHOLE_LOOP
from voful.bench.episodic import AgentSpeed, measure_episodic
from voful.bench.sweep import Growth, sweep_sizes
from voful.report.terminal.speed import episodic_table, growth_table, markdown, speed_table

DOCS = Path(__file__).parents[1] / "docs"
NUMBERS, PAGE = DOCS / "performance.json", DOCS / "performance.md"

MEASURE: dict[str, Callable[[], Any]] = {
    "machine": lambda: asdict(probe()),
    "speeds": lambda: [asdict(speed) for speed in measure()],
    "growth": lambda: [asdict(row) for row in sweep_sizes()],
    "lofav": lambda: compare(dim=10, n_arms=20, at_round=4_000),
    "agents": lambda: [asdict(row) for row in measure_episodic()],
    "start": measure_start,
}
PARTS = (*MEASURE, "peers")


def tables(numbers: dict[str, Any]) -> dict[str, str]:
    """The text between each pair of markers."""
    speeds = [Speed(**row) for row in numbers["speeds"]]
    growth = [Growth(**row) for row in numbers["growth"]]
    agents = [AgentSpeed(**row) for row in numbers["agents"]]
    peers = [Speed(**row) for row in numbers["peers"]["speeds"]]
    versions = ", ".join(f"{name} {v}" for name, v in numbers["peers"]["versions"].items())
    return {
        "speeds": markdown(speed_table(speeds)),
        "growth": markdown(growth_table(growth)),
        "agents": markdown(episodic_table(agents)),
        "peers": peers_table(peers) + f"\n\nVersions: {versions}.\n",
        "lofav": lofav_table(numbers["lofav"]),
        "start": start_table(numbers["start"]),
        "limits": limits_table(Machine(**numbers["machine"]), speeds, growth),
    }


def lofav_table(result: dict[str, float]) -> str:
    return markdown(
        {
            "": ["LOFAV here", "through the whole history"],
            "measured over": ["20,000 rounds", f"100 rounds up to round {int(result['round']):,}"],
            "rounds/s": [
                f"{result['ours_rounds_per_second']:,.0f}",
                f"{result['whole_history_rounds_per_second']:,.0f}",
            ],
            "and before": [
                f"last/first quarter: {result['ours_last_over_first_quarter']:.2f}",
                f"first 100 rounds: {result['whole_history_rounds_per_second_at_the_start']:,.0f}",
            ],
            "ratio": [f"{result['times_faster']:,.0f}x", "1x"],
        }
    )


def limits_table(machine: Machine, speeds: list[Speed], growth: list[Growth]) -> str:
    """What a round of OFUL needs at the machine's peak, and what it takes."""
    small = {speed.name: speed.microseconds for speed in speeds}
    along = next(row for row in growth if row.name == "oful" and row.along == "dim")
    lean = next(row for row in growth if row.name == REFERENCE and row.along == "dim")
    place = along.sizes.index(100)
    ours, numpy = along.microseconds[place], lean.microseconds[place]
    rows = []
    for dim, n_arms, measured in (
        (10, 20, {name: small[name] for name in (REFERENCE, WHOLE_LOOP, "oful")}),
        (100, 1000, {REFERENCE: numpy, "oful": ours}),
    ):
        flops, data = oful_flops(dim, n_arms), oful_bytes(dim, n_arms)
        compute = 1e-3 * flops / machine.gigaflops
        traffic = 1e-3 * data / machine.cache_gigabytes
        for name, microseconds in measured.items():
            rows.append(
                (
                    f"{name}, d = {dim}, {n_arms} arms",
                    f"{flops:,}",
                    f"{data:,}",
                    f"{compute:.3g}",
                    f"{traffic:.3g}",
                    f"{microseconds:.3g}",
                    f"{1e-3 * flops / microseconds:.3g}",
                    f"{max(compute, traffic) / microseconds:.1%}",
                )
            )
    headings = (
        "",
        "flops",
        "bytes",
        "µs at peak flops",
        "µs at peak cache",
        "µs measured",
        "needed Gflop/s",
        "share of the limit",
    )
    return markdown(
        {head: list(column) for head, column in zip(headings, zip(*rows, strict=True), strict=True)}
    )


def write(numbers: dict[str, Any]) -> None:
    """Tables into the page."""
    page = PAGE.read_text()
    for name, table in tables(numbers).items():
        before, rest = page.split(f"<!-- {name} -->\n")
        _, after = rest.split("<!-- end -->", maxsplit=1)
        page = f"{before}<!-- {name} -->\n{table}<!-- end -->{after}"
    PAGE.write_text(page)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("measure").add_argument("parts", nargs="*", metavar="PART")
    take = commands.add_parser("take")
    take.add_argument("part", choices=PARTS)
    take.add_argument("file", type=Path)
    commands.add_parser("write")
    args = parser.parse_args()
    numbers: dict[str, Any] = json.loads(NUMBERS.read_text()) if NUMBERS.exists() else {}
    if args.command == "measure":
        for part in args.parts or MEASURE:
            print(part, flush=True)
            numbers[part] = MEASURE[part]()
    elif args.command == "take":
        numbers[args.part] = json.loads(args.file.read_text())
    NUMBERS.write_text(json.dumps(numbers, indent=1) + "\n")
    if set(PARTS) <= set(numbers):
        write(numbers)
    else:
        print("still missing:", *(part for part in PARTS if part not in numbers))


if __name__ == "__main__":
    main()
