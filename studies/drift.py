"""The figure of its study, fixed arms: python studies/drift.py out/drift [file without suffix]."""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl

from voful.report.figures import regret_over_rounds, write
from voful.report.statistics.played import Played


def main(directory: str, file: str) -> None:
    """Regret over the rounds, with the alarms."""
    results = Played(directory).results
    fixed = results.filter(pl.col("problem").cast(pl.String).str.ends_with("fixed arms"))
    title = f"drift: mean over {fixed['replicate'].n_unique()} seeds, 95 % bootstrap intervals"
    write(regret_over_rounds(fixed, title=title), Path(file), ("svg",))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "drift")
