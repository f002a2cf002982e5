"""A study as it is stored, and the frames that both its page and its files rest on."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import polars as pl

from voful.experiments.store.store import Store
from voful.report.statistics.differences import paired_differences
from voful.report.statistics.groups import described, reference_of
from voful.report.statistics.growth import growth_exponents
from voful.report.statistics.summaries import final_table


class Played:
    """What is stored in a results directory; frames are computed when they are first asked for.

    Parameters
    ----------
    directory
        Where ``voful run`` stored the results; runs may be missing.

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

    @cached_property
    def final(self) -> pl.DataFrame:
        """`final_table`."""
        return final_table(self.results)

    @cached_property
    def growth(self) -> pl.DataFrame:
        """`growth_exponents`."""
        return growth_exponents(self.results)

    @cached_property
    def differences(self) -> pl.DataFrame:
        """`paired_differences` with the reference."""
        return paired_differences(self.results, self.reference)

    @cached_property
    def snapshots(self) -> pl.DataFrame:
        """Of the runs in the plane that took some."""
        return self.store.snapshots()
