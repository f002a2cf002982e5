"""Which width_scale is best for each policy: python studies/choose_widths.py out/bandit_widths.

The best has the least geometric mean, over the problems, of its regret relative to OFUL with the
theory's width; one scale serves all problems, as a user would have to choose it. Prints the
[[policy]] tables of bandit_family_tuned.toml.
"""

from __future__ import annotations

import sys

import polars as pl

import voful
from voful.report.statistics.summaries import relative_regret


def main(directory: str) -> None:
    """Print a [[policy]] table for each id."""
    results = voful.results(directory)
    scales = results.select("policy", "policy_id", "policy_width_scale").unique()
    table = (
        relative_regret(results, "oful 1")
        .unique("policy")
        .join(scales, on="policy")
        .sort("policy_id", "typical", "policy_width_scale")
    )
    best = table.group_by("policy_id", maintain_order=True).first()
    for row in best.sort(pl.col("policy_id").cast(pl.String)).iter_rows(named=True):
        print(f'[[policy]]\nid = "{row["policy_id"]}"')
        print(f"width_scale = {row['policy_width_scale']}\n")


if __name__ == "__main__":
    main(sys.argv[1])
