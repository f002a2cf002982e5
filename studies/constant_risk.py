"""The figure of its study: python studies/constant_risk.py out/constant_risk [file without suffix].

Left: how much more than without noise the regret is, against the sum of variances, as rounds pass.
Right: the final regret without noise against the dimension, with the line through 0.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import voful
from voful.report.figures import write

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00")  # Okabe-Ito
GREY = "#8a8a8a"


def against_variance(panel: Axes, results: pl.DataFrame) -> None:
    """Mean regret minus the mean regret without noise."""
    dense = results.filter(pl.col("problem").cast(pl.String).str.starts_with("dense"))
    quiet = dense.filter(pl.col("sum_variance").max().over("problem") == 0.0)
    base = quiet.group_by("round").agg(pl.col("regret").mean().alias("base"))
    noisy = dense.filter(pl.col("sum_variance").max().over("problem") > 0.0)
    means = noisy.group_by("problem", "round").agg(pl.col("regret", "sum_variance").mean())
    curves = means.join(base, on="round").with_columns(pl.col("problem").cast(pl.String))
    lowest, highest = np.inf, 0.0
    for (name,), curve in sorted(curves.partition_by("problem", as_dict=True).items()):
        curve = curve.sort("round").filter(pl.col("round") >= 1000)
        x, y = curve["sum_variance"].to_numpy(), (curve["regret"] - curve["base"]).to_numpy()
        i = sorted(curves["problem"].unique()).index(name)
        panel.plot(x, y, color=COLORS[i], label=str(name).removeprefix("dense, "))
        steep = np.polyfit(np.log(x), np.log(np.maximum(y, 1e-9)), 1)[0]
        print(f"{name}: slope {steep:.2f}, from {y[0]:.1f} to {y[-1]:.1f}")
        lowest, highest = min(lowest, x[0]), max(highest, x[-1])
    ends = np.array([lowest, highest])
    panel.plot(ends, 1.0 * np.sqrt(ends), color=GREY, linestyle="--", label="slope 1/2")
    panel.set(
        xscale="log", yscale="log", xlabel="sum of variances", ylabel="regret caused by noise"
    )
    panel.legend(frameon=False)


def against_dimension(panel: Axes, results: pl.DataFrame) -> None:
    """The final regret, with two standard errors."""
    named = results.with_columns(pl.col("problem").cast(pl.String))
    last = named.filter(
        pl.col("problem").str.ends_with("no noise"), pl.col("round") == pl.col("round").max()
    ).with_columns(pl.col("problem").str.extract(r"d=(\d+)").cast(pl.Int64).alias("dim"))
    summary = last.group_by("dim").agg(
        pl.col("regret").mean().alias("mean"),
        (2.0 * pl.col("regret").std() / pl.len().sqrt()).alias("error"),
    )
    summary = summary.sort("dim")
    d, mean = summary["dim"].to_numpy().astype(float), summary["mean"].to_numpy()
    slope = float((d * mean).sum() / (d * d).sum())
    panel.errorbar(d, mean, summary["error"].to_numpy(), fmt="o", color=COLORS[0], capsize=3)
    ends = np.array([0.0, d.max()])
    panel.plot(ends, slope * ends, color=GREY, linestyle="--", label=f"{slope:.1f} d")
    print("no noise:", dict(zip(d.tolist(), mean.round(1).tolist(), strict=True)), f"{slope:.2f} d")
    panel.set(xlabel="dimension", ylabel="regret without noise", xlim=(0, None), ylim=(0, None))
    panel.legend(frameon=False)


def main(directory: str, file: str) -> None:
    """Draw both panels."""
    results = voful.results(directory)
    figure = Figure(figsize=(8.0, 3.4), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2)
    against_variance(left, results)
    against_dimension(right, results)
    for panel in (left, right):
        panel.spines[["top", "right"]].set_visible(False)
    write(figure, Path(file), ("svg",))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "constant_risk")
