"""What a report does not show: runs that are declared and not there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

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
    declared = Counter(manifest.label(key)[:2] for key in manifest.runs)
    failures = Counter(manifest.label(key)[:2] for key in failed if key in manifest.runs)
    counted = (
        results.group_by("problem", "policy")
        .agg(stored=pl.col("replicate").n_unique())
        .with_columns(pl.col("problem", "policy").cast(pl.String))
    )
    stored = {(problem, policy): n for problem, policy, n in counted.iter_rows()}
    rows = [
        (*cell, n, stored.get(cell, 0), failures[cell])
        for cell, n in declared.items()
        if stored.get(cell, 0) < n
    ]
    counts = dict.fromkeys(("declared", "stored", "failed"), pl.Int64)
    words = dict.fromkeys(("problem", "policy"), pl.String)
    order = [cell["name"] for cell in manifest.problems], [c["name"] for c in manifest.policies]
    rows.sort(key=lambda row: (order[0].index(row[0]), order[1].index(row[1])))
    return pl.DataFrame(rows, schema={**words, **counts}, orient="row")
