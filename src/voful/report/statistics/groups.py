"""What belongs together in a report: problems of a series or family, and whom to compare with."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from voful.experiments.store.manifest import Manifest
from voful.report.statistics.cells import step_of

REFERENCES = ("oful", "ucrl-vtr")
NOISE = ("sigma", "sigma_low", "sigma_high", "direction", "noise")


def reference_of(policies: Sequence[str]) -> str:
    """The policy that others are compared with: the classic one if it is there, or the first."""
    return next((policy for policy in REFERENCES if policy in policies), policies[0])


def described(results: pl.DataFrame, manifest: Manifest) -> pl.DataFrame:
    """The results with ``problem_series`` and ``problem_family``."""
    families = {problem["name"]: problem["family"] for problem in manifest.problems}
    return with_families(with_series(results, series_of(manifest.problems)), families)


def with_families(results: pl.DataFrame, families: Mapping[str, str]) -> pl.DataFrame:
    """The results with each problem's family in the column ``problem_family``."""
    family = pl.col("problem").cast(pl.String).replace_strict(families, return_dtype=pl.String)
    return results.with_columns(problem_family=family)


def with_series(results: pl.DataFrame, series: Mapping[str, str]) -> pl.DataFrame:
    """The results with each problem's series (`series_of`) in ``problem_series``, in that order."""
    in_order = pl.Enum(list(dict.fromkeys(series.values())))
    label = pl.col("problem").cast(pl.String).replace_strict(series, return_dtype=in_order)
    return results.with_columns(problem_series=label)


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
    return there[step_of(there)].n_unique() > 1


def has_alarms(results: pl.DataFrame) -> bool:
    """Whether a policy has raised an alarm; versions that did not record any stored no column."""
    return "alarms" in results.columns and bool((results["alarms"] > 0).any())


def series_of(problems: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Name of each problem -> label of its series: those that differ in nothing but their noise.

    A label is made of the words that the names of its problems share; where that leaves two series
    alike, they are numbered.
    """
    groups = _alike_but_for_noise(problems)
    labels = [_shared_words(names) for names in groups]
    return {
        name: label if labels.count(label) == 1 else f"{label} ({place})".strip()
        for place, (label, names) in enumerate(zip(labels, groups, strict=True), 1)
        for name in names
    }


def _alike_but_for_noise(problems: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    groups: dict[str, list[str]] = {}
    for problem in problems:
        rest = {k: v for k, v in problem["params"].items() if k not in NOISE}
        key = {k: problem.get(k) for k in ("family", "kind", "length", "code")} | {"params": rest}
        text = json.dumps(key, sort_keys=True, default=str)
        groups.setdefault(text, []).append(problem["name"])
    return list(groups.values())


def _shared_words(names: list[str]) -> str:
    others = [set(name.split()) for name in names[1:]]
    return " ".join(w for w in names[0].split() if all(w in words for words in others))
