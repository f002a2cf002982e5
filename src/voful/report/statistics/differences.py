"""Policies compared seed by seed: the environment's luck is the same for all of them."""

from __future__ import annotations

import numpy as np
import polars as pl

from voful.report.statistics.bootstrap import mean_interval
from voful.report.statistics.cells import cells, last_rows


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
    by_problem: dict[str, dict[str, pl.DataFrame]] = {}
    for cell in cells(last_rows(results), "regret"):
        final = pl.DataFrame({"replicate": cell.replicates, "regret": cell.values[:, -1]})
        by_problem.setdefault(cell.problem, {})[cell.policy] = final
    frames = [pl.DataFrame(schema=schema)]
    for problem, finals in by_problem.items():
        pairs = [
            (policy, other)
            for policy in finals
            for other in finals
            if policy != other and reference in (None, other)
        ]
        if pairs:
            frames.append(_compared(problem, finals, pairs).cast(schema))  # type: ignore[arg-type]
    return pl.concat(frames).sort("problem", "policy", "other")


def _compared(
    problem: str, finals: dict[str, pl.DataFrame], pairs: list[tuple[str, str]]
) -> pl.DataFrame:
    seeds = np.unique(np.concatenate([final["replicate"].to_numpy() for final in finals.values()]))
    regrets = {}
    for policy, final in finals.items():
        regrets[policy] = np.full(len(seeds), np.nan)
        regrets[policy][np.searchsorted(seeds, final["replicate"].to_numpy())] = final["regret"]
    differences = np.stack([regrets[a] - regrets[b] for a, b in pairs], axis=1)
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
