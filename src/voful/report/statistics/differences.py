"""Policies compared seed by seed: the environment's luck is the same for all of them."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import polars as pl

from voful.report.statistics.cells import last_rows
from voful.report.statistics.intervals import mean_interval


def paired_differences(results: pl.DataFrame, reference: str | None = None) -> pl.DataFrame:
    """Final regret of a policy minus that of another, on the seeds that both have played.

    Parameters
    ----------
    results
        As read by `voful.results`.
    reference
        Compare with this policy only; None: every ordered pair.

    Returns
    -------
    polars.DataFrame
        Columns problem, policy, other, seeds, difference (mean; negative: `policy` is better),
        difference_low, difference_high (bootstrap over the seeds), won (share of the seeds on which
        `policy` has the smaller regret; a tie counts half).
    """
    schema: dict[str, pl.DataType] = {
        "problem": results.schema["problem"],
        "policy": results.schema["policy"],
        "other": results.schema["policy"],
        "seeds": pl.Int64(),
        **dict.fromkeys(("difference", "difference_low", "difference_high", "won"), pl.Float64()),
    }
    frames = [pl.DataFrame(schema=schema)]
    for (problem,), part in last_rows(results).group_by("problem", maintain_order=True):
        finals = part.pivot("policy", index="replicate", values="regret").sort("replicate")
        pairs = [
            (policy, other)
            for policy, other in permutations(finals.columns[1:], 2)
            if reference in (None, other)
        ]
        if pairs:
            frames.append(_compared(str(problem), finals, pairs).cast(schema))  # type: ignore[arg-type]
    return pl.concat(frames).sort("problem", "policy", "other")


def _compared(problem: str, finals: pl.DataFrame, pairs: list[tuple[str, str]]) -> pl.DataFrame:
    """Final regrets by replicate, a column a policy, become a row a pair."""
    gaps = finals.select((pl.col(a) - pl.col(b)).alias(f"{i}") for i, (a, b) in enumerate(pairs))
    differences = gaps.to_numpy()  # NaN where one of the two has not played the seed
    shared = np.isfinite(differences)
    counts = shared.sum(axis=0)
    low, high = mean_interval(differences, stream=problem)
    wins = (differences < 0.0).sum(axis=0) + 0.5 * (differences == 0.0).sum(axis=0)
    some = np.maximum(counts, 1)
    found = pl.DataFrame(
        {
            "problem": [problem] * len(pairs),
            "policy": [policy for policy, _ in pairs],
            "other": [other for _, other in pairs],
            "seeds": counts,
            "difference": np.where(shared, differences, 0.0).sum(axis=0) / some,
            "difference_low": np.where(counts > 1, low, np.nan),
            "difference_high": np.where(counts > 1, high, np.nan),
            "won": wins / some,
        }
    )
    return found.filter(pl.col("seeds") > 0).fill_nan(None)
