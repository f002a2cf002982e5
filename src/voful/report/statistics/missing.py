"""What a report does not show: runs that are declared and not there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import product

import polars as pl

from voful.experiments.store.manifest import Manifest


def missing(results: pl.DataFrame, manifest: Manifest, failed: Iterable[str] = ()) -> pl.DataFrame:
    """Problems and policies with fewer stored runs than declared.

    Parameters
    ----------
    results, manifest
        Of a results directory (`Store.frame`, `Store.manifest`).
    failed
        Keys of the runs that failed (`Store.failures`).

    Returns
    -------
    polars.DataFrame
        Columns problem, policy, declared, stored, failed, in the order of the study; no row where
        nothing is missing. Runs neither stored nor failed were not played yet.
    """
    declared, failures = runs_by_cell(manifest, manifest.runs), runs_by_cell(manifest, failed)
    runs = results.select(pl.col("problem", "policy").cast(pl.String), "replicate").unique()
    stored = Counter(run[:2] for run in runs.iter_rows())
    sides = ([cell["name"] for cell in side] for side in (manifest.problems, manifest.policies))
    rows = [
        (*cell, declared[cell], stored[cell], failures[cell])
        for cell in product(*sides)
        if stored[cell] < declared[cell]
    ]
    words = dict.fromkeys(("problem", "policy"), pl.String)
    counts = dict.fromkeys(("declared", "stored", "failed"), pl.Int64)
    return pl.DataFrame(rows, schema={**words, **counts}, orient="row")


def runs_by_cell(manifest: Manifest, keys: Iterable[str]) -> Counter[tuple[str, ...]]:
    """How many of these runs, as far as they are declared, each (problem, policy) has."""
    return Counter(manifest.label(key)[:2] for key in keys if key in manifest.runs)
