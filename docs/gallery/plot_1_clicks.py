"""
Which of ten teasers? Clicks at one per cent
============================================

A news page shows one of ten teasers to each visitor. Some get a click from one visitor in two
hundred, the best from one in twenty. We want to show good ones soon, and to know when to stop.
"""

import matplotlib.pyplot as plt
import numpy as np

import voful

# %%
# The truth, which the policy is not told, and the page's visitors:

rates = np.array([0.005, 0.006, 0.007, 0.008, 0.009, 0.010, 0.011, 0.012, 0.015, 0.050])
rng = np.random.default_rng(1)
rates = rng.permutation(rates)
n_visitors = 30_000

# %%
# Each teaser is a feature of its own, so the parameter is the vector of click rates. A reward is 0
# or 1. Nothing else has to be chosen: the policy finds out by itself that clicks at one per cent
# have a variance of 0.01, where the range allows 0.25.

teasers = np.eye(10)
policy = voful.BetOFUL(dim=10, reward_range=(0.0, 1.0), failure_prob=0.05)
chances = rng.random(n_visitors)
moments = np.unique(np.geomspace(100, n_visitors, 60).astype(int))
seen, lower, upper = [], [], []
shown = np.zeros(10, dtype=int)
stopped = None
for visitor in range(n_visitors):
    i = policy.select(teasers)
    shown[i] += 1
    policy.update(teasers[i], chances[visitor] < rates[i])
    if visitor + 1 in moments:
        low, high = policy.confidence_set.interval(teasers)
        seen.append(visitor + 1)
        lower.append(low)
        upper.append(high)
        best = int(np.argmax(low))
        if stopped is None and low[best] > np.delete(high, best).max():
            stopped = visitor + 1

# %%
# Intervals that shrink
# ---------------------
#
# Every interval holds the teaser's true rate at all times, all ten together, with probability 95 %.
# So one may look at them after every visitor. Once the lower end of one teaser is above the upper
# ends of all the others, it is the best one, and the experiment may stop.

best = int(np.argmax(rates))
low, high = np.array(lower), np.array(upper)
figure, axes = plt.subplots(figsize=(8, 4.2), layout="constrained")
rivals = np.delete(np.arange(10), best)
axes.fill_between(seen, low[:, best], high[:, best], color="#D55E00", alpha=0.35, lw=0)
axes.fill_between(
    seen, low[:, rivals].max(axis=1), high[:, rivals].max(axis=1), color="#0072B2", alpha=0.25, lw=0
)
axes.axhline(rates[best], color="#D55E00", lw=1)
axes.text(seen[-1], rates[best], " its rate", color="#D55E00", va="center")
axes.text(150, 0.075, "the best teaser", color="#D55E00")
axes.text(150, 0.002, "the best of the other nine", color="#0072B2")
if stopped is not None:
    axes.axvline(stopped, color="black", lw=0.8, ls=":")
    axes.text(stopped, 0.15, "decided ", ha="right")
axes.set(xscale="log", ylim=(0, 0.16), xlabel="visitors", ylabel="click rate")
axes.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# When to stop

print(f"decided after {stopped:,} visitors" if stopped else "not decided yet")
print(f"{shown[best] / n_visitors:.0%} of all visitors saw the best teaser")
regret = (rates[best] - rates) @ shown
print(
    f"clicks lost against showing it to everybody: {regret:.0f} of {rates[best] * n_visitors:.0f}"
)

# %%
# What the others were shown
# --------------------------
#
# Optimism tries a teaser as long as it could still be the best one.

order = np.argsort(rates)
figure, axes = plt.subplots(figsize=(8, 3), layout="constrained")
colours = ["#D55E00" if i == best else "#0072B2" for i in order]
axes.bar(range(10), shown[order], color=colours)
axes.set_xticks(range(10), [f"{rates[i]:.1%}" for i in order])
axes.set(xlabel="true click rate of the teaser", ylabel="times shown")
axes.spines[["top", "right"]].set_visible(False)
plt.show()
