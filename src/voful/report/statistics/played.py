"""A study as it is stored, and the frames that its page, its files and the terminal rest on."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from voful.experiments.store.store import Store
from voful.report.statistics.differences import paired_differences
from voful.report.statistics.groups import described, reference_of
from voful.report.statistics.growth import growth_exponents
from voful.report.statistics.missing import missing
from voful.report.statistics.summaries import final_table


class Played:
    """What is stored in a results directory, and the frames that every report shows.

    Parameters
    ----------
    directory
        Where ``voful run`` stored the results; runs may be missing.

    Attributes
    ----------
    results
        All rows, with ``problem_series`` and ``problem_family``.
    reference
        The policy that others are compared with: oful or ucrl-vtr, or the first.
    final, growth
        `final_table` and `growth_exponents`.
    differences
        `paired_differences` with the reference.
    missing
        `missing`.
    snapshots
        Of the runs in the plane that took some.
    paths
        Files that `write_report` wrote.
    page
        The one to open first.

    Raises
    ------
    ValueError
        If no run is stored.
    """

    def __init__(self, directory: str | Path) -> None:
        self.directory = Path(directory)
        self.store = Store(directory)
        self.manifest = self.store.manifest()
        results = self.store.frame()
        if results.is_empty():
            raise ValueError(f"{directory}: got no results; expected a study that was played")
        self.results = described(results, self.manifest)
        policies = self.results["policy"].unique().sort().cast(pl.String).to_list()
        self.reference = reference_of(policies)
        self.final = final_table(self.results)
        self.growth = growth_exponents(self.results)
        self.differences = paired_differences(self.results, self.reference)
        self.missing = missing(self.results, self.manifest, self.store.failures())
        self.snapshots = self.store.snapshots()
        self.paths: list[Path] = []
        self.page = self.directory / "report.html"
