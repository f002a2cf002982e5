"""What belongs together in a report: problems of a series or family, and whom to compare with."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from voful.experiments.store.manifest import Manifest
from voful.report.statistics.series import series_of
from voful.report.statistics.summaries import with_families, with_series

REFERENCES = ("oful", "ucrl-vtr")


def reference_of(policies: Sequence[str]) -> str:
    """The policy that others are compared with: the classic one if it is there, or the first."""
    return next((policy for policy in REFERENCES if policy in policies), policies[0])


def described(results: pl.DataFrame, manifest: Manifest) -> pl.DataFrame:
    """The results with ``problem_series`` and ``problem_family``."""
    families = {problem["name"]: problem["family"] for problem in manifest.problems}
    return with_families(with_series(results, series_of(manifest.problems)), families)


def of_long_series(results: pl.DataFrame) -> pl.DataFrame | None:
    """The rows of series of more than two problems; None where there is no such series.

    Regret against the variance means something within such a series only.
    """
    if "sum_variance" not in results.columns:
        return None
    long = results.filter(pl.col("problem").n_unique().over("problem_series") > 2)
    return None if long.is_empty() else long


def has_widths(results: pl.DataFrame) -> bool:
    """Whether there are widths to draw as curves."""
    if "width" not in results.columns:  # stored by a version that did not record it
        return False
    there = results.filter(pl.col("width").is_not_null())
    return there["episode" if "episode" in there.columns else "round"].n_unique() > 1
