"""
Your own algorithm in a study
=============================

A class of your own beside those of the library, on the same arms and the same noise: one file with
the class, one that declares the study, one call. The same study can be run from the command line
with ``voful run``.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

import voful
from voful.experiments.runner.runner import run_study
from voful.experiments.study.study import read_study
from voful.report.statistics.differences import paired_differences
from voful.report.statistics.summaries import regret_curves

folder = Path(tempfile.mkdtemp())

# %%
# The class
# ---------
#
# It needs ``select``, ``update`` and a ``confidence_set`` (or None).

(folder / "mine.py").write_text('''
import numpy as np

class Greedy:
    """Ridge regression; now and then an arm by chance."""

    confidence_set = None

    def __init__(self, dim, explore=0.1, seed=0):
        self.M, self.b, self.explore = np.eye(dim), np.zeros(dim), explore
        self.rng = np.random.default_rng(seed)

    def select(self, arms):
        if self.rng.random() < self.explore:
            return int(self.rng.integers(len(arms)))
        return int(np.argmax(arms @ np.linalg.solve(self.M, self.b)))

    def update(self, x, reward):
        self.M += np.outer(x, x)
        self.b += reward * x
''')

# %%
# The study
# ---------
#
# Values may be grids. Every policy meets the same arms and the same noise.

(folder / "mine.toml").write_text("""
name = "mine"
rounds = 1000
replicates = 6
policy = [
  { id = "mine.py:Greedy", explore = { grid = [0.0, 0.1] } },
  { id = "oful" },
  { id = "betoful" },
]
problem = [{ name = "σ={sigma}", dim = 3, sigma = { grid = [0.05, 0.5] } }]
""")

# %%
# Play
# ----
#
# On all cores. A run that is stored is not played again; a study that was killed goes on.

summary = run_study(read_study(folder / "mine.toml"), folder / "out")
print(summary.played, "runs played")
results = voful.results(folder / "out")  # a Polars frame
print(results.filter(pl.col("round") == 1000).group_by("policy").agg(pl.col("regret").mean()))

# %%
# Pictures
# --------
#
# ``voful report`` writes figures and a page; here the same numbers by hand.

curves = regret_curves(results)
problems = curves["problem"].unique(maintain_order=True)
figure, panels = plt.subplots(1, len(problems), figsize=(8, 3.6), layout="constrained", sharey=True)
lines = {"oful": ("#009E73", "-"), "betoful": ("#D55E00", "-")}
greedy = iter([("black", "-"), ("black", "--"), ("grey", "-")])
for panel, problem in zip(np.atleast_1d(panels), problems, strict=True):
    for policy in curves["policy"].unique(maintain_order=True):
        one = curves.filter((pl.col("problem") == problem) & (pl.col("policy") == policy))
        colour, dash = lines.setdefault(policy, next(greedy, ("grey", ":")))
        panel.plot(one["round"], one["regret"], color=colour, ls=dash, label=policy)
        panel.fill_between(
            one["round"], one["regret_low"], one["regret_high"], color=colour, alpha=0.12
        )
    panel.set(title=problem, xlabel="round", ylim=(0, None))
    panel.spines[["top", "right"]].set_visible(False)
np.atleast_1d(panels)[0].set_ylabel("regret, mean of 6 seeds")
np.atleast_1d(panels)[-1].legend(frameon=False)
plt.show()

# %%
# Is it better?
# -------------
#
# Differences on the same seeds see more than two intervals side by side. Negative: the first of the
# two has less regret.

with pl.Config(tbl_width_chars=110, tbl_cols=-1, fmt_float="mixed", float_precision=1):
    print(paired_differences(results, "oful").drop("seeds"))
